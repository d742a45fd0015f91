// worth - what lists and rules did: columns and orders of their tables, and how much mail was counted.
import { ago, chip, count, list, number, say, timeOf } from "./dom.js";
import { plural, t } from "./language.js";

const USELESS = { "no hit": t("no hit"), "never alone": t("never alone") };

// Words about a row that nobody would miss.
const uselessOf = (row) => (row.useless ? [chip(USELESS[row.useless] ?? String(row.useless), "warning"), " "] : []);

export const worthColumns = [
  { head: t("Today"), num: true, text: (r) => count(r.hits_today) },
  { head: t("7 days"), num: true, text: (r) => count(r.hits_7d) },
  { head: t("14 days"), num: true, text: (r) => count(r.hits) },
  { head: t("Alone"), num: true, parts: (r) => [...uselessOf(r), count(r.alone)] },
  { head: t("Reported spam"), num: true, text: (r) => count(r.reported_spam) },
  { head: t("Reported ham"), num: true, bad: (r) => number(r.reported_ham) > 0, text: (r) => count(r.reported_ham) },
  { head: t("Last hit"), text: (r) => (r.last_hit_s ? ago(r.last_hit_s) : t("never")) },
];

export const worthSorts = [["-hits", t("most hits")], ["-hits_today", t("most hits today")], ["-useless", t("useless first")], ["-alone", t("most hits alone")],
  ["-reported_ham", t("most reported as ham")], ["-reported_spam", t("most reported as spam")]];

// Says of how much mail the numbers are.
export function sayCounted(node, counted) {
  const of = list([counted])[0] ?? {};
  const words = of.since_s ? plural("{n} judged message since {time}. Alone: nothing else raised the score.|{n} judged messages since {time}. Alone: nothing else raised the score.",
    number(of.judged), { time: timeOf(of.since_s) }) : t("No mail was counted yet.");
  say(node, of.complete === false ? `${words} ${t("The hub still reads the journal.")}` : words);
}
