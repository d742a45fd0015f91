// view_overview - the sentence on top, the chart of each period and server, the servers of the owner.
//
//   node view_overview.mjs URL canned|real
//
// canned: periods and servers as a test cannot have them in seconds. real: the ring of test_page.py, whose alpha (URL) had
// 4 messages and refused 1, and whose beta had 2.
import assert from "node:assert/strict";

import { axe, isShown, open, sees, shot, tab, textOf, to, violations } from "./browser.mjs";
import { answers } from "./canned.mjs";

const [url, kind] = process.argv.slice(2);
const browser = await open();

const SHAPE = { day: [145, 600], week: [169, 3600], month: [745, 3600], year: [367, 86400], years: [733, 86400] };
// One more message in each bucket of the newest half; reads the query as the hub does.
function past(body, request) {
  const query = new URL(request.url()).searchParams;
  const [n, step] = SHAPE[query.get("period") ?? "day"];
  const end = Math.floor(Date.now() / 1000 / step);
  const buckets = Array.from({ length: n }, (_, i) => ({ at: (end - n + 1 + i) * step, messages: i, accept: i - (i >> 3), header: 0, quarantine: 0, defer: 0, reject: i >> 3, discard: 0 }));
  if (!query.has("period") && !query.has("server")) return { ...answers()["GET /v1/history"], buckets };
  return { period: query.get("period") ?? "day", bucket_s: step, buckets, servers: [], missing: query.get("server") === "all" ? ["three", "four"] : [] };
}
const sum = (n) => ((n * (n - 1)) / 2).toLocaleString("en-GB");
const ticks = (it) => it.page.locator("#mail-plot svg text").evaluateAll((all) => all.filter((t) => t.getAttribute("text-anchor") === "middle").map((t) => t.textContent));
const bars = (it) => it.page.locator("#mail-plot rect.fill-accept").count();

async function choose(it, period, server) {
  await it.page.selectOption("#mail-period", period);
  if (server !== undefined) await it.page.selectOption("#mail-server", server);
}

const TICK = { day: /^\d\d:00$/, week: /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)$/, month: /^\d+ [A-Z][a-z]+$/, year: /^[A-Z][a-z]+ \d\d$/, years: /^[A-Z][a-z]+ \d\d$/ };
const TITLE = { day: "day", week: "week", month: "month", year: "year", years: "two years" };
const ROW = { day: /^\d\d:00$/, week: /^\d+ [A-Z][a-z]+$/, month: /^\d+ [A-Z][a-z]+$/, year: /^[A-Z][a-z]+ \d\d$/, years: /^[A-Z][a-z]+ \d\d$/ };

