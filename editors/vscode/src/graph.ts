// The graph of a script or a model in a panel beside its text: the page that `sardonyx view --html`
// writes. A node that is clicked shows its line in the editor, and the line of the cursor marks
// its nodes in the page.
import * as path from 'node:path';

import * as vscode from 'vscode';

import { programPath, runProgram, schemaWords, tellMissing } from './program';
import { folderOf, Target, targetOf, words } from './target';

interface Message {
  file: string;
  line: number;  // from 1 on
}

function isMessage(value: unknown): value is Message {
  const one = value as Partial<Message> | null;
  return typeof one === 'object' && one !== null && typeof one.file === 'string' &&
    Number.isSafeInteger(one.line) && (one.line as number) > 0;
}

class GraphPanel implements vscode.Disposable {
  private readonly panel: vscode.WebviewPanel;
  private readonly others: vscode.Disposable[];
  private count = 0;  // of the pages asked for: an older one that comes late is not shown

  constructor(readonly target: Target, onClose: () => void) {
    const title = `Graph of ${target.name ?? path.basename(target.uri.fsPath)}`;
    this.panel = vscode.window.createWebviewPanel(
      'sardonyx.graph', title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true },
    );
    this.others = [
      this.panel.webview.onDidReceiveMessage((message: unknown) => this.reveal(message)),
      this.panel.onDidDispose(onClose),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (document.uri.toString() === target.uri.toString()) void this.update();
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => {
        if (event.textEditor.document.uri.scheme === 'file' && event.kind !== undefined) {
          void this.panel.webview.postMessage({
            file: event.textEditor.document.uri.fsPath,
            line: event.selections[0].active.line + 1,
          });
        }
      }),
    ];
  }

  show(): Promise<void> {
    this.panel.reveal(undefined, true);
    return this.update();
  }

  // What has no graph keeps the last one; the findings stand in the editor.
  async update(): Promise<void> {
    const own = ++this.count;
    const parts = ['view', words(this.target), '--html', '-', ...schemaWords(this.target.uri)];
    const done = await runProgram(parts, folderOf(this.target));
    if (own !== this.count) return;
    if (done.status === 0) {
      this.panel.webview.html = done.output;
    } else if (done.status === -1) {
      await tellMissing(done.errors);
    } else {
      const line = done.errors.split('\n').find((one) => one.trim() !== '') ?? `\`${programPath()}\` has failed`;
      void vscode.window.showErrorMessage(`Sardonyx: there is no graph to show: ${line}`);
    }
  }

  // Only files that the page was made of: it says their paths as the program read them.
  private async reveal(message: unknown): Promise<void> {
    if (!isMessage(message)) return;
    const file = vscode.Uri.file(path.resolve(folderOf(this.target), message.file));
    const open = vscode.window.visibleTextEditors.find((one) => one.document.uri.toString() === file.toString());
    try {
      const document = open?.document ?? await vscode.workspace.openTextDocument(file);
      const at = new vscode.Range(message.line - 1, 0, message.line - 1, 0);
      const editor = await vscode.window.showTextDocument(document, {
        viewColumn: open?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: true, selection: at,
      });
      editor.revealRange(at, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    } catch (error) {
      void vscode.window.showErrorMessage(`Sardonyx: cannot open ${file.fsPath}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  dispose(): void {
    this.others.forEach((one) => one.dispose());
    this.panel.dispose();
  }
}

// One panel for each script.
export class GraphPanels implements vscode.Disposable {
  private readonly panels = new Map<string, GraphPanel>();

  async show(uri?: unknown, name?: unknown): Promise<void> {
    const target = await targetOf(uri, name);
    if (!target) return;
    const key = words(target);
    let panel = this.panels.get(key);
    if (!panel) {
      const made: GraphPanel = new GraphPanel(target, () => {
        this.panels.delete(key);
        made.dispose();
      });
      panel = made;
      this.panels.set(key, panel);
    }
    await panel.show();
  }

  dispose(): void {
    [...this.panels.values()].forEach((one) => one.dispose());
  }
}
