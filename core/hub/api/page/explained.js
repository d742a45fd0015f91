// explained - one judged message: why it got its verdict, all evidence, and what can be done about it.
import { linkTo } from "./address.js";
import { get, post, postMessage } from "./api.js";
import { confirm, doAs } from "./dialogs.js";
import { ago, bytes, chip, count, el, list, number, seconds, table, text, timeOf, under, WINDOWS } from "./dom.js";
import { confidence, effectsOf, foreign, saidOf, undoButton } from "./effects.js";
import { plural, t } from "./language.js";
import { listing } from "./listing.js";

const AGAIN_MS = 700; // a change is in force within a second

export const ACTIONS = { accept: ["well", t("accepted")], header: ["warning", t("marked")], quarantine: ["warning", t("held")],
  defer: ["warning", t("deferred")], reject: ["critical", t("rejected")], discard: ["critical", t("discarded")] };
export const actionChip = (action) => chip(ACTIONS[action]?.[1] ?? text(action), ACTIONS[action]?.[0] ?? "plain");
export const scoreOf = (n) => (typeof n === "number" ? Number(n.toFixed(2)) : text(n));
const button = (words, click, more = {}) => el("button", { type: "button", class: "small", on: { click }, ...more }, words);

// ---- the facts ----

const fact = (name, ...parts) => el("div", {}, el("dt", {}, name), el("dd", {}, ...parts));
function facts(m) {
  const to = Array.isArray(m.to) ? m.to : [];
  const { subject, from, senders } = { subject: m.subject, from: m.header_from, senders: m.from };
  return el("dl", { class: "facts" },
    fact(t("Subject"), foreign(subject)), fact(t("From"), foreign(from)), fact(t("Envelope sender"), foreign(senders)),
    fact(t("Recipients"), ...(to.length === 0 ? [text("")] : to.flatMap((r, i) => [i > 0 ? ", " : "", foreign(r)]))),
    fact(t("Client"), text(m.client), m.outgoing ? ` ${t("(outgoing)")}` : ""), fact(t("Time"), timeOf(seconds(m.time))),
    fact(t("Size"), bytes(m.bytes)), fact(t("Case"), el("code", {}, text(m.case))), fact(t("Queue id"), el("code", {}, text(m.queue_id))));
}

const symbols = (v) => table(t("Symbols"), [
  { head: t("Symbol"), parts: (s) => [foreign(s.name)] },
  { head: t("Score"), num: true, text: (s) => scoreOf(s.score) },
  { head: t("Why"), wide: true, parts: (s) => [foreign(s.detail)] },
]).show(v);

const counts = (v) => table(t("How often its features were seen"), [{ head: t("Type"), text: (c) => c.type }, ...WINDOWS], (c) => `${c.type} ${c.digest}`).show(v);

const words = (v) => (Array.isArray(v) ? v : []).map(text);
function wordsOf(m) {
  const rows = [[t("Traits"), m.traits], [t("Identity"), m.identity], [t("Limits"), m.limits]].filter(([, v]) => words(v).length > 0);
  return rows.length > 0 ? el("dl", { class: "facts" }, ...rows.map(([name, v]) => fact(name, words(v).join(", ")))) : null;
}
const folded = (name, node) => el("details", {}, el("summary", {}, name), node);

function campaignOf(c) {
  if (!c || typeof c !== "object") return null;
  return el("p", {}, `${t("Campaign")}: `, el("a", { href: linkTo("campaigns", { id: c.id }) }, plural("{n} message|{n} messages", number(c.messages))), ` `, foreign(c.subject));
}

// ---- what can be done ----

