// walk - the status page in Chromium: every part of it, with answers as they may come and as they must not.
//
//   node walk.mjs URL [TEST...]       without names: all of them
//
// Needs GILLNET_BROWSER (contrib/fetch-browser), GILLNET_SHOTS (a folder for screenshots). One line a test; exit 1 when one failed.
import assert from "node:assert/strict";

import { axe, isShown, open, sees, shot, tab, textOf, violations } from "./browser.mjs";
import { answers, hostile, nothing } from "./canned.mjs";

const [url, ...names] = process.argv.slice(2);
const browser = await open();
const tabs = []; // of the running test

async function visit(options) {
  const it = await tab(browser, url, { answers: answers(), ...options });
  tabs.push(it);
  return it;
}
// What a failed request writes to the console is the browser's own word; nothing else may be there.
const FAILED = /^console: Failed to load resource: /;
async function checkAll(mayFail) {
  for (const it of tabs) {
    assert.deepEqual([...new Set(it.faults)].filter((f) => !(mayFail && FAILED.test(f))), []);
    assert.deepEqual(await violations(it), []);
  }
}
const ready = (it) => sees(it, "#updated", /^Updated/);
const focused = ({ page }) => page.evaluate(() => {
  const a = document.activeElement;
  return a.id ? `#${a.id}` : a.textContent.trim();
});
// The answer to each of the page's questions.
const each = (status, of = answers()) => Object.fromEntries(Object.keys(of).map((k) => [k, status]));

