// tune - the view "What if": thresholds, weights, scores and shadow, what they would have done, and what is in force.
//
// Each change is replayed in the hub: first with the newest messages, then with all of the journal. A new change ends the
// requests of the one before.
import { linkTo, refresh } from "./address.js";
import { post } from "./api.js";
import { confirm, doAs, tell } from "./dialogs.js";
import { amount, byId, chip, count, el, isTime, list, number, para, put, say, seconds, svg, table, text, timeOf, under, visible } from "./dom.js";
import { plural, t } from "./language.js";

const SAMPLE = 5000; // messages of the first answer
const PAUSE_MS = 100; // after the last change, until it is replayed
const BUSY_MS = 700; // until another try, if the hub has too much to do
const BUSY_TRIES = 20;
const ROWS = 40; // of the table, until more are asked for
const HIGH = 220, LEFT = 44, BOTTOM = 22, TOP = 46; // of the picture
const LEAST = 0.1; // the lowest threshold
const ACTIONS = ["header", "quarantine", "defer", "reject", "discard"];

let tuning = null; // the last answer of v1/tuning
let base = new Map(); // KEY: value in force
let rows = []; // of the table
let draft = new Map(); // KEY: value, of those that differ
let draftOf = null; // version that the draft was begun with
let answer = null; // of the last replay
let symbols = new Map(); // name: messages, as they were judged
let running = null; // AbortController of the replay
let pause = 0;
let drag = null; // {key, handle}
let isAllShown = false;

const valueOf = (key) => (draft.has(key) ? draft.get(key) : base.get(key));
const keyOf = (action) => `thresholds.${action}`;
const shown = (value) => (value === null || value === undefined ? "off" : typeof value === "number" ? String(Number(value.toFixed(3))) : String(value));
const settingsOf = (map) => [...map].map(([key, value]) => `${key}=${shown(value)}`);

// ---- replay ----

function status(words, isBad = false) {
  byId("tune-status").classList.toggle("bad", isBad);
  say(byId("tune-status"), words);
}

// One request; while the hub has too much to do, again.
async function replay(body, signal) {
  for (let tries = 0; ; tries++) {
    try {
      return await post("v1/replay", body, signal);
    } catch (e) {
      if (signal.aborted || e.status !== 503 || tries === BUSY_TRIES) throw e;
      await new Promise((done) => setTimeout(done, BUSY_MS));
      if (signal.aborted) throw e;
    }
  }
}

async function ask() {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const settings = settingsOf(draft);
  status(t("The newest messages are judged again…"));
  try {
    for (const body of [{ settings, sample: SAMPLE }, { settings }]) {
      const got = await replay(body, mine.signal);
      if (mine !== running) return;
      answer = got;
      symbols = new Map(list(got.symbols).map((s) => [text(s.symbol), number(s.messages)]));
      showAnswer();
      if (got.complete === true) break;
      if (body.sample) status(t("All messages of the journal are judged again…"));
    }
    status("");
  } catch (e) {
    if (mine !== running) return;
    if (draft.size > 0 && answer) showNothing();
    status(t("Not replayed: {why}", { why: e.message }), true);
  }
}
function askSoon() {
  clearTimeout(pause);
  pause = setTimeout(ask, PAUSE_MS);
}

// ---- the result ----

// Where the numbers are from.
function restsOn(a) {
  const n = number(a.messages) + number(a.outgoing);
  const values = { since: timeOf(a.since), until: timeOf(a.until) };
  if (n === 0) return t("The journal has no messages yet.");
  return a.complete ? plural("Of the one message of the journal.|Of all {n} messages of the journal, from {since} to {until}.", n, values)
    : plural("Of the newest message.|Of the newest {n} messages, from {since} to {until}.", n, values);
}

// "reject: 386 more": by action, what its number of messages would be.
function differences(a) {
  return [...ACTIONS, "accept"].map((action) => [action, number(a.actions?.[action]?.after) - number(a.actions?.[action]?.before)]).filter(([, n]) => n !== 0)
    .map(([action, n]) => (n > 0 ? t("{action}: {n} more", { action, n: count(n) }) : t("{action}: {n} fewer", { action, n: count(-n) })));
}

const changesOf = () => [...draft].map(([key, value]) => t("{key} {value} instead of {was}", { key, value: shown(value), was: shown(base.get(key)) }));

