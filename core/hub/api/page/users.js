// users - the view of settings of users and domains.
import { refresh } from "./address.js";
import { post } from "./api.js";
import { confirm, doAs } from "./dialogs.js";
import { chip, el, list, para, table, text } from "./dom.js";
import { t } from "./language.js";
import { cursorPages } from "./pages.js";

const setOf = (u) => (Array.isArray(u.set) ? u.set.map(String) : []);
const nameField = el("input", { id: "user-name", type: "text", maxlength: 320, autocomplete: "off", spellcheck: "false" });
const setField = el("textarea", { id: "user-set", rows: 4, spellcheck: "false" });

async function save() {
  const words = setField.value.split(/\s+/).filter(Boolean);
  const name = nameField.value.trim();
  const answer = await doAs(() => post("v1/user/set", { name, set: words, clear: true }), (a) => t("The settings of {name} are in force.", { name: text(a.name) }));
  if (answer) refresh();
}

async function clear(name) {
  if (!(await confirm(t("Remove settings"), t("{name} gets the settings of the site. The log of changes keeps the former ones.", { name }), t("Remove")))) return;
  await doAs(() => post("v1/user/set", { name, clear: true }), t("The settings of {name} are removed.", { name }));
  refresh();
}

function edit(u) {
  nameField.value = text(u.name);
  setField.value = setOf(u).join("\n");
  setField.focus();
}

function actions(cell, u) {
  const name = text(u.name);
  if (!cell.firstChild && u.source === "file") {
    const button = (shown, click) => el("button", { type: "button", class: "small", on: { click } }, shown, el("span", { class: "unseen" }, ` ${name}`));
    cell.classList.add("actions");
    cell.append(button(t("Edit"), () => edit(cell.user)), button(t("Remove"), () => clear(name)));
  }
  cell.user = u;
}

const userTable = table(t("Users and domains with settings of their own"), [
  { head: t("User or domain"), parts: (u) => [el("bdi", { class: "name" }, text(u.name)), u.source === "configuration" ? chip(t("configuration"), "plain") : null] },
  { head: t("Settings"), wide: true, parts: (u) => setOf(u).map((s) => el("div", {}, el("bdi", {}, s))) },
  { head: t("Actions"), keep: actions },
], (u) => `${u.source} ${u.name} ${u.source === "configuration" ? setOf(u).join(" ") : ""}`, true);

const pages = cursorPages({ name: "users", label: t("Search in users"), of: userTable, cursor: "after", empty: t("All users have the settings of the site.") });

function form() {
  const at = el("form", { class: "stack", "aria-labelledby": "user-form-head" }, el("h3", { id: "user-form-head" }, t("Change settings")),
    el("label", { for: nameField.id }, t("USER@DOMAIN or @DOMAIN")), nameField,
    el("label", { for: setField.id }, t("Settings, one a line: KEY=VALUE")), setField,
    para(t("Such as `sensitivity=high`, `thresholds.reject=off`, `allow.addresses=a@b.example` or `block.domains=spam.example`; see gillnet.conf(5).")),
    el("button", { type: "submit" }, t("Save")));
  at.addEventListener("submit", (e) => {
    e.preventDefault();
    save();
  });
  return at;
}

export const view = {
  name: "users",
  title: t("Users"),
  group: "settings",
  search: "users-words",
  reads: (query) => ({ users: pages.path(query) }),
  make: (at) => at.append(el("section", { "aria-labelledby": "users-head" }, el("h2", { id: "users-head" }, t("Users and domains")), ...pages.nodes, form())),
  open: (query) => pages.open(query),
  show: (name, answer) => pages.show(list(answer.users), answer.next),
};
