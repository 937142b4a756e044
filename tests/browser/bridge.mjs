// A page with CodeMirror, and the language server behind a WebSocket: its frames are the messages
// that the server has on standard input and output.
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import { WebSocketServer } from 'ws';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PAGE = `<!DOCTYPE html><meta charset="utf-8"><title>editor</title>
<style>body { margin: 0; background: #fff } .cm-editor { height: 100vh; font-size: 15px }
.cm-scroller { font-family: "DejaVu Sans Mono", monospace; line-height: 1.55 }
.sdx-hint { color: #8a93a0; background: #f2f4f7; border-radius: 3px; padding: 0 4px; font-size: 85% }</style>
<div id="editor"></div><script src="page.js"></script>`;

// Messages of the server's output: "Content-Length: N", a blank line, N bytes.
function reader(take) {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.indexOf('\r\n\r\n');
      const size = end < 0 ? null : /Content-Length: (\d+)/i.exec(rest.subarray(0, end).toString());
      if (!size || rest.length < end + 4 + Number(size[1])) return;
      take(rest.subarray(end + 4, end + 4 + Number(size[1])).toString());
      rest = rest.subarray(end + 4 + Number(size[1]));
    }
  };
}

// The address of the page, what each server said on standard error or by its status, and an end.
export async function serve(sardonyx, folder) {
  const script = await build({ entryPoints: [path.join(HERE, 'editor_page.js')], bundle: true, write: false, format: 'iife' });
  const faults = [];
  const server = http.createServer((request, response) => {
    const isScript = request.url.startsWith('/page.js');
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script.outputFiles[0].text : PAGE);
  });
  const ends = [];
  new WebSocketServer({ server, path: '/lsp' }).on('connection', (socket) => {
    const child = spawn(sardonyx, ['lsp'], { cwd: folder });
    child.stdout.on('data', reader((text) => socket.send(text)));
    child.stderr.on('data', (bytes) => faults.push(bytes.toString()));
    ends.push(new Promise((resolve) => child.on('exit', (status) => { if (status) faults.push(`exit ${status}`); resolve(); })));
    socket.on('message', (text) => child.stdin.write(`Content-Length: ${text.length}\r\n\r\n${text}`));
    socket.on('close', () => child.stdin.end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    await Promise.all(ends);
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, faults, close };
}
