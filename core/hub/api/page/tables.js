// tables - lists, feeds, peers, and the progress of long work.
import { bar } from "./chart.js";
import { ago, byId, bytes, chip, count, el, lasting, list, now, number, put, say, share, short, table, text, under } from "./dom.js";
import { PAGE, pages } from "./pages.js";

const views = {}; // the shown page of each table, by the name of the API's answer
// The query of the shown page; "" without pages.
export const queryOf = (name) => views[name]?.query() ?? "";
// Call this after a refused cursor. True: try once more.
export const restart = (name) => Boolean(views[name]?.restart());

// Shows a page of a table, or the text for an empty one.
function showOrEmpty(part, of, answer, name) {
  const rows = list(answer[name]).slice(0, PAGE);
  const isEmpty = rows.length === 0;
  byId(`${part}-empty`).hidden = !isEmpty || views[name].isFiltered();
  of.node.hidden = isEmpty;
  of.show(rows);
  views[name].show(answer, rows.length);
}

// ---- lists ----

const FULL = 0.5; // share of set bits in a filter that is full by design

const named = (name, more, tags = []) => [el("span", { class: "name" }, text(name)), ...tags.map((t) => chip(t, "plain")),
  more ? under(more) : null];
const isOld = (l) => number(l.max_age_s) > 0 && now() - number(l.updated_s) > l.max_age_s;
const isOver = (l) => number(l.error_target) > 0 && number(l.error_now) > number(l.error_target);

const listTable = table("Lists in use", [
  { head: "List", parts: (l) => named(l.name, l.origin ? `from ${l.origin}` : "", [l.category, l.shadow ? "shadow" : ""].filter(Boolean)) },
  { head: "Entries", num: true, text: (l) => count(l.entries) },
  { head: "Revoked", num: true, text: (l) => count(l.revoked) },
  { head: "Weight", num: true, text: (l) => l.weight },
  { head: "Fill", num: true, parts: (l) => [share(l.fill), bar(number(l.fill) / FULL)] },
  { head: "Error now", num: true, bad: isOver, parts: (l) => [share(l.error_now), under(`${isOver(l) ? "over" : "of"} ${share(l.error_target)}`)] },
  { head: "Updated", bad: isOld, parts: (l) => [ago(l.updated_s), number(l.max_age_s) > 0 ? under(`${isOld(l) ? "over" : "of"} ${lasting(l.max_age_s)}`) : null] },
  { head: "On disk", num: true, text: (l) => bytes(number(l.filter_bytes) + number(l.index_bytes) + number(l.log_bytes)) },
  { head: "Fault", wide: true, bad: (l) => l.fault, text: (l) => l.fault || "none" },
], (l) => `${l.origin ?? ""} ${l.name}`, true);

export const showLists = (data) => showOrEmpty("list", listTable, data.lists, "lists");

// ---- feeds ----

const FEED_STATE = { ok: "well", refused: "warning", failing: "warning", off: "plain" };
// A feed without any good update is never well.
const feedState = (f) => (f.enabled === false ? "off" : ["ok", "waiting"].includes(f.state) && !number(f.good_s) ? "never fetched" : text(f.state));
const feedKind = (f) => (feedState(f) === "never fetched" || (f.state === "ok" && f.well === false) ? "warning" : FEED_STATE[feedState(f)] ?? "busy");
const lastingMs = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : lasting(ms / 1000));
let change = () => {};

function feedButton(cell, word, path) {
  const button = el("button", { type: "button", class: "small" }, word, el("span", { class: "unseen" }));
  button.addEventListener("click", () => change(button, path, cell.feed));
  return button;
}

function feedActions(cell, f) {
  if (!cell.firstChild) {
    cell.classList.add("actions");
    cell.append(feedButton(cell, "Update", "v1/feeds/update"), feedButton(cell, "Roll back", "v1/feeds/rollback"));
  }
  cell.feed = f;
  for (const b of cell.children) say(b.lastChild, ` ${f.name}`);
  cell.firstChild.disabled = f.enabled === false;
  cell.lastChild.disabled = number(f.versions) < 2;
}