async function periods(width) {
  const it = await tab(browser, url, { answers: { ...answers(), "GET /v1/history": past }, width });
  await sees(it, "#truth-more", /^7,413 messages today, 2,471 refused, 370 marked, 3 held\. Oldest feed: 14 min\.$/);
  await it.page.locator("#mail-table summary").click();
  for (const [period, [n]] of Object.entries(SHAPE)) {
    await choose(it, period);
    await sees(it, "#mail-head", `Mail of the last ${TITLE[period]}`);
    await it.page.waitForFunction((words) => document.querySelector("#mail-plot svg")?.getAttribute("aria-label").includes(words), `Mail of the last ${TITLE[period]}, ${sum(n)} messages in all`);
    const words = await ticks(it);
    assert.ok(words.length >= (period === "month" ? 2 : 3) && words.length <= 26, `${period}: ${words}`);
    for (const word of words) assert.match(word, TICK[period]);
    assert.equal(new Set(words).size, words.length - (period === "week" && words.length > 7 ? words.length - 7 : 0), `${period}: a label twice: ${words}`);
    const room = await it.page.locator("#mail-plot").evaluate((at) => at.clientWidth);
    assert.ok((await bars(it)) <= room / 2 && (await bars(it)) >= 60, `${period}: ${await bars(it)} bars on ${room} pixels`);
    const rows = await it.page.locator("#mail-table tbody:visible th").allTextContents();
    assert.ok(rows.length >= 8 && rows.length <= 33, `${period}: ${rows.length} rows`);
    for (const row of rows) assert.match(row, ROW[period]);
    assert.equal((await textOf(it, "#mail-note")).includes("UTC"), period.startsWith("year"));
    assert.ok((await it.page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${period}: too wide`);
    assert.deepEqual(await axe(it, `overview ${period} ${width}`), []);
    await shot(it, `overview-${period}-${width}`);
  }
  assert.equal(new URL(it.page.url()).hash, "#overview?period=years");
  await choose(it, "week", "all");
  await sees(it, "#mail-note", "Left out of the sum, because nothing was heard of them lately: three, four.");
  assert.equal(new URL(it.page.url()).hash, "#overview?period=week&server=all");
  await it.page.reload(); // the address says what is shown
  await sees(it, "#mail-head", "Mail of the last week");
  await it.page.waitForFunction(() => document.querySelector("#mail-server").value === "all");
  await it.page.keyboard.press("Tab"); // and by keys alone
  await it.page.focus("#mail-period");
  await it.page.keyboard.press("ArrowUp");
  await sees(it, "#mail-head", "Mail of the last day");
  await choose(it, "day", "");
  assert.equal(new URL(it.page.url()).hash, "#overview");
  const box = await it.page.locator("#mail-plot").boundingBox();
  await it.page.mouse.move(box.x + box.width - 2, box.y + 50);
  if (width > 600) await sees(it, "#mail-read", /^\d\d:\d\d: 144 messages, 126 accepted, 18 rejected$/);
  return it;
}

async function servers() {
  const it = await tab(browser, url, { answers: answers(), view: "servers" });
  await sees(it, "#summary-sum", "All servers together: 8,225 messages today, 2,741 refused, 410 marked. Left out of the sum, because nothing was heard of them lately: three, four, five.");
  const words = await textOf(it, "#summary-table");
  assert.match(words, /one\s*well\s*7,413\s*2,471\s*370\s*14 min/);
  assert.match(words, /two\s*needs you\s*812[^]*GillnetFeedRefused, GillnetDiskFull[^]*31 s ago/);
  assert.match(words, /three\s*not heard of for 22.5|three\s*not heard of for 2\d h/);
  assert.match(words, /four\s*no summary[^]*never/);
  assert.match(words, /five\s*refused[^]*it was made in the future/);
  await it.page.locator("#summary-table a", { hasText: /^two$/ }).click();
  await sees(it, "#mail-head", "Mail of the last day");
  assert.equal(new URL(it.page.url()).hash, "#overview?server=two");
  return it;
}

// The server alone: nothing to choose, no table of servers.
async function alone() {
  const it = await tab(browser, url, { answers: { ...answers(), "GET /v1/servers": { servers: [], total: {}, missing: [] } } });
  await sees(it, "#truth-more", "7,413");
  assert.equal(await isShown(it, "#mail-server"), false);
  await to(it, "servers");
  await sees(it, "#peer-table", "two");
  assert.equal(await isShown(it, "#summaries"), false);
  return it;
}

// A hub that answers at once, with a headline of a minute ago.
async function old() {
  const known = answers(), { at } = known["GET /v1/now"];
  const it = await tab(browser, url, { answers: { ...known, "GET /v1/now": { ...known["GET /v1/now"], at: at - 60 } } });
  await sees(it, "#truth-word", "Not known");
  assert.equal(await it.page.getAttribute("#truth", "data-state"), "unknown");
  it.answers["GET /v1/now"] = { ...known["GET /v1/now"], at: at - 4 };
  await sees(it, "#truth-word", "1 thing needs you");
  return it;
}

// Answers that no hub gives.
async function nonsense() {
  const bad = { servers: [null, 7, { name: 5 }, { self: true }, { name: "x", headline: { today: "much" }, age_s: "old" }], total: 7, missing: "all" };
  const it = await tab(browser, url, { answers: { ...answers(), "GET /v1/servers": bad, "GET /v1/now": { at: "now", today: 7, feeds: [] } }, view: "servers" });
  await sees(it, "#summary-table", "x");
  await to(it, "overview?period=decade&server=%3Cb%3E");
  await sees(it, "#mail-head", "Mail of the last day");
  return it;
}

async function real() {
  const it = await tab(browser, url, {});
  await sees(it, "#truth-more", "4 messages today, 1 refused, 0 marked.");
  await it.page.waitForFunction(() => document.querySelector("#mail-server").options.length === 3);
  for (const [server, n] of [["", 4], ["beta", 2], ["all", 6]]) {
    for (const period of Object.keys(SHAPE)) {
      await choose(it, period, server);
      await it.page.waitForFunction((words) => document.querySelector("#mail-plot svg")?.getAttribute("aria-label").startsWith(words), `Mail of the last ${TITLE[period]}, ${n} messages in all`);
    }
  }
  await to(it, "servers");
  await sees(it, "#summary-sum", "All servers together: 6 messages today, 1 refused, 0 marked.");
  await sees(it, "#summary-table", /alpha[^]*beta/);
  assert.deepEqual(await axe(it, "real servers"), []);
  await shot(it, "servers-real");
  return it;
}

const walks = kind === "real" ? [real] : [() => periods(1280), () => periods(390), servers, alone, old, nonsense];
let failed = 0;
for (const walk of walks) {
  try {
    const it = await walk();
    assert.deepEqual([...new Set(it.faults)], []);
    assert.deepEqual(await violations(it), []);
    await it.context.close();
    console.log(`ok ${walk.name || "periods"}`);
  } catch (e) {
    failed++;
    console.log(`FAILED ${walk.name || "periods"}: ${e.stack}`);
  }
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
