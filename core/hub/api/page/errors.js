// errors - the view of the newest warnings and errors of gillnetd and the hub.
import { ago, chip, count, el, list, number, para, table, text, timeOf, under } from "./dom.js";
import { t } from "./language.js";

const LEVELS = { warn: [t("warning"), "warning"], error: [t("error"), "critical"] };
const lines = table(t("Warnings and errors, the last first"), [
  { head: t("Time"), parts: (r) => [timeOf(r.time_s), under(ago(r.time_s))] },
  { head: t("Program"), text: (r) => r.program },
  { head: t("Level"), parts: (r) => [chip(...(LEVELS[r.level] ?? [text(r.level), "plain"]))] },
  { head: t("Times"), num: true, text: (r) => count(r.times) },
  { head: t("What happened"), wide: true, parts: (r) => [el("span", { lang: "en" }, text(r.text))] },
], (r) => `${r.program} ${r.time_s} ${r.text}`, true);
const empty = para(t("No warning and no error since gillnetd and the hub started."), { class: "empty" });
const missing = el("p", { class: "bad", hidden: true });

export const view = {
  name: "errors",
  title: t("Errors"),
  group: "settings",
  reads: () => ({ errors: "errors" }),
  make(at) {
    lines.node.hidden = true;
    at.append(el("section", { "aria-labelledby": "errors-head" }, el("h2", { id: "errors-head" }, t("Errors")),
      para(t("The newest 100 of each program since its start. The log has all: `journalctl -u gillnetd -u gillnet-hub`."), { class: "muted" }), missing, empty, lines.node));
  },
  show(name, answer) {
    const rows = list(answer.errors).sort((a, b) => number(b.time_s) - number(a.time_s));
    missing.hidden = !answer.missing;
    missing.textContent = answer.missing ? t("Those of gillnetd are missing: {why}", { why: text(answer.missing) }) : "";
    empty.hidden = rows.length > 0 || !missing.hidden;
    lines.node.hidden = rows.length === 0;
    lines.show(rows);
  },
};
