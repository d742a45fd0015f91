// lists - the view of lists by worth; one of them opened (entries.js).
import { linkTo } from "./address.js";
import { bar } from "./chart.js";
import { ago, byId, bytes, chip, count, el, lasting, now, number, share, table, text, under } from "./dom.js";
import { entries } from "./entries.js";
import { t } from "./language.js";
import { pages } from "./pages.js";
import { sayCounted, worthColumns, worthSorts } from "./worth.js";

const FULL = 0.5; // share of set bits in a filter that is full by design

const isOld = (l) => number(l.max_age_s) > 0 && now() - number(l.updated_s) > l.max_age_s;
const isOver = (l) => number(l.error_target) > 0 && number(l.error_now) > number(l.error_target);
const limited = (isBad, limit) => under(isBad ? t("over {limit}", { limit }) : t("of {limit}", { limit }));
const keyOf = (l) => `${l.origin ?? ""} ${l.name}`;
const linked = (l) => [el("a", { class: "name", href: linkTo("lists", { list: l.name, origin: l.origin }) }, text(l.name)),
  ...[l.category, l.shadow ? t("shadow") : ""].filter(Boolean).map((words) => chip(words, "plain")), l.origin ? under(t("from {origin}", { origin: l.origin })) : null];

const listTable = table(t("Lists in use"), [
  { head: t("List"), parts: linked },
  { head: t("Entries"), num: true, text: (l) => count(l.entries) },
  { head: t("Revoked"), num: true, text: (l) => count(l.revoked) },
  { head: t("Weight"), num: true, text: (l) => l.weight },
  ...worthColumns,
  { head: t("Updated"), bad: isOld, parts: (l) => [ago(l.updated_s), number(l.max_age_s) > 0 ? limited(isOld(l), lasting(l.max_age_s)) : null] },
  { head: t("Fault"), wide: true, bad: (l) => l.fault, text: (l) => l.fault || t("none") },
], keyOf, true);

const filterTable = table(t("Filters of these lists"), [
  { head: t("List"), text: (l) => l.name },
  { head: t("Fill"), num: true, parts: (l) => [share(l.fill), bar(number(l.fill) / FULL)] },
  { head: t("Error now"), num: true, bad: isOver, parts: (l) => [share(l.error_now), limited(isOver(l), share(l.error_target))] },
  { head: t("On disk"), num: true, text: (l) => bytes(number(l.filter_bytes) + number(l.index_bytes) + number(l.log_bytes)) },
], keyOf, true);

// The filters are filled when they are unfolded.
let last = [];
const filters = el("details", { id: "list-filters", on: { toggle: () => filters.open && filterTable.show(last) } }, el("summary", {}, t("Filters: fill, error, bytes")), filterTable.node);
const both = {
  node: el("div", {}, listTable.node, filters),
  show(items) {
    last = items;
    listTable.show(items);
    if (filters.open) filterTable.show(items);
  },
};

const rows = pages({ name: "lists", label: t("Rows of lists"), of: both, empty: "list-empty", sorts: [...worthSorts, ["name", t("name")], ["-entries", t("most entries")],
  ["-revoked", t("most revoked")], ["-updated_s", t("last updated")], ["updated_s", t("longest not updated")], ["-weight", t("weight")], ["category", t("category")],
  ["-fault", t("faults first")]] });
const counted = el("p", { class: "muted" });

export const view = {
  name: "lists",
  title: t("Lists"),
  group: "knowledge",
  search: "lists-words",
  reads: (query) => (entries.isOpen(query) ? { list: entries.path(query) } : { lists: rows.path() }),
  make(at) {
    byId("list-table").append(counted, ...rows.nodes);
    at.append(entries.node);
  },
  open(query) {
    const isOne = entries.isOpen(query);
    byId("lists").hidden = isOne;
    entries.node.hidden = !isOne;
    view.search = isOne ? "entries-words" : "lists-words";
    if (isOne) entries.open(query);
  },
  show(name, answer) {
    if (name === "list") {
      entries.show(answer);
    } else {
      rows.show(answer);
      sayCounted(counted, answer.counted);
    }
  },
  restart: (name) => (name === "list" ? entries.restart() : rows.restart()),
};
