// dialogs - sign-in, confirmation of changes, and short messages.
import { check, hasToken, setToken } from "./api.js";
import { byId, say } from "./dom.js";
import { t } from "./language.js";

let clearing = 0;
export function tell(words, kind = "well") {
  const at = byId("told");
  clearTimeout(clearing);
  at.className = kind;
  say(at, words);
  clearing = setTimeout(() => say(at, ""), 12000);
}

// Opens a dialog; resolves with the value of the button that closed it, "" for Escape.
function open(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue), { once: true }));
}

let who = null; // {name, role, proof} of /v1/whoami
export function showSession(answer = who) {
  who = answer;
  say(byId("sign"), hasToken() ? t("Sign out") : t("Sign in"));
  byId("sign").hidden = who?.proof === "proxy"; // the proxy signs in and out
  say(byId("who"), who && who.proof !== "none" ? `${who.name} (${who.role})` : "");
}

function sayWhy(words, isBad = false) {
  byId("token-why").classList.toggle("bad", isBad);
  say(byId("token-why"), words);
}

// Keeps the dialog open until the hub accepts the token.
async function takeToken(dialog) {
  const value = byId("token").value.trim();
  if (value === "" || dialog.getAttribute("aria-busy")) return;
  dialog.setAttribute("aria-busy", "true");
  const fault = await check(value);
  dialog.removeAttribute("aria-busy");
  if (!dialog.open) return; // closed meanwhile
  if (fault === "") {
    setToken(value);
    dialog.close("yes");
  } else {
    sayWhy(fault, true);
    byId("token").select();
  }
}

let onToken = () => {};
let asking = null;
// Requests a token, in one dialog at a time. true: the hub accepted it.
export function signIn(why = "") {
  asking ??= (async () => {
    sayWhy(why);
    byId("token").value = "";
    const answer = await open(byId("token-dialog"));
    byId("token").value = "";
    asking = null;
    if (answer !== "yes" || !hasToken()) return false;
    showSession();
    onToken();
    return true;
  })();
  return asking;
}

// true: confirmed.
export async function confirm(title, words, yes) {
  say(byId("confirm-title"), title);
  say(byId("confirm-words"), words);
  say(byId("confirm-yes"), yes);
  return (await open(byId("confirm-dialog"))) === "yes";
}

// Makes a request that needs a role. If the hub wants a token, signs in and tries once more.
export async function doAs(call, done) {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await call();
      tell(typeof done === "function" ? done(answer) : done);
      return answer;
    } catch (e) {
      if (e.kind === "token" && tries === 0 && (await signIn(e.message))) continue;
      tell(t("Not done: {why}", { why: e.message }), "critical");
      return null;
    }
  }
}

export const showKeys = () => open(byId("keys-dialog"));

// Colours and language: kept in the browser, and only if they were chosen. theme.js reads them.
function keep(name, value) {
  try {
    if (value) localStorage.setItem(name, value);
    else localStorage.removeItem(name);
  } catch { /* refused: for this page alone */ }
}
function startChoices() {
  const root = document.documentElement;
  byId("theme").value = root.dataset.theme ?? "";
  byId("theme").addEventListener("change", (e) => {
    keep("gillnet-theme", e.target.value);
    if (e.target.value) root.dataset.theme = e.target.value;
    else delete root.dataset.theme;
  });
  byId("language").value = root.lang;
  byId("language").addEventListener("change", (e) => {
    keep("gillnet-language", e.target.value);
    location.reload();
  });
}

export function start(changed) {
  onToken = changed;
  showSession();
  startChoices();
  byId("sign").addEventListener("click", () => {
    if (hasToken()) {
      setToken("");
      location.reload(); // what was shown is gone, too
    } else {
      signIn();
    }
  });
  for (const form of document.querySelectorAll("dialog form")) {
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const dialog = form.closest("dialog");
      const answer = e.submitter?.value ?? "";
      if (dialog.id === "token-dialog" && answer === "yes") takeToken(dialog);
      else dialog.close(answer);
    });
  }
}