const feedTable = table("Feeds and how they do", [
  { head: "Feed", parts: (f) => named(f.name, `${f.list && f.list !== f.name ? `to ${f.list}, ` : ""}${f.url ?? ""}`, f.pinned ? ["pinned"] : []) },
  { head: "State", parts: (f) => [chip(feedState(f), feedKind(f))] },
  { head: "Trouble", wide: true, bad: (f) => f.trouble,
    text: (f) => (f.trouble ? `${f.trouble}${number(f.failures) > 1 ? ` (${count(f.failures)} times)` : ""}` : "none") },
  { head: "Entries", num: true, text: (f) => count(f.entries) },
  { head: "Last change", num: true, parts: (f) => [`+${short(number(f.added))} −${short(number(f.removed))}`, under(ago(f.changed_s))] },
  { head: "Last good", at: (f) => f.good_s },
  { head: "Next", text: (f) => (feedState(f) === "off" ? "off" : number(f.next_s) <= now() ? "now" : ago(f.next_s)) },
  { head: "Took", num: true, parts: (f) => [lastingMs(number(f.fetch_ms) + number(f.check_ms) + number(f.import_ms)), under(bytes(f.download_bytes))] },
  { head: "Actions", keep: feedActions },
], (f) => f.name, true);

export const showFeeds = (data) => showOrEmpty("feed", feedTable, data.feeds, "feeds");

// ---- peers ----

function peerState(p) {
  if (p.self) return ["this server", "plain"];
  if (p.state !== "active") return [text(p.state), "plain"];
  if (p.is_distrusted) return ["distrusted", "critical"];
  if (p.is_stale) return ["stale", "warning"];
  return p.connected ? ["connected", "well"] : ["not connected", "warning"];
}
const refusals = (p) => Object.entries(p.refused && typeof p.refused === "object" ? p.refused : {})
  .filter(([, n]) => number(n) > 0).map(([why, n]) => `${count(n)} ${why}`).join(", ");

const peerTable = table("Servers of the ring", [
  { head: "Server", parts: (p) => named(p.name, p.address) },
  { head: "State", parts: (p) => [chip(...peerState(p))] },
  { head: "Behind", num: true, text: (p) => (p.self ? "" : lasting(p.lag_s)) },
  { head: "Received", num: true, text: (p) => bytes(p.bytes_in) },
  { head: "Sent", num: true, text: (p) => bytes(p.bytes_out) },
  { head: "Quota used", num: true, text: (p) => (number(p.quota) > 0 ? share(number(p.quota_used) / p.quota) : "") },
  { head: "Refused", wide: true, text: (p) => refusals(p) || "nothing" },
  { head: "Last failure", wide: true, text: (p) => p.last_failure || p.last_refusal || "none" },
], (p) => p.origin ?? p.name);

const SUBSCRIPTION_STATE = { well: "well", trouble: "warning" };
const subscriptionTable = table("Subscriptions to publishers", [
  { head: "Publisher", text: (s) => s.subscription },
  { head: "State", parts: (s) => [chip(text(s.state), SUBSCRIPTION_STATE[s.state] ?? "busy")] },
  { head: "Lists", num: true, text: (s) => count(s.lists) },
  { head: "Entries", num: true, text: (s) => count(s.entries) },
  { head: "Refused", num: true, text: (s) => count(s.refused) },
  { head: "Published", at: (s) => number(s.heads_ms) / 1000 },
  { head: "Last failure", wide: true, text: (s) => s.last_failure || "none" },
], (s) => s.subscription);

const STORE_STATE = { up: "well", begins: "busy", partly: "warning", full: "warning", down: "warning", no_ring: "warning" };
const STORE_WORDS = { no_ring: "not used: no ring of kind own", begins: "connecting", partly: "up in part", down: "down: counts of this host alone", full: "takes no writes" };
const memoryOf = (s) => (!number(s.memory_bytes) ? [] : !number(s.memory_limit) ? [bytes(s.memory_bytes), under("no limit")]
  : [`${bytes(s.memory_bytes)} of ${bytes(s.memory_limit)}`, bar(number(s.memory_bytes) / s.memory_limit)]);
const troubleOf = (s) => s.why || s.denied || (s.policy && s.policy !== "noeviction" ? `maxmemory-policy ${s.policy}` : "");

