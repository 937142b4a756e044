// What VS Code starts: the language client, the commands, and the status of both.
import * as vscode from 'vscode';

import { Client } from './client';
import { buildScript, runScript } from './commands';
import { GraphPanels } from './graph';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const client = new Client();
  const panels = new GraphPanels();
  context.subscriptions.push(
    client,
    panels,
    vscode.commands.registerCommand('sardonyx.showGraph', (uri?: unknown, name?: unknown) => panels.show(uri, name)),
    vscode.commands.registerCommand('sardonyx.run', runScript),
    vscode.commands.registerCommand('sardonyx.build', buildScript),
    vscode.commands.registerCommand('sardonyx.restart', () => client.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('sardonyx')) void client.restart();
    }),
  );
  await client.start();
}
