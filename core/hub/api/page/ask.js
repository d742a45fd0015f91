// ask - the view of a look-up and of the check of a message, with the actions for their results.
import { go, linkTo } from "./address.js";
import { post, postMessage } from "./api.js";
import { spark } from "./chart.js";
import { confirm, doAs, signIn, tell } from "./dialogs.js";
import { byId, bytes, chip, count, el, list, number, say, seconds, share, table, text, timeOf, under, WINDOWS } from "./dom.js";
import { plural, t } from "./language.js";

const MESSAGE_MAX = 64 * 1024 * 1024; // largest message that the page reads

// The ratings of core/list/rating.def, with the texts of gillnet lookup --help.
export const STANDING = {
  CLEAN: ["well", t("no list holds it, a person revoked it, or only an allow list does")],
  FALSE_POSITIVE: ["well", t("a filter said perhaps and the exact index knows better")],
  SUSPICIOUS: ["warning", t("possible: the index cannot be read, or only filters of peers know it; or confirmed by shadow lists alone")],
  MALICIOUS: ["critical", t("confirmed by one list, from an import")],
  BLOCKED_PATTERN: ["warning", t("in emergency mode, from the HTTP API alone: no list confirms the URL, and a rule for the mode fits it")],
  ML_DETECTED_MALICIOUS: ["warning", t("confirmed by lists of category ml alone: a model judged it by its text, and nobody confirmed that")],
  KNOWN_MALICIOUS: ["critical", t("confirmed as a person's own entry, or by two lists or more")],
};
const ACTION = { accept: "well", header: "warning", quarantine: "warning", defer: "warning", reject: "critical", discard: "critical" };

// Sends a request, shows that it runs, and shows the answer in its place.
async function answered(at, button, call, show) {
  at.setAttribute("aria-busy", "true");
  button.disabled = true;
  try {
    for (let tries = 0; ; tries++) {
      try {
        at.replaceChildren(...show(await call()));
        return;
      } catch (e) {
        if (e.kind === "token" && tries === 0 && (await signIn(e.message))) continue;
        at.replaceChildren(el("p", { class: "bad" }, e.message));
        return;
      }
    }
  } finally {
    at.removeAttribute("aria-busy");
    button.disabled = false;
  }
}

const button = (words, click, more = {}) => el("button", { type: "button", on: { click }, ...more }, words);

// ---- actions ----

// If nothing was changed, the reason of the hub is shown instead.
const cameOf = (what, words) => (answer) => (answer?.detail ? `${what}: ${text(answer.detail)}` : words);

// again(): updates the card after the change.
async function revoke(value, name, again) {
  if (await confirm(t("Revoke an entry"), t("{value} will no longer count as listed on {list}, whatever feeds and peers say later.", { value, list: name }), t("Revoke")) &&
      await doAs(() => post("v1/revoke", { values: [value], list: name }), cameOf(value, t("Revoked on {list}: {value}", { list: name, value })))) again();
}
async function allow(value, again) {
  if (await confirm(t("Allow a value"), t("Mail with {value} will be let through from now on.", { value }), t("Allow")) &&
      await doAs(() => post("v1/allow", { values: [value] }), cameOf(value, t("Allowed: {value}", { value })))) again();
}
const report = (kind, value) => doAs(() => post("v1/report", { kind, values: [value] }), cameOf(value, kind === "spam" ? t("Reported as spam: {value}", { value }) : t("Reported as ham: {value}", { value })));

// ---- look-up ----

const monospaced = (value) => el("span", { class: "value" }, text(value));
const expiry = (m) => (number(seconds(m.expiry_s)) > 0 ? t("until {time}", { time: timeOf(seconds(m.expiry_s)) }) : t("for ever"));
const matchTable = (matches) => table(t("On lists"), [
  { head: t("List"), parts: (m) => [text(m.list), under(m.status)] },
  { head: t("As"), wide: true, parts: (m) => [monospaced(m.key), under(m.type)] },
  { head: t("Came from"), text: (m) => (m.source && m.origin ? t("{source}, of {origin}", { source: m.source, origin: m.origin }) : m.source || m.origin) },
  { head: t("First seen"), parts: (m) => [timeOf(seconds(m.first_seen_s)), under(expiry(m))] },
]).show(matches);

const newestFirst = (v) => (Array.isArray(v) ? [...v].reverse() : []);
// Counts of 14 days by server, if peers counted it.
const sharesOf = (c) => (list(c.peers).length === 0 ? "" : [[t("own"), number(c.own?.w14d)], ...list(c.peers).map((p) => [text(p.name), number(p.w14d)])]
  .map(([who, n]) => `${who} ${count(n)}`).join(", "));
