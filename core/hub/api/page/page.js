// page - the frame: one view at a time, and the requests for it.
//
// The shown view stands in the address's hash (address.js). A view is a module that exports `view`:
//   name         of the address and of the view's element in index.html, which this frame makes if it is not there
//   title        t("..."), in the navigation
//   group        where it stands there: one of GROUPS
//   search       optional: id of the field that / goes to
//   reads(query) {NAME: path below v1/}, asked when the view opens and every 15 s while it is open
//   pulse(query) optional: the same, every 2 s
//   make(at)     called once, before the view is shown first
//   show(name, answer, query)   an answer of one of its reads
//   open(query), close()        optional
//   restart(name)               optional: the hub refused the read; true: ask once more, with another path
//   keys         optional: {KEY: function}, for keys pressed outside of fields; j and k move between rows without it
//
// A failed request leaves the former data in its place, marked as old. Data older than 5 s is never shown as well.
// There are no requests while the tab is hidden or the hub wants a token.
import { here, linkTo } from "./address.js";
import { get, hasToken } from "./api.js";
import { view as ask } from "./ask.js";
import { view as campaigns } from "./campaigns.js";
import { view as changes } from "./changes.js";
import * as dialogs from "./dialogs.js";
import { byId, el, lasting, number, say, setServerTime, timeOf } from "./dom.js";
import { view as errors } from "./errors.js";
import { view as feeds } from "./feeds.js";
import { health } from "./health.js";
import { view as held } from "./held.js";
import { locale, t, translate } from "./language.js";
import { view as lists } from "./lists.js";
import { view as messages } from "./messages.js";
import { view as overview } from "./overview.js";
import { view as reports } from "./reports.js";
import { view as rules } from "./rules.js";
import { view as servers } from "./servers.js";
import { view as tune } from "./tune.js";
import { view as users } from "./users.js";

const GROUPS = { today: "", mail: t("Mail"), knowledge: t("Knowledge"), settings: t("Settings") };
const VIEWS = [overview, ask, messages, campaigns, held, reports, lists, rules, feeds, tune, users, servers, errors, changes];

const PULSE_MS = 2000;
const ROUND_MS = 15000;
const FRESH_MS = 5000; // older data counts as unknown
const BACK_OFF_MAX_MS = 60000;
const HEALTH = { stats: "stats", alerts: "alerts", now: "now" }; // asked on every view

const data = {}; // of the health
const heard = {}; // name: time of the request of its last answer, by both clocks
let shown = null; // the view
let query = new URLSearchParams();
let failures = 0; // pulses in a row without an answer
let since = 0; // time of the first of them, seconds
let isWaiting = false; // for a token

// ---- fresh or not ----

const moment = () => ({ wall: Date.now(), steady: performance.now() });
// After a change of the clock, or in a tab that slept, nothing is fresh.
function isFresh(name) {
  const then = heard[name], now = moment();
  return !document.hidden && Boolean(then) && now.wall >= then.wall && now.wall - then.wall <= FRESH_MS && now.steady - then.steady <= FRESH_MS;
}

// Why the health is unknown; null: it is known.
function doubt() {
  const names = Object.keys(HEALTH);
  if (isWaiting) {
    return { words: t("Not known: sign in"), more: t("The hub tells nothing without a token. Sign in with one; gillnet hub token NAME read makes it.") };
  }
  // A hub whose own clockwork stands still goes on to answer with what it knew.
  const isCurrent = number(data.stats?.time) - number(data.now?.at) <= FRESH_MS / 1000;
  if (names.every(isFresh) && isCurrent) return null;
  const away = t("The hub does not answer: systemctl status gillnet-hub");
  if (!names.every((name) => heard[name])) return { words: t("Not known yet"), more: failures > 0 ? away : "" };
  const at = timeOf(Math.min(...names.map((name) => heard[name].wall)) / 1000);
  return { words: t("Not known"), more: `${t("What is shown is of {time}.", { time: at })} ${document.hidden ? t("Nothing is asked while this tab is hidden.")
    : failures > 0 ? away : t("The hub's answers are late, or refused.")}` };
}

