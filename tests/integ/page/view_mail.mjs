// view_mail - messages, campaigns, held mail and reports with a real hub, gillnetd and mail.
//
//   node view_mail.mjs URL
//
// What it cannot do itself it asks for on standard output, a line "@WORD", and waits for a line: test_page.py sends mail.
// GILLNET_TOKEN is an administrator's.
import assert from "node:assert/strict";
import fs from "node:fs";
import readline from "node:readline";

import { axe, open, sees, shot, tab, textOf, to, violations } from "./browser.mjs";

const url = process.argv[2];
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function please(word) {
  console.log(`@${word}`);
  await lines.next();
}
const rowsOf = ({ page }) => page.locator("#message-rows > tr[data-case]");
const hasRows = (it, n) => it.page.waitForFunction((wanted) => document.querySelectorAll("#message-rows > tr[data-case]").length === wanted, n);
async function search(it, q) {
  await it.page.fill("#message-q", q);
  await it.page.keyboard.press("Enter");
  await it.page.waitForFunction((words) => (new URLSearchParams(location.hash.split("?")[1]).get("q") ?? "") === words, q);
}

// Without a token the views invite to sign in.
async function signsIn(it) {
  const { page } = it;
  for (const view of ["campaigns", "held", "reports", "messages"]) {
    await to(it, view);
    await sees(it, `#view-${view} .fault`, "This needs a token");
    assert.equal(await page.locator(`#view-${view} .fault button`).isVisible(), true);
  }
  await page.locator("#view-messages .fault button").click();
  await page.fill("#token", process.env.GILLNET_TOKEN);
  await page.keyboard.press("Enter");
  await hasRows(it, 60);
  await page.locator("#view-messages .fault").waitFor({ state: "hidden" });
}

async function searches(it) {
  const { page } = it;
  await search(it, "action:reject");
  await hasRows(it, 20);
  await sees(it, "#message-state", "Searched all 60 messages that the hub keeps");
  assert.match(await rowsOf(it).first().innerText(), /rejected[^]*@sender\.example[^]*Your parcel[^]*LIST_PHISH 12[^]*192\.0\.2\.10[^]*12/);
  assert.equal(await rowsOf(it).first().locator(".bar .limit").count(), 2); // header and reject
  await search(it, "from:a7@");
  await hasRows(it, 1);
  await page.goBack();
  await hasRows(it, 20);
  assert.equal(await page.inputValue("#message-q"), "action:reject");
  await search(it, "from:a7@ fron:x");
  await sees(it, "#message-why", "column 10");
  assert.equal(await page.evaluate(() => getSelection().toString() || document.activeElement.value.slice(document.activeElement.selectionStart)), "fron:x");
  assert.equal(await page.getAttribute("#message-q", "aria-invalid"), "true");
  await hasRows(it, 0);
  await search(it, "nothing-has-this");
  await sees(it, "#message-state", "None of 60 messages matches.");
  assert.equal(await textOf(it, "#message-why"), "");
  await search(it, "");
  await hasRows(it, 60);
}

// New mail is shown at once at the top, and counted elsewhere.
async function follows(it) {
  const { page } = it;
  await sees(it, "#message-live", "live");
  await please("three");
  await hasRows(it, 63);
  assert.match(await rowsOf(it).first().innerText(), /later 2/);
  const asked = it.asked.filter((line) => line === "GET /v1/messages").length;
  await page.mouse.wheel(0, 2000);
  await page.waitForFunction(() => scrollY > 100);
  await please("three");
  await sees(it, "#message-new", "3 new");
  assert.equal(await rowsOf(it).count(), 63);
  assert.ok(it.asked.filter((line) => line === "GET /v1/messages").length - asked <= 2, "the tail brings them");
  await page.locator("#message-new").click();
  await hasRows(it, 66);
  await please("many");
  await page.waitForFunction(() => /many 149/.test(document.querySelector("#message-rows").innerText));
  assert.equal(await rowsOf(it).count(), 200, "bounded"); // of 216
  await page.locator("#message-older").click();
  await page.waitForFunction(() => document.querySelector("#message-older").hidden);
  assert.equal(await rowsOf(it).count(), 200);
  assert.match(await rowsOf(it).last().innerText(), /a0@sender\.example/); // the oldest of all: no gap
  await sees(it, "#message-new", "To the newest");
  await page.locator("#message-new").click();
  await page.waitForFunction(() => /many 149/.test(document.querySelector("#message-rows tr").innerText));
}

async function explains(it) {
  const { page } = it;
  await please("bad");
  await search(it, "subject:bad");
  await hasRows(it, 1);
  await page.keyboard.press("Tab");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await sees(it, ".detail .sentence", /^Rejected: 12\.0 of 10\.0; 12\.0 from list phish/);
  assert.match(await textOf(it, ".detail"), /s0@sender\.example[^]*Evidence on lists[^]*login\.bank\.example\.net\/verify[^]*MALICIOUS/);
  await shot(it, "mail-explained");
  assert.deepEqual(await axe(it, "explained"), []);
  await page.locator(".detail").getByRole("button", { name: "Report as ham" }).click();
  await sees(it, ".detail .done", /Reported as ham: .*votes on \d+ item/);
  await sees(it, ".detail", /What people said[^]*administrator[^]*ham/);
  await page.locator(".detail .done").getByRole("button", { name: /^Undo/ }).click();
  await sees(it, ".detail", "undone");
  await page.locator(".detail").getByRole("button", { name: "Allow sender.example", exact: true }).click();
  await sees(it, "#confirm-words", "Nothing is known of proofs");
  await page.click("#confirm-yes");
  await sees(it, ".detail .done", "added sender.example to allow");
  await page.locator(".detail").getByRole("button", { name: /^Revoke http:\/\/login|^Revoke login/ }).click();
  await page.click("#confirm-yes");
  await sees(it, ".detail .done", "revoked login.bank.example.net/verify on phish");
  await sees(it, ".detail", "no longer listed");
}

