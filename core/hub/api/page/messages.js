// messages - the view of judged messages: the newest first, searched, and those to come.
//
// The hub searches; the document holds at most ROWS rows. What comes meanwhile is shown at once while the reader is at the top,
// and is counted otherwise.
import { go, linkTo, refresh } from "./address.js";
import { follow, get } from "./api.js";
import { scoreBar } from "./chart.js";
import { byId, bytes, count, el, list, number, say, seconds, text, timeOf, under } from "./dom.js";
import { foreign } from "./effects.js";
import { actionChip, explained, scoreOf } from "./explained.js";
import { locale, plural, t } from "./language.js";

const ROWS = 200;
const PAGE = 100;
const TOP_PX = 80; // a reader who scrolled further is not disturbed
const PAUSE_MS = 1000, PAUSE_MAX_MS = 60000, LASTED_MS = 10000;
const RECIPIENTS = 2;

let q = "";
let rows = []; // shown, the newest first
let fresh = []; // came since, and are not shown
let marks = {}; // thresholds
let isLater = false; // rows above the first one were dropped: the reader went on to older ones
let hasOlder = false;
let searched = 0;
let isRefused = false; // the hub refuses the query
let opened = ""; // case of the row that is open
let tail = null; // AbortController of the live tail
const nodes = new Map(); // case: {row, detail}

const path = (more = {}) => `messages?${new URLSearchParams({ limit: PAGE, ...(q ? { q } : {}), ...more })}`;
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });

// ---- rows ----

const HEADS = [t("Time"), t("Verdict"), t("Sender and recipients"), t("Subject"), t("Client"), t("Score")];

function timeCell(m) {
  const at = seconds(m.time), known = Number.isFinite(at);
  const isToday = known && new Date(at * 1000).toDateString() === new Date().toDateString();
  const shown = known ? (isToday ? "" : `${day.format(at * 1000)} `) + clock.format(at * 1000) : text("");
  return [el("button", { type: "button", class: "link", "aria-expanded": "false", title: timeOf(at), on: { click: () => toggle(m.case) } },
    shown, el("span", { class: "unseen" }, ` ${t("open")} `, foreign(m.subject ?? m.from))), el("span", { class: "under" }, text(m.case), " ", text(m.id))];
}
function peopleCell(m) {
  const to = Array.isArray(m.to) ? m.to : [];
  const more = number(m.recipients) - Math.min(to.length, RECIPIENTS);
  return [foreign(m.header_from ?? m.from), el("span", { class: "under" }, ...to.slice(0, RECIPIENTS).flatMap((r, i) => [i > 0 ? ", " : "", foreign(r)]),
    more > 0 ? ` ${plural("and {n} more|and {n} more", more)}` : "")];
}
function subjectCell(m) {
  const top = list(m.symbols)[0];
  return [foreign(m.subject, { class: "cut" }), top ? el("span", { class: "under" }, foreign(top.name), ` ${scoreOf(top.score)}`) : null];
}
const scoreCell = (m) => (typeof m.score === "number" ? [String(scoreOf(m.score)), scoreBar(m.score, String(m.action), marks)] : [under(text(m.reason))]);

function makeRow(m) {
  const cells = [timeCell(m), [actionChip(m.action)], peopleCell(m), subjectCell(m), [text(m.client?.address), under(bytes(m.size))], scoreCell(m)];
  return el("tr", { "data-case": m.case }, ...cells.map((parts, i) => (i === 0 ? el("th", { scope: "row" }, ...parts)
    : el("td", { class: ["", "", "wide", "wide", "", "num"][i] || null, "data-head": HEADS[i] }, ...parts))));
}

function nodesOf(m) {
  const found = nodes.get(m.case) ?? { row: makeRow(m), detail: null };
  nodes.set(m.case, found);
  return found;
}

function render() {
  const body = byId("message-rows");
  const wanted = rows.map(nodesOf).flatMap(({ row, detail }) => (detail ? [row, detail] : [row]));
  wanted.forEach((node, at) => {
    if (body.children[at] !== node) body.insertBefore(node, body.children[at] ?? null);
  });
  while (body.children.length > wanted.length) body.lastChild.remove();
  const kept = new Set(rows.map((m) => m.case));
  for (const name of nodes.keys()) if (!kept.has(name)) nodes.delete(name);
  showState();
}

