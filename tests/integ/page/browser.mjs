// browser - Chromium under playwright-core, with an eye on everything that must not happen on the page.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const tools = createRequire(path.join(process.env.GILLNET_BROWSER, "here.js"));
const { chromium } = tools("playwright-core");
const AXE = fs.readFileSync(tools.resolve("axe-core/axe.min.js"), "utf8");

export const open = () => chromium.launch({ executablePath: process.env.GILLNET_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-proxy-server", "--disable-gpu"] });

// A tab: {page, faults, asked, answers}. faults: what the console, the policy or a script complained about. asked: requests of the API,
// "METHOD /path". answers: {"METHOD /path": object, text, number (status), or function(body, request)}; null: the real server's.
// view: the hash of the address. locale: of the browser.
export async function tab(browser, url, { width = 1280, height = 900, dark = false, answers = null, clock = false, view = "", locale = "en-US" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce",
    hasTouch: width < 600, bypassCSP: false, locale });
  const page = await context.newPage();
  const it = { context, page, faults: [], asked: [], requests: [], answers, url };
  page.setDefaultTimeout(60000);
  page.on("console", (m) => {
    if (["error", "warning"].includes(m.type())) it.faults.push(`console: ${m.text()} ${m.location().url}`);
  });
  page.on("pageerror", (e) => it.faults.push(`script: ${e.stack}`));
  page.on("dialog", (d) => {
    it.faults.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on("request", (r) => {
    const { origin, pathname } = new URL(r.url());
    if (!r.url().startsWith("data:") && origin !== new URL(url).origin) it.faults.push(`asked elsewhere: ${r.url()}`);
    if (pathname.startsWith("/v1/")) {
      it.asked.push(`${r.method()} ${pathname}`);
      it.requests.push(r);
    }
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  });
  if (answers) await page.route("**/v1/**", (route) => answer(it, route));
  if (clock) await page.clock.install();
  await page.goto(`${url}#${view}`);
  return it;
}
// A tab of a client with the token GILLNET_TOKEN.
export async function signedIn(browser, url, options) {
  const it = await tab(browser, url, options);
  await it.page.evaluate((token) => sessionStorage.setItem("gillnet-token", token), process.env.GILLNET_TOKEN);
  await it.page.reload();
  await it.page.locator("#truth:not([data-state=unknown])").waitFor();
  return it;
}
export const viewsOf = ({ page }) => page.evaluate(() => [...document.querySelectorAll("#nav-views a")].map((a) => a.id.slice("nav-".length)));
// Opens another view of the page.
export async function to({ page }, view) {
  await page.evaluate((hash) => (location.hash = hash), view);
  await page.locator(`#view-${view.split("?")[0]}`).waitFor();
}

async function answer(it, route) {
  const request = route.request();
  let found = it.answers[`${request.method()} ${new URL(request.url()).pathname}`];
  if (typeof found === "function") found = await found(request.postData() ?? "", request);
  if (found === undefined) found = 404;
  if (found === "abort") return route.abort("connectionrefused");
  const status = typeof found === "number" ? found : 200;
  const body = typeof found === "number" ? { title: "no", status, detail: `refused with ${status}` } : found;
  return route.fulfill({ status, contentType: status === 200 ? "application/json" : "application/problem+json",
    body: typeof body === "string" ? body : JSON.stringify(body) });
}

export async function shot({ page }, name) {
  fs.mkdirSync(process.env.GILLNET_SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(process.env.GILLNET_SHOTS, `${name}.png`), fullPage: true });
}

// What axe calls serious or critical, and rows of best practice that are easily kept. Evaluated from outside: the page's policy stands.
export async function axe({ page }, name) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter((v) => ["serious", "critical", "moderate"].includes(v.impact))
    .map((v) => `axe at ${name}: ${v.impact} ${v.id}: ${v.nodes.map((n) => `${n.target} ${n.any.concat(n.all)[0]?.message ?? ""}`).join(" | ")}`);
}

export const violations = ({ page }) => page.evaluate(() => window.violations);
export const isShown = ({ page }, selector) => page.locator(selector).isVisible();
export const textOf = ({ page }, selector) => page.locator(selector).innerText();
// Waits until a text is there.
export const sees = ({ page }, selector, words) => page.locator(selector).filter({ hasText: words }).first().waitFor();
// Lets the page's paused clock run on until a text is there: a timer that a late answer sets is still reached.
export async function runUntil({ page }, selector, words) {
  const at = page.locator(selector).filter({ hasText: words }).first();
  for (const end = Date.now() + 60000; Date.now() < end && !(await at.isVisible());) {
    await page.clock.runFor(500);
    await new Promise((done) => setTimeout(done, 50));
  }
  await at.waitFor();
}
