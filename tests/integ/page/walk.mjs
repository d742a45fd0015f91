// walk - the status page in Chromium: every part of it, with answers as they may come and as they must not.
//
//   node walk.mjs URL [TEST...]       without names: all of them
//
// Needs GILLNET_BROWSER (contrib/fetch-browser), GILLNET_SHOTS (a folder for screenshots). One line a test; exit 1 when one failed.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { axe, isShown, open, runUntil, sees, shot, tab, textOf, to, viewsOf, violations } from "./browser.mjs";
import { answers, hostile, nothing } from "./canned.mjs";

const [url, ...names] = process.argv.slice(2);
const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
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
const ready = ({ page }) => page.waitForFunction(() => document.querySelector("#updated").textContent.startsWith("Updated")); // hidden on phones
const focused = ({ page }) => page.evaluate(() => {
  const a = document.activeElement;
  return a.id ? `#${a.id}` : a.textContent.trim();
});
// The answer to each of the page's questions.
const each = (status, of = answers()) => Object.fromEntries(Object.keys(of).map((k) => [k, status]));

const tests = {
  async test_page__any_width_light_and_dark__then_readable_and_without_faults() {
    for (const [width, dark] of [[1280, false], [1280, true], [390, false], [320, true]]) {
      const it = await visit({ width, dark });
      await ready(it);
      for (const view of await viewsOf(it)) {
        await to(it, view);
        await it.page.waitForLoadState("networkidle");
        const name = `${view}-${width}-${dark ? "dark" : "light"}`;
        await shot(it, `page-${name}`);
        const wide = await it.page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${name}: ${wide} pixels wide`);
        const high = await it.page.evaluate(() => Math.max(0, ...[...document.querySelectorAll(".chip")].map((c) => c.offsetHeight)));
        assert.ok(high < 32, `${name}: a word over several lines, ${high} pixels high`);
        assert.deepEqual(await axe(it, name), []);
      }
    }
  },

  async test_languages__each__then_no_text_is_english_and_nothing_is_cut_off() {
    for (const [locale, word, direction] of [["de-DE", "Überblick"], ["fr-FR", "Vue d’ensemble"], ["es-ES", "Resumen"], ["ja-JP", "概要"], ["sv-SE", "Overview"], ["de-DE", "Überblick", "rtl"]]) {
      const it = await visit({ locale, width: 390 });
      await sees(it, "#health-word", /./);
      if (direction) await it.page.evaluate((d) => (document.documentElement.dir = d), direction);
      assert.equal(await it.page.locator("#nav-overview").textContent(), word);
      for (const view of await viewsOf(it)) {
        await to(it, view);
        await it.page.waitForLoadState("networkidle");
        await shot(it, `language-${locale}${direction ?? ""}-${view}`);
        const wide = await it.page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `${locale} ${view}: ${wide} pixels wide`);
        if (direction) assert.deepEqual(await axe(it, `${locale} ${view}`), []);
      }
    }
  },

  async test_choices__of_colours_and_language__then_kept() {
    const it = await visit();
    const { page } = it;
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await ready(it);
    const light = await back();
    await page.selectOption("#theme", "dark");
    assert.notEqual(await back(), light);
    await page.selectOption("#language", "fr");
    await sees(it, "#nav-overview", "Vue d’ensemble");
    assert.notEqual(await back(), light, "dark after another load");
    assert.equal(await page.evaluate(() => document.documentElement.lang), "fr");
    await page.selectOption("#theme", "");
    await page.selectOption("#language", "en");
    await sees(it, "#nav-overview", "Overview");
    assert.equal(await back(), light);
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

  async test_overview__emergency_mode__then_it_says_so_once() {
    const known = answers();
    const stats = known["GET /v1/stats"];
    Object.assign(stats.gillnetd.stats, { emergency: 1, emergency_rate: 4321, emergency_level: 200, emergency_since_time: Math.floor(Date.now() / 1000) - 600, escalated: 2 });
    known["GET /v1/alerts"].alerts.push({ name: "GillnetEmergency", severity: "warning", firing: true, since_s: 1, value: 1, threshold: 0, message: "emergency mode: far more", action: "" });
    const it = await visit({ answers: known });
    await ready(it);
    await sees(it, "#health-word", "2 things need you");
    await sees(it, "#needs", /Emergency mode: 4,321 URL checks a second; it began above 200[^]*gillnet emergency shows it, and 2 domains that count as listed for a while/);
    assert.doesNotMatch(await textOf(it, "#needs"), /far more/);
    stats.gillnetd.stats.emergency = 0;
    known["GET /v1/alerts"].alerts.pop();
    await it.page.reload();
    await sees(it, "#health-word", "1 thing needs you");
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
    await it.page.locator("#bulk-list a").first().click();
    await sees(it, "#found h3", "subject:Your parcel could not be delivered");
    await it.page.goBack();
    await it.page.setViewportSize({ width: 390, height: 844 });
    await it.page.waitForFunction(() => document.querySelector("#mail-plot svg").clientWidth < 390);
    await shot(it, "charts-390");
  },

  async test_tables__then_each_row_is_said() {
    const it = await visit();
    await ready(it);
    await to(it, "lists");
    await sees(it, "#list-table", "urlhaus");
    assert.match(await textOf(it, "#list-table"), /urlhaus[^]*1,203,345[^]*never alone[^]*5 d ago[^]*over 2 d[^]*errs more than designed/);
    await it.page.locator("#list-filters summary").click(); // folded away
    assert.match(await textOf(it, "#list-filters"), /urlhaus\s*52 %[^]*over 0.1 %/);
    await to(it, "servers");
    await sees(it, "#peer-table", "three");
    assert.match(await textOf(it, "#peer-table"), /two[^]*connected[^]*2 s[^]*77\.5 MB[^]*3 quota[^]*three[^]*stale[^]*connection refused[^]*club[^]*well/);
    assert.match(await textOf(it, "#store"), /up in part[^]*12 s behind[^]*17 batches repeated, 0 increments lost[^]*3 hot keys told[^]*10\.0\.0\.1:6379[^]*redis 7\.0\.15[^]*answers[^]*10\.0\.0\.2:6379[^]*connect[^]*refused/);
    await to(it, "feeds");
    await sees(it, "#feed-table", "fewer than half of the last good version");
    assert.match(await textOf(it, "#feed-table"), /openphish[^]*48,211[^]*\+211 −96/);
    const drop = it.page.locator("#feed-table tr", { hasText: "drop.txt" });
    assert.equal(await drop.getByRole("button", { name: "Update drop" }).isDisabled(), true);
  },

  async test_nothing_is_set_up__then_each_part_says_what_to_do() {
    for (const dark of [false, true]) {
      const it = await visit({ answers: nothing(), dark });
      await ready(it);
      await sees(it, "#health-word", "All is well");
      for (const [view, part, words] of [["overview", "mail", "gillnet doctor"], ["overview", "score", "first message"], ["overview", "symbol", "gillnet.conf(5)"],
        ["overview", "bulk", "gillnet.conf(5)"], ["lists", "list", "gillnet list import"], ["feeds", "feed", "gillnet-feeds(7)"], ["servers", "peer", "gillnet peer ring create"]]) {
        await to(it, view);
        await sees(it, `#${part}-empty`, words);
      }
      await to(it, "look-up");
      await it.page.fill("#value", "nothing.example");
      await it.page.keyboard.press("Enter");
      await sees(it, "#found", "Not counted in the last 14 days");
      await shot(it, `empty-${dark ? "dark" : "light"}`);
      assert.deepEqual(await axe(it, "empty"), []);
    }
  },

  async test_keyboard__alone__then_everything_is_reached() {
    const it = await visit();
    const { page } = it;
    await ready(it);
    await page.keyboard.press("Tab");
    assert.equal(await focused(it), "Skip to the content");
    assert.ok((await page.locator(".skip").boundingBox()).y >= 0, "the skip link shows itself");
    await page.keyboard.press("Enter");
    assert.equal(await focused(it), "#main");
    const seen = new Set();
    for (let i = 0; i < 60 && !seen.has("#symbol-more"); i++) {
      await page.keyboard.press("Tab");
      const last = await focused(it);
      seen.add(last);
      const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.notEqual(ring, "none", `${last} shows that it has the focus`);
    }
    for (const place of ["accepted", "#symbol-more"]) assert.ok([...seen].some((s) => s.startsWith(place)), `${place} is reached`);
    await page.keyboard.press("/");
    assert.equal(await focused(it), "#value");
    for (const place of ["#look", "#message", "#file", "", "#scan"]) {
      await page.keyboard.press("Tab");
      if (place) assert.equal(await focused(it), place);
    }
    await page.focus("#value");
    await page.keyboard.type("http://login.bank.example.net/verify");
    await page.keyboard.press("Enter");
    await sees(it, "#found", "KNOWN_MALICIOUS");
    await sees(it, "#found", "own 8,000, two 1,001");
    await page.focus("#nav-overview");
    await page.keyboard.press("Enter");
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
    await to(it, "feeds");
    await sees(it, "#feed-table", "openphish");
    for (const [key, place] of [["j", "Update openphish"], ["j", "Update urlhaus"], ["k", "Update openphish"], ["k", "Update openphish"]]) {
      await page.keyboard.press(key);
      assert.equal(await focused(it), place);
    }
    await page.keyboard.press("?");
    await sees(it, "#keys-dialog", "next and previous row");
    await page.keyboard.press("Escape");
  },

  async test_focus__when_the_page_is_asked_again__then_it_stays() {
    const it = await visit({ clock: true, view: "feeds" });
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
    await to(it, "look-up");
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
    await to(it, "feeds");
    await page.getByRole("button", { name: "Update openphish" }).click();
    await sees(it, "#told", "openphish is being updated");
    await page.getByRole("button", { name: "Roll back openphish" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Roll back openphish" }).click();
    await page.click("#confirm-yes");
    await sees(it, "#told", "openphish was rolled back");
    await to(it, "look-up");
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
    await sees(it, "#sign", "Sign in");
    assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
    return { mayFail: true };
  },

  async test_change__that_changes_nothing__then_the_hub_s_reason_is_told() {
    const it = await visit({ view: "look-up" });
    const { page } = it;
    await ready(it);
    await page.fill("#value", "evil.example");
    await page.click("#look");
    await page.fill("#message", "Subject: x\n\ny");
    await page.click("#scan");
    for (const [path, name, what] of [["report", "Report as spam", "evil.example"], ["report", "Report as ham", "evil.example"],
      ["revoke", "Revoke on phish", "evil.example"], ["allow", "Allow", "evil.example"],
      ["report", "Report message as spam", "The message"], ["report", "Report message as ham", "The message"]]) {
      const detail = `nothing was changed: <b>${name}</b>`;
      it.answers[`POST /v1/${path}`] = { changed: [], detail };
      await page.getByRole("button", { name, exact: true }).click();
      if (path !== "report") await page.click("#confirm-yes");
      await sees(it, "#told", `${what}: ${detail}`);
      it.answers[`POST /v1/${path}`] = { changed: [{ value: "evil.example" }] };
      await page.getByRole("button", { name, exact: true }).click();
      if (path !== "report") await page.click("#confirm-yes");
      await sees(it, "#told", path === "report" ? "eported as" : `${name === "Allow" ? "Allowed" : "Revoked on phish"}: evil.example`);
    }
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
    const it = await visit({ view: "look-up" });
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
    assert.equal(asked()[1], 1);
    await page.clock.pauseAt(Date.now() + 5000);
    const before = asked()[0];
    const now = Date.now() / 1000;
    it.answers["GET /v1/progress"] = { tasks: [{ what: "import", name: "big", stage: "sorting", share: 0.42, since_s: now - 9 }, { what: "rebuild", name: "phish", stage: "", share: null, since_s: now }] };
    for (let passed = 0; asked()[0] < before + 3; passed += 500) {
      assert.ok(passed < 10000, "asked each two seconds");
      await page.clock.runFor(500);
    }
    await sees(it, "#tasks", "import big");
    await sees(it, "#tasks", "42 %");
    const lists = asked()[1];
    const tasks = it.answers["GET /v1/progress"];
    it.answers["GET /v1/progress"] = { tasks: [] };
    for (let passed = 0; asked()[1] === lists; passed += 500) { // its end brings everything up to date
      assert.ok(passed < 10000, "all is asked at its end");
      await page.clock.runFor(500);
    }
    await sees(it, "#health", "gillnetd");
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
    await until(() => it.asked.length === before + 9 && answer);
    await hide(true); // while it waits for an answer
    answer();
    await page.clock.runFor(600000);
    assert.equal(it.asked.length, before + 9);
  },

  async test_some_answers_fail__then_the_others_are_shown() {
    for (const bad of [500, 404, 503, "", "not json", "[1,2", '"text"', "null"]) {
      const it = await visit({ answers: { ...answers(), "GET /v1/lists": bad, "GET /v1/history": bad, "GET /v1/alerts": bad } });
      await ready(it);
      await sees(it, "#f-feeds", "2/3");
      if (bad !== "") await sees(it, "#view-overview .fault", "Not up to date");
      await to(it, "lists");
      if (bad !== "") await sees(it, "#view-lists .fault", "Not up to date");
      await to(it, "feeds");
      await sees(it, "#feed-table", "openphish");
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
        for (const view of await viewsOf(it)) {
          const before = it.asked.length;
          await to(it, view);
          await until(() => it.asked.length >= before + 2);
          await it.page.waitForLoadState("networkidle");
        }
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
    for (const view of await viewsOf(it)) {
      await to(it, view);
      await page.waitForLoadState("networkidle");
    }
    await to(it, "look-up");
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
    await to(it, "feeds");
    await page.getByRole("button", { name: "Update" }).first().click();
    await shot(it, "hostile");
    const made = await page.evaluate(() => [window.xss, document.querySelectorAll("main img, main script, iframe, object, [onerror], [onmouseover]").length,
      document.querySelectorAll("script").length]);
    assert.deepEqual(made, [undefined, 0, 2]);
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
    assert.deepEqual(refused, [["TypeError", "TypeError", "TypeError"], undefined, "block"]);
    const policies = (await violations(it)).map((v) => v.split(" ")[0]);
    for (const policy of ["require-trusted-types-for", "img-src", "style-src-elem", "connect-src"]) assert.ok(policies.includes(policy), `${policy} of ${policies}`);
    const headers = (await it.page.request.get(url)).headers();
    assert.match(headers["content-security-policy"], /default-src 'none'.*frame-ancestors 'none'/);
    tabs.length = 0; // these were meant
    await it.context.close();
  },

  async test_nobody_answers__then_it_says_since_when_and_comes_back() {
    const it = await visit({ clock: true, view: "lists" });
    const { page } = it;
    await ready(it);
    await sees(it, "#list-table", "urlhaus");
    const known = await textOf(it, "#list-table");
    const good = { ...it.answers };
    await page.clock.pauseAt(Date.now() + 5000);
    Object.assign(it.answers, each("abort"));
    await runUntil(it, "#offline-words", /No connection to gillnet-hub since .*Next try in 2 s/);
    assert.equal(await textOf(it, "#list-table"), known);
    for (const seconds of [4, 8, 16]) await runUntil(it, "#offline-words", `Next try in ${seconds} s`);
    await sees(it, "#truth", "Not known");
    await page.clock.resume(); // axe waits by the same clock
    await shot(it, "offline");
    assert.deepEqual(await axe(it, "offline"), []);
    Object.assign(it.answers, good);
    await page.click("#again");
    await page.locator("#offline").waitFor({ state: "hidden" });
    return { mayFail: true };
  },

  async test_health__when_it_is_not_known__then_never_green() {
    const it = await visit({ clock: true, answers: nothing() });
    const { page } = it;
    const state = async () => [await page.getAttribute("#health", "data-state"), await page.title()];
    const isGrey = async (words) => {
      await sees(it, "#health-word", words);
      assert.deepEqual(await state(), ["unknown", "(?) gillnet: not known"]);
    };
    const isGreen = async () => {
      await runUntil(it, "#health-word", "All is well");
      assert.deepEqual(await state(), ["well", "gillnet: all is well"]);
    };
    const good = { ...it.answers };
    const never = () => new Promise(() => {});
    await sees(it, "#health-word", "All is well");
    await page.clock.pauseAt(Date.now() + 2000);
    await page.clock.runFor(2100);
    await isGreen();
    it.answers["GET /v1/alerts"] = 500; // refused
    await page.clock.runFor(6100);
    await isGrey("Not known");
    Object.assign(it.answers, good);
    await isGreen();
    it.answers["GET /v1/stats"] = never; // late
    await page.clock.runFor(7100);
    await isGrey("Not known");
    await page.clock.runFor(10100); // the request ends, and the next one finds it well
    Object.assign(it.answers, good);
    await isGreen();
    Object.assign(it.answers, each(never));
    await page.clock.fastForward(60000); // the tab slept
    await isGrey("Not known");
    Object.assign(it.answers, good);
    await isGreen();
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await isGrey("Not known"); // nobody asks any more
    return { mayFail: true };
  },

  async test_token__is_refused_on_the_way__then_grey_at_once_and_what_to_do() {
    const it = await visit({ clock: true, answers: nothing() });
    const { page } = it;
    await sees(it, "#health-word", "All is well");
    Object.assign(it.answers, each((body, request) => (request.headers().authorization === "Bearer right" ? nothing()[`${request.method()} ${new URL(request.url()).pathname}`] : 401)));
    await page.clock.runFor(2100);
    await sees(it, "#health-word", "Not known: sign in");
    await sees(it, "#health-more", "gillnet hub token");
    assert.equal(await page.getAttribute("#health", "data-state"), "unknown");
    assert.equal(await page.title(), "(?) gillnet: not known");
    await page.click("#sign-in-first-button");
    for (const [token, words] of [["wrong", "Wrong token"], ["tok\u00e9n", 'Character 4 of this token, "\u00e9", is in no token'], ["a\u202eb", '"<U+202E>"'], ["two words", "is in no token"]]) {
      const before = it.asked.length;
      await page.fill("#token", token);
      await page.keyboard.press("Enter");
      await sees(it, "#token-why", words);
      assert.equal(it.asked.length - before, token === "wrong" ? 1 : 0, `${token} is sent`);
      assert.equal(await isShown(it, "#token-dialog"), true);
    }
    await shot(it, "token-wrong");
    await page.fill("#token", "right");
    await page.keyboard.press("Enter");
    await sees(it, "#health-word", "All is well");
    await page.evaluate(() => sessionStorage.setItem("gillnet-token", "b\u00e4d")); // of an older page
    Object.assign(it.answers, nothing());
    await page.reload();
    await sees(it, "#health-word", "All is well");
    return { mayFail: true };
  },

  async test_feed__that_was_never_fetched__then_not_well() {
    const it = await visit({ view: "feeds" });
    for (const state of ["waiting", "ok"]) {
      Object.assign(it.answers["GET /v1/feeds"].feeds[0], { state, good_s: 0, well: false });
      await it.page.reload();
      await sees(it, "#feed-table .chip.warning", "never fetched");
    }
    await to(it, "overview");
    await sees(it, "#f-feeds", "2/3");
  },

  async test_look_up__invalid_or_changed__then_the_card_says_so() {
    const it = await visit({ view: "look-up" });
    const { page } = it;
    await ready(it);
    it.answers["POST /v1/check"] = { results: [{ value: "x", status: "INVALID", requires_blocking: false, confidence: 1, matches: [], detail: "it is no URL, domain or address", counts: [] }] };
    await page.fill("#value", "x");
    await page.click("#look");
    await sees(it, "#found", "This cannot be looked up: it is no URL, domain or address");
    assert.doesNotMatch(await textOf(it, "#found"), /confidence/);
    assert.equal(await page.locator("#found button").count(), 0);
    let listed = answers()["POST /v1/check"]('{"values":["evil.example"]}').results[0];
    it.answers["POST /v1/check"] = () => ({ results: [listed] });
    await page.fill("#value", "evil.example");
    await page.click("#look");
    await sees(it, "#found h3", "KNOWN_MALICIOUS");
    it.answers["POST /v1/revoke"] = it.answers["POST /v1/allow"] = () => {
      listed = { ...listed, status: listed.status === "CLEAN" ? "FALSE_POSITIVE" : "CLEAN", requires_blocking: false, matches: [] };
      return {};
    };
    await page.getByRole("button", { name: "Revoke on phish" }).click();
    await page.click("#confirm-yes");
    await sees(it, "#found h3", "CLEAN");
    assert.equal(await page.getByRole("button", { name: "Revoke on phish" }).count(), 0);
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.click("#confirm-yes");
    await sees(it, "#found h3", "FALSE_POSITIVE");
    const said = await page.evaluate(async () => (await import("./ask.js")).STANDING);
    const rows = [...fs.readFileSync(path.join(ROOT, "core/list/rating.def"), "utf8").matchAll(/^RATING\((\w+), true,\s*"([^"]*)"\)/gm)];
    assert.ok(rows.length >= 5);
    assert.deepEqual(Object.fromEntries(Object.entries(said).map(([name, [, words]]) => [name, words])), Object.fromEntries(rows.map(([, name, words]) => [name, words])));
  },

  async test_unseen_characters__anywhere__then_codes() {
    const of = (value) => (typeof value === "string" ? `${value}\u202e\u200b\u{e0041}` : value);
    const it = await visit();
    it.answers["GET /v1/feeds"].feeds.forEach((f) => Object.assign(f, { name: of(f.name), url: of(f.url), trouble: of(f.trouble) }));
    it.answers["GET /v1/lists"].lists.forEach((l) => Object.assign(l, { name: of(l.name), fault: of(l.fault) }));
    it.answers["GET /v1/peers"].peers.forEach((p) => Object.assign(p, { name: of(p.name), last_failure: of(p.last_failure) }));
    it.answers["GET /v1/alerts"].alerts.forEach((a) => Object.assign(a, { message: of(a.message) }));
    await it.page.reload();
    await ready(it);
    for (const [view, part] of [["feeds", "#feed-table"], ["lists", "#list-table"], ["servers", "#peer-table"], ["overview", "#needs"]]) {
      await to(it, view);
      await sees(it, part, "<U+202E><U+200B><U+E0041>");
    }
    await to(it, "look-up");
    await it.page.fill("#value", "a\u202eb");
    await it.page.click("#look");
    await sees(it, "#found h3", "a<U+202E>b");
    assert.equal(JSON.parse(it.requests.filter((r) => r.url().endsWith("/v1/check")).at(-1).postData()).values[0], "a\u202eb", "what is asked is exact");
    assert.doesNotMatch(await it.page.content(), /[\u202a-\u202e\u200b-\u200f\u2066-\u2069]/);
    const table = fs.readFileSync(path.join(ROOT, "core/base/visible.c"), "utf8");
    const ranges = [...table.matchAll(/\{0x([0-9a-f]+), +0x([0-9a-f]+)\}/g)].map(([, from, to]) => [parseInt(from, 16), parseInt(to, 16)]);
    assert.ok(ranges.length > 20);
    const differs = await it.page.evaluate(async (all) => {
      const { visible } = await import("./dom.js");
      const bad = [];
      for (let c = 0; c <= 0x10ffff; c++) {
        const isUnseen = all.some(([from, to]) => c >= from && c <= to) || (c >= 0xd800 && c <= 0xdfff);
        const shown = visible(String.fromCodePoint(c));
        if (isUnseen !== shown.startsWith("<U+")) bad.push(c.toString(16));
      }
      return bad.slice(0, 20);
    }, ranges);
    assert.deepEqual(differs, [], "the page and core/base/visible.c agree");
  },

  async test_ten_thousand_rows__then_a_page_of_them_is_here() {
    const it = await visit();
    const { page } = it;
    const all = answers();
    let longest = 0;
    for (const [name, part] of [["lists", "list"], ["feeds", "feed"]]) {
      const rows = Array.from({ length: 10000 }, (_, i) => ({ ...all[`GET /v1/${name}`][name][0], name: `row${String(i).padStart(5, "0")}`, entries: (i * 7919) % 10000 }));
      it.answers[`GET /v1/${name}`] = (body, request) => {
        const query = new URL(request.url()).searchParams;
        if (query.get("cursor") === "gone") return 400;
        const found = rows.filter((r) => r.name.includes(query.get("q") ?? ""));
        if (query.get("sort") === "-entries") found.sort((a, b) => b.entries - a.entries);
        const from = Number(query.get("cursor") ?? 0), to = from + Number(query.get("limit"));
        const answer = { ...all[`GET /v1/${name}`], [name]: found.slice(from, to), total: rows.length, found: found.length, next: to < found.length ? String(to) : null };
        longest = Math.max(longest, JSON.stringify(answer).length);
        return answer;
      };
      await to(it, name);
      const tr = page.locator(`#${part}-table tbody tr`);
      await sees(it, `#${part}-table .pages`, "1 to 50 of 10,000");
      assert.ok((await tr.count()) <= 51);
      const box = page.locator(`#${part}-table .pages`);
      await box.getByRole("button", { name: "Next" }).click();
      await sees(it, `#${part}-table .pages`, "51 to 100 of 10,000");
      await sees(it, `#${part}-table tbody`, "row00099");
      await box.getByRole("button", { name: "Previous" }).click();
      await sees(it, `#${part}-table tbody`, "row00000");
      await page.selectOption(`#${name}-sort`, "-entries");
      await sees(it, `#${part}-table tbody`, "9,999");
      await page.fill(`#${name}-words`, "row0123");
      await sees(it, `#${part}-table .pages`, "1 to 10 of 10, 10,000 in all");
      assert.equal(await page.locator(`#${part}-table .scroll`).first().locator("tbody tr").count(), 10);
      await page.fill(`#${name}-words`, "nowhere");
      await sees(it, `#${part}-table .pages`, "None");
      assert.equal(await isShown(it, `#${part}-empty`), false);
    }
    assert.deepEqual(await axe(it, "pages"), []);
    assert.ok(longest < 64 * 1024, `an answer of ${longest} bytes`);
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 6000, `${nodes} elements`);
  },

  async test_tables__on_any_screen__then_nothing_is_cut_off() {
    for (const width of [1440, 1000, 390]) {
      const it = await visit({ width });
      const { page } = it;
      await ready(it);
      await to(it, "feeds");
      await sees(it, "#feed-table", "openphish");
      if (width === 390) assert.ok(await page.evaluate(() => [...document.querySelectorAll("#feed-table .scroll")].some((t) => t.scrollWidth > t.clientWidth)), "feeds scroll");
      await to(it, "look-up");
      await page.fill("#message", "Subject: x\n\ny");
      await page.click("#scan");
      await sees(it, "#verdict", "Evidence on lists");
      const tables = await page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((s) => s.checkVisibility() && s.clientWidth > 0).map((s) => {
        s.scrollLeft = 1e6;
        const last = s.querySelector("thead th:last-child").getBoundingClientRect(), box = s.getBoundingClientRect();
        const reached = last.right <= box.right + 1;
        const needed = s.scrollWidth - s.clientWidth;
        s.scrollLeft = 0;
        return [s.getAttribute("aria-label"), needed, reached, getComputedStyle(s).overflowX];
      }));
      for (const [name, needed, reached, overflow] of tables) {
        assert.ok(reached && overflow === "auto", `${name} at ${width}: the last column cannot be reached`);
        if (width === 1440 && name === "Evidence on lists") assert.equal(needed, 0, "the evidence fits");
      }
      assert.ok(tables.some(([name]) => name === "Evidence on lists"));
      await shot(it, `tables-${width}`);
    }
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