const countTable = (counts) => table(t("How often it was seen"), [
  { head: t("Counted as"), parts: (c) => [monospaced(c.key ?? c.value), under(text(c.counted_as ?? c.type))] },
  ...WINDOWS.slice(0, 3),
  { head: t("14 days"), num: true, parts: (c) => [count(c.w14d), under(sharesOf(c))] },
  { head: t("Last day"), parts: (c) => [spark(newestFirst(c.buckets), t("Last day"))] },
  { head: t("Days"), parts: (c) => [spark(newestFirst(c.days), t("Last 14 days"))] },
]).show(counts);

const AGAIN_MS = 500, AGAIN = 10; // a change is in force within a second
const checked = async (value) => list((await post("v1/check", { values: [value], counts: true })).results)[0];
const saysOf = (r) => JSON.stringify([r.status, r.matches, r.confidence]);

// Replaces the card as soon as the hub has another answer than before.
async function renew(card, r) {
  try {
    for (let i = 0; i < AGAIN && card.isConnected; i++) {
      const now = await checked(String(r.value ?? ""));
      if (now && saysOf(now) !== saysOf(r)) {
        card.replaceWith(finding(now));
        return;
      }
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  } catch (e) {
    card.append(el("p", { class: "bad" }, t("This is how it was before the change: {why}", { why: e.message })));
  }
}

const countsOf = (r, counts) => (counts.length > 0 ? countTable(counts) : el("p", { class: "muted" },
  Array.isArray(r.counts) ? t("Not counted in the last 14 days.") : t("How often it was seen is not known: gillnetd did not say.")));

function actionsOf(r, matches, again) {
  const value = String(r.value ?? "");
  const held = [...new Set(matches.filter((m) => m.status !== "revoked").map((m) => String(m.list)))];
  return el("div", { class: "actions" }, button(t("Report as spam"), () => report("spam", value)), button(t("Report as ham"), () => report("ham", value)),
    button(t("Allow"), () => allow(value, again)), ...held.map((l) => button(t("Revoke on {list}", { list: l }), () => revoke(value, l, again))));
}

function finding(r) {
  const head = (kind) => el("h3", {}, chip(text(r.status), kind), " ", monospaced(String(r.value ?? "")));
  if (r.status === "INVALID") {
    return el("article", { class: "finding" }, head("warning"), el("p", {}, t("This cannot be looked up: {why}", { why: text(r.detail) })));
  }
  const [kind, means] = STANDING[r.status] ?? ["plain", ""];
  const matches = list(r.matches), counts = list(r.counts);
  const card = el("article", { class: "finding" }, head(kind),
    el("p", {}, [r.requires_blocking ? t("requires blocking") : "", means, t("confidence {share}", { share: share(r.confidence) })].filter(Boolean).join("; ") + "."),
    matches.length > 0 ? matchTable(matches) : null, countsOf(r, counts));
  card.append(actionsOf(r, matches, () => renew(card, r)));
  return card;
}

function lookUp() {
  const value = byId("value").value.trim();
  if (value === "") {
    byId("value").focus();
    return;
  }
  answered(byId("found"), byId("look"), () => post("v1/check", { values: [value], counts: true }), (answer) => {
    const results = list(answer.results);
    return results.length > 0 ? results.map(finding) : [el("p", {}, t("The hub had nothing to say about it."))];
  });
}

// Looks up a value from another place.
const find = (value) => go("look-up", { value });

// ---- a message ----

const scoreOf = (n) => (typeof n === "number" ? Number(n.toFixed(2)) : text(n));
const symbolTable = (v) => table(t("Symbols"), [
  { head: t("Symbol"), text: (s) => s.name },
  { head: t("Score"), num: true, text: (s) => scoreOf(s.score) },
  { head: t("Why"), wide: true, text: (s) => s.detail },
]).show(v);
const evidenceTable = (v) => table(t("Evidence on lists"), [
  { head: t("List"), text: (l) => l.list },
  { head: t("Feature"), text: (l) => l.type },
  { head: t("Value"), wide: true, parts: (l) => [button(text(l.value), () => find(String(l.value)), { class: "link value" })] },
  { head: t("Status"), text: (l) => l.status },
  { head: t("Rating"), text: (l) => l.rating },
  { head: t("Confidence"), num: true, text: (l) => share(l.confidence) },
]).show(v);
const featureTable = (v) => table(t("Features"), [
  { head: t("Type"), text: (f) => f.type },
  { head: t("Value"), wide: true, parts: (f) => [button(text(f.value), () => find(`${f.type}:${f.value}`), { class: "link value" })] },
]).show(v);
const seenTable = (v) => table(t("How often its features were seen"), [
  { head: t("Type"), text: (c) => c.type },
  { head: t("Value"), wide: true, parts: (c) => [monospaced(c.value)] },
  ...WINDOWS,
]).show(v);

const folded = (words, node, open) => el("details", { open }, el("summary", {}, words), node);
const reportMessage = (kind, message) => doAs(() => postMessage("v1/report", message, [["kind", kind]]), cameOf(t("The message"), kind === "spam" ? t("The message was reported as spam.") : t("The message was reported as ham.")));

function verdict(answer, message) {
  const symbols = list(answer.symbols), lists = list(answer.lists), features = list(answer.features), counts = list(answer.counts);
  const limits = Array.isArray(answer.limits) ? answer.limits : [];
  return [el("article", { class: "finding" },
    el("h3", {}, chip(text(answer.action), ACTION[answer.action] ?? "plain"), ` ${t("score {score}", { score: scoreOf(answer.score) })}`),
    el("p", {}, t("{features}, {hits}; examined in {ms} ms.", { features: plural("{n} feature|{n} features", features.length),
      hits: plural("{n} hit on lists|{n} hits on lists", lists.length), ms: number(answer.time_us) < 1000 ? "< 1" : count(Math.round(answer.time_us / 1000)) })),
    limits.length > 0 ? el("p", { class: "bad" }, t("Limits that were met: {limits}", { limits: limits.map(text).join(", ") })) : null,
    symbols.length > 0 ? symbolTable(symbols) : el("p", { class: "muted" }, t("No rule fired.")),
    lists.length > 0 ? evidenceTable(lists) : null,
    counts.length > 0 ? folded(plural("Counts of {n} feature|Counts of {n} features", counts.length), seenTable(counts), false) : null,
    features.length > 0 ? folded(plural("{n} feature|{n} features", features.length), featureTable(features), false) : null,
    el("div", { class: "actions" }, button(t("Report message as spam"), () => reportMessage("spam", message)),
      button(t("Report message as ham"), () => reportMessage("ham", message))))];
}

let file = null; // the dropped or chosen file; null: the text is used
function take(files) {
  file = files[0] ?? null;
  say(byId("file-name"), file ? `${file.name}, ${bytes(file.size)}` : "");
  if (file) {
    byId("message").value = "";
    scan();
  }
}

function scan() {
  const message = file ?? byId("message").value;
  if (message === "") {
    byId("message").focus();
    return;
  }
  if (message instanceof File && message.size > MESSAGE_MAX) {
    tell(t("{file} is larger than {size}.", { file: message.name, size: bytes(MESSAGE_MAX) }), "critical");
    return;
  }
  const query = ["client", "helo", "from", "rcpt"].flatMap((name) =>
    byId(`scan-${name}`).value.split(name === "rcpt" ? /[\s,]+/ : /\n/).map((v) => [name, v.trim()]).filter(([, v]) => v !== ""));
  answered(byId("verdict"), byId("scan"), () => postMessage("v1/scan", message, query), (answer) => verdict(answer, message));
}

function listenForFiles() {
  const zone = byId("drop");
  for (const event of ["dragenter", "dragover"]) {
    zone.addEventListener(event, (e) => {
      e.preventDefault();
      zone.classList.add("over");
    });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (e) => {
    e.preventDefault();
    zone.classList.remove("over");
    take(e.dataTransfer.files);
  });
  byId("file").addEventListener("change", (e) => take(e.target.files));
  byId("message").addEventListener("input", () => {
    file = null;
    byId("file").value = "";
    say(byId("file-name"), "");
  });
}

function make() {
  byId("look-form").addEventListener("submit", (e) => {
    e.preventDefault();
    const value = byId("value").value.trim();
    if (value !== "" && location.hash !== linkTo("look-up", { value })) find(value);
    else lookUp();
  });
  byId("scan-form").addEventListener("submit", (e) => {
    e.preventDefault();
    scan();
  });
  listenForFiles();
}

let looked = ""; // the value of the address
export const view = {
  name: "look-up",
  title: t("Look up"),
  group: "today",
  search: "value",
  reads: () => ({}),
  make,
  open(query) {
    const value = query.get("value") ?? "";
    if (value === "" || value === looked) return;
    looked = value;
    byId("value").value = value;
    lookUp();
  },
  close: () => (looked = ""),
  show() {},
};