async function campaigns(it) {
  const { page } = it;
  await to(it, "campaigns");
  await sees(it, "#view-campaigns tbody", "Your parcel could not be delivered");
  const row = page.locator("#view-campaigns tbody tr", { hasText: "many 0" });
  assert.match(await row.innerText(), /s0@sender\.example[^]*150[^]*1[^]*1[^]*150 accepted[^]*nobody knows/);
  await shot(it, "mail-campaigns");
  assert.deepEqual(await axe(it, "campaigns"), []);
  await row.getByRole("button", { name: "Details of many 0" }).click();
  await sees(it, "#campaign-one", /text_band|body/);
  await row.getByRole("button", { name: "Mark as spam: many 0" }).click();
  await page.click("#confirm-yes");
  await sees(it, "#campaign-done", /many 0: votes on \d+ item/);
  await sees(it, "#view-campaigns tbody tr:has-text('many 0')", "1 spam, 0 ham");
  await page.locator("#campaign-done").getByRole("button", { name: /^Undo/ }).click();
  await sees(it, "#view-campaigns tbody tr:has-text('many 0')", "0 spam, 0 ham");
  await row.getByRole("link", { name: "Messages" }).click();
  await hasRows(it, 1); // subject:"many 0"
}

async function held(it) {
  const { page } = it;
  await to(it, "held");
  await sees(it, "#view-held tbody", "bill 2");
  await shot(it, "mail-held");
  assert.deepEqual(await axe(it, "held"), []);
  assert.equal(await page.isDisabled("#held-release"), true);
  await page.getByRole("button", { name: "Show 4XnYx31tq8z1F01" }).click();
  await sees(it, "#held-one pre", "Pay <b>now</b>");
  await page.getByRole("checkbox", { name: "Choose 4XnYx31tq8z1F00" }).check();
  await page.getByRole("checkbox", { name: "Choose 4XnYx31tq8z1F01" }).check();
  await sees(it, "#held-chosen", "2 chosen");
  await page.click("#held-release");
  await sees(it, "#confirm-words", "2 messages are reported as ham");
  await page.click("#confirm-yes");
  await page.waitForFunction(() => document.querySelectorAll("#held-done li").length === 2);
  assert.match(await textOf(it, "#held-done"), /4XnYx31tq8z1F00 Released; reported as ham: /);
  await page.waitForFunction(() => document.querySelectorAll("#view-held tbody tr").length === 1);
  await sees(it, "#held-chosen", "0 chosen");
  await page.getByRole("button", { name: "Delete 4XnYx31tq8z1F02" }).click();
  await page.click("#confirm-yes");
  await sees(it, "#held-done", "4XnYx31tq8z1F02 Deleted.");
  await page.locator("#held-empty").waitFor();
}

async function reports(it) {
  const { page } = it;
  await to(it, "reports");
  await sees(it, "#view-reports tbody", "quarantine");
  await shot(it, "mail-reports");
  assert.deepEqual(await axe(it, "reports"), []);
  assert.match(await textOf(it, "#view-reports tbody"), /administrator[^]*trust 1[^]*ham[^]*quarantine[^]*votes on|taught/);
  const row = page.locator("#view-reports tbody tr").first();
  await row.getByRole("button", { name: /^Undo: administrator / }).click();
  await sees(it, "#view-reports tbody tr", "undone by administrator");
  await page.locator("#view-reports tbody a").first().click();
  await sees(it, ".detail .sentence", /\S/); // of its message
}

// A phone: rows are cards, nothing is wider than the page.
async function phone(browser) {
  const it = await tab(browser, url, { width: 360, height: 740 });
  await it.page.evaluate((token) => sessionStorage.setItem("gillnet-token", token), process.env.GILLNET_TOKEN);
  await it.page.reload();
  for (const view of ["messages", "campaigns", "reports"]) {
    await to(it, view);
    await it.page.locator(`#view-${view} tbody tr`).first().waitFor();
    if (view === "messages") await it.page.locator("#message-rows button").first().click();
    if (view === "messages") await it.page.locator(".detail .sentence").waitFor();
    assert.ok((await it.page.evaluate(() => document.documentElement.scrollWidth)) <= 360, view);
    await shot(it, `mail-${view}-360`);
    assert.deepEqual(await axe(it, `${view} at 360`), []);
  }
  assert.deepEqual(await violations(it), []);
}

const browser = await open();
const it = await tab(browser, url);
try {
  for (const part of [signsIn, searches, follows, explains, campaigns, held, reports]) {
    await part(it);
    // What the browser itself says of a token that is missing, and of a query that is none.
    assert.deepEqual(it.faults.filter((f) => !/Failed to load resource: .*(40[13]|422|503)/.test(f)), []);
    assert.deepEqual(await violations(it), []);
    console.log(`ok ${part.name}`);
  }
  await phone(browser);
  console.log("ok phone");
} catch (e) {
  await shot(it, "failed-mail").catch(() => {});
  console.log(`FAILED\n${e.stack}\n${it.faults.join("\n")}`);
  process.exitCode = 1;
}
fs.closeSync(0);
await browser.close();
process.exit();
