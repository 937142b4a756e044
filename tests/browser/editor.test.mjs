// CodeMirror in Chromium, its language client, and `sardonyx lsp` (SARDONYX): what one sees while
// one writes a script. SDX_SHOTS names a folder that gets a picture of each step.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { serve } from './bridge.mjs';
import { open } from './chromium.mjs';

const TEXT = `from sardonyx import FLOAT, script
from sardonyx.onnx_opset import opset18 as op


@script()
def attention(q: FLOAT["N", "S", 64], k: FLOAT["N", "S", 64]) -> FLOAT["N", "S", "S"]:
    scores = op.MatMul(q, op.Transpose(k, perm=[0, 2, 1]))
    scaled = scores / 8.0
    return op.Softmax(scaled, axis=-1)
`;

let site, browser, page, folder;

async function shot(name) {
  if (process.env.SDX_SHOTS) await page.screenshot({ path: path.join(process.env.SDX_SHOTS, `${name}.png`) });
}
const diagnostics = () => page.evaluate(() => editor.diagnostics());

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sardonyx-editor-'));
  site = await serve(process.env.SARDONYX || 'sardonyx', folder);
  browser = await open({ width: 1100, height: 420 });
  page = browser.page;
  page.setDefaultTimeout(60000);
  await page.goto(site.url);
  await page.evaluate(([text, uri]) => start(text, uri), [TEXT, pathToFileURL(path.join(folder, 'a.py')).href]);
});

after(async () => {
  await page.evaluate(() => editor.leave());
  await site.close();
  await browser.close();
  fs.rmSync(folder, { recursive: true });
  assert.deepEqual(site.faults, []);
  assert.deepEqual(browser.faults, []);
});

test('types and shapes stand behind names', async () => {
  await page.waitForFunction(() => editor.hints().length >= 2);
  const hints = (await page.evaluate(() => editor.hints())).join(' ');
  assert.match(hints, /FLOAT\[N, ?S, ?S\]/);
  assert.deepEqual(await diagnostics(), []);
  await shot('hints');
});

test('a mistake is marked while one types, and its repair takes it away', async () => {
  await page.evaluate(() => editor.replace('perm=[0, 2, 1]', 'perm=[0, 2, 3]'));
  await page.waitForFunction(() => editor.diagnostics().length === 1);
  const [found] = await diagnostics();
  assert.equal(found.severity, 'error');
  assert.match(found.message, /3/);
  await page.hover('.cm-lintRange-error');
  await page.waitForSelector('.cm-tooltip-lint');
  assert.match(await page.textContent('.cm-tooltip-lint'), /perm/);
  await shot('error');
  await page.mouse.move(5, 400);
  await page.evaluate(() => editor.replace('perm=[0, 2, 3]', 'perm=[0, 2, 1]'));
  await page.waitForFunction(() => editor.diagnostics().length === 0);
});

test('completion has the operators of the opset, while the line is not finished', async () => {
  await page.evaluate(() => { editor.replace('    scaled =', '    other = op.\n    scaled ='); editor.put('other = op.'); });
  await page.keyboard.type('Lay');
  await page.evaluate(() => editor.complete());
  await page.waitForSelector('.cm-tooltip-autocomplete li');
  const words = await page.$$eval('.cm-tooltip-autocomplete .cm-completionLabel', (all) => all.map((one) => one.textContent));
  assert.ok(words.includes('LayerNormalization'), words.join());
  assert.ok(!words.includes('RMSNormalization'), 'of opset 23');
  await shot('completion');
  await page.keyboard.press('Escape');
  await page.evaluate(() => editor.replace('    other = op.Lay\n', ''));
});

test('hover shows the operator', async () => {
  const at = await page.evaluate(() => editor.put('op.Softm'));
  await page.mouse.move(at.left + 2, (at.top + at.bottom) / 2);
  await page.waitForSelector('.cm-lsp-hover-tooltip');
  assert.match(await page.textContent('.cm-lsp-hover-tooltip'), /Softmax/);
  await shot('hover');
  await page.mouse.move(5, 400);
});

test('a name leads to where it was bound', async () => {
  await page.evaluate(() => { editor.put('op.Softmax(scal'); editor.define(); });
  await page.waitForFunction(() => editor.line() === 8);
});