function showState() {
  const n = fresh.length;
  byId("message-table").hidden = rows.length === 0;
  byId("message-new").hidden = n === 0 && !isLater;
  say(byId("message-new"), n === 0 ? t("To the newest") : n >= ROWS ? t("More than {n} new", { n: count(ROWS) }) : plural("{n} new|{n} new", n));
  byId("message-older").hidden = !hasOlder;
  say(byId("message-state"), isRefused ? "" : searched === 0 ? t("No messages yet.") : rows.length === 0 ? t("None of {n} messages matches.", { n: count(searched) })
    : hasOlder ? t("Searched {n} messages; there are older ones.", { n: count(searched) }) : t("Searched all {n} messages that the hub keeps.", { n: count(searched) }));
}

// ---- arrivals ----

const mayShow = () => !isLater && opened === "" && scrollY < TOP_PX && !document.hidden;
// found: the newest first.
function arrive(found) {
  const known = new Set([...rows, ...fresh].map((m) => m.case));
  fresh = [...found.filter((m) => !known.has(m.case)), ...fresh].slice(0, ROWS);
  searched = Math.max(searched, 1);
  if (mayShow()) showFresh();
  else showState();
}
function showFresh() {
  if (fresh.length > 0) {
    hasOlder = hasOlder || rows.length + fresh.length > ROWS;
    rows = [...fresh, ...rows].slice(0, ROWS);
    fresh = [];
  }
  render();
}
function toNewest() {
  if (isLater || fresh.length >= ROWS) begin();
  else showFresh();
  scrollTo(0, 0);
  refresh();
}

const later = (ms, signal) => new Promise((done) => {
  const timer = setTimeout(done, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    done();
  });
});
const sayLive = (words, kind) => {
  byId("message-live").className = `chip ${kind}`;
  say(byId("message-live"), words);
};
async function followTail(asked, signal) {
  for (let pause = PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, PAUSE_MAX_MS)) {
    const begun = performance.now();
    try {
      await follow(`v1/messages/live?${new URLSearchParams(asked ? { q: asked } : {})}`, (found) => signal.aborted || arrive(list(found).reverse()), () => sayLive(t("live"), "well"), signal);
    } catch (e) {
      if (e.kind === "token") break; // the reads say so
    }
    if (signal.aborted) return;
    sayLive(t("every 15 s"), "plain");
    if (performance.now() - begun > LASTED_MS) pause = PAUSE_MS;
    await later(pause * (0.5 + Math.random()), signal); // not all at once after a restart of the hub
  }
  sayLive("", "plain");
}
function startTail() {
  if (tail || document.hidden) return;
  tail = new AbortController();
  followTail(q, tail.signal);
}
function stopTail() {
  tail?.abort();
  tail = null;
}

// ---- searching ----

function begin() {
  rows = [];
  fresh = [];
  isLater = false;
  hasOlder = false;
  searched = 0;
  opened = "";
  isRefused = false;
}
function showFault(words) {
  const field = byId("message-q");
  say(byId("message-why"), words);
  field.setAttribute("aria-invalid", String(words !== ""));
  const column = Number(/column (\d+)/.exec(words)?.[1] ?? 0);
  if (column > 0) {
    field.focus();
    field.setSelectionRange(column - 1, field.value.length);
  }
}
// Why the hub refuses the query: the frame does not say.
async function findFault() {
  const asked = q;
  isRefused = true;
  try {
    await get(`v1/${path()}`);
    isRefused = false;
  } catch (e) {
    if (asked === q) showFault(e.message.replace(/^q: /, ""));
  }
  showState();
}
async function goOn() {
  const asked = q, last = rows.at(-1);
  byId("message-older").disabled = true;
  try {
    const answer = await get(`v1/${path({ before: String(last?.place ?? "") })}`);
    if (asked !== q || last !== rows.at(-1)) return;
    const all = [...rows, ...list(answer.messages)];
    isLater = isLater || all.length > ROWS;
    rows = all.slice(-ROWS);
    hasOlder = typeof answer.next === "string";
    searched += number(answer.searched);
    render();
    nodes.get(list(answer.messages)[0]?.case)?.row.querySelector("button").focus();
  } catch (e) {
    showFault(e.message);
  } finally {
    byId("message-older").disabled = false;
  }
}

// ---- one row ----