function showKnown() {
  health.show(data, doubt());
  for (const name of Object.keys(shown?.pulse?.(query) ?? {})) shown.at.classList.toggle("stale", !isFresh(name));
}

// ---- one answer ----

const faults = {}; // name: words
function showFault(name, words, isToken = false) {
  if (words === "") delete faults[name];
  else faults[name] = { words, isToken };
  const mine = Object.keys({ ...shown.reads(query), ...shown.pulse?.(query) }).map((n) => faults[n]).filter(Boolean);
  const needsToken = mine.find((f) => f.isToken);
  const at = shown.at.querySelector(".fault");
  at.hidden = mine.length === 0 || isWaiting;
  say(at.firstChild, mine.length === 0 ? "" : needsToken ? t("This needs a token: {why}", { why: needsToken.words })
    : t("Not up to date: {why}", { why: [...new Set(mine.map((f) => f.words))].join("; ") }));
  at.lastChild.hidden = !needsToken;
}

// isNow(): whether the answer is still wanted.
async function read(name, path, take, isNow = () => true) {
  const asked = moment();
  try {
    const answer = await get(`v1/${path}`);
    if (!isNow()) return "well";
    take(answer);
    heard[name] = asked;
    showFault(name, "");
    return "well";
  } catch (e) {
    if (!isNow()) return e.kind ?? "well";
    // An invalid answer is a fault of its view, not of the page.
    const kind = e.kind ?? "garbage";
    if (kind === "token") delete heard[name];
    showFault(name, e.kind ? e.message : t("the hub's answer could not be read"), kind === "token");
    return kind;
  } finally {
    showKnown();
  }
}

async function readHealth(name) {
  return read(name, HEALTH[name], (answer) => {
    data[name] = answer;
    if (name === "stats") setServerTime(answer.time);
  });
}

function readForView(paths) {
  const view = shown, of = query;
  return Promise.all(Object.entries(paths).map(async ([name, path]) => {
    const isNow = () => shown === view && query === of && ({ ...view.reads(of), ...view.pulse?.(of) })[name] === path;
    const kind = await read(name, path, (answer) => view.show(name, answer, of), isNow);
    if (kind === "error" && isNow() && view.restart?.(name)) pulse();
    return kind;
  }));
}

// ---- rounds ----

function showLink(delay) {
  const isOff = failures > 0;
  byId("offline").hidden = !isOff;
  if (isOff) say(byId("offline-words"), t("No connection to gillnet-hub since {time}. Next try in {pause}.", { time: timeOf(since), pause: lasting(delay / 1000) }));
  byId("sign-in-first").hidden = !isWaiting;
  dialogs.showSession();
  if (!isOff && !isWaiting) say(byId("updated"), t("Updated {time}", { time: new Date().toLocaleTimeString(locale) }));
}

// Repeats call(), one at a time. call() returns the pause.
function loop(call) {
  let timer = 0, isBusy = false, isDueAgain = false;
  return async function go() {
    if (isBusy) {
      isDueAgain = true;
      return;
    }
    isBusy = true;
    clearTimeout(timer);
    let delay;
    do {
      isDueAgain = false;
      delay = await call();
    } while (isDueAgain);
    isBusy = false;
    if (!document.hidden && !isWaiting) timer = setTimeout(() => !document.hidden && !isWaiting && go(), delay);
  };
}

const rest = loop(async () => {
  if (failures === 0) await readForView(shown.reads(query));
  return ROUND_MS;
});

async function readPulse() {
  const [mine, results] = await Promise.all([readForView(shown.pulse?.(query) ?? {}), Promise.all(Object.keys(HEALTH).map(readHealth))]);
  return [...results, ...mine.filter((kind) => kind === "token")];
}