const storeTable = table("Servers of the shared store", [
  { head: "Server", parts: (s) => named(s.address, `${s.product ?? ""} ${s.version ?? ""}`.trim()) },
  { head: "Role", text: (s) => s.role },
  { head: "State", parts: (s) => [s.fault === "none" ? chip("answers", "well") : chip(text(s.fault), "warning")] },
  { head: "Memory", num: true, bad: (s) => number(s.memory_limit) > 0 && number(s.memory_bytes) > 0.9 * s.memory_limit, parts: memoryOf },
  { head: "Replicas", num: true, text: (s) => (s.role === "master" ? count(s.replicas) : "") },
  { head: "Answered", at: (s) => s.answered_s },
  { head: "Trouble", wide: true, bad: troubleOf, text: (s) => troubleOf(s) || "none" },
], (s) => s.address);

function storeWords(s) {
  const c = s.counts ?? {}, v = s.view ?? {};
  return [`since ${ago(s.since_s)}`, `counts ${lasting(number(c.lag_s))} behind`, `${count(c.batches_repeated)} batches repeated, ${count(c.updates_lost)} increments lost`,
    `log ${bytes(c.spool_bytes)} of ${bytes(c.spool_limit)}`,
    `${count(v.hot_named)} hot keys told, ${count(v.hot_read)} heard of`, `totals confirmed ${ago(v.answered_s)}`].join("; ");
}

function showStore(s) {
  byId("store").hidden = !s;
  if (!s) return;
  put(byId("store-state"), [chip(STORE_WORDS[s.state] ?? text(s.state), STORE_STATE[s.state] ?? "plain")]);
  say(byId("store-words"), storeWords(s));
  storeTable.show(list(s.servers));
}

export function showPeers(data) {
  const subscriptions = list(data.peers.subscriptions);
  showOrEmpty("peer", peerTable, data.peers, "peers");
  if (subscriptions.length > 0) byId("peer-empty").hidden = true;
  subscriptionTable.node.hidden = subscriptions.length === 0;
  subscriptionTable.show(subscriptions);
  showStore(data.peers.store);
}

// ---- progress ----

export function showProgress(data) {
  const tasks = list(data.progress.tasks);
  byId("progress").hidden = tasks.length === 0;
  byId("tasks").replaceChildren(...tasks.map((t) => {
    const isKnown = typeof t.share === "number";
    const name = `${text(t.what)} ${t.name ?? ""}`.trim();
    return el("li", {},
      el("span", { class: "name" }, name), el("span", { class: "muted" }, ` ${t.stage ?? ""}`),
      el("progress", { "aria-label": name, max: "1", value: isKnown ? String(t.share) : null }),
      el("span", { class: "muted num" }, `${isKnown ? `${Math.floor(t.share * 100)} %, ` : ""}${number(t.since_s) > 0 ? lasting(now() - t.since_s) : ""}`));
  }));
  return tasks.length;
}

const SORTS = {
  lists: ["list", [["name", "name"], ["-entries", "most entries"], ["-updated_s", "last updated"], ["updated_s", "longest not updated"],
    ["-weight", "weight"], ["category", "category"], ["-fault", "faults first"]]],
  feeds: ["feed", [["name", "name"], ["-failures", "failures"], ["state", "state"], ["-entries", "most entries"], ["good_s", "longest not good"],
    ["next_s", "next"]]],
  peers: ["peer", [["name", "name"], ["state", "state"], ["-lag_s", "furthest behind"], ["-bytes_in", "received"], ["-bytes_out", "sent"]]],
};

// onChange(button, path, feed): called for a change by the user. onPage(name): called for another page of this table.
export function start(onChange, onPage) {
  change = onChange;
  for (const [name, [part, sorts]] of Object.entries(SORTS)) views[name] = pages(part, sorts, () => onPage(name));
  for (const [part, tables] of [["list", [listTable]], ["feed", [feedTable]], ["peer", [peerTable, subscriptionTable]], ["store", [storeTable]]]) {
    for (const t of tables) {
      t.node.hidden = part !== "store"; // shown with its part
      byId(`${part}-table`).append(t.node);
    }
  }
}