// A card of a message. It renews itself after a change.
export function explained(id) {
  const card = el("article", { class: "finding", "aria-busy": "true" });
  const done = el("p", { class: "done", role: "status" });
  let form = null; // stays while the card is renewed: somebody may be filling it in
  const say = (...parts) => done.replaceChildren(...parts.filter(Boolean));

  async function load() {
    try {
      const m = await get(`v1/explain?id=${encodeURIComponent(id)}`);
      card.replaceChildren(...content(m), done);
    } catch (e) {
      card.replaceChildren(el("p", { class: "bad" }, e.message), done);
    } finally {
      card.removeAttribute("aria-busy");
    }
  }
  const again = () => setTimeout(load, AGAIN_MS);

  async function report(kind, m) {
    const what = kind === "spam" ? t("Reported as spam") : t("Reported as ham");
    const answer = await doAs(() => postMessage("v1/report", "", [["kind", kind], ["id", m.case]]), what);
    if (!answer) return;
    say(`${what}: ${saidOf(answer)}. `, answer.id && !answer.again ? undoButton(answer.id, what, () => {
      say(t("The report was undone."));
      again();
    }) : null);
    again();
  }
  async function revoke(h) {
    const value = `${h.type}:${h.value}`;
    if (!(await confirm(t("Revoke an entry"), t("{value} will no longer count as listed on {list}, whatever feeds and peers say later.", { value: h.value, list: h.list }), t("Revoke")))) return;
    const answer = await doAs(() => post("v1/revoke", { values: [value], list: h.list }), (a) => (list(a.changed).length > 0 ? t("Revoked on {list}: {value}", { list: h.list, value: h.value }) : text(a.detail)));
    if (!answer) return;
    say(effectsOf(answer.changed).join(", ") || text(answer.detail));
    again();
  }
  async function allow(s, value) {
    const caution = s.proved === true ? t("This message proved that it comes from there.")
      : s.proved === false ? t("This message did not prove that it comes from there: such mail will still not be let through.")
        : t("Nothing is known of proofs: without Authentication-Results of a trusted server, allowing has no effect on such mail.");
    if (!(await confirm(t("Allow a value"), `${t("Mail that proves to come from {value} will be let through from now on.", { value })} ${caution}`, t("Allow")))) return;
    const answer = await doAs(() => post("v1/allow", { values: [value] }), (a) => (list(a.changed).length > 0 ? t("Allowed: {value}", { value }) : text(a.detail)));
    if (!answer) return;
    say(effectsOf(answer.changed).join(", ") || text(answer.detail));
    again();
  }
  async function release(m) {
    if (!(await confirm(t("Release a message"), t("The message is reported as ham and delivered to all its recipients."), t("Release")))) return;
    const answer = await doAs(() => post("v1/quarantine/release", { id: m.queue_id }), t("Released."));
    if (!answer) return;
    say(answer.report ? t("Released; reported as ham: {effects}.", { effects: saidOf(answer.report) }) : t("Released, and not reported."), " ",
      answer.report?.id ? undoButton(answer.report.id, t("Reported as ham"), again) : null);
    again();
  }

  const hits = (v) => table(t("Evidence on lists"), [
    { head: t("List"), parts: (h) => [text(h.list), h.origin ? under(t("from {origin}", { origin: h.origin })) : null] },
    { head: t("Value"), wide: true, parts: (h) => [el("a", { class: "value", href: linkTo("look-up", { value: `${h.type}:${h.value}` }) }, foreign(h.value)), under(text(h.type))] },
    { head: t("Then"), parts: (h) => [text(h.status), under(t("weight {n}", { n: scoreOf(h.weight) }))] },
    { head: t("Now"), parts: (h) => (h.listed_now ? [text(h.rating), under(h.source ? text(h.source) : "")] : [t("no longer listed")]) },
    { head: t("Action"), hidden: true, keep: (cell, h) => {
      const may = h.listed_now && h.category !== "allow" && !h.origin;
      cell.replaceChildren(...(may ? [button(t("Revoke"), () => revoke(h), { "aria-label": t("Revoke {value} on {list}", { value: h.value, list: h.list }) })] : []));
    } },
  ], (h, at) => at).show(v);

  const reports = (v) => table(t("What people said"), [
    { head: t("Reporter"), parts: (r) => [foreign(r.reporter), under(t("trust {n}", { n: confidence(r.trust) }))] },
    { head: t("Said"), parts: (r) => [chip(r.kind === "spam" ? t("spam") : t("ham"), r.kind === "spam" ? "critical" : "well"), r.undone ? under(t("undone")) : null] },
    { head: t("When"), text: (r) => ago(number(r.time)) },
    { head: t("Action"), hidden: true, keep: (cell, r) => cell.replaceChildren(...(r.undone ? [] : [undoButton(r.id, text(r.reporter), again)])) },
  ], (r) => r.id).show(v);

  function actions(m) {
    const senders = list(m.senders);
    const values = new Map(senders.flatMap((s) => [[String(s.address), s], [String(s.domain), s]]));
    return el("div", { class: "actions" },
      button(t("Report as spam"), () => report("spam", m)), button(t("Report as ham"), () => report("ham", m)),
      m.held === true ? button(t("Release"), () => release(m), { class: "small main" }) : null,
      ...[...values].map(([value, s]) => button(t("Allow {value}", { value }), () => allow(s, value))));
  }
  // What the message could be known by: its senders, and what lists had of it.
  function listable(m) {
    const values = [...new Set([...list(m.senders).flatMap((s) => [String(s.address), String(s.domain)]), ...list(m.lists).map((h) => `${h.type}:${h.value}`)])];
    return values.length === 0 ? null : listing(values.map((v) => [v, v]), (words) => {
      say(words);
      again();
    });
  }

  function content(m) {
    const lists = list(m.lists), said = list(m.reports), seen = list(m.counts), changes = words(m.changes);
    return [
      el("p", { class: "sentence" }, foreign(m.sentence)), facts(m), actions(m), (form ??= listable(m)),
      m.held === null ? el("p", { class: "muted" }, t("Whether it is still held is not known: gillnet-queue does not answer.")) : null,
      list(m.symbols).length > 0 ? symbols(list(m.symbols)) : el("p", { class: "muted" }, t("No rule fired.")),
      lists.length > 0 ? hits(lists) : null, said.length > 0 ? reports(said) : null, campaignOf(m.campaign), wordsOf(m),
      changes.length > 0 ? folded(t("What would change the verdict"), el("ul", {}, ...changes.map((c) => el("li", {}, foreign(c))))) : null,
      seen.length > 0 ? folded(plural("Counts of {n} feature|Counts of {n} features", seen.length), counts(seen)) : null,
    ].filter(Boolean);
  }
  load();
  return card;
}
