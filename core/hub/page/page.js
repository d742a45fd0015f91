// page - asks the hub for what is shown: everything each 15 s, the progress of long work each 2 s while there is any.
//
// A request that fails leaves what was shown before in its place, marked as old. Nothing is asked while the tab is hidden.
import { get, post } from "./api.js";
import * as ask from "./ask.js";
import * as dialogs from "./dialogs.js";
import { byId, lasting, say, setServerTime, timeOf } from "./dom.js";
import * as overview from "./overview.js";
import * as tables from "./tables.js";

const ROUND_MS = 15000;
const BUSY_MS = 2000;
const BACK_OFF_MAX_MS = 60000;

// What is read, which parts it fills, and what draws them.
const READS = {
  stats: { part: "overview", show: () => {} },
  history: { part: "mail", show: overview.showHistory },
  lists: { part: "lists", show: tables.showLists },
  feeds: { part: "feeds", show: tables.showFeeds },
  peers: { part: "peers", show: tables.showPeers },
  alerts: { part: "overview", show: () => {} },
  progress: { part: null, show: (data) => (running = tables.showProgress(data)) },
};

const data = {};
let running = 0; // tasks that are under way
let failures = 0; // rounds in a row that found nobody
let since = 0; // of them, seconds
let timer = 0;
let isAsking = false;
let isDueAgain = false; // somebody asked meanwhile
let isWaiting = false; // for a token

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
  try {
    const answer = await get(`v1/${name}`);
    data[name] = answer;
    if (name === "stats") setServerTime(answer.time);
    READS[name].show(data);
    overview.showHealth(data);
    overview.showFigures(data);
    showFault(name, "");
    return "well";
  } catch (e) {
    // An answer of another shape than agreed is a fault of its part, not of the page.
    const kind = e.kind ?? "garbage";
    showFault(name, e.kind ? e.message : "the hub's answer could not be read");
    return kind;
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

function next() {
  const delay = failures > 0 ? Math.min(BUSY_MS * 2 ** (failures - 1), BACK_OFF_MAX_MS) : running > 0 ? BUSY_MS : ROUND_MS;
  showLink(delay);
  clearTimeout(timer);
  if (!document.hidden && !isWaiting) timer = setTimeout(round, delay);
}

let fullAt = 0;
// While work runs only its progress is asked, until all is due again or the work is over.
function due() {
  return running > 0 && failures === 0 && performance.now() - fullAt < ROUND_MS ? ["progress"] : Object.keys(READS);
}

async function round() {
  if (isAsking) {
    isDueAgain = true;
    return;
  }
  isAsking = true;
  clearTimeout(timer);
  const before = running;
  let names = due();
  let results = await Promise.all(names.map(read));
  if (names.length === 1 && running < before) {
    names = Object.keys(READS);
    results = await Promise.all(names.map(read));
  }
  if (names.length > 1) fullAt = performance.now();
  const isOff = results.every((r) => r === "offline");
  if (isOff && failures === 0) since = Date.now() / 1000;
  failures = isOff ? failures + 1 : 0;
  isWaiting = results.every((r) => r === "token");
  isAsking = false;
  next();
  if (isDueAgain) {
    isDueAgain = false;
    round();
  }
}

function begin() {
  isWaiting = false;
  fullAt = 0;
  round();
}

// ---- what a person changes ----

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
tables.start(changeFeed);
byId("again").addEventListener("click", begin);
byId("sign-in-first-button").addEventListener("click", () => dialogs.signIn());
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : begin()));
begin();
