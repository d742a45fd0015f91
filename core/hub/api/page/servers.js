// servers - the view of the servers of the ring, of publishers, and of the shared store.
import { linkTo } from "./address.js";
import { bar } from "./chart.js";
import { ago, byId, bytes, chip, count, el, lasting, list, named, number, put, say, share, table, text, under } from "./dom.js";
import { t } from "./language.js";
import { pages } from "./pages.js";

const WORDS = { active: t("active"), invited: t("invited"), dropped: t("dropped"), well: t("well"), trouble: t("trouble"), refused: t("refused") };
const said = (word) => WORDS[word] ?? text(word);

function peerState(p) {
  if (p.self) return [t("this server"), "plain"];
  if (p.state !== "active") return [said(p.state), "plain"];
  if (p.is_distrusted) return [t("distrusted"), "critical"];
  if (p.is_stale) return [t("stale"), "warning"];
  return p.connected ? [t("connected"), "well"] : [t("not connected"), "warning"];
}
const refusals = (p) => Object.entries(p.refused && typeof p.refused === "object" ? p.refused : {})
  .filter(([, n]) => number(n) > 0).map(([why, n]) => `${count(n)} ${why}`).join(", ");

const peerTable = table(t("Servers of the ring"), [
  { head: t("Server"), parts: (p) => named(p.name, p.address) },
  { head: t("State"), parts: (p) => [chip(...peerState(p))] },
  { head: t("Behind"), num: true, text: (p) => (p.self ? "" : lasting(p.lag_s)) },
  { head: t("Received"), num: true, text: (p) => bytes(p.bytes_in) },
  { head: t("Sent"), num: true, text: (p) => bytes(p.bytes_out) },
  { head: t("Quota used"), num: true, text: (p) => (number(p.quota) > 0 ? share(number(p.quota_used) / p.quota) : "") },
  { head: t("Refused"), wide: true, text: (p) => refusals(p) || t("nothing") },
  { head: t("Last failure"), wide: true, text: (p) => p.last_failure || p.last_refusal || t("none") },
], (p) => p.origin ?? p.name);

// ---- what each server of this owner says of itself ----

const HEADLINE = { well: [t("well"), "well"], needs: [t("needs you"), "warning"], down: [t("gillnetd is down"), "critical"], new: [t("not used yet"), "plain"] };
function summaryState(s) {
  if (s.summary === "refused") return [t("refused"), "critical"];
  if (s.summary === "unheard") return [t("no summary"), "plain"];
  if (s.summary === "stale") return [t("not heard of for {time}", { time: lasting(s.age_s) }), "plain"];
  return HEADLINE[s.headline?.state] ?? [text(s.headline?.state), "plain"];
}
const today = (s, name) => (s.headline ? count(s.headline.today?.[name]) : "");
const feedAge = (s) => (!s.headline?.feeds ? "" : s.headline.feeds.oldest_age_s === null ? t("never") : lasting(s.headline.feeds.oldest_age_s));
const alertsOf = (s) => (Array.isArray(s.headline?.alerts) ? s.headline.alerts.map(text).join(", ") : "") || s.why || t("none");

const summaryTable = table(t("Servers of this owner"), [
  { head: t("Server"), keep: (cell, s) => {
    if (!cell.firstChild) cell.append(el("a", { class: "name" }));
    cell.firstChild.href = linkTo("overview", { server: s.self ? "" : s.name });
    say(cell.firstChild, text(s.name));
  } },
  { head: t("State"), parts: (s) => [chip(...summaryState(s))] },
  { head: t("Messages today"), num: true, text: (s) => today(s, "messages") },
  { head: t("Refused"), num: true, text: (s) => (s.headline ? count(s.headline.refused) : "") },
  { head: t("Marked"), num: true, text: (s) => today(s, "header") },
  { head: t("Oldest feed"), num: true, text: feedAge },
  { head: t("Alerts"), wide: true, text: alertsOf },
  { head: t("Version"), text: (s) => s.headline?.version ?? "" },
  { head: t("Told"), text: (s) => (s.self ? t("now") : s.headline ? t("{time} ago", { time: lasting(s.age_s) }) : t("never")) },
], (s) => s.name);

function showSummaries(answer) {
  const servers = list(answer.servers);
  const sum = answer.total ?? {};
  byId("summaries").hidden = servers.length < 2;
  summaryTable.show(servers);
  const missing = Array.isArray(answer.missing) ? answer.missing.map(text) : [];
  say(byId("summary-sum"), [t("All servers together: {n} messages today, {refused} refused, {marked} marked.", { n: count(sum.messages),
    refused: count(number(sum.reject) + number(sum.discard)), marked: count(sum.header) }),
  missing.length > 0 ? t("Left out of the sum, because nothing was heard of them lately: {names}.", { names: missing.join(", ") }) : ""].join(" ").trim());
}

