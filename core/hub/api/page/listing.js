// listing - puts a value of a message on a list: which value, which list, why, and for how long.
import { get, post } from "./api.js";
import { doAs } from "./dialogs.js";
import { el, list, number, text } from "./dom.js";
import { effectsOf } from "./effects.js";
import { t } from "./language.js";

const REASON_MAX = 80; // bytes, LIST_REASON_MAX
const LISTS_MAX = 1000;

const choice = (words, ...options) => el("select", { "aria-label": words }, ...options.map(([value, shown]) => el("option", { value }, shown)));
const labelled = (words, input) => el("label", {}, words, input);

// Lists of this server that an entry on raises the score.
async function namesOfLists() {
  const all = list((await get(`v1/lists?sort=name&limit=${LISTS_MAX}`)).lists);
  return all.filter((l) => !l.origin && l.category !== "allow" && number(l.weight) > 0).map((l) => [String(l.name), text(l.name)]);
}

// values: [value, words]. say(words): shows what came of it.
export function listing(values, say) {
  const value = choice(t("Value"), ...values);
  const name = choice(t("List"));
  const expires = choice(t("Holds"), ["", t("for ever")], ...[1, 7, 30, 365].map((n) => [`${n}d`, t("{n} d", { n })]));
  const reason = el("input", { type: "text", maxlength: REASON_MAX, autocomplete: "off", required: true });
  const form = el("form", { class: "fields listing" }, labelled(t("Value"), value), labelled(t("List"), name), labelled(t("Reason"), reason), labelled(t("Holds"), expires),
    el("p", { class: "actions" }, el("button", { type: "submit", class: "small main" }, t("Add"))));
  const node = el("details", { class: "listing" }, el("summary", {}, t("Put on a list")), form);

  node.addEventListener("toggle", async () => {
    if (!node.open || name.options.length > 0) return;
    try {
      name.replaceChildren(...(await namesOfLists()).map(([v, shown]) => el("option", { value: v }, shown)));
    } catch (e) {
      say(e.message);
    }
  });
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const body = { list: name.value, values: [value.value], reason: reason.value.trim(), ...(expires.value ? { expires: expires.value } : {}) };
    const answer = await doAs(() => post("v1/list/add", body), t("{value} is on {list} now", { value: value.value, list: name.value }));
    if (!answer) return;
    node.open = false;
    say(effectsOf(answer.changed).join(", ") || text(answer.detail));
  });
  return node;
}
