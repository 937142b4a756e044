// A stand-in for the module `vscode`, which only VS Code has: as much of its API as the extension
// and vscode-languageclient touch. What a test looks at is in `seen`; classes that only the client
// extends are empty.
'use strict';

const path = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');

class Disposable {
  constructor(action) { this.action = action; }
  static from(...all) { return new Disposable(() => all.forEach((one) => one.dispose())); }
  dispose() { this.action?.(); this.action = undefined; }
}

class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self, owned) => {
      const one = self ? listener.bind(self) : listener;
      this.listeners.add(one);
      const made = new Disposable(() => this.listeners.delete(one));
      owned?.push(made);
      return made;
    };
  }
  fire(value) { for (const one of [...this.listeners]) one(value); }
  dispose() { this.listeners.clear(); }
}

class Uri {
  constructor(parts) { Object.assign(this, parts); }
  static file(name) { return Uri.parse(pathToFileURL(path.resolve(name)).href); }
  static parse(text) {
    const url = new URL(text);
    return new Uri({ scheme: url.protocol.slice(0, -1), authority: url.host, path: url.pathname, query: '', fragment: '', text });
  }
  get fsPath() { return this.scheme === 'file' ? fileURLToPath(this.text) : this.path; }
  toString() { return this.text; }
}

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
}
class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = typeof a === 'number' ? [new Position(a, b), new Position(c, d)] : [a, b];
  }
}
class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}

class CodeActionKind {
  constructor(value) { this.value = value; }
  append(part) { return new CodeActionKind(this.value ? `${this.value}.${part}` : part); }
}
CodeActionKind.Empty = new CodeActionKind('');

class TabInputText {
  constructor(uri) { this.uri = uri; }
}

// A class that nobody looks into.
const empty = () => class { constructor(...parts) { this.parts = parts; } };

const events = {};
const event = (name) => (events[name] ??= new EventEmitter()).event;
const settings = new Map();
const commands = new Map();
const providers = new Map();
const seen = { errors: [], panels: [], tasks: [], shown: [], diagnostics: new Map(), executed: [] };
const answers = { pick: undefined, save: undefined, lenses: [] };

class CancellationTokenSource {
  constructor() { this.token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event }; }
  cancel() {}
  dispose() {}
}

function document(uri, text) {
  return {
    uri, fileName: uri.fsPath, languageId: 'python', version: 1, isDirty: false, isClosed: false,
    getText: () => text, save: async function () { this.isDirty = false; return true; },
  };
}

const register = (name) => (...parts) => {
  providers.set(name, parts[1]);
  return new Disposable(() => providers.delete(name));
};

const languages = new Proxy({
  createDiagnosticCollection: () => ({
    set: (uri, found) => seen.diagnostics.set(uri.toString(), found),
    delete: (uri) => seen.diagnostics.delete(uri.toString()),
    clear: () => seen.diagnostics.clear(),
    dispose: () => {},
  }),
  match: (selector, document) => [selector].flat().some((one) =>
    (one.language ?? one) === document.languageId && (!one.scheme || one.scheme === document.uri.scheme) ? 10 : 0) ? 10 : 0,
}, { get: (own, name) => own[name] ?? (String(name).startsWith('register') ? register(name) : undefined) });

const workspace = {
  workspaceFolders: undefined, textDocuments: [], notebookDocuments: [], isTrusted: true,
  getConfiguration: (section) => ({
    get: (key, otherwise) => settings.get(`${section}.${key}`) ?? otherwise,
    has: () => false, inspect: () => undefined,
  }),
  getWorkspaceFolder: () => undefined,
  openTextDocument: async (uri) => {
    const open = workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    return open ?? document(uri, require('node:fs').readFileSync(uri.fsPath, 'utf8'));
  },
  createFileSystemWatcher: () => ({ onDidCreate: event('a'), onDidChange: event('b'), onDidDelete: event('c'), dispose() {} }),
  applyEdit: async () => true,
};

const window = {
  activeTextEditor: undefined, visibleTextEditors: [], state: { focused: true },
  tabGroups: { get all() { return [{ tabs: workspace.textDocuments.map((one) => ({ input: new TabInputText(one.uri) })) }]; }, onDidChangeTabs: event('onDidChangeTabs'), onDidChangeTabGroups: event('onDidChangeTabGroups') },
  createOutputChannel: () => ({ append() {}, appendLine() {}, clear() {}, show() {}, dispose() {}, info() {}, error() {} }),
  showErrorMessage: async (text) => { seen.errors.push(text); },
  showWarningMessage: async () => undefined,
  showInformationMessage: async () => undefined,
  showQuickPick: async (items) => { seen.picked = items; return answers.pick; },
  showSaveDialog: async (options) => { seen.saved = options; return answers.save; },
  showTextDocument: async (shown, options) => {
    seen.shown.push({ file: shown.uri.fsPath, line: options.selection.start.line + 1 });
    return { document: shown, revealRange() {} };
  },
  createWebviewPanel: (kind, title, place, options) => {
    const message = new EventEmitter(), closed = new EventEmitter();
    const panel = {
      kind, title, options, posted: [], reveal() {},
      webview: { html: '', onDidReceiveMessage: message.event, postMessage: async (one) => { panel.posted.push(one); return true; } },
      onDidDispose: closed.event,
      dispose() { closed.fire(); closed.dispose(); },
      say: (one) => message.fire(one),
    };
    seen.panels.push(panel);
    return panel;
  },
};

const known = {
  Disposable, EventEmitter, Uri, Position, Range, Diagnostic, CodeActionKind, TabInputText, CancellationTokenSource,
  version: '1.82.0',
  env: { appName: 'stand-in', language: 'en', machineId: '' },
  languages,
  workspace: new Proxy(workspace, { get: (own, name) => own[name] ?? (/^on[A-Z]/.test(String(name)) ? event(name) : undefined) }),
  window: new Proxy(window, { get: (own, name) => own[name] ?? (/^on[A-Z]/.test(String(name)) ? event(name) : undefined) }),
  commands: {
    registerCommand: (name, action) => {
      commands.set(name, action);
      return new Disposable(() => commands.delete(name));
    },
    executeCommand: async (name, ...parts) => {
      seen.executed.push([name, ...parts]);
      if (name === 'vscode.executeCodeLensProvider') return answers.lenses;
      return commands.get(name)?.(...parts);
    },
  },
  tasks: { executeTask: async (task) => { seen.tasks.push(task); } },
  extensions: { getExtension: () => undefined, all: [], onDidChange: event('extensions') },
  Task: class {
    constructor(definition, scope, name, source, execution) { Object.assign(this, { definition, scope, name, source, execution }); }
  },
  ProcessExecution: class {
    constructor(process, args, options) { Object.assign(this, { process, args, options }); }
  },
  TaskScope: { Workspace: 2 }, TaskRevealKind: { Always: 1 },
  ViewColumn: { One: 1, Beside: -2 }, TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  TextDocumentSaveReason: { Manual: 1 }, ProgressLocation: { Window: 10 },
  NotebookCellKind: { Code: 2, Markup: 1 }, StatusBarAlignment: { Left: 1 },
};

// Enumerations and classes that nobody looks into.
const others = {};
module.exports = new Proxy(known, {
  get: (own, name) => own[name] ?? (typeof name === 'string' && /^[A-Z]/.test(name) ? others[name] ??= empty() : undefined),
});
module.exports.standIn = { seen, answers, settings, commands, providers, events, document, workspace, window, Uri };
