// Which file, and which script of it, a command means.
import * as path from 'node:path';

import * as vscode from 'vscode';

export interface Target {
  uri: vscode.Uri;
  name: string | undefined;  // undefined: the only script of the file, or a model
}

// `FILE.py:NAME`, as the command line takes it.
export function words(target: Target): string {
  return target.name === undefined ? target.uri.fsPath : `${target.uri.fsPath}:${target.name}`;
}

export function folderOf(target: Target): string {
  return path.dirname(target.uri.fsPath);
}

// Code lenses give the address as text and the name; the explorer gives the address alone; the
// palette gives nothing, and means the file that is open. What is not saved is saved first, because
// the program reads files. Undefined: there is nothing to do, and the user knows why.
export async function targetOf(uri: unknown, name: unknown): Promise<Target | undefined> {
  const own = typeof uri === 'string' ? vscode.Uri.parse(uri)
    : uri instanceof vscode.Uri ? uri
    : vscode.window.activeTextEditor?.document.uri;
  if (own === undefined) {
    void vscode.window.showErrorMessage('Sardonyx: open a Python file with a script first.');
    return undefined;
  }
  if (own.scheme !== 'file') {
    void vscode.window.showErrorMessage('Sardonyx: save the file first; the program reads it from the disk.');
    return undefined;
  }
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === own.toString());
  if (open?.isDirty && !await open.save()) return undefined;
  if (typeof name === 'string') return { uri: own, name };
  const names = own.fsPath.endsWith('.py') ? await scriptNames(own) : [];
  if (names.length < 2) return { uri: own, name: names[0] };
  const chosen = await vscode.window.showQuickPick(names, { placeHolder: 'Which script?' });
  return chosen === undefined ? undefined : { uri: own, name: chosen };
}

// The server knows the scripts of a file: each has a code lens.
async function scriptNames(uri: vscode.Uri): Promise<string[]> {
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[] | undefined>('vscode.executeCodeLensProvider', uri, 1000);
  const names = (lenses ?? [])
    .filter((lens) => lens.command?.command === 'sardonyx.showGraph')
    .map((lens) => lens.command?.arguments?.[1])
    .filter((name): name is string => typeof name === 'string');
  return [...new Set(names)];
}