const pulse = loop(async () => {
  const wasOff = failures > 0, hadToken = hasToken();
  let results = await readPulse();
  if (results.includes("token") && hadToken && !hasToken()) {
    dialogs.tell(t("The hub does not know this token any more: sign in again."), "critical");
    results = await readPulse(); // without a token
  }
  const isOff = results.every((r) => r === "offline");
  if (isOff && failures === 0) since = Date.now() / 1000;
  failures = isOff ? failures + 1 : 0;
  isWaiting = results.slice(0, Object.keys(HEALTH).length).includes("token");
  const delay = isOff ? Math.min(PULSE_MS * 2 ** (failures - 1), BACK_OFF_MAX_MS) : PULSE_MS;
  showLink(delay);
  showKnown();
  if (wasOff && !isOff) rest();
  return delay;
});

// Who the hub takes this browser for: by its token, or by a proxy.
async function readSession() {
  try {
    dialogs.showSession(await get("v1/whoami"));
  } catch { /* the pulse says so */ }
}

function begin() {
  isWaiting = false;
  pulse();
  rest();
}

// ---- views ----

function makeView(view) {
  view.at = byId(`view-${view.name}`) ?? el("div", { id: `view-${view.name}` });
  if (!view.at.isConnected) byId("main").append(view.at);
  view.at.prepend(el("p", { class: "fault", hidden: true }, el("span"), " ",
    el("button", { type: "button", class: "small", hidden: true, on: { click: () => dialogs.signIn() } }, t("Sign in"))));
  view.make(view.at);
}

function open() {
  const { name, query: asked } = here();
  const next = VIEWS.find((v) => v.name === name) ?? VIEWS[0];
  if (!next.at) makeView(next);
  if (shown !== next) shown?.close?.();
  const isOther = shown !== next;
  shown = next;
  query = asked;
  for (const at of byId("main").children) at.hidden = at !== next.at;
  for (const view of VIEWS) {
    const link = byId(`nav-${view.name}`);
    if (view === next) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  closeMenu();
  next.open?.(query);
  if (isOther) scrollTo(0, 0);
  begin();
}

function closeMenu() {
  byId("nav").classList.remove("open");
  byId("menu").setAttribute("aria-expanded", "false");
}

function makeNavigation() {
  for (const [group, title] of Object.entries(GROUPS)) {
    const views = VIEWS.filter((v) => v.group === group);
    if (views.length === 0) continue;
    byId("nav-views").append(...[title ? el("h2", {}, title) : null,
      el("ul", {}, ...views.map((v) => el("li", {}, el("a", { id: `nav-${v.name}`, href: linkTo(v.name) }, v.title))))].filter(Boolean));
  }
  byId("menu").addEventListener("click", () => {
    byId("menu").setAttribute("aria-expanded", String(byId("nav").classList.toggle("open")));
  });
}

// ---- keys ----

// To the next or the previous row of the view's tables that has something to press.
function moveRow(step) {
  const PRESSED = "a, button:not(:disabled), input";
  const rows = [...shown.at.querySelectorAll("tbody tr")].filter((row) => row.checkVisibility() && row.querySelector(PRESSED));
  const at = rows.indexOf(document.activeElement.closest("tr"));
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step))]?.querySelector(PRESSED).focus();
}
const KEYS = { j: () => moveRow(1), k: () => moveRow(-1) };

const isField = (node) => node.closest("input, textarea, select, [contenteditable], dialog") !== null;
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || isField(e.target)) return;
  if (e.key === "/") {
    const view = shown.search ? shown : ask;
    if (view !== shown) addEventListener("hashchange", () => byId(view.search).focus(), { once: true });
    if (view !== shown) location.hash = linkTo(view.name);
    else byId(view.search).focus();
  } else if (e.key === "?") {
    dialogs.showKeys();
  } else if (shown.keys?.[e.key] ?? KEYS[e.key]) {
    (shown.keys?.[e.key] ?? KEYS[e.key])(e);
  } else {
    return;
  }
  e.preventDefault();
});

translate(document);
makeNavigation();
dialogs.start(() => {
  readSession();
  begin();
});
byId("again").addEventListener("click", begin);
byId("sign-in-first-button").addEventListener("click", () => dialogs.signIn());
addEventListener("hashchange", open);
addEventListener("gillnet-refresh", begin);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) begin();
  showKnown();
});
setInterval(showKnown, 1000);
readSession();
open();
