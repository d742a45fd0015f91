// campaigns - the view of mailings: what many messages have in common, and what people say about it.
import { get, post } from "./api.js";
import { refresh } from "./address.js";
import { spark } from "./chart.js";
import { confirm, doAs } from "./dialogs.js";
import { ago, byId, chip, count, el, lasting, list, number, table, text, timeOf, under } from "./dom.js";
import { foreign, saidOf, undoButton } from "./effects.js";
import { scoreOf } from "./explained.js";
import { plural, t } from "./language.js";
import { messagesWith } from "./messages.js";
import { pages } from "./pages.js";

const STANDINGS = { open: ["plain", t("nobody knows")], disputed: ["warning", t("disputed")], trapped: ["warning", t("trapped")], spam: ["critical", t("spam")], ham: ["well", t("ham")] };
const QUERY_MAX = 64; // bytes of a text that the hub seeks

const button = (words, name, click) => el("button", { type: "button", class: "small", "aria-label": name, on: { click } }, words);
const nameOf = (c) => text(c.subject ?? c.sender ?? c.id);

// The messages of a campaign share the subject, or the sender, of the first one; without both nothing finds them.
function linkOf(c) {
  const [field, value] = c.subject ? ["subject", c.subject] : ["from", c.sender];
  if (!value || value.includes('"') || new TextEncoder().encode(value).length > QUERY_MAX) return null;
  return el("a", { href: messagesWith(`${field}:"${value}"`) }, t("Messages"));
}

const RESULTS = [["accepted", (n) => plural("{n} accepted|{n} accepted", n)], ["marked", (n) => plural("{n} marked|{n} marked", n)], ["held", (n) => plural("{n} held|{n} held", n)], ["refused", (n) => plural("{n} refused|{n} refused", n)]];
const resultsOf = (c) => RESULTS.filter(([name]) => number(c[name]) > 0).map(([name, words]) => words(number(c[name]))).join(", ");

async function mark(c, kind) {
  const title = kind === "spam" ? t("Mark as spam") : t("This is a newsletter");
  const words = kind === "spam" ? t("All copies of \"{name}\" will count as spam: a report of the administrator, which can be undone.", { name: nameOf(c) })
    : t("All copies of \"{name}\" will count as wanted: a report of the administrator, which can be undone.", { name: nameOf(c) });
  if (!(await confirm(title, words, title))) return;
  const answer = await doAs(() => post("v1/campaigns/mark", { id: c.id, kind }), kind === "spam" ? t("Marked as spam.") : t("Marked as wanted."));
  if (!answer) return;
  byId("campaign-done").replaceChildren(`${nameOf(c)}: ${saidOf(answer)}. `, ...(answer.id ? [undoButton(answer.id, title, () => {
    byId("campaign-done").replaceChildren(t("The report was undone."));
    refresh();
  })] : []));
  refresh();
}

const keyTable = (v) => table(t("Keys of the campaign"), [
  { head: t("Type"), text: (k) => k.type },
  { head: t("Digest"), parts: (k) => [el("code", {}, text(k.digest))] },
  { head: t("Messages"), num: true, text: (k) => (number(k.messages) >= 255 ? t("255 or more") : count(k.messages)) },
], (k) => `${k.type} ${k.digest}`).show(v);

async function showOne(id) {
  const at = byId("campaign-one");
  try {
    const c = await get(`v1/campaign?id=${encodeURIComponent(id)}`);
    const step = number(c.picture?.step_s);
    at.replaceChildren(el("article", { class: "finding" },
      el("h3", {}, foreign(c.subject ?? c.id)), el("p", { class: "muted" }, foreign(c.sender), ` ${t("from {first} to {last}", { first: timeOf(c.first), last: timeOf(c.last) })}`),
      el("p", {}, spark(c.picture?.messages, t("Messages")), under(t("each step is {time}", { time: lasting(step) }))), linkOf(c), keyTable(list(c.keys))));
    at.scrollIntoView({ block: "nearest" });
  } catch (e) {
    at.replaceChildren(el("p", { class: "bad" }, e.message));
  }
}

const campaignTable = table(t("Mailings"), [
  { head: t("Sample"), parts: (c) => [foreign(c.subject ?? c.id, { class: "cut" }), el("span", { class: "under" }, foreign(c.sender))] },
  { head: t("Messages"), num: true, parts: (c) => [count(c.messages), spark(c.picture?.messages, t("Messages"))] },
  { head: t("Networks"), num: true, text: (c) => count(c.networks) },
  { head: t("Senders"), num: true, text: (c) => count(c.senders) },
  { head: t("Verdict"), wide: true, parts: (c) => [resultsOf(c), under(t("mean score {score}", { score: scoreOf(c.score) }))] },
  { head: t("What people say"), parts: (c) => [chip(...(([kind, words]) => [words, kind])(STANDINGS[c.standing] ?? ["plain", text(c.standing)])),
    under(t("{spam} spam, {ham} ham", { spam: count(c.reported_spam), ham: count(c.reported_ham) }))] },
  { head: t("Last"), text: (c) => ago(c.last) },
  { head: t("Actions"), hidden: true, keep: (cell, c) => {
    if (cell.firstChild?.dataset.id === c.id) return;
    cell.replaceChildren(el("div", { class: "actions", "data-id": c.id },
      button(t("Mark as spam"), t("Mark as spam: {name}", { name: nameOf(c) }), () => mark(c, "spam")),
      button(t("This is a newsletter"), t("This is a newsletter: {name}", { name: nameOf(c) }), () => mark(c, "ham")),
      button(t("Details"), t("Details of {name}", { name: nameOf(c) }), () => showOne(c.id)), linkOf(c) ?? ""));
  } },
], (c) => c.id, true);

const rows = pages({ name: "campaigns", label: t("Rows of campaigns"), of: campaignTable, empty: "campaign-empty", sorts: [["-last", t("newest first")], ["-messages", t("most messages")],
  ["-networks", t("most networks")], ["-score", t("highest score")], ["-accepted", t("most accepted")], ["subject", t("subject")], ["sender", t("sender")]] });

export const view = {
  name: "campaigns",
  title: t("Campaigns"),
  group: "mail",
  search: "campaigns-words",
  reads: () => ({ campaigns: rows.path() }),
  make(at) {
    at.append(el("section", { "aria-labelledby": "campaign-head" }, el("h2", { id: "campaign-head" }, t("Campaigns")),
      el("p", { class: "muted" }, t("Mailings that are recognised by near replicas, links and templates.")),
      el("p", { id: "campaign-done", class: "done", role: "status" }), el("p", { id: "campaign-empty", class: "empty", hidden: true }, t("No campaigns: no two messages of the last days were alike.")),
      ...rows.nodes, el("div", { id: "campaign-one", "aria-live": "polite" })));
  },
  open(query) {
    byId("campaign-one").replaceChildren();
    if (query.get("id")) showOne(query.get("id"));
  },
  show: (name, answer) => rows.show(answer),
  restart: () => rows.restart(),
};
