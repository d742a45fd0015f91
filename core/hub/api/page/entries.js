// entries - one list, opened: its entries by search, who changed them, when and why; adds and revokes.
import { linkTo, refresh, setQuery } from "./address.js";
import { post } from "./api.js";
import { doAs } from "./dialogs.js";
import { chip, count, el, list, number, put, say, share, table, text, timeOf, under } from "./dom.js";
import { plural, t } from "./language.js";

const PAGE = 100;
const TYPING_MS = 350;
const REASON_MAX = 80; // bytes, LIST_REASON_MAX
const LONG = 300; // characters

let cursors = [""]; // of the pages up to this one
let next = null;
let typing = 0;
let shown = new URLSearchParams();

const nameOf = () => shown.get("list") ?? "";
const originOf = () => shown.get("origin") ?? "";

function begin() {
  cursors = [""];
  refresh();
}

// ---- revoking: a dialog that asks why ----

const why = el("input", { id: "revoke-reason", type: "text", maxlength: REASON_MAX, autocomplete: "off" });
const what = el("p", { id: "revoke-words" });
const dialog = el("dialog", { "aria-labelledby": "revoke-title", "aria-describedby": "revoke-words" },
  el("form", { on: { submit: (e) => {
    e.preventDefault();
    if (e.submitter?.value === "yes" && why.value.trim() === "") why.focus();
    else dialog.close(e.submitter?.value ?? "");
  } } }, el("h2", { id: "revoke-title" }, t("Revoke an entry")), what, el("label", { for: why.id }, t("Reason")), why,
    el("p", { class: "actions" }, el("button", { type: "submit", value: "yes", class: "main" }, t("Revoke")), el("button", { type: "submit", value: "" }, t("Cancel")))));

function askWhy(words) {
  say(what, words);
  why.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes" ? why.value.trim() : ""), { once: true }));
}

async function revoke(row) {
  const name = nameOf();
  const reason = await askWhy(t("{value} will no longer count as listed on {list}, whatever feeds and peers say later.", { value: cut(row.value), list: name }));
  if (reason && await doAs(() => post("v1/list/revoke", { list: name, values: [`${row.type}:${row.value}`], reason }),
    t("Revoked on {list}: {value}", { list: name, value: cut(row.value) }))) refresh();
}

// ---- the table ----

function actions(cell, row) {
  if (!cell.firstChild) {
    const button = el("button", { type: "button", class: "small", on: { click: () => revoke(cell.row) } }, t("Revoke"), el("span", { class: "unseen" }));
    cell.append(button);
  }
  cell.row = row;
  cell.firstChild.hidden = row.status === "revoked" || !row.value || originOf() !== "";
  say(cell.firstChild.lastChild, ` ${cut(row.value ?? "")}`);
}

// A long text is cut; it is whole in its tooltip.
const cut = (words) => (words.length > LONG ? `${words.slice(0, LONG)}…` : words);
const valueOf = (r) => (r.value ? el("bdi", { class: "value", title: r.value.length > LONG ? r.value : null }, cut(r.value)) : el("i", {}, t("kept as a digest alone")));
const stateOf = (r) => (r.status === "revoked" ? chip(t("revoked"), "plain") : chip(t("listed"), "warning"));
const entryTable = table(t("Entries of the list"), [
  { head: t("Value"), wide: true, parts: (r) => [valueOf(r), under(text(r.type))] },
  { head: t("State"), parts: (r) => [stateOf(r), r.expires_s ? under(t("until {time}", { time: timeOf(r.expires_s) })) : null] },
  { head: t("Changed"), parts: (r) => [timeOf(r.changed_s), under(t("first seen {time}", { time: timeOf(r.first_seen_s) }))] },
  { head: t("By"), parts: (r) => [el("bdi", {}, text(r.who))] },
  { head: t("Reason"), wide: true, parts: (r) => [el("bdi", {}, text(r.reason))] },
  { head: t("Actions"), keep: actions },
], (r, at) => `${r.type} ${r.value ?? at} ${r.changed_s}`, true);

// ---- adding ----