// ---- publishers and the store ----

const SUBSCRIPTION_STATE = { well: "well", trouble: "warning" };
const subscriptionTable = table(t("Subscriptions to publishers"), [
  { head: t("Publisher"), text: (s) => s.subscription },
  { head: t("State"), parts: (s) => [chip(said(s.state), SUBSCRIPTION_STATE[s.state] ?? "busy")] },
  { head: t("Lists"), num: true, text: (s) => count(s.lists) },
  { head: t("Entries"), num: true, text: (s) => count(s.entries) },
  { head: t("Refused"), num: true, text: (s) => count(s.refused) },
  { head: t("Published"), at: (s) => number(s.heads_ms) / 1000 },
  { head: t("Last failure"), wide: true, text: (s) => s.last_failure || t("none") },
], (s) => s.subscription);

const STORE_STATE = { up: "well", begins: "busy", partly: "warning", full: "warning", down: "warning", no_ring: "warning" };
const STORE_WORDS = { up: t("up"), no_ring: t("not used: no ring of kind own"), begins: t("connecting"), partly: t("up in part"),
  down: t("down: counts of this host alone"), full: t("takes no writes") };
const memoryOf = (s) => (!number(s.memory_bytes) ? [] : !number(s.memory_limit) ? [bytes(s.memory_bytes), under(t("no limit"))]
  : [t("{part} of {whole}", { part: bytes(s.memory_bytes), whole: bytes(s.memory_limit) }), bar(number(s.memory_bytes) / s.memory_limit)]);
const troubleOf = (s) => s.why || s.denied || (s.policy && s.policy !== "noeviction" ? `maxmemory-policy ${s.policy}` : "");

const storeTable = table(t("Servers of the shared store"), [
  { head: t("Server"), parts: (s) => named(s.address, `${s.product ?? ""} ${s.version ?? ""}`.trim()) },
  { head: t("Role"), text: (s) => s.role },
  { head: t("State"), parts: (s) => [s.fault === "none" ? chip(t("answers"), "well") : chip(text(s.fault), "warning")] },
  { head: t("Memory"), num: true, bad: (s) => number(s.memory_limit) > 0 && number(s.memory_bytes) > 0.9 * s.memory_limit, parts: memoryOf },
  { head: t("Replicas"), num: true, text: (s) => (s.role === "master" ? count(s.replicas) : "") },
  { head: t("Answered"), at: (s) => s.answered_s },
  { head: t("Trouble"), wide: true, bad: troubleOf, text: (s) => troubleOf(s) || t("none") },
], (s) => s.address);

function storeWords(s) {
  const c = s.counts ?? {}, v = s.view ?? {};
  return [t("since {time}", { time: ago(s.since_s) }), t("counts {time} behind", { time: lasting(number(c.lag_s)) }),
    t("{batches} batches repeated, {lost} increments lost", { batches: count(c.batches_repeated), lost: count(c.updates_lost) }),
    t("log {part} of {whole}", { part: bytes(c.spool_bytes), whole: bytes(c.spool_limit) }),
    t("{told} hot keys told, {heard} heard of", { told: count(v.hot_named), heard: count(v.hot_read) }),
    t("totals confirmed {time}", { time: ago(v.answered_s) })].join("; ");
}

function showStore(s) {
  byId("store").hidden = !s;
  if (!s) return;
  put(byId("store-state"), [chip(STORE_WORDS[s.state] ?? text(s.state), STORE_STATE[s.state] ?? "plain")]);
  say(byId("store-words"), storeWords(s));
  storeTable.show(list(s.servers));
}

const rows = pages({ name: "peers", label: t("Rows of servers"), of: peerTable, empty: "peer-empty", sorts: [["name", t("name")], ["state", t("state")],
  ["-lag_s", t("furthest behind")], ["-bytes_in", t("received")], ["-bytes_out", t("sent")]] });

function show(name, answer) {
  if (name === "servers") {
    showSummaries(answer);
    return;
  }
  const subscriptions = list(answer.subscriptions);
  rows.show(answer);
  if (subscriptions.length > 0) byId("peer-empty").hidden = true;
  subscriptionTable.node.hidden = subscriptions.length === 0;
  subscriptionTable.show(subscriptions);
  showStore(answer.store);
}

export const view = {
  name: "servers",
  title: t("Servers"),
  group: "settings",
  search: "peers-words",
  reads: () => ({ servers: "servers" }),
  pulse: () => ({ peers: rows.path() }),
  make() {
    byId("summary-table").append(summaryTable.node);
    byId("peer-table").append(...rows.nodes, subscriptionTable.node);
    byId("store-table").append(storeTable.node);
  },
  show,
  restart: () => rows.restart(),
};
