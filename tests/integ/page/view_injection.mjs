// view_injection - every text that mail can set is a script: walks all that shows mail, and nothing may run.
//
//   node view_injection.mjs URL MESSAGES FOLDER
//
// MESSAGES: how many the hub has. FOLDER: the same messages as files. A text that entered as markup would call canary(), break the page's policy,
// or leave an element or an attribute that the page does not make.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { open, sees, shot, tab, to, violations } from "./browser.mjs";

const [url, wanted, folder] = process.argv.slice(2);
const MADE = new Set(("i hr ins del mark polygon html head meta title link script noscript style body header nav main section article div span p a b strong em code kbd pre br bdi h1 h2 h3 ul ol li dl dt dd table caption thead tbody " +
  "tr th td button input label select option textarea form details summary dialog progress fieldset legend small time output svg path rect line circle text g title").split(" "));

// What stands in the document and must not.
const strangers = ({ page }) => page.evaluate((made) => {
  const found = [];
  for (const node of document.querySelectorAll("*")) {
    if (!made.includes(node.localName)) found.push(`<${node.localName}>`);
    if (node.localName === "script" && !["page.js", "theme.js"].some((name) => node.getAttribute("src")?.endsWith(name))) found.push("a script");
    for (const { name, value } of node.attributes) {
      if (name.startsWith("on") || (name === "style" && value !== "") || name === "srcdoc") found.push(`${node.localName} ${name}=${value}`);
      if (["href", "src", "action", "formaction"].includes(name) && /^\s*(javascript|data|vbscript):/i.test(value) && node.localName !== "link") found.push(`${node.localName} ${name}=${value}`);
      if (name === "href" && node.localName === "a" && !value.startsWith("#")) found.push(`a link to ${value}`);
    }
  }
  return found;
}, [...MADE]);

let steps = 0;
async function check(it, where) {
  steps++;
  assert.deepEqual(await strangers(it), [], where);
  assert.deepEqual(await it.page.evaluate(() => window.called), [], where);
  assert.deepEqual(await violations(it), [], where);
  assert.deepEqual(it.faults.filter((f) => !/Failed to load resource: .*(4\d\d|503)/.test(f)), [], where);
  assert.equal(await it.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false, `${where}: wider than the page`);
}

async function messages(it) {
  const { page } = it;
  await to(it, "messages");
  await page.waitForFunction((n) => document.querySelectorAll("#message-rows > tr[data-case]").length >= n, Math.min(Number(wanted), 100));
  if (Number(wanted) > 100) {
    await page.locator("#message-older").click();
    await page.waitForFunction((n) => document.querySelectorAll("#message-rows > tr[data-case]").length >= n, Math.min(Number(wanted), 200));
  }
  await check(it, "messages");
  await shot(it, "injection-messages");
  const names = await page.evaluate(() => [...document.querySelectorAll("#message-rows > tr[data-case]")].map((row) => row.dataset.case));
  for (const name of names.filter((_, i) => i % 2 === 0)) { // each was sent twice
    await page.locator(`tr[data-case="${name}"] button`).click();
    await page.locator("#message-rows .detail .sentence").waitFor();
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    await check(it, `explain ${name}`);
  }
  await shot(it, "injection-explain");
  for (const q of ["<script>canary('q')</script>", "from:<img/src=x/onerror=canary('q')>", "\"<svg/onload=canary('q')>\"", "nosuch:<script>canary('q')</script>"]) {
    await page.fill("#message-q", q);
    await page.keyboard.press("Enter");
    await page.waitForFunction((words) => new URLSearchParams(location.hash.split("?")[1]).get("q") === words, q);
    await page.waitForLoadState("load");
    await page.waitForFunction(() => document.querySelector("#message-state").textContent !== "" || document.querySelector("#message-why").textContent !== "");
    await check(it, `search ${q}`);
  }
}

async function tables(it) {
  const { page } = it;
  await to(it, "campaigns");
  await page.waitForFunction(() => document.querySelectorAll("#view-campaigns tbody tr").length > 5);
  await check(it, "campaigns");
  await shot(it, "injection-campaigns");
  for (const button of (await page.locator("#view-campaigns").getByRole("button", { name: /^Details of/ }).all()).slice(0, 20)) {
    await button.click();
    await page.locator("#campaign-one h3").waitFor();
    await check(it, "a campaign");
  }
  await page.locator("#view-campaigns").getByRole("button", { name: /^Mark as spam/ }).first().click();
  await check(it, "the question about a campaign");
  await page.click("#confirm-yes");
  await sees(it, "#told", /./);
  await to(it, "held");
  await page.waitForFunction(() => document.querySelectorAll("#view-held tbody tr").length === 7);
  await check(it, "held mail");
  for (const button of await page.getByRole("button", { name: /^Show / }).all()) {
    await button.click();
    await page.locator("#held-one pre").waitFor();
    await check(it, "a held message");
  }
  await shot(it, "injection-held");
  await page.check("#held-all");
  await page.click("#held-release");
  await page.click("#confirm-yes");
  await page.waitForFunction(() => document.querySelectorAll("#held-done li").length === 7);
  await check(it, "released mail");
  await to(it, "reports");
  await page.waitForFunction(() => document.querySelectorAll("#view-reports tbody tr").length >= 1);
  await check(it, "reports");
  await shot(it, "injection-reports");
}

async function others(it) {
  const { page } = it;
  const views = await page.evaluate(() => [...document.querySelectorAll("#nav-views a")].map((a) => a.id.slice("nav-".length)));
  for (const view of views) {
    await to(it, view);
    await page.waitForTimeout(300);
    await check(it, view);
  }
  for (const value of ["<script>canary('value')</script>", "http://evil.example/<script>canary('path')</script>?q=<img/src=x/onerror=canary('query')>", "\"<script>canary('envelope')</script>\"@sender.example"]) {
    await to(it, `look-up?value=${encodeURIComponent(value)}`);
    await page.locator("#found .finding").waitFor();
    await check(it, `look-up ${value}`);
  }
  for (const name of fs.readdirSync(folder)) {
    await page.setInputFiles("#file", path.join(folder, name));
    await page.locator("#verdict:not([aria-busy]) .finding").waitFor();
    await page.evaluate(() => document.querySelectorAll("#verdict details").forEach((d) => (d.open = true)));
    await check(it, `examine ${name}`);
  }
}

// The eyes of this test: an element of a stranger must be seen.
async function seesStrangers(it) {
  await it.page.evaluate(() => {
    const link = document.createElement("a");
    link.setAttribute("href", "javascript:canary('self')");
    document.body.append(document.createElement("img"), link);
  });
  assert.equal((await strangers(it)).length, 3); // the element, the address, and a link that leads out
}

const browser = await open();
const it = await tab(browser, url);
try {
  await it.page.evaluate((token) => sessionStorage.setItem("gillnet-token", token), process.env.GILLNET_TOKEN);
  await it.page.addInitScript(() => {
    window.called = [];
    window.canary = (name) => window.called.push(name);
  });
  await it.page.reload();
  for (const part of [messages, tables, others, seesStrangers]) {
    await part(it);
    console.log(`ok ${part.name}`);
  }
  console.log(`looked ${steps} times: nothing ran, 0 violations, 0 strangers`);
} catch (e) {
  await shot(it, "failed-injection").catch(() => {});
  console.log(`FAILED\n${e.stack}\n${it.faults.join("\n")}`);
  process.exitCode = 1;
}
await browser.close();
process.exit();
