// rules - the view of rules by worth: which ones find what nothing else finds, and which ones nobody would miss.
import { linkTo } from "./address.js";
import { chip, el, named, para, table, text } from "./dom.js";
import { t } from "./language.js";
import { pages } from "./pages.js";
import { sayCounted, worthColumns, worthSorts } from "./worth.js";

const STATES = { live: ["well", t("in force")], shadow: ["plain", t("shadow")], off: ["plain", t("off")] };

function stateOf(r) {
  const [kind, words] = STATES[r.state] ?? ["plain", text(r.state)];
  return [chip(words, kind), r.emergency ? chip(t("emergency mode"), "plain") : null].filter(Boolean);
}

const link = (words, more, href) => el("a", { href }, words, el("span", { class: "unseen" }, ` ${more}`));
const linksOf = (r) => [link(t("Messages"), r.rule, linkTo("messages", { q: `symbol:${r.symbol}` })), " ",
  link(t("Tune"), r.rule, linkTo("tune", { rule: r.rule }))];

const ruleTable = table(t("Rules and what they did"), [
  { head: t("Rule"), wide: true, parts: (r) => named(r.rule, r.description, r.group ? [r.group] : []) },
  { head: t("State"), parts: stateOf },
  { head: t("Score"), num: true, text: (r) => r.score },
  ...worthColumns,
  { head: t("More"), parts: linksOf },
], (r) => r.rule, true);

const rows = pages({ name: "rules", label: t("Rows of rules"), of: ruleTable, empty: "rules-empty", sorts: [...worthSorts, ["rule", t("name")],
  ["-score", t("score")], ["group", t("group")], ["state", t("state")]] });
const counted = el("p", { class: "muted" });

export const view = {
  name: "rules",
  title: t("Rules"),
  group: "knowledge",
  search: "rules-words",
  reads: () => ({ rules: rows.path() }),
  make: (at) => at.append(el("section", { "aria-labelledby": "rules-head" }, el("h2", { id: "rules-head" }, t("Rules")), counted,
    para(t("No rules yet: gillnet.conf(5), `rules`."), { id: "rules-empty", class: "empty", hidden: true }), ...rows.nodes)),
  show(name, answer) {
    rows.show(answer);
    sayCounted(counted, answer.counted);
  },
  restart: () => rows.restart(),
};
