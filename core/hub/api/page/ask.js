// ask - the look-up box, the check of a message, and the actions for their results.
import { post, postMessage } from "./api.js";
import { spark } from "./chart.js";
import { confirm, doAs, signIn, tell } from "./dialogs.js";
import { byId, bytes, chip, count, el, list, number, plural, say, seconds, share, table, text, timeOf, under, WINDOWS } from "./dom.js";

const MESSAGE_MAX = 64 * 1024 * 1024; // largest message that the page reads

// The ratings of core/list/rating.def, with the texts of gillnet lookup --help.
export const STANDING = {
  CLEAN: ["well", "no list holds it, a person revoked it, or only an allow list does"],
  FALSE_POSITIVE: ["well", "a filter said perhaps and the exact index knows better"],
  SUSPICIOUS: ["warning", "possible: the index cannot be read, or only filters of peers know it; or confirmed by shadow lists alone"],
  MALICIOUS: ["critical", "confirmed by one list, from an import"],
  BLOCKED_PATTERN: ["warning", "in emergency mode, from the HTTP API alone: no list confirms the URL, and a rule for the mode fits it"],
  ML_DETECTED_MALICIOUS: ["warning", "confirmed by lists of category ml alone: a model judged it by its text, and nobody confirmed that"],
  KNOWN_MALICIOUS: ["critical", "confirmed as a person's own entry, or by two lists or more"],
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
  if (await confirm("Revoke an entry", `${value} will no longer count as listed on ${name}, whatever feeds and peers say later.`, "Revoke") &&
      await doAs(() => post("v1/revoke", { values: [value], list: name }), cameOf(value, `Revoked on ${name}: ${value}`))) again();
}
async function allow(value, again) {
  if (await confirm("Allow a value", `Mail with ${value} will be let through from now on.`, "Allow") &&
      await doAs(() => post("v1/allow", { values: [value] }), cameOf(value, `Allowed: ${value}`))) again();
}
const report = (kind, value) => doAs(() => post("v1/report", { kind, values: [value] }), cameOf(value, `Reported as ${kind}: ${value}`));

// ---- look-up ----

const monospaced = (value) => el("span", { class: "value" }, text(value));
const expiry = (m) => (number(seconds(m.expiry_s)) > 0 ? `until ${timeOf(seconds(m.expiry_s))}` : "for ever");
const matchTable = (matches) => table("On lists", [
  { head: "List", parts: (m) => [text(m.list), under(m.status)] },
  { head: "As", wide: true, parts: (m) => [monospaced(m.key), under(m.type)] },
  { head: "Came from", text: (m) => [m.source, m.origin].filter(Boolean).join(", of ") },
  { head: "First seen", parts: (m) => [timeOf(seconds(m.first_seen_s)), under(expiry(m))] },
]).show(matches);

const newestFirst = (v) => (Array.isArray(v) ? [...v].reverse() : []);
// Counts of 14 days by server, if peers counted it.
const sharesOf = (c) => (list(c.peers).length === 0 ? "" : [["own", number(c.own?.w14d)], ...list(c.peers).map((p) => [text(p.name), number(p.w14d)])]
  .map(([who, n]) => `${who} ${count(n)}`).join(", "));
const countTable = (counts) => table("How often it was seen", [
  { head: "Counted as", parts: (c) => [monospaced(c.key ?? c.value), under(text(c.counted_as ?? c.type))] },
  ...WINDOWS.slice(0, 3),
  { head: "14 days", num: true, parts: (c) => [count(c.w14d), under(sharesOf(c))] },
  { head: "Last day", parts: (c) => [spark(newestFirst(c.buckets), "Last day")] },
  { head: "Days", parts: (c) => [spark(newestFirst(c.days), "Last 14 days")] },
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
    card.append(el("p", { class: "bad" }, `This is how it was before the change: ${e.message}`));
  }
}

const countsOf = (r, counts) => (counts.length > 0 ? countTable(counts) : el("p", { class: "muted" },
  Array.isArray(r.counts) ? "Not counted in the last 14 days." : "How often it was seen is not known: gillnetd did not say."));

function actionsOf(r, matches, again) {
  const value = String(r.value ?? "");
  const held = [...new Set(matches.filter((m) => m.status !== "revoked").map((m) => String(m.list)))];
  return el("div", { class: "actions" }, button("Report as spam", () => report("spam", value)), button("Report as ham", () => report("ham", value)),
    button("Allow", () => allow(value, again)), ...held.map((l) => button(`Revoke on ${l}`, () => revoke(value, l, again))));
}