const exampleTable = table(t("Messages that would get another action"), [
  { head: t("Time"), parts: (m) => [el("a", { href: linkTo("messages", { q: `id:${text(m.case)}` }) }, timeOf(seconds(m.time)))] },
  { head: t("From"), wide: true, parts: (m) => [el("bdi", {}, text(m.from || m.header_from))] },
  { head: t("Subject"), wide: true, parts: (m) => [el("bdi", {}, text(m.subject))] },
  { head: t("Score"), num: true, parts: (m) => [count(number(m.score)), m.score_after === m.score ? null : under(`→ ${count(number(m.score_after))}`)] },
  { head: t("Action"), parts: (m) => [text(m.from_action), " → ", el("b", {}, text(m.to_action))] },
], (m) => text(m.case));

function showResult() {
  const isIdle = draft.size === 0;
  const changed = number(answer?.changed);
  say(byId("tune-what"), isIdle ? t("Nothing is changed yet: drag a threshold, or change a number below.") : changesOf().join(", "));
  say(byId("tune-sum"), isIdle || !answer ? "" : changed === 0 ? t("No message would get another action.")
    : `${plural("{n} message would get another action|{n} messages would get another action", changed)}: ${list(answer.moved).map((m) =>
      t("{n} from {before} to {after}", { n: count(number(m.messages)), before: text(m.from), after: text(m.to) })).join(", ")}.`);
  put(byId("tune-diff"), isIdle || !answer ? [] : differences(answer).map((words) => chip(words, "plain")));
  say(byId("tune-rest"), answer ? restsOn(answer) : "");
  const undecided = number(answer?.undecided);
  say(byId("tune-undecided"), undecided > 0 && !isIdle ? plural("{n} message is left out, because the journal cannot tell.|{n} messages are left out, because the journal cannot tell.", undecided) : "");
  const examples = isIdle ? [] : list(answer?.examples);
  exampleTable.node.hidden = examples.length === 0;
  exampleTable.show(examples);
  byId("tune-no-mail").hidden = isIdle || changed === 0 || Array.isArray(answer?.examples);
  byId("tune-drop").disabled = isIdle;
  byId("tune-apply").disabled = isIdle;
}

function showAnswer() {
  showResult();
  if (!drag) draw();
  else drawBars();
  if (!valueTable.node.contains(document.activeElement)) showTable(); // a row that moves would lose the focus
}
function showNothing() {
  say(byId("tune-sum"), "");
  put(byId("tune-diff"), []);
  exampleTable.node.hidden = true;
}

// ---- the picture ----

let plot = null; // {wide, from, to, bars}
const xOf = (score) => LEFT + ((Math.min(Math.max(score, plot.from), plot.to) - plot.from) / (plot.to - plot.from)) * (plot.wide - LEFT);
const scoreAt = (x) => plot.from + ((x - LEFT) / (plot.wide - LEFT)) * (plot.to - plot.from);

// The action of a score under the thresholds that are shown.
const actionOf = (score) => ACTIONS.reduce((found, a) => (typeof valueOf(keyOf(a)) === "number" && score >= valueOf(keyOf(a)) ? a : found), "accept");

function drawBars() {
  const bins = list(answer?.scores).map((b) => ({ at: Math.min(Math.max(number(b.score), -1e3), 1e3), n: amount(b.after), was: amount(b.before) }));
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(1, ...bins.map((b) => Math.max(b.n, b.was))) + 1)));
  const high = HIGH - TOP - BOTTOM;
  const y = (n) => TOP + high - (Math.log10(n + 1) / decades) * high;
  const nodes = [];
  for (let d = 0; d <= decades; d++) {
    const n = d === 0 ? 0 : 10 ** d;
    nodes.push(svg("line", { x1: LEFT, x2: plot.wide, y1: y(n), y2: y(n), class: d === 0 ? "axis" : "grid" }),
      svg("text", { x: LEFT - 6, y: y(n) + 4, "text-anchor": "end", class: "label" }, count(n)));
  }
  for (let s = Math.ceil(plot.from / 5) * 5; s < plot.to; s += 5) {
    nodes.push(svg("text", { x: xOf(s), y: HIGH - 6, "text-anchor": "middle", class: "label" }, String(s)));
  }
  for (const b of bins) {
    const x = xOf(b.at), wide = Math.max(xOf(b.at + 1) - x - 1, 1);
    if (b.n > 0) nodes.push(svg("rect", { x, width: wide, y: y(b.n), height: Math.max(y(0) - y(b.n), 1), class: `fill-${actionOf(b.at)}` }));
    if (b.was !== b.n && b.was > 0) nodes.push(svg("line", { x1: x, x2: x + wide, y1: y(b.was), y2: y(b.was), class: "was" }));
  }
  plot.bars.replaceChildren(...nodes);
}

