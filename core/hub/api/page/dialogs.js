// dialogs - sign-in, confirmation of changes, and short messages.
import { check, hasToken, setToken } from "./api.js";
import { byId, say } from "./dom.js";

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

export function showSession() {
  say(byId("sign"), hasToken() ? "Sign out" : "Sign in");
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
      tell(`Not done: ${e.message}`, "critical");
      return null;
    }
  }
}

export function start(changed) {
  onToken = changed;
  showSession();
  byId("sign").addEventListener("click", () => {
    if (hasToken()) {
      setToken("");
      showSession();
      tell("Signed out: the token is forgotten.");
      onToken();
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
