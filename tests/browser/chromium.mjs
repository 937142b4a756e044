// Headless Chromium: that of CHROMIUM, else of the PATH's usual places. It is on its own: a new
// profile, no background work, and no network but this machine's.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { chromium } from 'playwright-core';

export function program() {
  const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return places.find((one) => one && fs.existsSync(one));
}

// A browser, and one page of it; `size` is in CSS pixels.
export async function open(size = { width: 1400, height: 900 }, scale = 1) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'sardonyx-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: program(),
    headless: true,
    viewport: size,
    deviceScaleFactor: scale,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
           '--disable-component-update', '--disable-sync'],
  });
  const page = context.pages()[0];
  const faults = [];  // what the page itself complained of
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  const close = async () => {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true });
  };
  return { page, faults, close };
}

// Waits until `what` holds in the page. page.waitForFunction() is not for pages whose policy of
// content forbids eval(): its second look at what does not hold yet is by eval().
export async function until(page, what) {
  for (let i = 0; i < 1500; ++i) {
    if (await page.evaluate(what)) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`not within 30 s: ${what}`);
}
