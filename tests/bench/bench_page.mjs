// bench_page - first paint of the page, and the work of a refresh of each view, in Chromium.
//
//   node bench_page.mjs URL ROUNDS      GILLNET_TOKEN is an administrator's. Started by bench_page.py.
import { open, signedIn, tab, to, viewsOf } from "../integ/page/browser.mjs";

const [url, rounds] = [process.argv[2], Number(process.argv[3])];
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const rounded = (n) => Number(n.toFixed(2));

async function firstPaint(browser) {
  const it = await tab(browser, url);
  const paint = await it.page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const ms = await paint.jsonValue();
  await it.context.close();
  return ms;
}

async function workOf(session, call) {
  const metrics = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value * 1000]));
  const before = await metrics();
  await call();
  const after = await metrics();
  return { script: after.ScriptDuration - before.ScriptDuration, task: after.TaskDuration - before.TaskDuration };
}

const WAIT_MS = 700; // until the answers of a refresh are shown

const browser = await open();
const paints = [];
for (let i = 0; i < rounds; i++) paints.push(await firstPaint(browser));
const it = await signedIn(browser, url);
const session = await it.context.newCDPSession(it.page);
await session.send("Performance.enable");
const views = {};
for (const view of await viewsOf(it)) {
  await to(it, view);
  await it.page.waitForTimeout(1500);
  const work = [];
  for (let i = 0; i < rounds; i++) {
    work.push(await workOf(session, async () => {
      // It asks all reads of the view again, and those of the health.
      await it.page.evaluate(() => dispatchEvent(new Event("gillnet-refresh")));
      await it.page.waitForTimeout(WAIT_MS);
    }));
  }
  views[view] = { script_ms: rounded(median(work.map((w) => w.script))), most_script_ms: rounded(Math.max(...work.map((w) => w.script))), task_ms: rounded(median(work.map((w) => w.task))),
    elements: await it.page.evaluate(() => document.querySelectorAll("*").length) };
}
console.log(JSON.stringify({ first_paint_ms: rounded(median(paints)), most_paint_ms: rounded(Math.max(...paints)), views }));
await browser.close();
process.exit();
