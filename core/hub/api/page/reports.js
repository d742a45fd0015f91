// reports - the view of what people said about messages, what it changed, and its undoing.
import { refresh } from "./address.js";
import { ago, chip, el, number, table, text, timeOf, under } from "./dom.js";
import { confidence, effectsOf, foreign, undoButton } from "./effects.js";
import { plural, t } from "./language.js";
import { messagesWith } from "./messages.js";
import { pages } from "./pages.js";

const UNDO_MS = 300; // the log is read again

function effectsCell(r) {
  const all = [number(r.items) > 0 ? plural("votes on {n} item|votes on {n} items", number(r.items)) : "", r.taught ? t("taught the model") : "",
    ...effectsOf(r.changed)].filter(Boolean);
  return [foreign(all.length > 0 ? all.join(", ") : t("nothing was changed"))];
}

const reportTable = table(t("What people reported"), [
  { head: t("Reporter"), parts: (r) => [foreign(r.reporter), under(typeof r.trust === "number" ? t("trust {n}", { n: confidence(r.trust) }) : "")] },
  { head: t("Said"), parts: (r) => [chip(r.kind === "spam" ? t("spam") : t("ham"), r.kind === "spam" ? "critical" : "well")] },
  { head: t("About"), parts: (r) => (r.case ? [el("a", { href: messagesWith(`id:${r.case}`) }, text(r.case)), under(r.queue_id ?? "")] : [text(r.queue_id)]) },
  { head: t("When"), parts: (r) => [ago(number(r.time)), under(timeOf(number(r.time)))] },
  { head: t("How"), text: (r) => r.way },
  { head: t("Effects"), wide: true, parts: effectsCell },
  { head: t("Actions"), hidden: true, keep: (cell, r) => {
    const state = `${r.id} ${r.undone}`;
    if (cell.firstChild?.dataset.state === state) return;
    cell.replaceChildren(el("div", { class: "actions", "data-state": state }, r.undone ? t("undone by {who}", { who: text(r.undone_by) })
      : undoButton(r.id, `${r.reporter} ${r.id}`, () => setTimeout(refresh, UNDO_MS))));
  } },
], (r) => r.id, true);

const rows = pages({ name: "reports", label: t("Rows of reports"), of: reportTable, empty: "report-empty", hint: t("reporter, case, spam"), sorts: [["-time", t("newest first")], ["time", t("oldest first")], ["reporter", t("reporter")],
  ["kind", t("ham first")], ["way", t("way")]] });

export const view = {
  name: "reports",
  title: t("Reports"),
  group: "mail",
  search: "reports-words",
  reads: () => ({ reports: rows.path() }),
  make(at) {
    at.append(el("section", { "aria-labelledby": "report-head" }, el("h2", { id: "report-head" }, t("Reports")),
      el("p", { id: "report-empty", class: "empty", hidden: true }, t("Nobody reported anything.")), ...rows.nodes));
  },
  show: (name, answer) => rows.show(answer),
  restart: () => rows.restart(),
};
