// overview - the first view: health (health.js), figures, charts, rules, bulk keys, long work.
import { go, linkTo, refresh } from "./address.js";
import { bar, bucketAt, grouped, histogram, spark, stacked } from "./chart.js";
import { amount, byId, clockOf, count, dateOf, el, isTime, lasting, list, monthOf, now, number, say, share, short, table, text, timeOf, utcDateOf, WINDOWS } from "./dom.js";
import { plural, t } from "./language.js";

const ACTIONS = ["accept", "header", "quarantine", "defer", "reject", "discard"];
const MEANS = {
  accept: t("accepted"), header: t("marked"), quarantine: t("held"), defer: t("deferred"), reject: t("rejected"), discard: t("discarded"),
};
// The answer with valid numbers for the drawings.
function sound(answer) {
  const counts = (b) => Object.fromEntries(["messages", ...ACTIONS].map((name) => [name, amount(b[name])]));
  return { ...answer, buckets: list(answer.buckets).filter((b) => isTime(b.at)).map((b) => ({ at: b.at, ...counts(b) })) };
}
const sumOf = (buckets, name) => buckets.reduce((n, b) => n + b[name], 0);

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

const FIGURES = {
  history(answer) {
    const { buckets } = sound(answer);
    const mail = sumOf(buckets, "messages");
    const caught = ACTIONS.slice(1).reduce((n, a) => n + sumOf(buckets, a), 0);
    figure("f-mail", short(mail), mail === 0 ? t("messages: none yet") : t("messages in 24 hours"));
    figure("f-caught", short(caught), mail > 0 ? t("{share} of them", { share: share(caught / mail) }) : t("nothing yet"));
    figure("f-now", count(rate(buckets, amount(answer.bucket_s) || 600)), t("messages a minute lately"));
  },
  lists: (answer) => figure("f-lists", short(amount(answer.sums?.entries)), plural("on {n} list|on {n} lists", amount(answer.total))),
  feeds(answer) {
    const all = amount(answer.sums?.enabled), well = amount(answer.sums?.well);
    figure("f-feeds", all === 0 ? "0" : `${count(well)}/${count(all)}`, all === 0 ? t("feeds: none yet") : well < all ? t("feeds are well") : t("feeds, all well"));
  },
  peers(answer) {
    const all = amount(answer.sums?.others);
    figure("f-peers", all === 0 ? "0" : `${count(amount(answer.sums?.connected))}/${count(all)}`, all === 0 ? t("peers: no ring") : t("peers connected"));
  },
};

// ---- mail ----

const PERIODS = {
  day: { title: t("Mail of the last day"), word: t("day"), step_s: 600 },
  week: { title: t("Mail of the last week"), word: t("week"), step_s: 3600 },
  month: { title: t("Mail of the last month"), word: t("month"), step_s: 3600 },
  year: { title: t("Mail of the last year"), word: t("year"), step_s: 86400 },
  years: { title: t("Mail of the last two years"), word: t("two years"), step_s: 86400 },
};
const periodOf = (query) => (query.get("period") in PERIODS ? query.get("period") : "day");
const serverOf = (query) => query.get("server") ?? "";
const isPlain = (query) => periodOf(query) === "day" && serverOf(query) === "";

const hidden = new Set();
let history = null; // of the day of this server
let mail = null; // what the chart shows: {period, buckets, bars}

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
  const { period, buckets } = mail;
  const { title, step_s } = PERIODS[period];
  const plot = byId("mail-plot");
  const width = Math.max(plot.clientWidth, 260);
  const shown = ACTIONS.filter((a) => !hidden.has(a));
  const words = t("{title}, {n} messages in all: {parts}. The table below has the numbers.", { title, n: count(sumOf(buckets, "messages")),
    parts: ACTIONS.map((a) => `${count(sumOf(buckets, a))} ${MEANS[a]}`).join(", ") });
  mail.bars = grouped(buckets, width, ["messages", ...ACTIONS], step_s);
  plot.replaceChildren(stacked(width, 190, mail.bars, shown, words, { period, step_s }));
}

// The table has hours of a day, days of a week or month, months of years. key: of the times that are one row.
const numbers = [{ head: t("Messages"), num: true, text: (r) => count(r.messages) }, ...ACTIONS.map((a) => ({ head: MEANS[a], num: true, text: (r) => count(r[a]) }))];
const HOURS = { key: (at) => at - (at % 3600), of: table(t("Messages by hour, the last first"), [{ head: t("Hour from"), text: (r) => clockOf(r.at) }, ...numbers], (r) => r.at) };
const DAYS = { key: (at) => new Date(at * 1000).toDateString(), of: table(t("Messages by day, the last first"), [{ head: t("Day"), text: (r) => dateOf(r.at) }, ...numbers], (r) => r.at) };
const MONTHS = { key: monthOf, of: table(t("Messages by month, the last first"), [{ head: t("Month"), text: (r) => monthOf(r.at) }, ...numbers], (r) => r.at) };
const TABLES = { day: HOURS, week: DAYS, month: DAYS, year: MONTHS, years: MONTHS };

