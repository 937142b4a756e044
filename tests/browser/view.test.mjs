// The page of `sardonyx view --html` in Chromium, as one uses it: pages are made by SARDONYX from
// the models that tests/python/editor/test_browser.py has put into SDX_MODELS. SDX_SHOTS names a
// folder that gets a picture of each step.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { open, until } from './chromium.mjs';

const sardonyx = process.env.SARDONYX || 'sardonyx';
const models = process.env.SDX_MODELS;
let browser, page;

before(async () => {
  browser = await open();
  page = browser.page;
  page.setDefaultTimeout(60000);
});
after(() => browser.close());
afterEach(() => {
  assert.deepEqual(browser.faults.splice(0), []);
});

async function view(name, words, status = 0) {
  const out = path.join(models, `${name}.html`);
  const done = spawnSync(sardonyx, ['view', ...words, '--html', out], { cwd: models, encoding: 'utf8' });
  assert.equal(done.status, status, done.stderr);
  await page.goto(pathToFileURL(out).href);
  await until(page, () => document.documentElement.dataset.painted !== undefined);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function shot(name) {
  if (process.env.SDX_SHOTS) await page.screenshot({ path: path.join(process.env.SDX_SHOTS, `${name}.png`) });
}

// Clicks the box of this title, the `which`th of those of a sheet.
async function click(title, sheet = 0, which = 0) {
  const at = await page.evaluate(([title, sheet, which]) => {
    const found = data.sheets[sheet].boxes.map((box, i) => [box, i]).filter(([box]) => box.title === title)[which];
    reveal(keyOf(sheet, found[1]));
    choose(null);
    draw();
    const { one, x, y } = locateShown(keyOf(sheet, found[1]).key);
    const frame = canvas.getBoundingClientRect();
    return [frame.left + left + (x + one.w / 2) * scale, frame.top + top_ + (y + 8) * scale];
  }, [title, sheet, which]);
  await page.mouse.click(...at);
}
const side = () => page.innerText('#side');

test('nothing of a model runs or becomes an element', async () => {
  for (const words of [['evil.onnx'], ['evil.onnx', 'evil2.onnx'], ['evil.onnx', '--random']]) {
    await view('evil', words, words.includes('--random') ? 1 : 0);
    const count = await page.evaluate(() => data.sheets.flatMap((sheet) => sheet.boxes || []).length);
    assert.ok(count > 3);
    for (let i = 0; i < count; ++i) {
      await page.evaluate((i) => {
        const all = data.sheets.flatMap((sheet, s) => (sheet.boxes || []).map((_, b) => [s, b]));
        reveal(keyOf(...all[i]));
      }, i);
      assert.equal(await page.$$eval('b:not(header b), img, iframe, object, a[href]', (all) => all.length), 0);
    }
    await page.fill('#search', '<b>');
    assert.match(await side(), /match/i);
    await page.press('#search', 'Escape');
    assert.match(await side(), /<b>/);
    assert.equal(await page.evaluate(() => window.evil), undefined);
    assert.equal(await page.evaluate(() => document.scripts.length), 2);
  }
});

test('a node leads to its line and a line to its node', async () => {
  await view('script', ['a.py:main']);
  await shot('script');
  await click('Softmax');
  assert.equal(await page.innerText('#source .at'), '9    y = op.Softmax(x * 2.0, axis=-1)');
  await page.click('#source .has >> text=op.Log');
  assert.match(await side(), /^Log/);
});

test('weights show how they are spread', async () => {
  await view('weights', ['net.onnx']);
  await click('MatMul');
  const text = await side();
  assert.match(text, /range\s+-3(\.\d+)? to 3/);
  assert.match(text, /mean\s+/);
  const bars = await page.$$eval('#side svg rect', (all) => all.map((one) => Number(one.getAttribute('height'))));
  assert.equal(bars.length, 24);
  assert.ok(bars[12] > bars[0] && bars[12] > bars[23], bars.join());  // a bell
  await shot('weights');
});

test('two models side by side', async () => {
  await view('pair', ['net.onnx', 'net2.onnx']);
  const text = await side();
  assert.match(text, /3 differences/i);
  await shot('pair');
  const marks = await page.evaluate(() => [0, data.beside].map((sheet) => data.sheets[sheet].boxes.filter((box) => box.mark).map((box) => `${box.mark} ${box.title}`)));
  assert.deepEqual(marks, [['changed Relu'], ['added Gelu', 'changed Neg']]);
  await click('MatMul', 0);
  await page.click('#side >> text=go to the other model');
  assert.ok(await page.evaluate(() => chosen.startsWith(String(data.beside) + '/')));
  await view('pair', ['net.onnx', 'net.onnx']);
  assert.match(await side(), /no differences/i);
});

test('a run shows its values and the first NaN', async () => {
  await view('run', ['a.py:main', '--run', 'x=[[-1.0, 2.0]]']);
  assert.match(await side(), /first NaN: Log, line 10/);
  await page.click('#side >> text=first NaN: Log');
  assert.match(await side(), /run\s+FLOAT\[1, ?2\]/);
  await shot('run');
  await view('run', ['a.py:main', '--run', 'x=[[1.0, 2.0]]']);
  assert.match(await side(), /first NaN\s+none/);
});

test('functions and repeated layers open', async () => {
  await view('layers', ['layers.onnx', '--outline']);
  const find = () => page.evaluate(() => data.sheets[0].boxes.findIndex((box) => box.function !== undefined));
  const index = await find();
  assert.ok(index >= 0);
  const before = await page.evaluate(() => shown.h);
  await page.evaluate((index) => { opened.clear(); show(0); reveal(keyOf(0, index)); }, index);
  await page.click('#side >> text=open function');
  assert.ok(await page.evaluate(() => shown.h) > before / 2);
  assert.ok(await page.evaluate((index) => locateShown(`0/${index}.0/0`) !== null, index));
  await shot('layers');
});

test('a real model is shown as a whole, and from near', async () => {
  await view('real', [process.env.SDX_REAL]);
  const [, nodes, constants] = (await side()).match(/nodes\s+(\d+)\s+constants\s+(\d+)/);
  assert.ok(Number(nodes) + Number(constants) > 1000, `${nodes} ${constants}`);
  assert.ok(await page.evaluate(() => data.sheets[0].boxes.length) > Number(nodes));  // and its ends
  await shot('real_whole');
  await click('Softmax');
  assert.match(await side(), /^Softmax/);
  const widths = await page.$$eval('#side dd', (all) => all.map((one) => one.offsetWidth));
  assert.ok(Math.min(...widths) > 120, widths.join());  // beside names of any length
  await shot('real');
});

test('an editor around the page hears of nodes and tells of its cursor', async () => {
  await page.addInitScript(() => {
    window.heard = [];
    window.acquireVsCodeApi = () => ({ postMessage: (one) => window.heard.push(one) });
  });
  await view('panel', ['a.py:main']);
  assert.ok(await page.isHidden('#source'));
  await click('Softmax');
  const heard = await page.evaluate(() => window.heard);
  const { file, line } = heard.at(-1);
  assert.equal(line, 9);
  await page.evaluate(([file]) => window.postMessage({ file, line: 10 }, '*'), [file]);
  await until(page, () => marked.size > 0 && document.querySelector('#side h2').textContent === 'Log');
  await page.evaluate(() => { for (const one of [null, 3, {}, { file: 'x', line: 1 }, { file: data.files[0].path, line: 'x' }]) window.postMessage(one, '*'); });
  assert.equal(await page.evaluate(() => window.heard.length), heard.length);
});