// A handle stands at its threshold; its label is above those that it would cover.
function place(handle, action, row) {
  const value = valueOf(keyOf(action));
  const x = xOf(value);
  handle.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
  handle.setAttribute("aria-valuenow", shown(value));
  const name = handle.querySelector("text");
  const isLast = x > plot.wide - 90;
  name.setAttribute("x", isLast ? -6 : 6);
  name.setAttribute("y", 12 + 14 * row);
  name.setAttribute("text-anchor", isLast ? "end" : "start");
  say(name, `${action} ${shown(value)}`);
}
const onPicture = () => ACTIONS.filter((a) => typeof valueOf(keyOf(a)) === "number");
function placeAll() {
  onPicture().forEach((a, i) => {
    const handle = byId(`tune-handle-${a}`);
    if (handle) place(handle, a, i % 3);
  });
}

// Between its neighbours, which would hide it, or be hidden.
function bounds(action) {
  const set = ACTIONS.filter((a) => typeof valueOf(keyOf(a)) === "number");
  const at = set.indexOf(action);
  return [at > 0 ? valueOf(keyOf(set[at - 1])) : LEAST, at >= 0 && at + 1 < set.length ? valueOf(keyOf(set[at + 1])) : 1000];
}
function move(action, value) {
  const [least, most] = bounds(action);
  setValue(keyOf(action), Number(Math.min(Math.max(value, least), most).toFixed(1)));
}

const STEPS = { ArrowRight: 0.5, ArrowUp: 0.5, ArrowLeft: -0.5, ArrowDown: -0.5, PageUp: 5, PageDown: -5 };
function handleOf(action) {
  const [least, most] = bounds(action);
  const handle = svg("g", { id: `tune-handle-${action}`, class: "handle", role: "slider", tabindex: "0", "aria-label": t("Threshold of {action}", { action }),
    "aria-valuemin": least, "aria-valuemax": most, "aria-orientation": "horizontal", on: {
      keydown: (e) => {
        const to = e.key === "Home" ? bounds(action)[0] : e.key === "End" ? Math.min(bounds(action)[1], plot.to) : valueOf(keyOf(action)) + (STEPS[e.key] ?? 0) * (e.shiftKey ? 0.2 : 1);
        if (!(e.key in STEPS) && e.key !== "Home" && e.key !== "End") return;
        e.preventDefault();
        move(action, to);
      },
      pointerdown: (e) => {
        e.preventDefault();
        handle.focus();
        handle.setPointerCapture(e.pointerId);
        drag = { action };
      },
      pointermove: (e) => {
        if (drag?.action !== action) return;
        const box = plot.node.getBoundingClientRect();
        move(action, Math.round(scoreAt(((e.clientX - box.left) / box.width) * plot.wide) * 10) / 10);
      },
      lostpointercapture: () => {
        drag = null;
        draw();
      },
    } },
  svg("rect", { x: -12, width: 24, y: 0, height: HIGH - BOTTOM, class: "grip" }), svg("line", { x1: 0, x2: 0, y1: 2, y2: HIGH - BOTTOM, class: "mark" }),
  svg("circle", { cx: 0, cy: HIGH - BOTTOM - 8, r: 7 }), svg("text", { class: "label" }));
  return handle;
}

// Anew, with the same focus: the scale follows the scores and the thresholds.
function draw() {
  const at = byId("tune-plot");
  const focus = document.activeElement?.id ?? "";
  const bins = list(answer?.scores).map((b) => Math.min(Math.max(number(b.score), -20), 40));
  const marks = onPicture().map((a) => Math.min(valueOf(keyOf(a)), 60));
  plot = { wide: Math.max(at.clientWidth, 280), from: Math.min(-1, ...bins), to: Math.max(15, ...bins.map((b) => b + 1), ...marks.map((m) => m + 3)), bars: svg("g") };
  plot.node = svg("svg", { viewBox: `0 0 ${plot.wide} ${HIGH}`, width: plot.wide, height: HIGH, role: "group", class: "chart tune",
    "aria-label": t("Messages by score, on a logarithmic scale, with thresholds that can be moved") }, plot.bars, ...onPicture().map(handleOf));
  drawBars();
  at.replaceChildren(plot.node);
  placeAll();
  if (focus.startsWith("tune-handle-")) byId(focus)?.focus({ preventScroll: true });
}