const field = (words, input) => el("div", {}, el("label", { for: input.id }, words), input);
const values = el("textarea", { id: "add-values", rows: 3, autocomplete: "off", spellcheck: "false" });
const reason = el("input", { id: "add-reason", type: "text", maxlength: REASON_MAX, autocomplete: "off" });
const expires = el("select", { id: "add-expires" }, ...[["", t("for ever")], ["1d", t("{n} d", { n: 1 })], ["7d", t("{n} d", { n: 7 })],
  ["30d", t("{n} d", { n: 30 })], ["365d", t("{n} d", { n: 365 })]].map(([value, words]) => el("option", { value }, words)));

async function add(e) {
  e.preventDefault();
  const all = values.value.split("\n").map((v) => v.trim()).filter(Boolean);
  const empty = all.length === 0 ? values : reason.value.trim() === "" ? reason : null;
  if (empty) {
    empty.focus();
    return;
  }
  const name = nameOf();
  const body = { list: name, values: all, reason: reason.value.trim(), ...(expires.value ? { expires: expires.value } : {}) };
  if (await doAs(() => post("v1/list/add", body), plural("{n} value is on {list} now|{n} values are on {list} now", all.length, { list: name }))) {
    values.value = "";
    begin();
  }
}

const adding = el("details", {}, el("summary", {}, t("Add entries")), el("form", { class: "add", on: { submit: add } },
  field(t("Values, one a line"), values), el("div", { class: "fields" }, field(t("Reason"), reason), field(t("Holds"), expires)),
  el("p", { class: "actions" }, el("button", { type: "submit", class: "main" }, t("Add")))));

// ---- the whole ----

const head = el("h2", { id: "entries-head" });
const numbers = el("p", { class: "muted" });
const words = el("input", { id: "entries-words", type: "text", maxlength: 256, autocomplete: "off", spellcheck: "false", on: { input: () => {
  clearTimeout(typing);
  typing = setTimeout(() => setQuery({ list: nameOf(), origin: originOf(), q: words.value.trim() }), TYPING_MS);
} } });
const where = el("span", { class: "muted", role: "status" });
const button = (shownWords, click) => el("button", { type: "button", class: "small", on: { click } }, shownWords, el("span", { class: "unseen" }, ` ${t("Rows of entries")}`));
const back = button(t("Previous"), () => {
  cursors.pop();
  refresh();
});
const on = button(t("Next"), () => {
  cursors.push(next);
  refresh();
});
const bar = el("div", { class: "pages", role: "group", "aria-label": t("Rows of entries") }, el("label", { for: words.id }, t("Search")), words, where, back, on);

export const entries = {
  node: el("section", { id: "entries", "aria-labelledby": "entries-head", hidden: true }, el("p", {}, el("a", { id: "entries-back", href: linkTo("lists") }, t("All lists"))),
    head, numbers, adding, bar, entryTable.node, dialog),
  isOpen: (query) => query.has("list"),
  open(query) {
    if (query.toString() !== shown.toString()) {
      cursors = [""];
      entryTable.show([]);
      say(where, t("Asking…"));
      say(numbers, "");
    }
    shown = query;
    say(head, originOf() ? t("{list} from {origin}", { list: nameOf(), origin: originOf() }) : nameOf());
    if (document.activeElement !== words) words.value = query.get("q") ?? "";
    adding.hidden = originOf() !== "";
  },
  path(query) {
    const asked = [["name", query.get("list")], ["origin", query.get("origin") ?? ""], ["q", query.get("q") ?? ""], ["limit", PAGE], ["cursor", cursors.at(-1)]];
    return `list?${new URLSearchParams(asked.filter(([, v]) => v !== ""))}`;
  },
  show(answer) {
    const rows = list(answer.entries).slice(0, PAGE + 1);
    next = typeof answer.next === "string" ? answer.next : null;
    entryTable.node.hidden = rows.length === 0;
    entryTable.show(rows);
    say(numbers, t("{listed} listed, {revoked} revoked", { listed: count(answer.listed), revoked: count(answer.revoked) }));
    const found = rows.length === 0 ? t("None") : plural("{n} entry|{n} entries", rows.length);
    const far = next === null ? t("the end") : t("{share} of the log searched; Next goes on", { share: share(answer.share) });
    const textless = number(answer.without_text) > 0 ? `; ${t("{n} without text cannot be searched", { n: count(answer.without_text) })}` : "";
    put(where, [`${found}; ${far}${textless}`]);
    back.disabled = cursors.length < 2;
    on.disabled = next === null;
  },
  restart() {
    const had = cursors.length > 1;
    cursors = [""];
    return had;
  },
};
