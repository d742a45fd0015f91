// view_own - a user's own page in Chromium, as the link of a digest opens it: no script, held mail, whom he allows and blocks.
//
//   node view_own.mjs URL TOKEN        the token of a link for b0@here.example
import assert from "node:assert/strict";

import { axe, open, sees, shot, tab, textOf, violations } from "./browser.mjs";

const [url, token] = process.argv.slice(2);
const browser = await open();
const it = await tab(browser, url, { width: 360, locale: "de-DE" });
const { page } = it;

async function isSound(name) {
  await shot(it, `own-${name}`);
  assert.deepEqual(await axe(it, name), []);
  assert.deepEqual(await violations(it), []);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `${name}: ${wide} pixels wide`);
  assert.equal(await page.evaluate(() => document.querySelectorAll("script, img, iframe, [onerror]").length + (window.xss ? 1 : 0)), 0);
}

try {
  await page.goto(`${url}q/${token}`);
  assert.equal(await page.getAttribute("html", "lang"), "de");
  await isSound("link");
  await page.getByRole("button").click();
  await page.waitForURL("**/own");
  await sees(it, "main", "b0@here.example");
  assert.match(await textOf(it, "main"), /<img src=x onerror=window\.xss=1>/);
  assert.doesNotMatch(await textOf(it, "main"), /b1@here\.example/);
  await isSound("page");
  await page.locator('form:has(input[value="allow"]) input[name="value"]').fill("friend@there.example");
  await page.keyboard.press("Enter");
  await sees(it, "main li", "friend@there.example");
  await isSound("added");
  await page.locator('form:has(button[value="release"]) button[value="release"]').first().click();
  await sees(it, '[role="status"]', /./);
  assert.doesNotMatch(await textOf(it, "main"), /window\.xss/, "the released message is gone");
  await page.locator("li button").first().click();
  await sees(it, '[role="status"]', /./);
  assert.doesNotMatch(await textOf(it, "main"), /friend@there\.example/);
  await page.locator('button[value="close"]').click();
  await page.goto(`${url}own`);
  assert.doesNotMatch(await textOf(it, "main"), /b0@here\.example/);
  const second = await tab(browser, url);
  await second.page.goto(`${url}q/${token}`);
  assert.equal(await second.page.getByRole("button").count(), 0, "the link opens once");
  console.log("ok own");
} catch (e) {
  await shot(it, "failed-own").catch(() => {});
  console.log(`FAILED\n${e.stack}\n${it.faults.join("\n")}`);
  process.exitCode = 1;
}
await browser.close();
process.exit();
