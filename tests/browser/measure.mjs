// Figures of a page of `sardonyx view --html`, as JSON: node measure.mjs PAGE.html
//
//   paint   ms from the start of the navigation until the browser has painted the graph
//   pan     ms between two frames, the graph dragged by the mouse: the median, and that which 95 of
//           100 frames keep
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { open, until } from './chromium.mjs';

const FRAMES = 120;

async function pan(page) {
  const frame = await page.locator('#canvas').boundingBox();
  await page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
  await page.mouse.down();
  const before = await page.evaluate(() => [left, top_, window.times.length]);
  for (let i = 1; i <= FRAMES; ++i) {
    await page.mouse.move(frame.x + frame.width / 2 + 100 * Math.sin(i / 9), frame.y + frame.height / 2 - 3 * i);
  }
  await page.mouse.up();
  const [times, place] = await page.evaluate((start) => [window.times.slice(start), [left, top_]], before[2]);
  if (place[1] === before[1]) throw new Error('the graph did not move');
  const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  return { median: gaps[gaps.length >> 1], most: gaps[Math.floor(gaps.length * 0.95)] };
}

const { page, close } = await open();
page.setDefaultTimeout(120000);
await page.goto(pathToFileURL(path.resolve(process.argv[2])).href);
await until(page, () => document.documentElement.dataset.painted !== undefined);
const paint = await page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0));
}));
await page.evaluate(() => {
  window.times = [];
  const count = (time) => {
    window.times.push(time);
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
});
const near = await pan(page);
await page.keyboard.press('f');  // all of it at once
const all = await pan(page);
const boxes = await page.evaluate(() => data.sheets.reduce((sum, sheet) => sum + (sheet.boxes || []).length, 0));
console.log(JSON.stringify({ boxes, paint, near, all }));
await close();
