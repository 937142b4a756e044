// CodeMirror with its language client, and the inlay hints that the client does not draw itself.
import { autocompletion, startCompletion } from '@codemirror/autocomplete';
import { python } from '@codemirror/lang-python';
import { forEachDiagnostic, lintGutter } from '@codemirror/lint';
import { LSPClient, jumpToDefinition, languageServerExtensions } from '@codemirror/lsp-client';
import { RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, ViewPlugin, WidgetType } from '@codemirror/view';
import { EditorView, basicSetup } from 'codemirror';

class Hint extends WidgetType {
  constructor(text) {
    super();
    this.text = text;
  }
  eq(other) { return other.text === this.text; }
  toDOM() {
    const made = document.createElement('span');
    made.className = 'sdx-hint';
    made.textContent = this.text;
    return made;
  }
}

const setHints = StateEffect.define();
const hints = StateField.define({
  create: () => Decoration.none,
  update: (now, transaction) => transaction.effects.reduce(
    (found, one) => (one.is(setHints) ? one.value : found), now.map(transaction.changes)),
  provide: (field) => EditorView.decorations.from(field),
});

function offsetOf(doc, { line, character }) {
  return doc.line(line + 1).from + character;
}

const askForHints = (client, uri) => ViewPlugin.fromClass(class {
  constructor(view) { void this.ask(view); }
  update(update) { if (update.docChanged) void this.ask(update.view); }
  async ask(view) {
    await client.initializing;
    const doc = view.state.doc;
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.sync();
    const range = { start: { line: 0, character: 0 }, end: { line: doc.lines, character: 0 } };
    const found = await client.request('textDocument/inlayHint', { textDocument: { uri }, range });
    if (view.state.doc !== doc) return;  // a later one asks again
    const set = new RangeSetBuilder();
    for (const { position, label } of found || []) {
      const text = typeof label === 'string' ? label : label.map((part) => part.value).join('');
      const at = offsetOf(doc, position);
      set.add(at, at, Decoration.widget({ widget: new Hint(text), side: 1 }));
    }
    view.dispatch({ effects: setHints.of(set.finish()) });
  }
});

// What the test drives.
window.start = async (text, uri) => {
  const socket = new WebSocket(`ws://${location.host}/lsp`);
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
  const handlers = new Set();
  socket.onmessage = (event) => handlers.forEach((one) => one(event.data));
  const transport = {
    send: (message) => socket.send(message),
    subscribe: (handler) => handlers.add(handler),
    unsubscribe: (handler) => handlers.delete(handler),
  };
  // The client says that it asks for diagnostics, and never does: it wants them told.
  const pushed = { clientCapabilities: { textDocument: { diagnostic: false } } };
  const client = new LSPClient({ timeout: 20000, extensions: [...languageServerExtensions(), pushed] }).connect(transport);
  await client.initializing;
  const view = new EditorView({
    doc: text,
    parent: document.getElementById('editor'),
    extensions: [basicSetup, python(), lintGutter(), autocompletion(), client.plugin(uri, 'python'), hints, askForHints(client, uri)],
  });
  window.editor = {
    capabilities: client.serverCapabilities,
    diagnostics: () => {
      const found = [];
      forEachDiagnostic(view.state, (one, from, to) => found.push({ message: one.message, severity: one.severity, text: view.state.sliceDoc(from, to) }));
      return found;
    },
    hints: () => [...document.querySelectorAll('.sdx-hint')].map((one) => one.textContent),
    text: () => view.state.doc.toString(),
    // The cursor behind the first place of a text.
    put: (words) => {
      const at = view.state.doc.toString().indexOf(words) + words.length;
      view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
      view.focus();
      return view.coordsAtPos(at - 1);
    },
    replace: (words, by) => {
      const from = view.state.doc.toString().indexOf(words);
      view.dispatch({ changes: { from, to: from + words.length, insert: by } });
    },
    complete: () => startCompletion(view),
    define: () => jumpToDefinition(view),
    line: () => view.state.doc.lineAt(view.state.selection.main.head).number,
    leave: async () => {
      await client.request('shutdown', null);
      client.notification('exit', null);
      await new Promise((resolve) => setTimeout(resolve, 100));  // it goes out later
      socket.close();
    },
  };
};
