// language - the page's own texts in the language of the user (theme.js chose it).
//
// The key of a text is its English form; texts.js has the others. Texts of the hub and of mail are shown as they come.
// Keys stand as literals in t("...") and plural("..."), and between the tags of elements with data-t, so that
// tests/lint/check_texts.py can compare them with the table.

export const language = document.documentElement.lang;
// English with the clock of 24 hours.
export const locale = language === "en" ? "en-GB" : language;
const COLUMNS = ["de", "fr", "es", "ja"];
const RIGHT_TO_LEFT = ["ar", "fa", "he", "ur"];
document.documentElement.dir = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";

const texts = language === "en" ? {} : (await import("./texts.js")).texts;
const at = COLUMNS.indexOf(language);
const forms = new Intl.PluralRules(locale);

// {name} in a text stands for values.name.
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
const translated = (key) => texts[key]?.[at] ?? key;

export const t = (key, values = {}) => fill(translated(key), values);
// key: "{n} message|{n} messages". shown: n as it is printed.
export function plural(key, n, values = {}) {
  const shapes = translated(key).split("|");
  return fill(forms.select(n) === "one" ? shapes[0] : shapes.at(-1), { n: new Intl.NumberFormat(locale).format(n), ...values });
}

// The nodes of a text: what stands between backticks is code.
export const marked = (words) => words.split("`").map((part, i) => {
  if (i % 2 === 0) return part;
  const code = document.createElement("code");
  code.textContent = part;
  return code;
});

// Translates the elements of index.html: data-t their text, data-t-label and data-t-placeholder such an attribute.
export function translate(root) {
  for (const node of root.querySelectorAll("[data-t]")) {
    node.replaceChildren(...marked(t(node.textContent.trim().replace(/\s+/g, " "))));
  }
  for (const [mark, name] of [["data-t-label", "aria-label"], ["data-t-placeholder", "placeholder"]]) {
    for (const node of root.querySelectorAll(`[${mark}]`)) node.setAttribute(name, t(node.getAttribute(mark)));
  }
}
