// tasks - what an administrator does in a day, walked in Chromium: each task begins at the overview.
//
//   node tasks.mjs URL      GILLNET_TOKEN is an administrator's, GILLNET_HELD the queue id of a message that is held by mistake.
//
// A task may have CLICKS clicks and one search, and the yes of a dialog that asks before mail or lists change. What only the
// MTA knows it asks for on standard output, a line "@WORD", and waits for a line.
import assert from "node:assert/strict";
import readline from "node:readline";

import { open, sees, shot, signedIn, textOf, to, violations } from "../integ/page/browser.mjs";

const CLICKS = 3;
const HELD = process.env.GILLNET_HELD;
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function please(word) {
  console.log(`@${word}`);
  await lines.next();
}

let clicks = 0, searches = 0;
async function click(it, target) {
  clicks++;
  await (typeof target === "string" ? it.page.locator(target) : target).click();
}
async function search(it, field, words) {
  searches++;
  await it.page.fill(field, words);
  await it.page.keyboard.press("Enter");
}
const yes = (it) => it.page.locator("dialog[open] button.main").click();
const named = (it, name, exact = false) => it.page.getByRole("button", { name, exact }).first();

const tasks = {
  async "is all well, and how much mail came today"(it) {
    await sees(it, "#truth", /24 messages|1\d messages|2\d messages/);
    await sees(it, "#truth", /1 refused/);
  },
  async "why was the message about the blocked account refused"(it) {
    await click(it, "#nav-messages");
    await search(it, "#message-q", "subject:blocked");
    await click(it, it.page.locator("#message-rows button").first());
    await sees(it, ".sentence", /Rejected: 9.*list refuse/);
  },
  async "which list is useless"(it) {
    await click(it, "#nav-lists");
    await sees(it, "#list-table tr:has-text('stale')", "no hit");
    assert.doesNotMatch(await textOf(it, "#list-table tr:has-text('phish')"), /no hit/);
  },
  async "what would it do to hold from 6 on instead of 4"(it) {
    await click(it, "#nav-tune");
    await search(it, "#tune-field-quarantine", "6");
    await sees(it, "#tune-sum", /4 messages/);
    await sees(it, "#tune-draft-lines", "quarantine = 6");
  },
  async "release a message that is held by mistake, and see what was unlearnt"(it) {
    await click(it, "#nav-held");
    await click(it, named(it, `Release ${HELD}`));
    await yes(it);
    await sees(it, "#held-done", new RegExp(`${HELD} Released; reported as ham: `));
    await please("delivered");
  },
  async "who reported what"(it) {
    await click(it, "#nav-reports");
    await sees(it, "#view-reports table", /administrator[^]*ham/);
  },
  async "which mailing is under way, and say that it is a newsletter"(it) {
    await click(it, "#nav-campaigns");
    await click(it, named(it, "This is a newsletter: Spring offer"));
    await yes(it);
    await sees(it, "#campaign-done", "Spring offer: ");
  },
  async "take the last report back"(it) {
    await click(it, "#nav-reports");
    await click(it, it.page.locator("#view-reports").getByRole("button", { name: /^Undo/ }).first());
    await sees(it, "#view-reports table", "undone by");
  },
  async "put the sender of a refused message on a list"(it) {
    await click(it, "#nav-messages");
    await search(it, "#message-q", "action:reject");
    await click(it, it.page.locator("#message-rows button").first());
    await click(it, "summary:has-text('Put on a list')");
    await it.page.locator(".listing select").nth(1).selectOption("phish");
    await it.page.locator(".listing input").fill("forges banks");
    await it.page.locator(".listing button.main").click();
    await sees(it, ".done", "added");
  },
  async "what did people change today, and take the last change back"(it) {
    await click(it, "#nav-changes");
    await sees(it, "#view-changes table", /list-add[^]*forges banks/);
    await click(it, it.page.locator("#view-changes").getByRole("button", { name: /^Undo list-add phish/ }).first());
    await yes(it);
    await sees(it, "#told", "The change was undone");
  },
  async "how much mail came in the last month"(it) {
    clicks++;
    await it.page.selectOption("#mail-period", "month");
    await sees(it, "#mail-head", "last month");
  },
  async "allow a sender that was held by mistake"(it) {
    await click(it, "#nav-messages");
    await search(it, "#message-q", "from:builder");
    await click(it, it.page.locator("#message-rows button").first());
    await click(it, named(it, "Allow builder@honest.example"));
    await yes(it);
    await sees(it, ".done", /added|allow/i);
  },
};

const browser = await open();
const it = await signedIn(browser, process.argv[2]);
let failed = 0;
for (const [name, task] of Object.entries(tasks)) {
  clicks = searches = 0;
  try {
    await to(it, "overview");
    await task(it);
    assert.ok(clicks <= CLICKS && searches <= 1, `${clicks} clicks and ${searches} searches`);
    assert.deepEqual(await violations(it), []);
    assert.deepEqual(it.faults, []);
    console.log(`ok ${name}: ${clicks} clicks, ${searches} searches`);
  } catch (e) {
    failed++;
    console.log(`FAILED ${name}: ${e.stack}\n${it.faults.join("\n")}`);
    await shot(it, `failed-task-${Object.keys(tasks).indexOf(name)}`);
  }
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
