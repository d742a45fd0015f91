// view_lists - the views of lists and rules with a real hub, gillnetd and mail: worth, one list opened, changes with a reason.
//
//   node view_lists.mjs URL
//
// GILLNET_TOKEN is an administrator's; test_page.py has the mail and the lists.
import assert from "node:assert/strict";

import { axe, isShown, open, sees, shot, tab, textOf, to, violations } from "./browser.mjs";

const url = process.argv[2];
const HOSTILE = "subject:\"><img src=x onerror=window.xss=1><script>window.xss=1</script> \u202egnp";
const LONG = `subject:${"long ".repeat(800)}`;

const browser = await open();
const it = await tab(browser, url, { view: "lists" });
const { page } = it;
const again = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
async function until(selector, words) {
  const end = Date.now() + 60000;
  while (!words.test(await textOf(it, selector))) {
    assert.ok(Date.now() < end, `waited in vain for ${words} in ${selector}, which says ${await textOf(it, selector)}`);
    await again();
    await new Promise((done) => setTimeout(done, 300));
  }
}
const nothingWide = async (name) => {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${name}: ${wide} pixels wide`);
};
const firstOf = (selector) => page.locator(`${selector} tbody tr`).first().innerText();
const add = async (values, reason, expires = "") => {
  await page.fill("#add-values", values);
  await page.fill("#add-reason", reason);
  await page.selectOption("#add-expires", expires);
  await page.getByRole("button", { name: "Add", exact: true }).click();
};

const parts = {
  async lists() {
    await until("#list-table", /phish[^]*20\s*20\s*20\s*20/); // today, 7 days, 14 days, alone
    await sees(it, "#list-table", /60 judged messages since/);
    assert.match(await textOf(it, "#list-table"), /senders[^]*no hit/);
    assert.doesNotMatch(await textOf(it, "#list-table"), /Error now/);
    await page.locator("#list-filters summary").click();
    assert.match(await textOf(it, "#list-filters"), /Error now[^]*phish/);
    await page.locator("#list-filters summary").click();
    await page.selectOption("#lists-sort", "-useless"); // which list is useless: one choice
    await sees(it, "#list-table tbody tr:first-child", /other0[^]*no hit/);
    await page.fill("#lists-words", "senders");
    await sees(it, "#list-table [role=status]", /1 to 1 of 1, 12 in all/);
    await page.fill("#lists-words", "");
    await page.selectOption("#lists-sort", "-hits");
    await sees(it, "#list-table tbody tr:first-child", /phish/);
  },
  async rules() {
    await to(it, "rules");
    await until("#view-rules", /60 judged messages since/);
    await until("#view-rules", /burst[^]*in force\s*0\.5\s*[1-9]/);
    assert.match(await textOf(it, "#view-rules"), /no hit/);
    assert.equal(await page.getByRole("link", { name: "Messages burst", exact: true }).getAttribute("href"), "#messages?q=symbol%3ABULK_BURST");
    assert.equal(await page.getByRole("link", { name: "Tune burst", exact: true }).getAttribute("href"), "#tune?rule=burst");
  },
  async opensAList() {
    await to(it, "lists");
    await page.getByRole("link", { name: "phish", exact: true }).click();
    await sees(it, "#view-lists .fault", "This needs a token");
    await page.locator("#view-lists .fault button").click();
    await page.fill("#token", process.env.GILLNET_TOKEN);
    await page.keyboard.press("Enter");
    await sees(it, "#entries-head", "phish");
    await until("#entries", /2 listed, 0 revoked[^]*2 entries; the end/);
    assert.equal(await isShown(it, "#lists"), false);
    assert.match(await textOf(it, "#entries"), /login\.bank\.example\.net\/verify[^]*phish\.txt/);
  },
  async adds() {
    await page.locator("#entries summary", { hasText: "Add entries" }).click();
    await page.fill("#add-values", "x.example.org");
    await page.getByRole("button", { name: "Add", exact: true }).click(); // without a reason: it is asked for
    assert.equal(await page.evaluate(() => document.activeElement.id), "add-reason");
    await add("new.example.org\njoe@new.example.org", "asked by <b>Anna</b> \u202e", "7d");
    await sees(it, "#told", "2 values are on phish now");
    await until("#entries tbody tr:first-child", /joe@new\.example\.org[^]*listed[^]*until[^]*api:test[^]*asked by <b>Anna<\/b> <U\+202E>/);
    await add(`${HOSTILE}\n${LONG}`, "hostile");
    await sees(it, "#told", "2 values are on phish now");
    await until("#entries", /onerror=window\.xss=1[^]*<U\+202E>/);
    await nothingWide("a text of 4 KB");
    await add("not a value", "why");
    await sees(it, "#told", /Not done: /);
    assert.equal(await page.inputValue("#add-values"), "not a value");
  },
  async searches() {
    await page.keyboard.press("Escape");
    await page.fill("#entries-words", "BANK.example");
    await sees(it, "#entries [role=status]", /^1 entry; the end$/);
    assert.match(page.url(), /#lists\?list=phish&q=BANK\.example$/);
    await page.fill("#entries-words", "new.example.org"); // the value itself first
    await until("#entries tbody tr:first-child", /^new\.example\.org/);
    await page.fill("#entries-words", "nothing like it");
    await sees(it, "#entries [role=status]", /^None; the end$/);
  },
  async revokes() {
    await page.fill("#entries-words", "new.example.org");
    await until("#entries tbody tr:first-child", /^new\.example\.org/);
    await page.getByRole("button", { name: "Revoke new.example.org", exact: true }).click();
    assert.deepEqual(await axe(it, "the dialog"), []);
    await page.getByRole("button", { name: "Revoke", exact: true }).click(); // it needs a reason
    await page.fill("#revoke-reason", "a customer");
    await page.keyboard.press("Enter");
    await sees(it, "#told", "Revoked on phish: new.example.org");
    await until("#entries tbody tr:first-child", /^new\.example\.org[^]*revoked[^]*api:test[^]*a customer/);
    await page.getByRole("button", { name: "Revoke joe@new.example.org" }).click();
    await page.keyboard.press("Escape"); // nothing happens
    assert.equal(await page.getByRole("button", { name: "Revoke joe@new.example.org" }).isVisible(), true);
    await page.locator("#entries-back").click();
    await until("#list-table", /phish[^]*5\s*1/);
  },
  async readsAPhone() {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const view of ["lists", "lists?list=phish", "rules"]) {
      await to(it, view);
      await page.waitForLoadState("networkidle");
      await nothingWide(view);
      await shot(it, `view-${view.replace(/\W/g, "-")}-360`);
      assert.deepEqual(await axe(it, view), []);
    }
  },
};

try {
  for (const [name, part] of Object.entries(parts)) {
    await part();
    await shot(it, `view-lists-${name}`);
    assert.deepEqual(await axe(it, name), []);
    assert.deepEqual(it.faults.filter((f) => !/Failed to load resource: .*(401|422)/.test(f)), []);
    assert.deepEqual(await violations(it), []);
    assert.equal(await page.evaluate(() => window.xss), undefined);
    console.log(`ok ${name}`);
  }
} catch (e) {
  await shot(it, "failed-view-lists").catch(() => {});
  console.log(`FAILED\n${e.stack}\n${it.faults.join("\n")}`);
  process.exitCode = 1;
}
await browser.close();
process.exit();
