// The extension with a stand-in for VS Code's API, the real language client and the real program
// (SARDONYX, else the one of the PATH).
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { after, before, beforeEach, test } = require('node:test');

const load = Module._load;
Module._load = function (name, ...rest) {
  return load.call(this, name === 'vscode' ? path.join(__dirname, 'vscode.js') : name, ...rest);
};
const vscode = require('vscode');
const { activate } = require('../out/extension.js');

const { seen, answers, settings, commands, events, providers, workspace, window } = vscode.standIn;
const program = process.env.SARDONYX || 'sardonyx';
const TEXT = `from sardonyx import FLOAT, script
from sardonyx.onnx_opset import opset18 as op

@script()
def main(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    y = op.Softmax(x, axis=1)
    return op.Add(y, x)

@script()
def other(x: FLOAT[2]) -> FLOAT[2]:
    return op.Relu(x)
`;
const lens = (name) => ({ command: { command: 'sardonyx.showGraph', arguments: ['', name] } });

let folder, file, opened;
const context = { subscriptions: [] };

async function until(wanted) {
  for (let i = 0; i < 600; ++i) {
    const found = wanted();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it did not come: ${wanted}`);
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sardonyx test '));  // a path with a blank
  file = path.join(folder, 'a.py');
  fs.writeFileSync(file, TEXT);
  settings.set('sardonyx.path', program);
  opened = vscode.standIn.document(vscode.Uri.file(file), TEXT);
  workspace.textDocuments.push(opened);
  window.activeTextEditor = { document: opened };
  window.visibleTextEditors = [{ document: opened, viewColumn: 1 }];
  await activate(context);
  assert.deepEqual(seen.errors, []);
});

after(async () => {
  for (const one of context.subscriptions.reverse()) await one.dispose();
  fs.rmSync(folder, { recursive: true });
});

beforeEach(() => {
  seen.errors.length = seen.tasks.length = seen.shown.length = 0;
  Object.assign(answers, { pick: undefined, save: undefined, lenses: [] });
});

test('the manifest names what the extension registers', () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '../package.json'), 'utf8'));
  assert.deepEqual(manifest.contributes.commands.map((one) => one.command).sort(),
                   [...commands.keys()].filter((name) => /^sardonyx\.(showGraph|run|build|restart)$/.test(name)).sort());
});

test('the server starts and says what is wrong with the text', async () => {
  const wrong = vscode.standIn.document(vscode.Uri.file(path.join(folder, 'b.py')), TEXT.replace('op.Softmax', 'op.Sofmax'));
  workspace.textDocuments.push(wrong);
  events.onDidOpenTextDocument.fire(wrong);
  await new Promise((resolve) => setTimeout(resolve, 500));  // the server hears of it
  events.onDidChangeTabs.fire({ opened: [wrong], closed: [], changed: [] });
  const message = await until(() => {
    const pushed = [...seen.diagnostics.values()].flat().map((one) => one.message);
    return pushed.find((one) => one.includes('Sofmax'));
  });
  assert.match(message, /Softmax/);
});

test('inlay hints can be switched off', async () => {
  const hints = await until(() => providers.get('registerInlayHintsProvider'));
  const token = new vscode.CancellationTokenSource().token;
  const ask = () => hints.provideInlayHints(opened, new vscode.Range(0, 0, 11, 0), token);
  assert.ok((await ask()).length > 0);
  settings.set('sardonyx.inlayHints', false);
  assert.deepEqual(await ask(), []);
  settings.delete('sardonyx.inlayHints');
});

test('the graph of the script that a code lens names', async () => {
  await commands.get('sardonyx.showGraph')(vscode.Uri.file(file).toString(), 'main');
  const panel = seen.panels.at(-1);
  assert.equal(panel.title, 'Graph of main');
  assert.match(panel.webview.html, /^<!DOCTYPE html>[^]*Softmax/);
  assert.match(panel.webview.html, /default-src 'none'/);
  assert.deepEqual(panel.options.localResourceRoots, []);
  // The page says the path and the line of a node; the editor shows it.
  const data = JSON.parse(/id="data">([^]*?)<\/script>/.exec(panel.webview.html)[1]);
  const node = data.sheets[0].boxes.find((one) => one.title === 'Softmax');
  panel.say({ file: data.files[node.file].path, line: node.line });
  await until(() => seen.shown.length);
  assert.deepEqual(seen.shown, [{ file, line: 6 }]);
  // Back: the cursor's line goes to the page, under the path that the page knows.
  events.onDidChangeTextEditorSelection.fire({ kind: 1, textEditor: { document: opened }, selections: [{ active: { line: 5 } }] });
  assert.deepEqual(panel.posted, [{ file: data.files[node.file].path, line: 6 }]);
  for (const nonsense of [null, 7, {}, { file: 3, line: 1 }, { file, line: 0 }, { file, line: 1.5 }, { file, line: 'x' }]) panel.say(nonsense);
  panel.say({ file: 'missing.py', line: 1 });
  await until(() => seen.errors.length);
  assert.equal(seen.shown.length, 1);
  // The same script has one panel; a change that is saved is shown, one with mistakes keeps the graph.
  const count = seen.panels.length;
  await commands.get('sardonyx.showGraph')(vscode.Uri.file(file).toString(), 'main');
  assert.equal(seen.panels.length, count);
  fs.writeFileSync(file, TEXT.replace('op.Add', 'op.Mul'));
  events.onDidSaveTextDocument.fire(opened);
  await until(() => panel.webview.html.includes('Mul'));
  fs.writeFileSync(file, TEXT.replace('op.Add', 'op.Ad'));
  seen.errors.length = 0;
  events.onDidSaveTextDocument.fire(opened);
  await until(() => seen.errors.length);
  assert.match(seen.errors[0], /no graph to show/);
  assert.ok(panel.webview.html.includes('Mul'));
  fs.writeFileSync(file, TEXT);
  panel.dispose();
  await commands.get('sardonyx.showGraph')(vscode.Uri.file(file).toString(), 'main');
  assert.equal(seen.panels.length, count + 1);
});

test('the palette asks for the script where there are several', async () => {
  answers.lenses = [lens('main'), lens('other')];
  answers.pick = 'other';
  await commands.get('sardonyx.showGraph')();
  assert.deepEqual(seen.picked, ['main', 'other']);
  assert.match(seen.panels.at(-1).webview.html, /Relu/);
  const count = seen.panels.length;
  answers.pick = undefined;  // Escape
  await commands.get('sardonyx.showGraph')();
  assert.equal(seen.panels.length, count);
});

test('run and build are tasks whose words no shell reads', async () => {
  opened.isDirty = true;
  await commands.get('sardonyx.run')(vscode.Uri.file(file).toString(), 'main');
  assert.equal(opened.isDirty, false);
  answers.save = vscode.Uri.file(path.join(folder, 'out model.onnx'));
  await commands.get('sardonyx.build')(vscode.Uri.file(file).toString(), 'main');
  const { execFileSync } = require('node:child_process');
  const outputs = seen.tasks.map(({ execution }) => execFileSync(execution.process, execution.args, { cwd: execution.options.cwd, encoding: 'utf8' }));
  assert.match(outputs[0], /FLOAT\[4, ?4\]/);
  assert.ok(fs.statSync(answers.save.fsPath).size > 50);
  answers.save = undefined;
  await commands.get('sardonyx.build')(vscode.Uri.file(file).toString(), 'main');
  assert.equal(seen.tasks.length, 2);
});

test('what cannot work says why', async () => {
  window.activeTextEditor = undefined;
  await commands.get('sardonyx.run')();
  assert.match(seen.errors[0], /open a Python file/);
  await commands.get('sardonyx.showGraph')('untitled:Untitled-1', 'main');
  assert.match(seen.errors[1], /save the file first/);
  settings.set('sardonyx.path', path.join(folder, 'missing'));
  await commands.get('sardonyx.restart')();
  await until(() => seen.errors.some((one) => one.includes('pip install sardonyx')));
  await commands.get('sardonyx.showGraph')(vscode.Uri.file(file).toString(), 'main');
  settings.set('sardonyx.path', program);
  await commands.get('sardonyx.restart')();
});
