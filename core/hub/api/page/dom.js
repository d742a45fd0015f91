// dom - elements made without markup, and numbers and times as people read them.
//
// Everything from the server enters as text, never as markup; the policy would block that too.
// Invisible characters enter as codes.
import { locale, marked, t } from "./language.js";

const SVG = "http://www.w3.org/2000/svg";

// Shows invisible characters, and those that reverse text, as codes such as <U+202E>. The same set as in core/base/visible.c.
const UNSEEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff" +
  "\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|\\p{Cs}", "gu");
export const visible = (words) =>
  String(words).replace(UNSEEN, (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, visible(value));
    }
  }
  node.append(...children.filter((c) => c !== null && c !== undefined).map((c) => (c instanceof Node ? c : visible(c))));
  return node;
}

export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

// Sets a text only if it differs, so that selections and screen readers are not disturbed.
export function say(node, words) {
  const shown = visible(words);
  if (node.textContent !== shown) node.textContent = shown;
}

export const list = (value) => (Array.isArray(value) ? value.filter((v) => v && typeof v === "object") : []);
export const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const known = (value) => typeof value === "number" && Number.isFinite(value);
// A number for drawings: not negative, and small enough to be summed.
export const amount = (value) => Math.min(Math.max(number(value), 0), 1e15);
export const isTime = (s) => known(s) && s > 0 && s < 1e11;
const NOTHING = "–";
export const text = (value) => (value === null || value === undefined || value === "" ? NOTHING : String(value));

const whole = new Intl.NumberFormat(locale);
const scale = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

export const count = (n) => (known(n) ? whole.format(n) : NOTHING);

function scaled(n, step, units) {
  let at = 0;
  while (n >= step && at < units.length - 1) {
    n /= step;
    at++;
  }
  return `${scale.format(at === 0 || n >= 100 ? Math.round(n) : n)}${units[at]}`;
}
export const short = (n) => (known(n) ? scaled(n, 1000, ["", " k", " M", " G", " T"]) : NOTHING);
export const bytes = (n) => (known(n) ? scaled(n, 1024, [" B", " KB", " MB", " GB", " TB"]) : NOTHING);

// At least three digits, and never 100 % of a part.
export function share(n) {
  if (!known(n)) return NOTHING;
  const percent = n * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.001) return "< 0.001 %";
  return `${new Intl.NumberFormat(locale, { maximumSignificantDigits: percent >= 99.95 ? 4 : 3 }).format(percent)} %`;
}

export function lasting(seconds) {
  if (!known(seconds)) return NOTHING;
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return t("{n} s", { n: s });
  if (s < 3600) return t("{n} min", { n: Math.round(s / 60) });
  if (s < 86400 * 2) return t("{n} h", { n: scale.format(s < 36000 ? s / 3600 : Math.round(s / 3600)) });
  return t("{n} d", { n: Math.round(s / 86400) });
}
export const clockOf = (s) => (isTime(s) ? clock.format(new Date(s * 1000)) : NOTHING);
export const timeOf = (s) => (isTime(s) ? day.format(new Date(s * 1000)) : NOTHING);
const dated = (form) => (s) => (isTime(s) ? form.format(new Date(s * 1000)) : NOTHING);
export const weekdayOf = dated(new Intl.DateTimeFormat(locale, { weekday: "short" }));
export const dateOf = dated(new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }));
// Days and months of two years are those of UTC, as the hub adds them up.
export const utcDateOf = dated(new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }));
export const monthOf = dated(new Intl.DateTimeFormat(locale, { month: "short", year: "2-digit", timeZone: "UTC" }));

// Seconds since 1970, or an RFC 3339 text as the command line prints it.
export const seconds = (value) => (typeof value === "string" ? Date.parse(value) / 1000 : value);

// Ages are measured by the server's clock, as of its last answer.
let ahead = 0;
export function setServerTime(s) {
  if (isTime(s)) ahead = s - Date.now() / 1000;
}
export const now = () => Date.now() / 1000 + ahead;
export function ago(s) {
  if (!isTime(s)) return t("never");
  const past = now() - s;
  return past < -1 ? t("in {time}", { time: lasting(-past) }) : past < 5 ? t("just now") : t("{time} ago", { time: lasting(past) });
}

// An age; the full date is its tooltip.
function when(node, s) {
  say(node, ago(s));
  node.title = isTime(s) ? timeOf(s) : "";
}

// A paragraph of the page's own words: what stands between backticks is code.
export const para = (words, more = {}) => el("p", more, ...marked(words));
export const under = (words) => el("span", { class: "under" }, words);
export const chip = (word, kind) => el("span", { class: `chip ${kind}` }, String(word));

// The first cell of a row: a name, more below it, and words about it.
export const named = (name, more, tags = []) => [el("span", { class: "name" }, text(name)), ...tags.map((tag) => chip(tag, "plain")),
  more ? under(more) : null];

// Replaces the children of a node if they differ.
export function put(node, children) {
  const fresh = el("div", {}, ...children);
  const isSame = fresh.childNodes.length === node.childNodes.length &&
    [...fresh.childNodes].every((c, i) => c.isEqualNode(node.childNodes[i]));
  if (!isSame) node.replaceChildren(...fresh.childNodes);
}

function showCell(cell, column, row) {
  if (column.keep) column.keep(cell, row);
  else if (column.parts) put(cell, column.parts(row));
  else if (column.at) when(cell, column.at(row));
  else say(cell, text(column.text(row)));
  if (column.bad) cell.classList.toggle("bad", Boolean(column.bad(row)));
}

// A table whose rows stay while their cells change, so that a button keeps the focus.
//
// columns: {head, hidden, num, wide, bad(row)} with one of text(row); parts(row): nodes and texts; at(row): seconds,
// shown as an age; keep(cell, row): is given the same cell each time. key(row) names a row.
// isHeaded: the caption is hidden, because a heading above has the same text.
export function table(caption, columns, key = (row, at) => at, isHeaded = false) {
  const body = el("tbody");
  const kind = (c) => (c.num ? "num" : c.wide ? "wide" : null);
  const head = columns.map((c) => el("th", { scope: "col", class: kind(c) }, c.hidden ? el("span", { class: "unseen" }, c.head) : c.head));
  const node = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: isHeaded ? "unseen" : null }, caption), el("thead", {}, el("tr", {}, ...head)), body));
  const rows = new Map();

  function rowOf(name) {
    const row = rows.get(name) ?? el("tr", {}, ...columns.map((c, i) =>
      i === 0 ? el("th", { scope: "row" }) : el("td", { class: kind(c) })));
    rows.set(name, row);
    return row;
  }
  function show(items) {
    const seen = new Set();
    items.forEach((item, at) => {
      let name = String(key(item, at));
      while (seen.has(name)) name += "+";
      seen.add(name);
      const row = rowOf(name);
      columns.forEach((c, i) => showCell(row.cells[i], c, item));
      if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] ?? null);
    });
    for (const [name, row] of rows) {
      if (!seen.has(name)) {
        row.remove();
        rows.delete(name);
      }
    }
    return node;
  }
  return { node, show };
}
// Columns for the counts of a row.
export const WINDOWS = [[t("10 min"), "w10m"], [t("Hour"), "w1h"], [t("Day"), "w1d"], [t("14 days"), "w14d"]]
  .map(([head, name]) => ({ head, num: true, text: (r) => count(r[name]) }));
