// effects - what a change did, in words, and its undoing where there is one.
import { post } from "./api.js";
import { doAs } from "./dialogs.js";
import { count, el, list, number, text } from "./dom.js";
import { plural, t } from "./language.js";

const EFFECTS = {
  voted: (c) => plural("votes on {n} item|votes on {n} items", number(c.items)),
  taught: () => t("taught the model"),
  replaced: () => t("replaced the opposite report"),
  overruled: (c) => plural("overruled {n} report|overruled {n} reports", number(c.reports)),
  revoked: (c) => t("revoked {value} on {list}", { value: text(c.entry ?? c.value), list: text(c.list) }),
  added: (c) => t("added {value} to {list}", { value: text(c.entry ?? c.value), list: text(c.list) }),
};
// changed: of an answer of the API.
export const effectsOf = (changed) => list(changed).map((c) => EFFECTS[c.status]?.(c) ?? text(c.status));

// The words about a report that was just made.
export function saidOf(report) {
  const effects = effectsOf(report?.changed);
  return effects.length > 0 ? effects.join(", ") : report?.detail ? String(report.detail) : t("nothing was changed");
}

// again(): the report no longer holds.
export function undoButton(id, what, again) {
  const node = el("button", { type: "button", class: "small", "aria-label": t("Undo: {what}", { what }), on: { click: async () => {
    node.disabled = true;
    const answer = await doAs(() => post("v1/reports/undo", { id }), t("The report was undone."));
    if (answer) again();
    else node.disabled = false;
  } } }, t("Undo"));
  return node;
}

// A text that mail chose: its own direction, and no effect on the words beside it.
export const foreign = (words, more = {}) => el("bdi", more, text(words));
export const confidence = (n) => (typeof n === "number" ? count(Math.round(n * 100) / 100) : text(n));