function drawTable() {
  const { key, of } = TABLES[mail.period];
  const rows = new Map();
  for (const b of mail.buckets) {
    const row = rows.get(key(b.at)) ?? { at: mail.period === "day" ? key(b.at) : b.at };
    for (const a of ["messages", ...ACTIONS]) row[a] = amount(row[a]) + b[a];
    rows.set(key(b.at), row);
  }
  for (const each of [HOURS, DAYS, MONTHS]) if (each.of !== of) each.of.node.remove();
  if (!of.node.isConnected) byId("mail-table").append(of.node);
  of.show([...rows.values()].reverse());
}

const beginOf = { day: clockOf, week: timeOf, month: timeOf, year: utcDateOf, years: utcDateOf };
function readBucket(event) {
  if (!mail?.bars) return;
  const box = byId("mail-plot").getBoundingClientRect();
  const i = bucketAt(event.clientX - box.left, box.width, mail.bars.length);
  const b = i === null ? null : mail.bars[i];
  say(byId("mail-read"), !b ? "" : `${beginOf[mail.period](b.at)}: ${plural("{n} message|{n} messages", b.messages)}` +
    ACTIONS.filter((a) => b[a] > 0).map((a) => `, ${count(b[a])} ${MEANS[a]}`).join(""));
}

function showMail() {
  const isEmpty = sumOf(mail.buckets, "messages") === 0;
  byId("mail-empty").hidden = !isEmpty || sumOf(history?.buckets ?? [], "messages") > 0;
  byId("mail-figure").hidden = isEmpty;
  if (isEmpty) return;
  legend(mail.buckets);
  drawMail();
  if (byId("mail-table").open) drawTable();
}

function showPast(answer, query) {
  const missing = (Array.isArray(answer.missing) ? answer.missing : []).map(text);
  mail = { period: periodOf(query), buckets: sound(answer).buckets };
  const notes = [];
  if (missing.length > 0 && serverOf(query) === "all") notes.push(t("Left out of the sum, because nothing was heard of them lately: {names}.", { names: missing.join(", ") }));
  else if (missing.length > 0) notes.push(t("Nothing was heard of this server lately."));
  if (["year", "years"].includes(mail.period)) notes.push(t("Days and months are those of UTC."));
  say(byId("mail-note"), notes.join(" "));
  showMail();
}

// ---- which period, which server ----

function showChoice(query) {
  byId("mail-period").value = periodOf(query);
  byId("mail-server").value = serverOf(query);
  say(byId("mail-head"), PERIODS[periodOf(query)].title);
  if (isPlain(query)) say(byId("mail-note"), "");
}

function showServers(answer, query) {
  const others = list(answer.servers).filter((s) => s.self !== true && typeof s.name === "string");
  const at = byId("mail-server");
  const names = ["", ...others.map((s) => s.name), ...(others.length > 0 ? ["all"] : [])];
  if (JSON.stringify([...at.options].map((o) => o.value)) !== JSON.stringify(names)) {
    at.replaceChildren(...names.map((name) => el("option", { value: name, dir: "auto" }, name === "" ? t("this server") : name === "all" ? t("all servers") : name)));
    at.value = serverOf(query);
  }
  for (const node of [at, ...at.labels]) node.hidden = others.length === 0;
}

function choose() {
  const period = byId("mail-period").value;
  go("overview", { period: period === "day" ? "" : period, server: byId("mail-server").value });
}

// ---- scores ----

// Bins from edges and counts. One count more than edges: both ends are open; one less: none is.
function binsOf(scores) {
  const edges = Array.isArray(scores?.edges) ? scores.edges.map((e) => Math.min(Math.max(number(e), -1e6), 1e6)) : [];
  const counts = Array.isArray(scores?.counts) ? scores.counts.map(amount) : [];
  const offset = counts.length > edges.length ? 1 : 0;
  return counts.map((n, i) => ({ n, from: edges[i - offset] ?? null, to: edges[i - offset + 1] ?? null }));
}

function showScores(answer) {
  const scores = answer.scores;
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
  const reached = (m) => bins.filter((b) => b.from !== null && b.from >= m.at).reduce((n, b) => n + b.n, 0);
  const over = marks.map((m) => t("{n} reach {action} ({score})", { n: count(reached(m)), action: m.name, score: m.at })).join(", ");
  const words = t("Scores of {n} messages of the last day on a logarithmic scale; {parts}.", { n: count(total), parts: over || t("no thresholds are set") });
  plot.replaceChildren(histogram(Math.max(plot.clientWidth, 240), 190, bins, marks, words));
  say(byId("score-words"), `${over ? `${over}. ` : ""}${t("Logarithmic scale.")}`);
}

// ---- symbols ----

