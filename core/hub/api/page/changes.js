// changes - the view of the log of changes, with undo.
import { refresh } from "./address.js";
import { post } from "./api.js";
import { confirm, doAs } from "./dialogs.js";
import { chip, count, el, list, number, table, text, under } from "./dom.js";
import { t } from "./language.js";
import { cursorPages } from "./pages.js";

const SHOWN = 3; // values of a change

function valuesOf(c) {
  const values = Array.isArray(c.values) ? c.values.slice(0, SHOWN).map(String) : [];
  const more = number(c.count) - values.length;
  if (more > 0) values.push(values.length > 0 ? t("and {n} more", { n: count(more) }) : t("{n} entries", { n: count(more) }));
  return values;
}

const detail = (label, words) => (words === undefined ? null : el("div", {}, el("span", { class: "muted" }, `${label} `), el("bdi", {}, words === "" ? t("nothing") : String(words))));
function details(c) {
  return [...valuesOf(c).map((v) => el("div", {}, el("bdi", {}, v))), detail(t("before"), c.before), detail(t("after"), c.after),
    detail(t("reason"), c.reason), detail(t("cannot be undone:"), c.result), detail(t("undoes"), c.undoes)].filter(Boolean);
}

async function undo(c) {
  const words = t("The change {id} of {who} is undone. This is a change of its own.", { id: text(c.id), who: text(c.who) });
  if (!(await confirm(t("Undo a change"), words, t("Undo")))) return;
  await doAs(() => post("v1/changes/undo", { id: c.id }), t("The change was undone."));
  refresh();
}

// A button where an undo is possible; it stays while the row stays, and keeps the focus.
function undoCell(cell, c) {
  if (c.undo !== "possible") {
    cell.replaceChildren(c.undo === "done" ? chip(t("undone"), "plain") : "");
    return;
  }
  if (cell.firstChild?.tagName !== "BUTTON") {
    cell.replaceChildren(el("button", { type: "button", class: "small", on: { click: () => undo(cell.change) } }, t("Undo"),
      el("span", { class: "unseen" }, ` ${text(c.kind)} ${text(c.object)} ${text(c.id)}`)));
  }
  cell.change = c;
}

const changeTable = table(t("Log of changes"), [
  { head: t("Kind"), parts: (c) => [el("span", { class: "name" }, text(c.kind)), c.object ? under(String(c.object)) : null] },
  { head: t("Time"), at: (c) => c.time },
  { head: t("By whom"), parts: (c) => [el("bdi", {}, text(c.who)), c.way ? under(String(c.way)) : null] },
  { head: t("Details"), wide: true, parts: details },
  { head: t("Undo"), keep: undoCell },
], (c) => c.id, true);

const pages = cursorPages({ name: "changes", label: t("Search in changes"), of: changeTable, cursor: "before", empty: t("No change is noted yet.") });

export const view = {
  name: "changes",
  title: t("Changes"),
  group: "settings",
  search: "changes-words",
  reads: (query) => ({ changes: pages.path(query) }),
  make: (at) => at.append(el("section", { "aria-labelledby": "changes-head" }, el("h2", { id: "changes-head" }, t("Changes")), ...pages.nodes)),
  open: (query) => pages.open(query),
  show: (name, answer) => pages.show(list(answer.changes), answer.next),
};