// ---- values ----

function setValue(key, value) {
  if (draft.size === 0) draftOf = number(tuning?.version);
  if (value === base.get(key)) draft.delete(key);
  else draft.set(key, value);
  if (key.startsWith("thresholds.")) {
    const field = byId(`tune-field-${key.slice("thresholds.".length)}`);
    if (field !== document.activeElement) field.value = typeof value === "number" ? value : "";
    const had = Boolean(byId(`tune-handle-${key.slice("thresholds.".length)}`));
    if (had !== (typeof value === "number")) draw();
    else placeAll();
    drawBars();
  }
  showResult();
  byId("tune-draft").hidden = draft.size === 0;
  sayLines(byId("tune-draft-lines"), linesOf(draft));
  askSoon();
}

function thresholdField(action) {
  const id = `tune-field-${action}`;
  return el("div", {}, el("label", { for: id }, action), el("input", { id, type: "number", min: LEAST, max: 100000, step: 0.1, placeholder: "off", on: {
    input: (e) => {
      const n = e.target.valueAsNumber;
      if (e.target.value === "" && !e.target.validity.badInput) setValue(keyOf(action), null);
      else if (Number.isFinite(n) && n >= LEAST && n <= 100000) setValue(keyOf(action), n);
    },
  } }));
}

function dropDraft() {
  draft = new Map();
  showBase();
  ask();
}

// The values in force into all fields.
function showBase() {
  for (const action of ACTIONS) {
    const field = byId(`tune-field-${action}`), value = valueOf(keyOf(action));
    if (field !== document.activeElement) field.value = typeof value === "number" ? value : "";
  }
  byId("tune-draft").hidden = draft.size === 0;
  sayLines(byId("tune-draft-lines"), linesOf(draft));
  showResult();
  if (!drag) draw();
  showTable();
}

// Lines for gillnet.conf; libconfig tells 8 and 8.0 apart.
function linesOf(map) {
  const groups = { thresholds: [], lists: new Map(), rules: new Map() };
  const value = (v) => (v === null ? '"off"' : typeof v === "number" && Number.isInteger(v) ? `${v}.0` : String(v));
  for (const [key, v] of map) {
    const [group, name, field] = key.split(".");
    if (group === "thresholds") groups.thresholds.push(`${name} = ${value(v)};`);
    else groups[group].set(name, [...(groups[group].get(name) ?? []), `${field} = ${value(v)};`]);
  }
  const family = (group) => `${group} = (\n${[...groups[group]].map(([name, v]) => `  { name = "${name}"; ${v.join(" ")} }`).join(",\n")}\n);\n`;
  return (groups.thresholds.length > 0 ? `thresholds = { ${groups.thresholds.join(" ")} };\n` : "") + (groups.lists.size > 0 ? family("lists") : "") +
    (groups.rules.size > 0 ? family("rules") : "");
}

// ---- lists and rules ----

const messagesOf = (r) => symbols.get(r.symbol) ?? 0;

// The same field for a row at each show, so that typing is not disturbed.
function keepNumber(cell, r) {
  let field = cell.querySelector("input");
  if (!field) {
    field = el("input", { type: "number", step: 0.1, min: -100000, max: 100000, "aria-label": r.isList ? t("Weight of the list {name}", { name: r.name }) : t("Score of the rule {name}", { name: r.name }),
      on: { input: (e) => Number.isFinite(e.target.valueAsNumber) && setValue(r.number, e.target.valueAsNumber) } });
    cell.append(field);
  }
  if (field !== document.activeElement) field.value = valueOf(r.number);
}
function keepShadow(cell, r) {
  let box = cell.querySelector("input");
  if (!box) {
    box = el("input", { type: "checkbox", "aria-label": t("Shadow of {name}", { name: r.name }), on: { change: (e) => setValue(r.shadow, e.target.checked) } });
    cell.append(box);
  }
  box.checked = valueOf(r.shadow) === true;
}

