// view_changes - the views of changes and of users, with a real hub: what is changed on the page is noted, found and undone.
//
//   node view_changes.mjs URL
//
// GILLNET_TOKEN is an administrator's.
import assert from "node:assert/strict";

import { axe, open, sees, shot, tab, textOf, to, violations } from "./browser.mjs";

const url = process.argv[2];
const HOSTILE = "<img src=x onerror=alert(1)>\u202e.example";

async function signIn(it) {
  await it.page.click("#sign");
  await it.page.fill("#token", process.env.GILLNET_TOKEN);
  await it.page.keyboard.press("Enter");
  await it.page.locator("#token-dialog").waitFor({ state: "hidden" });
}

async function setsAUser(it) {
  const { page } = it;
  await to(it, "users");
  await sees(it, "#view-users", "All users have the settings of the site");
  await page.fill("#user-name", "Anna@Here.Example");
  await page.fill("#user-set", "sensitivity=high\nblock.domains=spam.example");
  await page.getByRole("button", { name: "Save" }).click();
  await sees(it, "#told", "The settings of anna@here.example are in force");
  await sees(it, "#view-users tbody", /anna@here\.example\s*sensitivity=high\s*block\.domains=spam\.example/);
  await page.getByRole("button", { name: "Edit anna@here.example" }).click();
  assert.equal(await page.inputValue("#user-set"), "sensitivity=high\nblock.domains=spam.example");
  await page.fill("#user-set", "sensitivity=wrong");
  await page.getByRole("button", { name: "Save" }).click();
  await sees(it, "#told", /Not done: .*sensitivity/);
}

async function undoesIt(it) {
  const { page } = it;
  await to(it, "changes");
  await sees(it, "#view-changes tbody", /user-set\s*anna@here\.example[^]*test\s*page[^]*before nothing[^]*after sensitivity=high/);
  await page.getByRole("button", { name: /Undo user-set anna@here\.example/ }).click();
  await sees(it, "#confirm-dialog", "is undone");
  await page.click("#confirm-yes");
  await sees(it, "#told", "The change was undone");
  await sees(it, "#view-changes tbody", /undone/);
  await to(it, "users");
  await sees(it, "#view-users", "All users have the settings of the site");
}

async function finds(it) {
  const { page } = it;
  await to(it, "changes");
  await page.fill("#changes-words", "kind:list-add");
  await page.waitForFunction(() => location.hash.includes("q=kind"));
  await sees(it, "#view-changes tbody", "bulk.example.com");
  assert.doesNotMatch(await textOf(it, "#view-changes tbody"), /user-set/);
  await page.fill("#changes-words", "nothing-has-this");
  await sees(it, "#view-changes", "Nothing found.");
  await to(it, "changes?q=who:test");
  assert.equal(await page.inputValue("#changes-words"), "who:test");
  await sees(it, "#view-changes tbody", "user-set");
}

// Texts that a change or a user can have stay text.
async function staysText(browser) {
  const row = (more) => ({ id: "1-0", time: 1, kind: HOSTILE, who: HOSTILE, way: HOSTILE, object: HOSTILE, before: HOSTILE, after: HOSTILE, reason: HOSTILE,
    result: HOSTILE, values: [HOSTILE, 5, null], count: 9, undoes: HOSTILE, undo: "possible", ...more });
  const it = await tab(browser, url, { width: 360, height: 740, view: "changes", answers: {
    "GET /v1/changes": { changes: [row(), row({ id: HOSTILE, undo: HOSTILE }), null, 5, { id: {} }], next: 7 },
    "GET /v1/users": { users: [{ name: HOSTILE, source: "file", set: [HOSTILE, {}] }, {}, { set: 5 }], next: HOSTILE } } });
  await sees(it, "#view-changes tbody", "<U+202E>");
  assert.equal(await it.page.locator("#main img").count(), 0);
  assert.deepEqual(await axe(it, "changes of 360 pixels"), []);
  await to(it, "users");
  await sees(it, "#view-users tbody", "<U+202E>");
  assert.equal(await it.page.locator("#main img").count(), 0);
  assert.equal(await it.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  assert.deepEqual(await axe(it, "users of 360 pixels"), []);
  await shot(it, "users-360");
  assert.deepEqual(await violations(it), []);
  await it.context.close();
}

const browser = await open();
const it = await tab(browser, url);
try {
  for (const part of [signIn, setsAUser, undoesIt, finds]) {
    await part(it);
    await shot(it, `changes-${part.name}`);
    assert.deepEqual(await axe(it, part.name), []);
    assert.deepEqual(it.faults.filter((f) => !/Failed to load resource: .*(401|403|422|503)/.test(f)), []);
    assert.deepEqual(await violations(it), []);
    console.log(`ok ${part.name}`);
  }
  await staysText(browser);
  console.log("ok staysText");
} catch (e) {
  await shot(it, "failed-changes").catch(() => {});
  console.log(`FAILED\n${e.stack}\n${it.faults.join("\n")}`);
  process.exitCode = 1;
}
await browser.close();
process.exit();
