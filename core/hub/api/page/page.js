// page - loads the data from the hub: health and progress every 2 s, the rest every 15 s.
//
// A failed request leaves the former data in its place, marked as old. Data older than 5 s is never shown as well.
// There are no requests while the tab is hidden or the hub wants a token.
import { get, hasToken, post } from "./api.js";
import * as ask from "./ask.js";
import * as dialogs from "./dialogs.js";
import { byId, lasting, say, setServerTime, timeOf } from "./dom.js";
import * as overview from "./overview.js";
import * as tables from "./tables.js";

const PULSE_MS = 2000;
const ROUND_MS = 15000;
const FRESH_MS = 5000; // older data counts as unknown
const BACK_OFF_MAX_MS = 60000;

// The requests, the part of the page that each one fills, and its function.
const READS = {
  stats: { part: "overview", show: () => {} },
  alerts: { part: "overview", show: () => {} },
  progress: { part: null, show: (data) => (running = tables.showProgress(data)) },
  feeds: { part: "feeds", show: tables.showFeeds },
  peers: { part: "peers", show: tables.showPeers },
  lists: { part: "lists", show: tables.showLists },
  history: { part: "mail", show: overview.showHistory },
};
const PULSE = ["stats", "alerts", "progress", "feeds", "peers"]; // health and progress
const REST = ["lists", "history"];
const HEALTH = ["stats", "alerts"];

const data = {};
const heard = {}; // name: time of the request of its last answer, by both clocks
let running = 0; // tasks that are under way
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
  if (isWaiting) {
    return { words: "Not known: sign in", more: "The hub tells nothing without a token. Sign in with one; gillnet hub token NAME read makes it." };
  }
  if (HEALTH.every(isFresh)) return null;
  if (!HEALTH.every((name) => heard[name])) return { words: "Not known yet", more: failures > 0 ? "The hub does not answer: systemctl status gillnet-hub" : "" };
  const at = timeOf(Math.min(...HEALTH.map((name) => heard[name].wall)) / 1000);
  return { words: "Not known", more: `What is shown is of ${at}. ` + (document.hidden ? "Nothing is asked while this tab is hidden."
    : failures > 0 ? "The hub does not answer: systemctl status gillnet-hub" : "The hub's answers are late, or refused.") };
}

function showKnown() {
  overview.showHealth(data, doubt());
  for (const [name, { part }] of Object.entries(READS)) {
    if (PULSE.includes(name) && !HEALTH.includes(name) && part) byId(part).classList.toggle("stale", !isFresh(name));
  }
}

// ---- one answer ----

function showFault(name, words) {
  const { part } = READS[name];
  if (part === null) return;
  const at = byId(part).querySelector(".fault");
  at.dataset[name] = words;
  if (words === "") delete at.dataset[name];
  const all = [...new Set(Object.values(at.dataset))].join("; ");
  say(at, all === "" ? "" : `Not up to date: ${all}`);
  at.hidden = all === "";
}

async function read(name) {
  const asked = moment();
  const query = tables.queryOf(name);
  try {
    const answer = await get(`v1/${name}${query}`);
    if (query !== tables.queryOf(name)) return "well"; // another page was requested meanwhile
    data[name] = answer;
    if (name === "stats") setServerTime(answer.time);
    READS[name].show(data);
    overview.showFigures(data);
    heard[name] = asked;
    showFault(name, "");
    return "well";
  } catch (e) {
    if (e.kind === "error" && tables.restart(name)) return read(name);
    // An invalid answer is a fault of its part, not of the page.
    const kind = e.kind ?? "garbage";
    if (kind === "token") delete heard[name];
    showFault(name, e.kind ? e.message : "the hub's answer could not be read");
    return kind;
  } finally {
    showKnown();
  }
}

// ---- rounds ----

function showLink(delay) {
  const isOff = failures > 0;
  byId("offline").hidden = !isOff;
  if (isOff) say(byId("offline-words"), `No connection to gillnet-hub since ${timeOf(since)}. Next try in ${lasting(delay / 1000)}.`);
  byId("sign-in-first").hidden = !isWaiting;
  dialogs.showSession();
  if (!isOff && !isWaiting) say(byId("updated"), `Updated ${new Date().toLocaleTimeString("en-GB")}`);
}

// Repeats call(), one at a time. call() returns the pause, or null for no repetition.
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
    if (delay !== null && !document.hidden && !isWaiting) timer = setTimeout(() => !document.hidden && !isWaiting && go(), delay);
  };
}

const rest = loop(async () => {
  if (failures === 0) await Promise.all(REST.map(read));
  return ROUND_MS;
});

const pulse = loop(async () => {
  const before = running, wasOff = failures > 0, hadToken = hasToken();
  let results = await Promise.all(PULSE.map(read));
  if (results.includes("token") && hadToken && !hasToken()) {
    dialogs.tell("The hub does not know this token any more: sign in again.", "critical");
    results = await Promise.all(PULSE.map(read)); // without a token
  }
  const isOff = results.every((r) => r === "offline");
  if (isOff && failures === 0) since = Date.now() / 1000;
  failures = isOff ? failures + 1 : 0;
  isWaiting = HEALTH.some((name) => results[PULSE.indexOf(name)] === "token");
  const delay = isOff ? Math.min(PULSE_MS * 2 ** (failures - 1), BACK_OFF_MAX_MS) : PULSE_MS;
  showLink(delay);
  showKnown();
  if ((wasOff && !isOff) || running < before) rest();
  return delay;
});

function begin() {
  isWaiting = false;
  pulse();
  rest();
}

// ---- changes by the user ----

async function changeFeed(button, path, feed) {
  const isBack = path.endsWith("rollback");
  const words = `The list ${feed.list ?? feed.name} will hold what the last good version of ${feed.name} but one had, and stay there until the feed is updated by hand.`;
  if (isBack && !(await dialogs.confirm("Roll a feed back", words, "Roll back"))) return;
  button.setAttribute("aria-busy", "true");
  await dialogs.doAs(() => post(path, { feed: feed.name }), isBack ? `${feed.name} was rolled back.` : `${feed.name} is being updated.`);
  button.removeAttribute("aria-busy");
  begin();
}

dialogs.start(begin);
ask.start();
overview.start(ask.find);
tables.start(changeFeed, read);
byId("again").addEventListener("click", begin);
byId("sign-in-first-button").addEventListener("click", () => dialogs.signIn());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) begin();
  showKnown();
});
setInterval(showKnown, 1000);
begin();
