// overview - the first screen: health, figures, charts, rules, bulk keys.
import { bar, bucketAt, histogram, spark, stacked } from "./chart.js";
import { amount, byId, chip, clockOf, count, el, isTime, lasting, list, now, number, plural, say, share, short, table, text, timeOf, WINDOWS } from "./dom.js";

const ACTIONS = ["accept", "header", "quarantine", "defer", "reject", "discard"];
const MEANS = {
  accept: "accepted", header: "marked", quarantine: "held", defer: "deferred", reject: "rejected", discard: "discarded",
};
// The answer with valid numbers for the drawings.
function sound(answer) {
  const counts = (b) => Object.fromEntries(["messages", ...ACTIONS].map((name) => [name, amount(b[name])]));
  return { ...answer, buckets: list(answer.buckets).filter((b) => isTime(b.at)).map((b) => ({ at: b.at, ...counts(b) })) };
}
const sumOf = (buckets, name) => buckets.reduce((n, b) => n + b[name], 0);

// ---- health ----

// Emergency mode, from gillnetd's own numbers: the alert of it comes later and knows less. Null: off.
function emergency(daemon) {
  const it = daemon?.running ? daemon.stats : null;
  if (!it || amount(it.emergency) === 0) return null;
  const domains = amount(it.escalated);
  return { key: "emergency", severity: "warning", since: it.emergency_since_time,
    message: `Emergency mode: ${count(amount(it.emergency_rate))} URL checks a second; it began above ${count(amount(it.emergency_level))}`,
    action: `gillnet emergency shows it${domains > 0 ? `, and ${plural(domains, "domain")} that ${domains === 1 ? "counts" : "count"} as listed for a while` : ""}` };
}

// Reasons against "all is well": firing alerts and faults of gillnetd.
function needs(data) {
  const mode = emergency(data.stats?.gillnetd);
  const isNews = (a) => a.firing && !(mode && a.name === "GillnetEmergency");
  const found = list(data.alerts?.alerts).filter(isNews).map((a) => ({
    key: `alert ${a.name}`, severity: a.severity === "critical" ? "critical" : "warning", message: text(a.message || a.name),
    action: a.action ?? "", since: a.since_s,
  }));
  const daemon = data.stats?.gillnetd;
  if (daemon && daemon.running === false && !found.some((f) => f.severity === "critical")) {
    found.push({ key: "down", severity: "critical", message: "gillnetd does not run: mail is not examined",
      action: "systemctl status gillnetd", since: 0 });
  }
  for (const fault of Array.isArray(daemon?.faults) ? daemon.faults : []) {
    found.push({ key: `fault ${fault}`, severity: "warning", message: text(fault), action: "gillnet doctor says what to do", since: 0 });
  }
  if (mode) found.push(mode);
  return found.sort((a, b) => (a.severity > b.severity) - (a.severity < b.severity));
}

function need(found) {
  return el("li", { class: found.severity },
    chip(found.severity, found.severity),
    el("div", {},
      el("p", { class: "what" }, found.message),
      found.action ? el("p", { class: "advice" }, found.action) : null,
      number(found.since) > 0 ? el("p", { class: "muted" }, `since ${timeOf(found.since)}`) : null));
}

function aboutDaemon(stats) {
  const daemon = stats?.gillnetd;
  const up = number(daemon?.stats?.start_time);
  return !daemon ? "" : daemon.running === false ? "gillnetd is not running."
    : up > 0 ? `gillnetd has been running for ${lasting(number(stats.time) - up)}.` : "gillnetd is running.";
}

let needsShown = "";
// doubt: why the data may be out of date, {words, more}; null: it is current.
export function showHealth(data, doubt) {
  const found = needs(data);
  const state = doubt ? "unknown" : found.length === 0 ? "well" : found[0].severity;
  const words = doubt ? doubt.words : found.length === 0 ? "All is well"
    : `${plural(found.length, "thing")} ${found.length === 1 ? "needs" : "need"} you`;

  byId("health").dataset.state = state;
  say(byId("health-word"), words);
  document.title = doubt ? "(?) gillnet: not known" : found.length > 0 ? `(${found.length}) gillnet: needs you` : "gillnet: all is well";
  say(byId("health-more"), doubt ? doubt.more : aboutDaemon(data.stats));
  const shown = JSON.stringify(found);
  if (shown !== needsShown) {
    needsShown = shown;
    byId("needs").replaceChildren(...found.map(need));
  }
}

// ---- figures ----

function figure(id, value, more) {
  say(byId(id), value);
  say(byId(`${id}-more`), more);
}

// Messages a minute in the current bucket and the one before.
function rate(buckets, seconds) {
  const [before, last] = buckets.slice(-2);
  if (!last) return 0;
  return Number(((before.messages + last.messages) / ((seconds + Math.min(Math.max(now() - last.at, 0), seconds)) / 60)).toFixed(1));
}