function finding(r) {
  const head = (kind) => el("h3", {}, chip(text(r.status), kind), " ", monospaced(String(r.value ?? "")));
  if (r.status === "INVALID") {
    return el("article", { class: "finding" }, head("warning"), el("p", {}, `This cannot be looked up: ${text(r.detail)}`));
  }
  const [kind, means] = STANDING[r.status] ?? ["plain", ""];
  const matches = list(r.matches), counts = list(r.counts);
  const card = el("article", { class: "finding" }, head(kind),
    el("p", {}, [r.requires_blocking ? "requires blocking" : "", means, `confidence ${share(r.confidence)}`].filter(Boolean).join("; ") + "."),
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
    return results.length > 0 ? results.map(finding) : [el("p", {}, "The hub had nothing to say about it.")];
  });
}

// Looks up a value from another part of the page.
export function find(value) {
  byId("value").value = value;
  byId("look-up").scrollIntoView();
  byId("value").focus({ preventScroll: true });
  lookUp();
}

// ---- a message ----

const scoreOf = (n) => (typeof n === "number" ? Number(n.toFixed(2)) : text(n));
const symbolTable = (v) => table("Symbols", [
  { head: "Symbol", text: (s) => s.name },
  { head: "Score", num: true, text: (s) => scoreOf(s.score) },
  { head: "Why", wide: true, text: (s) => s.detail },
]).show(v);
const evidenceTable = (v) => table("Evidence on lists", [
  { head: "List", text: (l) => l.list },
  { head: "Feature", text: (l) => l.type },
  { head: "Value", wide: true, parts: (l) => [button(text(l.value), () => find(String(l.value)), { class: "link value" })] },
  { head: "Status", text: (l) => l.status },
  { head: "Rating", text: (l) => l.rating },
  { head: "Confidence", num: true, text: (l) => share(l.confidence) },
]).show(v);
const featureTable = (v) => table("Features", [
  { head: "Type", text: (f) => f.type },
  { head: "Value", wide: true, parts: (f) => [button(text(f.value), () => find(`${f.type}:${f.value}`), { class: "link value" })] },
]).show(v);
const seenTable = (v) => table("How often its features were seen", [
  { head: "Type", text: (c) => c.type },
  { head: "Value", wide: true, parts: (c) => [monospaced(c.value)] },
  ...WINDOWS,
]).show(v);

const folded = (words, node, open) => el("details", { open }, el("summary", {}, words), node);
const reportMessage = (kind, message) => doAs(() => postMessage("v1/report", message, [["kind", kind]]), cameOf("The message", `The message was reported as ${kind}.`));

function verdict(answer, message) {
  const symbols = list(answer.symbols), lists = list(answer.lists), features = list(answer.features), counts = list(answer.counts);
  const limits = Array.isArray(answer.limits) ? answer.limits : [];
  return [el("article", { class: "finding" },
    el("h3", {}, chip(text(answer.action), ACTION[answer.action] ?? "plain"), ` score ${scoreOf(answer.score)}`),
    el("p", {}, `${plural(features.length, "feature")}, ${plural(lists.length, "hit")} on lists; examined in ${number(answer.time_us) < 1000 ? "less than 1" : count(Math.round(answer.time_us / 1000))} ms.`),
    limits.length > 0 ? el("p", { class: "bad" }, `Limits that were met: ${limits.map(text).join(", ")}`) : null,
    symbols.length > 0 ? symbolTable(symbols) : el("p", { class: "muted" }, "No rule fired."),
    lists.length > 0 ? evidenceTable(lists) : null,
    counts.length > 0 ? folded(`Counts of ${plural(counts.length, "feature")}`, seenTable(counts), false) : null,
    features.length > 0 ? folded(plural(features.length, "feature"), featureTable(features), false) : null,
    el("div", { class: "actions" }, button("Report message as spam", () => reportMessage("spam", message)),
      button("Report message as ham", () => reportMessage("ham", message))))];
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
    tell(`${message.name} is larger than ${bytes(MESSAGE_MAX)}.`, "critical");
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

export function start() {
  byId("look-form").addEventListener("submit", (e) => {
    e.preventDefault();
    lookUp();
  });
  byId("scan-form").addEventListener("submit", (e) => {
    e.preventDefault();
    scan();
  });
  listenForFiles();
}
