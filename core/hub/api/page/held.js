// held - the view of mail that the MTA holds: shown as text, released and deleted, one by one or many.
import { refresh } from "./address.js";
import { get, post } from "./api.js";
import { confirm, doAs } from "./dialogs.js";
import { ago, byId, bytes, el, list, number, say, table, text, under } from "./dom.js";
import { foreign, saidOf, undoButton } from "./effects.js";
import { scoreOf } from "./explained.js";
import { plural, t } from "./language.js";
import { messagesWith } from "./messages.js";
import { pages } from "./pages.js";

const AT_ONCE = 20; // ids of one request: the answer comes within seconds, and progress is seen

const chosen = new Set(); // queue ids
let shown = []; // ids of the page

const button = (words, name, click) => el("button", { type: "button", class: "small", "aria-label": name, on: { click } }, words);
const nameOf = (h) => text(h.decoded ?? h.subject ?? h.sender);

function showChoice() {
  const n = chosen.size;
  byId("held-all").checked = shown.length > 0 && shown.every((id) => chosen.has(id));
  byId("held-all").indeterminate = n > 0 && !byId("held-all").checked;
  byId("held-release").disabled = n === 0;
  byId("held-delete").disabled = n === 0;
  say(byId("held-chosen"), plural("{n} chosen|{n} chosen", n));
}

// ---- one message ----

async function showText(h) {
  const at = byId("held-one");
  at.setAttribute("aria-busy", "true");
  try {
    const m = await get(`v1/quarantine/message?id=${encodeURIComponent(h.id)}`);
    at.replaceChildren(el("article", { class: "finding" }, el("h3", {}, foreign(nameOf(h))),
      el("p", { class: "muted" }, m.cut ? t("The first 64 KB of {size}, as the MTA holds it.", { size: bytes(m.bytes) }) : t("{size}, as the MTA holds it.", { size: bytes(m.bytes) })),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("Text of the message") },
        el("pre", { dir: "auto" }, ...String(m.text ?? "").split("\n").flatMap((line) => [line.replace(/\t/g, "    "), el("br")])))));
    at.scrollIntoView({ block: "nearest" });
  } catch (e) {
    at.replaceChildren(el("p", { class: "bad" }, e.message));
  } finally {
    at.removeAttribute("aria-busy");
  }
}

// ---- changes ----

const wordsOf = (r) => (r.state === "released" ? (r.report ? t("Released; reported as ham: {effects}.", { effects: saidOf(r.report) }) : t("Released, and not reported."))
  : r.state === "deleted" ? t("Deleted.") : t("Not done: {why}", { why: text(r.detail) }));

function showResults(results) {
  byId("held-done").replaceChildren(...results.map((r) => el("li", { class: r.state === "failed" ? "bad" : null }, el("code", {}, text(r.id)), " ", wordsOf(r), " ",
    r.report?.id && !r.report.again ? undoButton(r.report.id, t("report of {id}", { id: r.id }), refresh) : null)));
}

async function change(word, ids) {
  const results = [];
  byId("held-one").replaceChildren();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const part = ids.slice(at, at + AT_ONCE);
    const answer = await doAs(() => post(`v1/quarantine/${word}`, { ids: part }),
      t("{n} of {all} done", { n: at + part.length, all: ids.length }));
    if (!answer) break;
    results.push(...list(answer.results));
    for (const r of list(answer.results)) chosen.delete(r.id);
    showResults(results);
    showChoice();
  }
  refresh();
}
async function release(ids) {
  const words = plural("{n} message is reported as ham and delivered to all its recipients.|{n} messages are reported as ham and delivered to all their recipients.", ids.length);
  if (await confirm(t("Release"), words, t("Release"))) change("release", ids);
}
async function remove(ids) {
  const words = plural("{n} message is deleted for ever. Nobody gets it.|{n} messages are deleted for ever. Nobody gets them.", ids.length);
  if (await confirm(t("Delete"), words, t("Delete"))) change("delete", ids);
}

// ---- the table ----