export function showFigures(data) {
  if (data.history) {
    const { buckets } = sound(data.history);
    const mail = sumOf(buckets, "messages");
    const caught = ACTIONS.slice(1).reduce((n, a) => n + sumOf(buckets, a), 0);
    figure("f-mail", short(mail), mail === 0 ? "messages: none yet" : "messages in 24 hours");
    figure("f-caught", short(caught), mail > 0 ? `${share(caught / mail)} of them` : "nothing yet");
    figure("f-now", count(rate(buckets, amount(data.history.bucket_s) || 600)), "messages a minute lately");
  }
  if (data.lists) {
    figure("f-lists", short(amount(data.lists.sums?.entries)), `on ${plural(amount(data.lists.total), "list")}`);
  }
  if (data.feeds) {
    const all = amount(data.feeds.sums?.enabled), well = amount(data.feeds.sums?.well);
    figure("f-feeds", all === 0 ? "0" : `${count(well)}/${count(all)}`, all === 0 ? "feeds: none yet" : well < all ? "feeds are well" : "feeds, all well");
  }
  if (data.peers) {
    const all = amount(data.peers.sums?.others);
    figure("f-peers", all === 0 ? "0" : `${count(amount(data.peers.sums?.connected))}/${count(all)}`, all === 0 ? "peers: no ring" : "peers connected");
  }
}

// ---- mail ----

const hidden = new Set();
let history = null;

function legend(buckets) {
  const at = byId("mail-legend");
  if (at.childElementCount === 0) {
    at.append(...ACTIONS.map((a) => el("button", {
      type: "button", class: "key", "aria-pressed": "true", "data-action": a,
      on: { click: (e) => {
        if (!hidden.delete(a)) hidden.add(a);
        e.currentTarget.setAttribute("aria-pressed", String(!hidden.has(a)));
        drawMail();
      } },
    }, el("span", { class: `swatch ${a}`, "aria-hidden": "true" }), el("span", { class: "name" }, MEANS[a]), " ", el("b"))));
  }
  for (const key of at.children) say(key.querySelector("b"), count(sumOf(buckets, key.dataset.action)));
}

function drawMail() {
  const { buckets } = history;
  const plot = byId("mail-plot");
  const shown = ACTIONS.filter((a) => !hidden.has(a));
  const words = `Messages in each 10 minutes of the last day, ${count(sumOf(buckets, "messages"))} in all: ` +
    ACTIONS.map((a) => `${count(sumOf(buckets, a))} ${MEANS[a]}`).join(", ") + ". The table below has the hours.";
  plot.replaceChildren(stacked(Math.max(plot.clientWidth, 260), 190, buckets, shown, words));
}

function drawHours() {
  const hours = new Map();
  for (const b of history.buckets) {
    const from = b.at - (b.at % 3600);
    const row = hours.get(from) ?? { at: from };
    for (const a of ["messages", ...ACTIONS]) row[a] = amount(row[a]) + b[a];
    hours.set(from, row);
  }
  hourTable.show([...hours.values()].reverse());
}
const hourTable = table("Messages by hour, the last first", [
  { head: "Hour from", text: (r) => clockOf(r.at) },
  { head: "Messages", num: true, text: (r) => count(r.messages) },
  ...ACTIONS.map((a) => ({ head: MEANS[a], num: true, text: (r) => count(r[a]) })),
], (r) => r.at);

function readBucket(event) {
  const { buckets } = history;
  const box = byId("mail-plot").getBoundingClientRect();
  const i = bucketAt(event.clientX - box.left, box.width, buckets.length);
  const b = i === null ? null : buckets[i];
  say(byId("mail-read"), !b ? "" : `${clockOf(b.at)}: ${plural(b.messages, "message")}` +
    ACTIONS.filter((a) => b[a] > 0).map((a) => `, ${count(b[a])} ${MEANS[a]}`).join(""));
}

// ---- scores ----

// Bins from edges and counts. One count more than edges: both ends are open; one less: none is.
function binsOf(scores) {
  const edges = Array.isArray(scores?.edges) ? scores.edges.map((e) => Math.min(Math.max(number(e), -1e6), 1e6)) : [];
  const counts = Array.isArray(scores?.counts) ? scores.counts.map(amount) : [];
  const offset = counts.length > edges.length ? 1 : 0;
  return counts.map((n, i) => ({ n, from: edges[i - offset] ?? null, to: edges[i - offset + 1] ?? null }));
}

