// feeds - the view of feeds: how they do, and what to do about them.
import { refresh } from "./address.js";
import { post } from "./api.js";
import { confirm, doAs } from "./dialogs.js";
import { ago, byId, bytes, chip, count, el, lasting, named, now, number, say, short, table, text, under } from "./dom.js";
import { plural, t } from "./language.js";
import { pages } from "./pages.js";

const STATES = { ok: ["well", t("ok")], refused: ["warning", t("refused")], failing: ["warning", t("failing")], off: ["plain", t("off")],
  waiting: ["busy", t("waiting")], never: ["warning", t("never fetched")] };
// A feed without any good update is never well.
const stateOf = (f) => (f.enabled === false ? "off" : ["ok", "waiting"].includes(f.state) && !number(f.good_s) ? "never" : text(f.state));
function stateChip(f) {
  const state = stateOf(f);
  const [kind, words] = STATES[state] ?? ["busy", state];
  return chip(words, state === "ok" && f.well === false ? "warning" : kind);
}
const lastingMs = (ms) => (ms < 1000 ? t("{n} ms", { n: Math.round(ms) }) : lasting(ms / 1000));

async function change(button, path, feed) {
  const isBack = path.endsWith("rollback");
  const words = t("The list {list} will hold what the last good version of {feed} but one had, and stay there until the feed is updated by hand.",
    { list: feed.list ?? feed.name, feed: feed.name });
  if (isBack && !(await confirm(t("Roll a feed back"), words, t("Roll back")))) return;
  button.setAttribute("aria-busy", "true");
  await doAs(() => post(path, { feed: feed.name }), isBack ? t("{feed} was rolled back.", { feed: feed.name }) : t("{feed} is being updated.", { feed: feed.name }));
  button.removeAttribute("aria-busy");
  refresh();
}

function feedButton(cell, word, path) {
  const button = el("button", { type: "button", class: "small" }, word, el("span", { class: "unseen" }));
  button.addEventListener("click", () => change(button, path, cell.feed));
  return button;
}

function actions(cell, f) {
  if (!cell.firstChild) {
    cell.classList.add("actions");
    cell.append(feedButton(cell, t("Update"), "v1/feeds/update"), feedButton(cell, t("Roll back"), "v1/feeds/rollback"));
  }
  cell.feed = f;
  for (const b of cell.children) say(b.lastChild, ` ${f.name}`);
  cell.firstChild.disabled = f.enabled === false;
  cell.lastChild.disabled = number(f.versions) < 2;
}

const troubleOf = (f) => (f.trouble ? `${f.trouble}${number(f.failures) > 1 ? ` (${plural("{n} time|{n} times", number(f.failures))})` : ""}` : t("none"));

const feedTable = table(t("Feeds and how they do"), [
  { head: t("Feed"), parts: (f) => named(f.name, `${f.list && f.list !== f.name ? `${t("to {list}", { list: f.list })}, ` : ""}${f.url ?? ""}`, f.pinned ? [t("pinned")] : []) },
  { head: t("State"), parts: (f) => [stateChip(f)] },
  { head: t("Trouble"), wide: true, bad: (f) => f.trouble, text: troubleOf },
  { head: t("Entries"), num: true, text: (f) => count(f.entries) },
  { head: t("Last change"), num: true, parts: (f) => [`+${short(number(f.added))} −${short(number(f.removed))}`, under(ago(f.changed_s))] },
  { head: t("Last good"), at: (f) => f.good_s },
  { head: t("Next"), text: (f) => (stateOf(f) === "off" ? t("off") : number(f.next_s) <= now() ? t("now") : ago(f.next_s)) },
  { head: t("Took"), num: true, parts: (f) => [lastingMs(number(f.fetch_ms) + number(f.check_ms) + number(f.import_ms)), under(bytes(f.download_bytes))] },
  { head: t("Actions"), keep: actions },
], (f) => f.name, true);

const rows = pages({ name: "feeds", label: t("Rows of feeds"), of: feedTable, empty: "feed-empty", sorts: [["name", t("name")], ["-failures", t("failures")],
  ["state", t("state")], ["-entries", t("most entries")], ["good_s", t("longest not good")], ["next_s", t("next")]] });

export const view = {
  name: "feeds",
  title: t("Feeds"),
  group: "knowledge",
  search: "feeds-words",
  reads: () => ({}),
  pulse: () => ({ feeds: rows.path() }),
  make: () => byId("feed-table").append(...rows.nodes),
  show: (name, answer) => rows.show(answer),
  restart: () => rows.restart(),
};
