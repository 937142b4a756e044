// The program `sardonyx`: where it is, and one run of it whose output is wanted.
import { execFile } from 'node:child_process';
import * as path from 'node:path';

import * as vscode from 'vscode';

export function settings(scope?: vscode.Uri): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('sardonyx', scope);
}

export function programPath(): string {
  return settings().get<string>('path')?.trim() || 'sardonyx';
}

// `--schemas FILE` for each file of the settings.
export function schemaWords(scope?: vscode.Uri): string[] {
  const folder = scope && vscode.workspace.getWorkspaceFolder(scope) || vscode.workspace.workspaceFolders?.[0];
  const files = settings(scope).get<string[]>('schemas') ?? [];
  return files.flatMap((file) => ['--schemas', folder ? path.resolve(folder.uri.fsPath, file) : file]);
}

export interface Done {
  status: number;  // -1: the program did not start
  output: string;
  errors: string;
}

// Runs the program in the folder of a file. Its output may be a page with a large graph.
export function runProgram(words: string[], folder: string): Promise<Done> {
  return new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: 1 << 30, encoding: 'utf8' as const, env: { ...process.env, NO_COLOR: '1' } };
    execFile(programPath(), words, options, (error, output, errors) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, output, errors: status === -1 && error !== null ? error.message : errors });
    });
  });
}

// Tells that the program cannot be started, and leads to the setting.
export async function tellMissing(reason: string): Promise<void> {
  const button = 'Open settings';
  const text = `Cannot start \`${programPath()}\` (${reason}). Install it with \`pip install sardonyx\`, or set \`sardonyx.path\`.`;
  if (await vscode.window.showErrorMessage(text, button) === button) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'sardonyx.path');
  }
}