function showScores(data) {
  const scores = data.history.scores;
  const all = binsOf(scores);
  const marks = ACTIONS.slice(1).filter((a) => Number.isFinite(scores?.thresholds?.[a]))
    .map((a) => ({ name: a, at: scores.thresholds[a] })).sort((a, b) => a.at - b.at);
  // From the lowest bin that matters to the highest.
  const matters = (b) => b.n > 0 || marks.some((m) => (b.from === null || m.at >= b.from) && (b.to === null || m.at < b.to));
  const first = Math.max(0, all.findIndex(matters) - 1);
  const bins = all.slice(first, all.findLastIndex(matters) + 2);
  for (const b of bins) b.action = marks.filter((m) => b.from !== null && b.from >= m.at).at(-1)?.name ?? "accept";
  const total = bins.reduce((n, b) => n + b.n, 0);
  const plot = byId("score-plot");
  byId("score-empty").hidden = total > 0;
  byId("score-figure").hidden = total === 0;
  if (total === 0) return;
  const over = marks.map((m) => `${count(bins.filter((b) => b.from !== null && b.from >= m.at).reduce((n, b) => n + b.n, 0))} reach ${m.name} (${m.at})`);
  const words = `Scores of ${plural(total, "message")} of the last day on a logarithmic scale; ${over.join(", ") || "no thresholds are set"}.`;
  plot.replaceChildren(histogram(Math.max(plot.clientWidth, 240), 190, bins, marks, words));
  say(byId("score-words"), over.length > 0 ? `${over.join(", ")}. Logarithmic scale.` : "Logarithmic scale.");
}

// ---- symbols ----

const SYMBOLS = 10;
let allSymbols = false, topSymbol = 1;
const symbolTable = table("Rules that fired in the last day", [
  { head: "Symbol", text: (r) => r.name },
  { head: "Share", hidden: true, parts: (r) => [bar(number(r.day) / topSymbol)] },
  { head: "Day", num: true, text: (r) => count(r.day) },
  { head: "In all", num: true, text: (r) => count(r.total) },
], (r) => r.name, true);

function showSymbols(data) {
  const rows = list(data.history.symbols).sort((a, b) => number(b.day) - number(a.day) || number(b.total) - number(a.total));
  topSymbol = Math.max(1, ...rows.map((r) => number(r.day)));
  byId("symbol-empty").hidden = rows.length > 0;
  symbolTable.node.hidden = rows.length === 0;
  symbolTable.show(allSymbols ? rows : rows.slice(0, SYMBOLS));
  const more = byId("symbol-more");
  more.hidden = rows.length <= SYMBOLS;
  say(more, allSymbols ? "Show fewer" : `Show all ${rows.length}`);
  more.setAttribute("aria-expanded", String(allSymbols));
}

// ---- bulk ----

let lookUp = () => {};
const bulkTable = table("Values seen most often", [
  { head: "Value", keep: (cell, r) => {
    if (!cell.firstChild) {
      cell.append(el("button", { type: "button", class: "link value", on: { click: () => lookUp(cell.value) } }));
    }
    cell.value = `${r.type}:${r.value}`;
    say(cell.firstChild, text(r.value));
  } },
  { head: "Type", text: (r) => r.type },
  ...WINDOWS,
  { head: "Last day", parts: (r) => [spark(r.spark, "Last day")] },
], (r) => `${r.type} ${r.value}`);

function showBulk(data) {
  const rows = list(data.history.bulk).sort((a, b) => number(b.w1d) - number(a.w1d));
  byId("bulk-empty").hidden = rows.length > 0;
  bulkTable.node.hidden = rows.length === 0;
  bulkTable.show(rows);
}

// ---- all of it ----

export function showHistory(data) {
  history = sound(data.history);
  const { buckets } = history;
  const isEmpty = sumOf(buckets, "messages") === 0;
  byId("mail-empty").hidden = !isEmpty;
  byId("mail-figure").hidden = isEmpty;
  if (!isEmpty) {
    legend(buckets);
    drawMail();
    if (byId("mail-table").open) drawHours();
  }
  showScores(data);
  showSymbols(data);
  showBulk(data);
}

export function start(find) {
  lookUp = find;
  byId("mail-table").append(hourTable.node);
  byId("mail-table").addEventListener("toggle", drawHours);
  byId("mail-plot").addEventListener("pointermove", readBucket);
  byId("mail-plot").addEventListener("pointerleave", () => say(byId("mail-read"), ""));
  byId("symbol-list").append(symbolTable.node);
  byId("symbol-more").addEventListener("click", () => {
    allSymbols = !allSymbols;
    if (history) showSymbols({ history });
  });
  byId("bulk-list").append(bulkTable.node);
  symbolTable.node.hidden = bulkTable.node.hidden = true;
  let width = 0;
  new ResizeObserver(() => {
    if (history && innerWidth !== width) {
      width = innerWidth;
      showHistory({ history });
    }
  }).observe(document.body);
}