const valueTable = table(t("Weights and scores"), [
  { head: t("List or rule"), parts: (r) => [el("span", { class: "name" }, r.name), chip(r.isList ? t("list") : t("rule"), "plain"), r.enabled ? null : chip(t("disabled"), "plain"),
    r.description ? under(r.description) : null] },
  { head: t("Messages"), num: true, text: (r) => count(messagesOf(r)) },
  { head: t("Weight or score"), num: true, keep: keepNumber },
  { head: t("Shadow"), keep: keepShadow },
], (r) => r.number, true);

function rowsOf(a) {
  const row = (isList) => (r) => {
    const name = text(r.name), group = isList ? "lists" : "rules";
    return { name, isList, symbol: text(r.symbol), description: typeof r.description === "string" ? r.description : "", enabled: r.enabled !== false,
      number: `${group}.${name}.${isList ? "weight" : "score"}`, shadow: `${group}.${name}.shadow`, value: number(isList ? r.weight : r.score), isShadow: r.shadow === true };
  };
  return [...list(a.lists).filter((l) => l.allow !== true).map(row(true)), ...list(a.rules).map(row(false))];
}

function showTable() {
  const words = byId("tune-words").value.trim().toLowerCase();
  const found = rows.filter((r) => `${r.name} ${r.symbol} ${r.description}`.toLowerCase().includes(words))
    .sort((a, b) => messagesOf(b) - messagesOf(a) || a.name.localeCompare(b.name));
  const at = isAllShown ? found : found.slice(0, ROWS);
  valueTable.show(at);
  byId("tune-more").hidden = at.length === found.length;
  say(byId("tune-more"), t("Show all {n}", { n: count(found.length) }));
  say(byId("tune-found"), found.length === 0 ? t("None") : "");
}

// ---- in force ----

const admin = (path, body, done) => doAs(() => post(path, body), done);

async function apply() {
  const settings = settingsOf(draft);
  const why = byId("tune-why").value.trim();
  if (!await confirm(t("Put in force"), changesOf().join(", "), t("Put in force"))) return;
  const done = await admin("v1/tuning/set", { settings, version: draftOf ?? 0, why }, (a) =>
    (a.reload === "reloaded" ? t("Version {n} is in force.", { n: number(a.version) }) : t("Version {n} is written; gillnetd takes it later: {words}", { n: number(a.version), words: text(a.words) })));
  if (done) {
    draft = new Map();
    byId("tune-why").value = "";
  } else {
    draftOf = null; // after a look at what is in force now, the next try is for that
  }
  refresh();
}
// Both refresh after a refusal, too: somebody else may have changed the version.
async function undo() {
  await admin("v1/tuning/undo", { version: number(tuning?.version) }, t("The settings of before are in force."));
  refresh();
}
async function takeOut(key) {
  await admin("v1/tuning/set", { settings: [`${key}=`], version: number(tuning?.version), why: "" }, t("{key} is as in gillnet.conf again.", { key }));
  refresh();
}
async function copy(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    tell(t("Copied."));
  } catch { // not allowed here: selected, for Ctrl+C
    getSelection().selectAllChildren(node);
    tell(t("Selected: copy it with Ctrl+C."));
  }
}
// A text of several lines, as it is.
const sayLines = (node, words) => {
  node.textContent = words.split("\n").map(visible).join("\n");
};
const lines = (id, label) => el("div", {}, el("pre", { id, tabindex: "0", role: "region", "aria-label": label }),
  el("button", { type: "button", class: "small", on: { click: () => copy(byId(id)) } }, t("Copy"), el("span", { class: "unseen" }, ` ${label}`)));

const settingTable = table(t("Settings in force"), [
  { head: t("Setting"), parts: (s) => [el("span", { class: "value" }, text(s.key)), s.gone === true ? under(t("without effect: gillnet.conf has no such rule")) : null] },
  { head: t("In force"), text: (s) => s.value },
  { head: t("In gillnet.conf"), text: (s) => s.configured },
  { head: t("Action"), hidden: true, keep: (cell, s) => {
    if (cell.firstChild) return;
    cell.append(el("button", { type: "button", class: "small", on: { click: () => takeOut(text(s.key)) } }, t("Take out"), el("span", { class: "unseen" }, ` ${text(s.key)}`)));
  } },
], (s) => text(s.key));

