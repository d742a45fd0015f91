// real - the status page with a real hub, gillnetd, lists, feeds and mail: each number is the one that was made.
//
//   node real.mjs URL
//
// What it cannot do itself it asks for on standard output, a line "@WORD", and waits for a line. GILLNET_TOKEN is an
// administrator's; test_page.py has the mail and the lists.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";

import { axe, open, sees, shot, tab, textOf, to, violations } from "./browser.mjs";

const url = process.argv[2];
const LISTED = "http://login.bank.example.net/verify";
const RUNS = 7; // of the measurement of the first paint

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function please(word) {
  console.log(`@${word}`);
  await lines.next();
}
const lookUp = async (it, value, words) => {
  await to(it, "look-up");
  await it.page.fill("#value", value);
  await it.page.click("#look");
  await sees(it, "#found h3", words);
};
const again = (it) => it.page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
// view: where the element is.
async function until(it, view, selector, words) {
  await to(it, view);
  const end = Date.now() + 60000;
  while (!words.test(await textOf(it, selector))) {
    assert.ok(Date.now() < end, `waited in vain for ${words} in ${selector}, which says ${await textOf(it, selector)}`);
    await again(it);
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function shows(it) {
  await sees(it, "#updated", /^Updated/);
  await until(it, "overview", "#f-mail", /^60$/);
  assert.equal(await textOf(it, "#f-caught"), "20");
  assert.equal(await textOf(it, "#f-caught-more"), "33.3 % of them");
  assert.ok(Number(await textOf(it, "#f-now")) >= 3); // 60 in at most 20 minutes
  assert.match(await textOf(it, "#mail-legend"), /accepted\s*40[^]*rejected\s*20/);
  assert.match(await textOf(it, "#score-words"), /20 reach header \(5\), 20 reach reject \(10\)/);
  assert.match(await textOf(it, "#symbol-list"), /LIST_PHISH\s*20\s*20/);
  assert.match(await textOf(it, "#bulk-list"), /sender\.example\s*template_sender\s*60\s*60\s*60\s*60/);
  await until(it, "lists", "#list-table", /phish[^]*2[^]*senders[^]*1/);
  await to(it, "servers");
  await sees(it, "#peer-empty", "gillnet peer ring create");
}

async function looksUp(it) {
  await lookUp(it, LISTED, "MALICIOUS");
  assert.match(await textOf(it, "#found"), /requires blocking[^]*phish\s*confirmed[^]*phish\.txt/);
  await lookUp(it, "http://www.example.org/", "CLEAN");
}

async function examines(it) {
  const { page } = it;
  await to(it, "look-up");
  await page.fill("#message", `From: a@sender.example\nSubject: <b>bold</b>\n\nsee ${LISTED}\n`);
  await page.click("#scan");
  await sees(it, "#verdict h3", /reject\s*score 12/);
  assert.match(await textOf(it, "#verdict"), /LIST_PHISH[^]*login\.bank\.example\.net\/verify[^]*MALICIOUS/);
  await page.locator("#verdict summary", { hasText: /^\d+ features$/ }).click();
  await sees(it, "#verdict", "<b>bold</b>");
  await page.setInputFiles("#file", path.join(process.env.GILLNET_MAIL, "clean.eml"));
  await sees(it, "#verdict h3", /accept/);
}

async function changes(it) {
  const { page } = it;
  await lookUp(it, LISTED, "MALICIOUS");
  await page.getByRole("button", { name: "Revoke on phish" }).click();
  await page.click("#confirm-yes");
  await page.fill("#token", "wrong");
  await page.keyboard.press("Enter");
  await sees(it, "#token-why", "Wrong token: the hub does not know it");
  await page.fill("#token", process.env.GILLNET_TOKEN);
  await page.keyboard.press("Enter");
  await sees(it, "#told", `Revoked on phish: ${LISTED}`);
  await sees(it, "#found h3", /FALSE_POSITIVE|CLEAN/); // the card, of itself
  await lookUp(it, "x", "INVALID");
  await sees(it, "#found", "This cannot be looked up: ");
  await until(it, "lists", "#list-table", /phish\s*phish\s*1\s*1/);
  await lookUp(it, "evil.example", "CLEAN");
  await page.getByRole("button", { name: "Report as spam" }).click();
  await sees(it, "#told", "evil.example: nothing in it belongs to one message alone, so it votes on no message");
}

async function feeds(it) {
  const update = async () => {
    await to(it, "feeds");
    await it.page.getByRole("button", { name: "Update club" }).click();
    await sees(it, "#told", "club is being updated");
  };
  await until(it, "feeds", "#feed-table", /club[^]*127\.0\.0\.1[^]*ok[^]*none\s*2,000/);
  await until(it, "lists", "#list-table", /club[^]*2,000/);
  await please("short");
  await update();
  await until(it, "feeds", "#feed-table", /refused[^]*2[^]*2,?000/);
  await shot(it, "real-feed-refused");
  await please("longer");
  await update();
  await until(it, "feeds", "#feed-table", /ok[^]*none\s*2,004\s*\+4/);
  await lookUp(it, "http://host2003.club.example/login", "MALICIOUS");
  await to(it, "feeds");
  await it.page.getByRole("button", { name: "Roll back club" }).click();
  await it.page.click("#confirm-yes");
  await sees(it, "#told", "club was rolled back");
  await until(it, "feeds", "#feed-table", /pinned[^]*2,000/);
}

// Of itself: within seconds the page finds that gillnetd ended.
async function gillnetdEnds(it) {
  await to(it, "overview");
  await sees(it, "#health-more", "gillnetd has been running");
  await please("end");
  await sees(it, "#health-more", "gillnetd is not running");
  await sees(it, "#needs", "gillnetd does not run");
  assert.equal(await it.page.getAttribute("#health", "data-state"), "critical");
}

async function endsAndComesBack(it) {
  await until(it, "lists", "#list-table", /phish/);
  await please("stop");
  await again(it);
  await sees(it, "#offline-words", /No connection to gillnet-hub since/);
  assert.match(await textOf(it, "#list-table"), /phish/);
  await please("start");
  await it.page.click("#again");
  await it.page.locator("#offline").waitFor({ state: "hidden" });
  await sees(it, "#list-table", "phish");
}

// Printed, not judged: other tests run beside this one.
async function measures(browser) {
  const paints = [];
  for (let i = 0; i < RUNS; i++) {
    const it = await tab(browser, url);
    const paint = await it.page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    paints.push(await paint.jsonValue());
    await it.context.close();
  }
  paints.sort((a, b) => a - b);
  console.log(JSON.stringify({ what: "page", first_paint_ms: Math.round(paints[RUNS >> 1]), least_ms: Math.round(paints[0]), most_ms: Math.round(paints.at(-1)), runs: RUNS }));
}

const browser = await open();
const it = await tab(browser, url);
try {
  for (const part of [shows, looksUp, examines, changes, feeds, gillnetdEnds, endsAndComesBack]) {
    await part(it);
    await shot(it, `real-${part.name}`);
    assert.deepEqual(await axe(it, part.name), []);
    // What the browser itself says of the hub that is away or has too much to do, and of a token that is refused.
    assert.deepEqual(it.faults.filter((f) => !/Failed to load resource: .*(ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|40[13]|503)/.test(f)), []);
    assert.deepEqual(await violations(it), []);
    console.log(`ok ${part.name}`);
  }
  await measures(browser);
} catch (e) {
  await shot(it, "failed-real").catch(() => {});
  console.log(`FAILED\n${e.stack}\n${it.faults.join("\n")}`);
  process.exitCode = 1;
}
fs.closeSync(0);
await browser.close();
process.exit();
