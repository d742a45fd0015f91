// pages - paging of a long table: a filter, an order, and buttons for the previous and the next page.
//
// The hub filters, sorts and cuts; a cursor is the beginning of a page. The browser holds at most PAGE rows.
import { refresh, setQuery } from "./address.js";
import { byId, count, el, list, number, say } from "./dom.js";
import { t } from "./language.js";

const PAGE = 50;
const FEW = 10; // rows that need no filter
const TYPING_MS = 250;

// name: of the rows in the API's answer, and of the call if path is not given; it also begins the ids of the elements NAME-words and NAME-sort. label: of the group.
// sorts: [value of the API's sort, words]. empty: the node that is shown instead of a table without rows. of: the table (dom.js).
export function pages({ name, path = name, label, sorts, empty, of, hint = "" }) {
  let cursors = [""]; // of the pages up to this one
  let next = null;
  let typing = 0;

  function begin() {
    cursors = [""];
    refresh();
  }
  const words = el("input", { id: `${name}-words`, type: "text", maxlength: 80, autocomplete: "off", spellcheck: "false", placeholder: hint || null, on: { input: () => {
    clearTimeout(typing);
    typing = setTimeout(begin, TYPING_MS);
  } } });
  const sort = el("select", { id: `${name}-sort`, on: { change: begin } }, ...sorts.map(([value, shown]) => el("option", { value }, shown)));
  const button = (shown, more, click) => el("button", { type: "button", class: "small", on: { click } }, shown, el("span", { class: "unseen" }, ` ${more}`));
  const back = button(t("Previous"), label, () => {
    cursors.pop();
    refresh();
  });
  const on = button(t("Next"), label, () => {
    cursors.push(next);
    refresh();
  });
  const where = el("span", { class: "muted", role: "status" });
  const bar = el("div", { class: "pages", role: "group", "aria-label": label, hidden: true },
    el("label", { for: words.id }, t("Filter")), words, el("label", { for: sort.id }, t("Sort by")), sort, where, back, on);
  of.node.hidden = true;

  const isFiltered = () => words.value.trim() !== "";
  function showPlace(answer, rows) {
    const from = (cursors.length - 1) * PAGE;
    const found = number(answer.found);
    next = typeof answer.next === "string" ? answer.next : null;
    bar.hidden = number(answer.total) <= FEW && !isFiltered();
    const place = { from: count(from + 1), to: count(from + rows), found: count(Math.max(found, from + rows)), all: count(number(answer.total)) };
    say(where, rows === 0 ? t("None") : isFiltered() ? t("{from} to {to} of {found}, {all} in all", place) : t("{from} to {to} of {found}", place));
    back.disabled = cursors.length < 2;
    on.disabled = next === null;
  }
  return {
    nodes: [bar, of.node],
    // The path of this page, for reads().
    path() {
      const query = [["limit", PAGE], ["sort", sort.value], ["q", words.value.trim()], ["cursor", cursors.at(-1)]].filter(([, v]) => v !== "");
      return `${path}?${new URLSearchParams(query)}`;
    },
    // Call this if the hub no longer accepts the cursor. False: there was none.
    restart() {
      const had = cursors.length > 1;
      cursors = [""];
      return had;
    },
    show(answer) {
      const rows = list(answer[name]).slice(0, PAGE);
      byId(empty).hidden = rows.length > 0 || isFiltered();
      of.node.hidden = rows.length === 0;
      of.show(rows);
      showPlace(answer, rows.length);
    },
  };
}

// The same for answers that have a search and a cursor, and no sorting. q stands in the address, the cursors of the pages here. cursor: name of the API's parameter.
export function cursorPages({ name, label, of, cursor, empty }) {
  let cursors = [""], next = null, typing = 0, asked = "", isTyped = false;
  const words = el("input", { id: `${name}-words`, type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false", on: { input: () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      isTyped = true; // the field may have more words by now
      setQuery({ q: words.value.trim() });
      isTyped = false;
    }, TYPING_MS);
  } } });
  const button = (shown, click) => el("button", { type: "button", class: "small", on: { click } }, shown, el("span", { class: "unseen" }, ` ${label}`));
  const back = button(t("Previous"), () => {
    cursors.pop();
    refresh();
  });
  const on = button(t("Next"), () => {
    cursors.push(next);
    refresh();
  });
  const bar = el("div", { class: "pages", role: "group", "aria-label": label }, el("label", { for: words.id }, t("Search")), words, back, on);
  const none = el("p", { class: "empty", hidden: true });
  return {
    nodes: [bar, none, of.node],
    open(query) {
      const q = query.get("q") ?? "";
      if (q !== asked) cursors = [""];
      asked = q;
      if (!isTyped) words.value = q;
    },
    path(query) {
      const pairs = [["limit", PAGE], ["q", query.get("q") ?? ""], [cursor, cursors.at(-1)]].filter(([, v]) => v !== "");
      return `${name}?${new URLSearchParams(pairs)}`;
    },
    show(rows, following) {
      next = typeof following === "string" ? following : null;
      none.hidden = rows.length > 0;
      none.textContent = asked || cursors.length > 1 ? t("Nothing found.") : empty;
      of.node.hidden = rows.length === 0;
      of.show(rows);
      back.disabled = cursors.length < 2;
      on.disabled = next === null;
    },
  };
}
