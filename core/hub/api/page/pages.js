// pages - paging of a long table: a filter, an order, and buttons for the previous and the next page.
//
// The hub filters, sorts and cuts; a cursor is the beginning of a page. The browser holds at most PAGE rows.
import { byId, count, el, number, say } from "./dom.js";

export const PAGE = 50;
const FEW = 10; // rows that need no filter
const TYPING_MS = 250;

// part: such as "list". sorts: [value of the API's sort, words]. change(): called for another page.
export function pages(part, sorts, change) {
  let cursors = [""]; // of the pages up to this one
  let next = null;
  let typing = 0;

  function begin() {
    cursors = [""];
    change();
  }
  const words = el("input", { id: `${part}-words`, type: "text", maxlength: 80, autocomplete: "off", spellcheck: "false", on: { input: () => {
    clearTimeout(typing);
    typing = setTimeout(begin, TYPING_MS);
  } } });
  const sort = el("select", { id: `${part}-sort`, on: { change: begin } }, ...sorts.map(([value, name]) => el("option", { value }, name)));
  const back = el("button", { type: "button", class: "small", on: { click: () => {
    cursors.pop();
    change();
  } } }, "Previous", el("span", { class: "unseen" }, ` page of ${part}s`));
  const on = el("button", { type: "button", class: "small", on: { click: () => {
    cursors.push(next);
    change();
  } } }, "Next", el("span", { class: "unseen" }, ` page of ${part}s`));
  const where = el("span", { class: "muted", role: "status" });
  const node = el("div", { class: "pages", role: "group", "aria-label": `Rows of ${part}s that are shown`, hidden: true },
    el("label", { for: words.id }, "Filter"), words, el("label", { for: sort.id }, "Sort by"), sort, where, back, on);
  byId(`${part}-table`).append(node);

  const isFiltered = () => words.value.trim() !== "";
  return {
    isFiltered,
    // The query of this page.
    query() {
      const of = [["limit", PAGE], ["sort", sort.value], ["q", words.value.trim()], ["cursor", cursors.at(-1)]].filter(([, v]) => v !== "");
      return `?${new URLSearchParams(of)}`;
    },
    // Call this if the hub no longer accepts the cursor. False: there was none.
    restart() {
      const had = cursors.length > 1;
      cursors = [""];
      return had;
    },
    show(answer, rows) {
      const from = (cursors.length - 1) * PAGE;
      const found = number(answer.found);
      next = typeof answer.next === "string" ? answer.next : null;
      node.hidden = number(answer.total) <= FEW && !isFiltered();
      say(where, rows === 0 ? "None" : `${count(from + 1)} to ${count(from + rows)} of ${count(Math.max(found, from + rows))}` +
        (isFiltered() ? `, ${count(number(answer.total))} in all` : ""));
      back.disabled = cursors.length < 2;
      on.disabled = next === null;
    },
  };
}