const tests = {
  async test_page__any_width_light_and_dark__then_readable_and_without_faults() {
    for (const [width, dark] of [[1280, false], [1280, true], [390, false], [390, true], [320, false], [320, true]]) {
      const it = await visit({ width, dark });
      const name = `${width}-${dark ? "dark" : "light"}`;
      await ready(it);
      await sees(it, "#peer-table", "three.example");
      await shot(it, `page-${name}`);
      const wide = await it.page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide} pixels wide`);
      const high = await it.page.evaluate(() => Math.max(...[...document.querySelectorAll(".chip")].map((c) => c.offsetHeight)));
      assert.ok(high > 0 && high < 32, `${name}: a word over several lines, ${high} pixels high`);
      assert.deepEqual(await axe(it, name), []);
    }
  },

  async test_overview__answers_are_rich__then_the_first_screen_says_it() {
    const it = await visit();
    await ready(it);
    await sees(it, "#health-word", "1 thing needs you");
    assert.match(await textOf(it, "#needs"), /refused four times[^]*gillnet feed diff urlhaus/);
    assert.equal(await it.page.title(), "(1) gillnet: needs you");
    for (const [figure, words] of [["mail", /^\d[\d.]* k$/], ["caught", /^\d[\d.]* k$/], ["lists", /^1\.3 M$/], ["now", /^\d+(\.\d)?$/], ["feeds", /^2\/3$/], ["peers", /^1\/2$/]]) {
      assert.match(await textOf(it, `#f-${figure}`), words);
    }
    const box = await it.page.locator("#mail-plot svg").boundingBox();
    assert.ok(box.y + box.height < 900, "health, figures and the chart of mail are above the fold");
    assert.match(await it.page.locator("#mail-plot svg").getAttribute("aria-label"), /in all: [\d,]+ accepted, .* discarded/);
    assert.match(await textOf(it, "#score-words"), /reach header \(5\).*reach quarantine \(8\).*reach reject \(10\)/);
    it.answers["GET /v1/alerts"] = { alerts: [{ name: "x", severity: "critical", firing: false, message: "", action: "" }] };
    await it.page.reload();
    await sees(it, "#health-word", "All is well");
  },

  async test_charts__pressed_and_pointed_at__then_they_tell_more() {
    const it = await visit();
    await ready(it);
    const bars = () => it.page.locator("#mail-plot rect.fill-accept").count();
    assert.ok((await bars()) > 100);
    await it.page.locator("#mail-legend .key").first().click();
    assert.equal(await bars(), 0);
    assert.equal(await it.page.locator("#mail-legend .key").first().getAttribute("aria-pressed"), "false");
    await it.page.locator("#mail-plot").hover();
    assert.match(await textOf(it, "#mail-read"), /^\d\d:\d\d: \d+ messages, \d+ accepted/);
    await it.page.locator("#mail-table summary").click();
    await it.page.waitForFunction(() => document.querySelectorAll("#mail-table tbody tr").length >= 24);
    assert.equal(await it.page.locator("#symbol-list tbody tr").count(), 10);
    await it.page.locator("#symbol-more").click();
    assert.equal(await it.page.locator("#symbol-list tbody tr").count(), 12);
    await it.page.locator("#bulk-list button").first().click();
    await sees(it, "#found h3", "subject:Your parcel could not be delivered");
    await it.page.setViewportSize({ width: 390, height: 844 });
    await it.page.waitForFunction(() => document.querySelector("#mail-plot svg").clientWidth < 390);
    await shot(it, "charts-390");
  },

  async test_tables__then_each_row_is_said() {
    const it = await visit();
    await ready(it);
    await sees(it, "#feed-table", "fewer than half of the last good version");
    assert.match(await textOf(it, "#list-table"), /urlhaus[^]*1,203,345[^]*over 0.1 %[^]*5 d ago[^]*over 2 d[^]*errs more than designed/);
    assert.match(await textOf(it, "#feed-table"), /openphish[^]*48,211[^]*\+211 −96/);
    assert.match(await textOf(it, "#peer-table"), /two[^]*connected[^]*2 s[^]*77\.5 MB[^]*3 quota[^]*three[^]*stale[^]*connection refused[^]*club[^]*well/);
    const drop = it.page.locator("#feed-table tr", { hasText: "drop.txt" });
    assert.equal(await drop.getByRole("button", { name: "Update drop" }).isDisabled(), true);
  },

  async test_nothing_is_set_up__then_each_part_says_what_to_do() {
    for (const dark of [false, true]) {
      const it = await visit({ answers: nothing(), dark });
      await ready(it);
      for (const [part, words] of [["mail", "gillnet doctor"], ["score", "first message"], ["symbol", "gillnet.conf(5)"], ["bulk", "gillnet.conf(5)"],
        ["list", "gillnet list import"], ["feed", "gillnet-feeds(7)"], ["peer", "gillnet peer ring create"]]) {
        await sees(it, `#${part}-empty`, words);
      }
      await sees(it, "#health-word", "All is well");
      await it.page.fill("#value", "nothing.example");
      await it.page.keyboard.press("Enter");
      await sees(it, "#found", "Not counted in the last fortnight");
      await shot(it, `empty-${dark ? "dark" : "light"}`);
      assert.deepEqual(await axe(it, "empty"), []);
    }
  },

  async test_keyboard__alone__then_everything_is_reached() {
    const it = await visit();
    const { page } = it;
    await ready(it);
    await page.keyboard.press("Tab");
    assert.equal(await focused(it), "Skip to the overview");
    assert.ok((await page.locator(".skip").boundingBox()).y >= 0, "the skip link shows itself");
    await page.keyboard.press("Enter");
    assert.equal(await focused(it), "#main");
    const seen = new Set();
    let last = "";
    for (let i = 0; i < 80 && last !== "#scan"; i++) {
      await page.keyboard.press("Tab");
      last = await focused(it);
      seen.add(last);
      const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.notEqual(ring, "none", `${last} shows that it has the focus`);
    }
    for (const place of ["accepted 34,121".split(" ")[0], "#symbol-more", "#value", "#look", "#message", "#file", "#scan"]) {
      assert.ok([...seen].some((s) => s.startsWith(place)), `${place} is reached`);
    }
    await page.focus("#value");
    await page.keyboard.type("http://login.bank.example.net/verify");
    await page.keyboard.press("Enter");
    await sees(it, "#found", "KNOWN_MALICIOUS");
    await sees(it, "#found", "own 8,000, two 1,001");
    await page.focus("#mail-legend .key");
    await page.keyboard.press("Space");
    assert.equal(await page.locator("#mail-legend .key").first().getAttribute("aria-pressed"), "false");
    await page.focus("#mail-table summary");
    await page.keyboard.press("Enter");
    assert.equal(await isShown(it, "#mail-table table"), true);
    await page.focus("#sign");
    await page.keyboard.press("Enter");
    assert.equal(await focused(it), "#token");
    await page.keyboard.press("Escape");
    assert.equal(await isShown(it, "#token-dialog"), false);
    assert.equal(await focused(it), "#sign");
  },

  async test_focus__when_the_page_is_asked_again__then_it_stays() {
    const it = await visit({ clock: true });
    await ready(it);
    await it.page.getByRole("button", { name: "Update openphish" }).focus();
    it.answers["GET /v1/feeds"].feeds[0].entries = 4711;
    it.answers["GET /v1/feeds"].feeds.unshift({ ...it.answers["GET /v1/feeds"].feeds[1], name: "another" });
    await it.page.clock.runFor(16000);
    await sees(it, "#feed-table", "4,711");
    await sees(it, "#feed-table", "another");
    assert.equal(await it.page.locator("#feed-table tbody tr").count(), 5);
    assert.equal(await focused(it), "Update openphish");
  },

  async test_admin__a_token_is_asked_for__then_kept_in_the_tab_alone() {
    const it = await visit();
    const { page } = it;
    const roles = { "POST /v1/revoke": "admin", "POST /v1/allow": "admin", "POST /v1/report": "admin", "POST /v1/feeds/update": "admin", "POST /v1/feeds/rollback": "admin" };
    const sent = [];
    for (const path of Object.keys(roles)) {
      it.answers[path] = (body, request) => {
        if (request.headers().authorization !== "Bearer let-me-in") return 401;
        sent.push([path.slice(8), new URL(request.url()).search, body]);
        return {};
      };
    }
    await ready(it);
    await page.fill("#value", "evil.example");
    await page.click("#look");
    await page.getByRole("button", { name: "Revoke on phish" }).click();
    await sees(it, "#confirm-words", "evil.example will no longer count as listed on phish");
    assert.deepEqual(await axe(it, "confirm"), []);
    await page.click("#confirm-yes");
    await sees(it, "#token-why", "refused with 401");
    await shot(it, "token-dialog");
    assert.deepEqual(await axe(it, "token"), []);
    await page.fill("#token", "let-me-in");
    await page.keyboard.press("Enter");
    await sees(it, "#told", "Revoked on phish: evil.example");
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.click("#confirm-yes");
    await sees(it, "#told", "Allowed: evil.example");
    await page.getByRole("button", { name: "Report as spam" }).click();
    await sees(it, "#told", "Reported as spam");
    await page.getByRole("button", { name: "Update openphish" }).click();
    await sees(it, "#told", "openphish is being updated");
    await page.getByRole("button", { name: "Roll back openphish" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Roll back openphish" }).click();
    await page.click("#confirm-yes");
    await sees(it, "#told", "openphish was rolled back");
    await page.fill("#message", "Subject: x\n\ny");
    await page.click("#scan");
    await page.getByRole("button", { name: "Report message as ham" }).click();
    await sees(it, "#told", "The message was reported as ham");
    assert.deepEqual(sent, [
      ["/revoke", "", '{"values":["evil.example"],"list":"phish"}'], ["/allow", "", '{"values":["evil.example"]}'],
      ["/report", "", '{"kind":"spam","values":["evil.example"]}'], ["/feeds/update", "", '{"feed":"openphish"}'],
      ["/feeds/rollback", "", '{"feed":"openphish"}'], ["/report", "?kind=ham", "Subject: x\n\ny"],
    ]);
    const kept = await page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage), document.cookie]);
    assert.deepEqual(kept, [["let-me-in"], [], ""]);
    await page.click("#sign");
    assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
    assert.equal(await textOf(it, "#sign"), "Sign in");
    return { mayFail: true };
  },

  async test_reads_want_a_token__then_the_page_asks_once_and_waits() {
    const it = await visit({ clock: true, answers: each((body, request) => {
      const found = answers()[`${request.method()} ${new URL(request.url()).pathname}`];
      return request.headers().authorization === "Bearer good" ? found : 401;
    }) });
    await sees(it, "#sign-in-first", "nothing without a token");
    const before = it.asked.length;
    await it.page.clock.runFor(120000);
    assert.equal(it.asked.length, before, "nothing more is asked");
    await it.page.click("#sign-in-first-button");
    await it.page.fill("#token", "good");
    await it.page.keyboard.press("Enter");
    await ready(it);
    assert.equal(await isShown(it, "#sign-in-first"), false);
    return { mayFail: true };
  },

  async test_message__pasted_dropped_or_chosen__then_its_bytes_are_examined() {
    const it = await visit();
    const { page } = it;
    const sent = [];
    const verdict = it.answers["POST /v1/scan"];
    it.answers["POST /v1/scan"] = (body, request) => {
      sent.push([new URL(request.url()).search, request.postDataBuffer().toString("latin1"), request.headers()["content-type"]]);
      return verdict;
    };
    await ready(it);
    await page.fill("#message", "Subject: pasted\n\nbody");
    await page.locator("#scan-form summary").click();
    for (const [field, value] of [["client", "192.0.2.7"], ["helo", "mx.example"], ["from", "a@b.example"], ["rcpt", "x@y.example, z@y.example"]]) {
      await page.fill(`#scan-${field}`, value);
    }
    await page.click("#scan");
    await sees(it, "#verdict h3", "reject score 18");
    for (const part of ["LIST_PHISH", "url=login.bank.example.net/verify", "MALICIOUS", "Limits that were met: urls"]) await sees(it, "#verdict", part);
    await page.locator("#verdict summary", { hasText: "3 features" }).click();
    await sees(it, "#verdict", "Win now");
    await shot(it, "message");
    assert.deepEqual(await axe(it, "message"), []);
    const eml = Buffer.from("Subject: \xe9\r\n\r\n\x00\xff", "latin1");
    await page.setInputFiles("#file", { name: "a.eml", mimeType: "message/rfc822", buffer: eml });
    await sees(it, "#file-name", "a.eml, 16 B");
    await page.waitForFunction(() => !document.querySelector("#verdict[aria-busy]"));
    const data = await page.evaluateHandle((bytes) => {
      const dropped = new DataTransfer();
      dropped.items.add(new File([new Uint8Array(bytes)], "dropped.eml"));
      return dropped;
    }, [...eml]);
    await page.dispatchEvent("#drop", "dragover", { dataTransfer: data });
    await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
    await sees(it, "#file-name", "dropped.eml");
    await page.waitForFunction(() => !document.querySelector("#verdict[aria-busy]"));
    const query = "?client=192.0.2.7&helo=mx.example&from=a%40b.example&rcpt=x%40y.example&rcpt=z%40y.example";
    assert.deepEqual(sent, [[query, "Subject: pasted\n\nbody", "message/rfc822"], ...[1, 2].map(() => [query, eml.toString("latin1"), "message/rfc822"])]);
  },

  async test_long_work__while_it_runs__then_asked_each_two_seconds() {
    const it = await visit({ clock: true });
    const { page } = it;
    const asked = () => [it.asked.filter((a) => a === "GET /v1/progress").length, it.asked.filter((a) => a === "GET /v1/lists").length];
    await ready(it);
    assert.equal(await isShown(it, "#progress"), false);
    assert.deepEqual(asked(), [1, 1]);
    await page.clock.pauseAt(Date.now() + 5000);
    const now = Date.now() / 1000;
    it.answers["GET /v1/progress"] = { tasks: [{ what: "import", name: "big", stage: "sorting", share: 0.42, since_s: now - 9 }, { what: "rebuild", name: "phish", stage: "", share: null, since_s: now }] };
    await page.clock.runFor(15500);
    await sees(it, "#tasks", "import big");
    await sees(it, "#tasks", "42 %");
    assert.deepEqual(asked(), [2, 2]);
    for (let n = 3; n < 6; n++) {
      await page.clock.runFor(2100);
      await until(() => asked()[0] === n);
      assert.deepEqual(asked(), [n, 2]);
    }
    const tasks = it.answers["GET /v1/progress"];
    it.answers["GET /v1/progress"] = { tasks: [] };
    await page.clock.runFor(2100);
    await until(() => asked()[1] === 3); // its end brings everything up to date
    await page.locator("#progress").waitFor({ state: "hidden" });
    it.answers["GET /v1/progress"] = tasks;
    await page.clock.resume(); // axe waits by the same clock
    await page.reload();
    await sees(it, "#tasks", "42 %");
    await shot(it, "progress");
    assert.deepEqual(await axe(it, "progress"), []);
  },

  async test_hidden_tab__then_nothing_is_asked_until_it_shows() {
    const it = await visit({ clock: true });
    const { page } = it;
    const hide = (isHidden) => page.evaluate((h) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => h });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
    await ready(it);
    await hide(true);
    const before = it.asked.length;
    await page.clock.runFor(600000);
    assert.equal(it.asked.length, before);
    let answer;
    it.answers["GET /v1/lists"] = () => new Promise((done) => (answer = () => done({ lists: [] })));
    await hide(false);
    await until(() => it.asked.length === before + 7 && answer);
    await hide(true); // while it waits for an answer
    answer();
    await sees(it, "#list-empty", "No lists yet");
    await page.clock.runFor(600000);
    assert.equal(it.asked.length, before + 7);
  },

  async test_some_answers_fail__then_the_others_are_shown() {
    for (const bad of [500, 404, 503, "", "not json", "[1,2", '"text"', "null"]) {
      const it = await visit({ answers: { ...answers(), "GET /v1/lists": bad, "GET /v1/history": bad, "GET /v1/alerts": bad } });
      await ready(it);
      await sees(it, "#feed-table", "openphish");
      await sees(it, "#peer-table", "two.example");
      for (const part of ["lists", "mail", "overview"]) {
        if (bad !== "") await sees(it, `#${part} .fault`, "Not up to date");
      }
      assert.equal(await isShown(it, "#offline"), false);
    }
    return { mayFail: true };
  },

  async test_answers_of_another_shape__then_no_script_fails() {
    const odd = [null, 0, "", "text", [], {}, [null, 1, "x"], { a: { b: [] } }, -1e308, true];
    // Every value of every answer, one after the other, replaced by each odd one.
    const places = (value, path = []) => [path, ...(value && typeof value === "object"
      ? Object.keys(value).slice(0, 3).flatMap((k) => places(value[k], [...path, k])) : [])];
    const it = await visit({ clock: true });
    await ready(it);
    const reads = Object.keys(answers()).filter((k) => k.startsWith("GET"));
    const rows = reads.flatMap((key) => places(answers()[key]).slice(1).map((path) => [key, path]));
    let n = 0;
    for (const value of odd) {
      // A third of the places at a time, so that what fails first does not hide the rest.
      for (let part = 0; part < 3; part++) {
        const changed = answers();
        for (const [key, path] of rows.filter((_, i) => i % 3 === part)) put(changed[key], path, structuredClone(value));
        Object.assign(it.answers, changed);
        const before = it.asked.length;
        await it.page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
        await until(() => it.asked.length >= before + 7);
        n++;
      }
    }
    assert.equal(n, 30);
    Object.assign(it.answers, answers());
    await it.page.reload();
    await ready(it);
    assert.equal(await it.page.locator(".fault:visible").count(), 0);
  },

  async test_hostile_texts__anywhere__then_they_are_only_text() {
    const it = await visit({ answers: Object.fromEntries(Object.entries(answers()).map(([k, v]) => [k, hostile(v)])) });
    const { page } = it;
    await ready(it);
    await page.fill("#value", '"><script>window.xss=1</script>');
    await page.click("#look");
    await sees(it, "#found", "<script>window.xss=1</script>");
    await page.fill("#message", "Subject: <img src=x onerror=window.xss=1>\n\n<script>window.xss=1</script>");
    await page.click("#scan");
    await sees(it, "#verdict", "<img src=x");
    for (const summary of await page.locator("#verdict summary").all()) await summary.click();
    await page.getByRole("button", { name: "Revoke on" }).first().click();
    await sees(it, "#confirm-words", "<script>");
    await page.click("#confirm-yes");
    await sees(it, "#told", "<script>");
    await page.getByRole("button", { name: "Update" }).first().click();
    await shot(it, "hostile");
    const made = await page.evaluate(() => [window.xss, document.querySelectorAll("main img, main script, iframe, object, [onerror], [onmouseover]").length,
      document.querySelectorAll("script").length]);
    assert.deepEqual(made, [undefined, 0, 1]);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll"))
      .map((e) => e.outerHTML.slice(0, 80))), []);
    assert.deepEqual(await axe(it, "hostile"), []);
  },

  async test_policy__a_script_from_the_page__then_refused() {
    const it = await visit();
    await ready(it);
    const refused = await it.page.evaluate(async () => {
      const out = [];
      try {
        document.body.insertAdjacentHTML("beforeend", "<b>x</b>");
      } catch (e) {
        out.push(e.name);
      }
      const script = document.createElement("script");
      const image = document.createElement("img");
      const style = document.createElement("style");
      style.textContent = "main { display: none }";
      image.src = "http://127.0.0.1:9/x.png";
      document.body.append(image, style);
      await fetch("http://127.0.0.1:9/").catch((e) => out.push(e.name));
      try {
        script.textContent = "window.xss = 1";
        document.body.append(script);
      } catch (e) {
        out.push(e.name);
      }
      return [out, window.xss, getComputedStyle(document.querySelector("main")).display];
    });
    assert.deepEqual(refused, [["TypeError", "TypeError", "TypeError"], undefined, "grid"]);
    const policies = (await violations(it)).map((v) => v.split(" ")[0]);
    for (const policy of ["require-trusted-types-for", "img-src", "style-src-elem", "connect-src"]) assert.ok(policies.includes(policy), `${policy} of ${policies}`);
    const headers = (await it.page.request.get(url)).headers();
    assert.match(headers["content-security-policy"], /default-src 'none'.*frame-ancestors 'none'/);
    tabs.length = 0; // these were meant
    await it.context.close();
  },

  async test_nobody_answers__then_it_says_since_when_and_comes_back() {
    const it = await visit({ clock: true });
    const { page } = it;
    await ready(it);
    const known = await textOf(it, "#list-table");
    const good = { ...it.answers };
    Object.assign(it.answers, each("abort"));
    await page.clock.runFor(15500);
    await sees(it, "#offline-words", /No connection to gillnet-hub since .*Next try in 2 s/);
    assert.equal(await textOf(it, "#list-table"), known);
    await shot(it, "offline");
    assert.deepEqual(await axe(it, "offline"), []);
    for (const seconds of [4, 8, 16]) {
      await page.clock.runFor((seconds / 2) * 1000 + 100);
      await sees(it, "#offline-words", `Next try in ${seconds} s`);
    }
    Object.assign(it.answers, good);
    await page.click("#again");
    await page.locator("#offline").waitFor({ state: "hidden" });
    return { mayFail: true };
  },
};

function put(to, path, value) {
  const last = path.at(-1);
  for (const k of path.slice(0, -1)) to = to?.[k];
  if (to && typeof to === "object") to[last] = value;
}
async function until(what) {
  const end = Date.now() + 60000;
  while (!what()) {
    assert.ok(Date.now() < end, `waited in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const start = Date.now();
  try {
    const { mayFail = false } = (await test()) ?? {};
    await checkAll(mayFail);
    console.log(`ok ${name} ${Date.now() - start} ms`);
  } catch (e) {
    failed++;
    console.log(`FAILED ${name}\n${e.stack.slice(0, 4000)}\n${[...new Set(tabs.flatMap((t) => t.faults))].slice(0, 10).join("\n")}`);
    for (const [i, it] of tabs.entries()) await shot(it, `failed-${name}-${i}`).catch(() => {});
  }
  for (const it of tabs.splice(0)) await it.context.close();
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