function toggle(name) {
  const before = nodes.get(opened);
  const isOpen = opened === name;
  if (before) {
    before.detail = null;
    before.row.querySelector("button").setAttribute("aria-expanded", "false");
  }
  opened = isOpen ? "" : name;
  const now = nodes.get(opened);
  if (now) {
    now.detail = el("tr", { class: "detail" }, el("td", { colspan: HEADS.length }, explained(name)));
    now.row.querySelector("button").setAttribute("aria-expanded", "true");
  }
  render();
}
function move(step) {
  const at = rows.findIndex((m) => m.case === document.activeElement?.closest("tr[data-case]")?.dataset.case);
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step))];
  nodes.get(next?.case)?.row.querySelector("button").focus();
}

const GRAMMAR = [["word", t("part of any text: id, sender, recipient, subject, client, symbol")], ["\"two words\"", t("the same with spaces")], ["from: to: subject:", t("part of sender, recipient or subject")],
  ["client:", t("part of the client's address")], ["symbol: action:", t("whole name, or PREFIX*")], ["id:", t("whole case id, queue id or Message-ID")], ["score:>5", t("above 5; below with <, at least without a sign")],
  ["since:7d until:1h", t("counted back from now")], ["-from:a", t("not this term")]];

function make(at) {
  const form = el("form", { id: "message-form", role: "search" },
    el("label", { for: "message-q" }, t("Search messages")),
    el("div", { class: "row" }, el("input", { id: "message-q", type: "text", maxlength: 1024, autocomplete: "off", spellcheck: "false", placeholder: "from:example.org action:reject", "aria-describedby": "message-why" }),
      el("button", { type: "submit", class: "main" }, t("Search"))),
    el("p", { id: "message-why", class: "bad", role: "alert" }),
    el("details", {}, el("summary", {}, t("How to search")), el("dl", { class: "grammar" }, ...GRAMMAR.map(([form, means]) => el("div", {}, el("dt", {}, el("code", {}, form)), el("dd", {}, means))))));
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    const wanted = byId("message-q").value.trim();
    if (wanted !== q) go("messages", { q: wanted });
    else {
      begin();
      refresh();
    }
  });
  at.append(el("section", { id: "messages", "aria-labelledby": "message-head" },
    el("h2", { id: "message-head" }, t("Messages"), " ", el("span", { id: "message-live", class: "chip plain" })), form,
    el("p", { class: "row" }, el("button", { id: "message-new", type: "button", class: "small main", hidden: true, on: { click: toNewest } })),
    el("div", { id: "message-table", class: "scroll mail", tabindex: "0", role: "region", "aria-label": t("Found messages"), hidden: true },
      el("table", {}, el("caption", { class: "unseen" }, t("Found messages")), el("thead", {}, el("tr", {}, ...HEADS.map((h, i) => el("th", { scope: "col", class: i === 5 ? "num" : null }, h)))), el("tbody", { id: "message-rows" }))),
    el("p", { class: "row" }, el("span", { id: "message-state", class: "muted", role: "status" }), el("button", { id: "message-older", type: "button", class: "small", hidden: true, on: { click: goOn } }, t("Go on")))));
  document.addEventListener("visibilitychange", () => document.hidden && stopTail());
}

export const view = {
  name: "messages",
  title: t("Messages"),
  group: "mail",
  search: "message-q",
  reads: () => (isRefused ? {} : { messages: path() }),
  make,
  open(query) {
    const asked = query.get("q") ?? "";
    if (asked !== q || rows.length === 0) {
      q = asked;
      begin();
      stopTail();
      byId("message-q").value = q;
      showFault("");
      render();
    }
  },
  close: stopTail,
  show(name, answer) {
    const isFirst = rows.length === 0 && fresh.length === 0;
    marks = answer.thresholds && typeof answer.thresholds === "object" ? answer.thresholds : {};
    if (isFirst) {
      rows = list(answer.messages).slice(0, ROWS);
      hasOlder = typeof answer.next === "string";
      searched = number(answer.searched);
      render();
      if (/^id:/.test(q) && rows.length === 1) toggle(rows[0].case);
    } else {
      arrive(list(answer.messages));
    }
    startTail();
  },
  restart() {
    findFault();
    return true;
  },
  keys: { j: () => move(1), k: () => move(-1) },
};
// For other views.
export const messagesWith = (query) => linkTo("messages", { q: query });
