// Run and Build, as tasks: their output stands in a terminal that stays, without a shell that would
// read the name of a file.
import * as vscode from 'vscode';

import { programPath, schemaWords } from './program';
import { folderOf, Target, targetOf, words } from './target';

async function execute(title: string, target: Target, parts: string[]): Promise<void> {
  const task = new vscode.Task(
    { type: 'sardonyx', command: title },
    vscode.TaskScope.Workspace,
    `${title} ${target.name ?? target.uri.fsPath.split(/[\\/]/).pop()}`,
    'sardonyx',
    new vscode.ProcessExecution(programPath(), parts, { cwd: folderOf(target) }),
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
  await vscode.tasks.executeTask(task);
}

export async function runScript(uri?: unknown, name?: unknown): Promise<void> {
  const target = await targetOf(uri, name);
  if (target) await execute('run', target, ['run', words(target), '--random', ...schemaWords(target.uri)]);
}

export async function buildScript(uri?: unknown, name?: unknown): Promise<void> {
  const target = await targetOf(uri, name);
  if (!target) return;
  const file = target.uri.fsPath.replace(/\.py$/, '');
  const output = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.file(`${target.name ? `${folderOf(target)}/${target.name}` : file}.onnx`),
    filters: { 'ONNX model': ['onnx'] },
    title: 'Build',
  });
  if (output) await execute('build', target, ['build', words(target), '-o', output.fsPath, ...schemaWords(target.uri)]);
}