const SYMBOLS = 10;
let allSymbols = false, topSymbol = 1;
const symbolTable = table(t("Rules that fired in the last day"), [
  { head: t("Symbol"), text: (r) => r.name },
  { head: t("Share"), hidden: true, parts: (r) => [bar(number(r.day) / topSymbol)] },
  { head: t("Day"), num: true, text: (r) => count(r.day) },
  { head: t("In all"), num: true, text: (r) => count(r.total) },
], (r) => r.name, true);

function showSymbols(answer) {
  const rows = list(answer.symbols).sort((a, b) => number(b.day) - number(a.day) || number(b.total) - number(a.total));
  topSymbol = Math.max(1, ...rows.map((r) => number(r.day)));
  byId("symbol-empty").hidden = rows.length > 0;
  symbolTable.node.hidden = rows.length === 0;
  symbolTable.show(allSymbols ? rows : rows.slice(0, SYMBOLS));
  const more = byId("symbol-more");
  more.hidden = rows.length <= SYMBOLS;
  say(more, allSymbols ? t("Show fewer") : t("Show all {n}", { n: rows.length }));
  more.setAttribute("aria-expanded", String(allSymbols));
}

// ---- bulk ----

const bulkTable = table(t("Values seen most often"), [
  { head: t("Value"), keep: (cell, r) => {
    if (!cell.firstChild) {
      cell.append(el("a", { class: "value" }));
    }
    cell.firstChild.href = linkTo("look-up", { value: `${r.type}:${r.value}` });
    say(cell.firstChild, text(r.value));
  } },
  { head: t("Type"), text: (r) => r.type },
  ...WINDOWS,
  { head: t("Last day"), parts: (r) => [spark(r.spark, t("Last day"))] },
], (r) => `${r.type} ${r.value}`);

function showBulk(answer) {
  const rows = list(answer.bulk).sort((a, b) => number(b.w1d) - number(a.w1d));
  byId("bulk-empty").hidden = rows.length > 0;
  bulkTable.node.hidden = rows.length === 0;
  bulkTable.show(rows);
}

// ---- long work ----

let running = 0; // tasks under way
function showProgress(answer) {
  const tasks = list(answer.tasks);
  byId("progress").hidden = tasks.length === 0;
  byId("tasks").replaceChildren(...tasks.map((task) => {
    const isKnown = typeof task.share === "number";
    const name = `${text(task.what)} ${task.name ?? ""}`.trim();
    return el("li", {},
      el("span", { class: "name" }, name), el("span", { class: "muted" }, ` ${task.stage ?? ""}`),
      el("progress", { "aria-label": name, max: "1", value: isKnown ? String(task.share) : null }),
      el("span", { class: "muted num" }, `${isKnown ? `${Math.floor(task.share * 100)} %, ` : ""}${number(task.since_s) > 0 ? lasting(now() - task.since_s) : ""}`));
  }));
  if (tasks.length < running) refresh();
  running = tasks.length;
}

// ---- all of it ----

function showHistory(answer, query) {
  history = sound(answer);
  if (isPlain(query)) mail = { period: "day", buckets: history.buckets };
  if (mail) showMail();
  showScores(history);
  showSymbols(history);
  showBulk(history);
}

function make() {
  byId("mail-table").append(HOURS.of.node);
  byId("mail-table").addEventListener("toggle", () => mail && drawTable());
  byId("mail-period").append(...Object.entries(PERIODS).map(([value, { word }]) => el("option", { value }, word)));
  byId("mail-period").addEventListener("change", choose);
  byId("mail-server").addEventListener("change", choose);
  showServers({}, new URLSearchParams());
  byId("mail-plot").addEventListener("pointermove", readBucket);
  byId("mail-plot").addEventListener("pointerleave", () => say(byId("mail-read"), ""));
  byId("symbol-list").append(symbolTable.node);
  byId("symbol-more").addEventListener("click", () => {
    allSymbols = !allSymbols;
    if (history) showSymbols(history);
  });
  byId("bulk-list").append(bulkTable.node);
  symbolTable.node.hidden = bulkTable.node.hidden = true;
  let width = 0;
  new ResizeObserver(() => {
    if (history && innerWidth !== width && byId("mail-plot").clientWidth > 0) {
      width = innerWidth;
      if (mail) showMail();
      showScores(history);
    }
  }).observe(document.body);
}

export const view = {
  name: "overview",
  title: t("Overview"),
  group: "today",
  reads: (query) => ({ lists: "lists?limit=1", history: "history", servers: "servers",
    ...(isPlain(query) ? {} : { past: `history?${new URLSearchParams({ period: periodOf(query), ...(serverOf(query) ? { server: serverOf(query) } : {}) })}` }) }),
  pulse: () => ({ feeds: "feeds?limit=1", peers: "peers?limit=1", progress: "progress" }),
  make,
  open: showChoice,
  show(name, answer, query) {
    if (name === "history") showHistory(answer, query);
    if (name === "past") showPast(answer, query);
    if (name === "servers") showServers(answer, query);
    if (name === "progress") showProgress(answer);
    FIGURES[name]?.(answer);
  },
};