function choiceCell(cell, h) {
  let box = cell.querySelector("input");
  if (!box) {
    box = el("input", { type: "checkbox", on: { change: () => {
      if (box.checked) chosen.add(box.value);
      else chosen.delete(box.value);
      showChoice();
    } } });
    cell.append(box);
  }
  box.value = h.id;
  box.checked = chosen.has(h.id);
  box.setAttribute("aria-label", t("Choose {id}", { id: h.id }));
}

const heldTable = table(t("Messages that the MTA holds"), [
  { head: t("Subject"), parts: (h) => [foreign(nameOf(h), { class: "cut" }), el("span", { class: "under" }, el("code", {}, text(h.id)))] },
  { head: t("Chosen"), hidden: true, keep: choiceCell },
  { head: t("From"), wide: true, parts: (h) => [foreign(h.from || h.sender), el("span", { class: "under" }, t("envelope sender"), " ", foreign(h.sender))] },
  { head: t("Recipients"), wide: true, parts: (h) => [foreign(Array.isArray(h.recipients) ? h.recipients.slice(0, 3).join(", ") : ""),
    number(h.nrcpt) > 3 ? under(plural("and {n} more|and {n} more", number(h.nrcpt) - 3)) : null] },
  { head: t("Held since"), text: (h) => ago(h.time_s) },
  { head: t("Score"), num: true, text: (h) => scoreOf(h.score) },
  { head: t("Why"), wide: true, parts: (h) => [foreign(h.symbols || h.reason, { class: "cut" }), h.case ? el("a", { class: "under", href: messagesWith(`id:${h.case}`) }, t("Evidence")) : null] },
  { head: t("Size"), num: true, text: (h) => bytes(h.bytes) },
  { head: t("Actions"), hidden: true, keep: (cell, h) => {
    if (cell.firstChild?.dataset.id === h.id) return;
    cell.replaceChildren(el("div", { class: "actions", "data-id": h.id }, button(t("Show"), t("Show {id}", { id: h.id }), () => showText(h)),
      button(t("Release"), t("Release {id}", { id: h.id }), () => release([h.id])), button(t("Delete"), t("Delete {id}", { id: h.id }), () => remove([h.id]))));
  } },
], (h) => h.id, true);

const rows = pages({ name: "held", path: "quarantine", label: t("Rows of held mail"), of: heldTable, empty: "held-empty", sorts: [["-time_s", t("newest first")], ["time_s", t("oldest first")],
  ["-score", t("highest score")], ["score", t("lowest score")], ["sender", t("sender")], ["subject", t("subject")], ["-bytes", t("largest")]] });

export const view = {
  name: "held",
  title: t("Held mail"),
  group: "mail",
  search: "held-words",
  reads: () => ({ held: rows.path() }),
  make(at) {
    const many = (id, words, click) => el("button", { id, type: "button", class: "small", disabled: true, on: { click: () => click([...chosen]) } }, words);
    at.append(el("section", { "aria-labelledby": "held-head" }, el("h2", { id: "held-head" }, t("Held mail")),
      el("p", { id: "held-empty", class: "empty", hidden: true }, t("The MTA holds no mail for gillnet.")),
      el("div", { class: "row bulk" }, el("label", {}, el("input", { id: "held-all", type: "checkbox", on: { change: (e) => {
        for (const id of shown) {
          if (e.target.checked) chosen.add(id);
          else chosen.delete(id);
        }
        for (const box of heldTable.node.querySelectorAll("td input")) box.checked = chosen.has(box.value);
        showChoice();
      } } }), " ", t("All shown")), el("span", { id: "held-chosen", class: "muted", role: "status" }), many("held-release", t("Release chosen"), release), many("held-delete", t("Delete chosen"), remove)),
      el("ul", { id: "held-done", class: "done", role: "status" }), ...rows.nodes, el("div", { id: "held-one", "aria-live": "polite" })));
  },
  show(name, answer) {
    shown = list(answer.held).map((h) => String(h.id));
    rows.show(answer);
    showChoice();
  },
  restart: () => rows.restart(),
};