function showTuning(a) {
  const isOther = number(a.version) !== number(tuning?.version) || tuning === null;
  tuning = a;
  rows = rowsOf(a);
  base = new Map([...list(a.thresholds).filter((h) => ACTIONS.includes(h.action)).map((h) => [keyOf(h.action), typeof h.value === "number" ? h.value : null]),
    ...rows.flatMap((r) => [[r.number, r.value], [r.shadow, r.isShadow]])]);
  for (const [key, value] of draft) {
    if (!base.has(key) || base.get(key) === value) draft.delete(key);
  }
  draftOf ??= number(a.version);
  const has = number(a.version) > 0;
  say(byId("tune-fault"), typeof a.fault === "string" ? t("The settings are not in force: {why}", { why: a.fault }) : "");
  say(byId("tune-who"), !has ? t("Nothing was changed here: gillnet.conf alone is in force.")
    : `${t("Version {n}, of {time}, by {who}", { n: number(a.version), time: isTime(a.at) ? timeOf(a.at) : text(a.at), who: text(a.who) })}${a.why ? `: ${text(a.why)}` : ""}`);
  const settings = list(a.settings);
  settingTable.node.hidden = settings.length === 0;
  settingTable.show(settings);
  byId("tune-lines-box").hidden = settings.length === 0;
  sayLines(byId("tune-lines"), text(a.lines));
  byId("tune-undo").disabled = !has || (settings.length === 0 && number(a.former) === 0);
  if (isOther || !plot) showBase();
  if (isOther) ask();
}

function make(at) {
  const button = (id, words, click, more = {}) => el("button", { id, type: "button", on: { click }, ...more }, words);
  at.append(
    el("section", { "aria-labelledby": "tune-head" },
      el("h2", { id: "tune-head" }, t("What if")),
      el("div", { id: "tune-plot", class: "plot" }),
      el("div", { class: "fields", role: "group", "aria-label": t("Thresholds") }, ...ACTIONS.map(thresholdField)),
      el("div", { id: "tune-result", role: "status", class: "tune-result" }, el("p", { id: "tune-what" }), el("p", {}, el("b", { id: "tune-sum" })), el("p", { id: "tune-diff" }),
        el("p", { id: "tune-rest", class: "muted" }), el("p", { id: "tune-undecided", class: "muted" }), el("p", { id: "tune-status", class: "muted" })),
      para(t("With the role messages you see which messages these are."), { id: "tune-no-mail", class: "muted", hidden: true }),
      exampleTable.node,
      el("div", { id: "tune-draft", hidden: true }, el("h3", {}, t("Lines for gillnet.conf")), lines("tune-draft-lines", t("Lines for gillnet.conf")),
        el("label", { for: "tune-why" }, t("Why")), el("input", { id: "tune-why", type: "text", maxlength: 400, autocomplete: "off" })),
      el("div", { class: "actions" }, button("tune-apply", t("Put in force"), apply, { class: "main", disabled: true }), button("tune-drop", t("Drop the changes"), dropDraft, { disabled: true }))),
    el("section", { "aria-labelledby": "tune-force-head" },
      el("h2", { id: "tune-force-head" }, t("In force above gillnet.conf")),
      el("p", { id: "tune-fault", class: "bad" }), el("p", { id: "tune-who" }), settingTable.node,
      el("div", { id: "tune-lines-box", hidden: true }, el("h3", {}, t("Lines for gillnet.conf")), lines("tune-lines", t("Lines of what is in force"))),
      el("div", { class: "actions" }, button("tune-undo", t("Undo the last change"), undo, { disabled: true }))),
    el("section", { "aria-labelledby": "tune-values-head" },
      el("h2", { id: "tune-values-head" }, t("Lists and rules")),
      el("div", { class: "pages" }, el("label", { for: "tune-words" }, t("Filter")), el("input", { id: "tune-words", type: "text", maxlength: 80, autocomplete: "off", spellcheck: "false", on: { input: showTable } }),
        el("span", { id: "tune-found", class: "muted", role: "status" })),
      valueTable.node, button("tune-more", "", () => {
        isAllShown = true;
        showTable();
      }, { class: "small", hidden: true })));
  exampleTable.node.hidden = true;
  settingTable.node.hidden = true;
}

export const view = {
  name: "tune",
  title: t("What if"),
  group: "settings",
  search: "tune-words",
  reads: () => ({ tuning: "tuning" }),
  make,
  show: (name, got) => showTuning(got),
  open: () => {
    if (tuning && plot) draw(); // the width may be another one
    if (tuning) ask();
  },
  close: () => {
    clearTimeout(pause);
    running?.abort();
    running = null;
  },
};
