// api - requests to the hub: token, time limit, kinds of failures.

const LIMIT_MS = 10000; // for reads
const LIMIT_LONG_MS = 120000; // for requests of the user
const KEY = "gillnet-token";

// kind: "offline" no answer; "token" missing role; "error" refused by the hub; "garbage" unreadable answer.
export class Trouble extends Error {
  constructor(kind, message, status = 0) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}

// Kept for the life of the tab, never in a cookie or on disk. Without storage: for the life of the page.
let token = "";
try {
  token = sessionStorage.getItem(KEY) ?? "";
} catch { /* refused */ }
if (faultOf(token) !== "") token = "";

// Why a value cannot be a token; "": it can.
export function faultOf(value) {
  const at = value.search(/[^\x21-\x7e]/);
  if (at < 0) return "";
  return `Character ${at + 1} of this token, "${String.fromCodePoint(value.codePointAt(at))}", is in no token: they are made of ASCII letters, ` +
    "digits and signs, without spaces. It was not sent. Copy it again, as gillnet hub token printed it.";
}
export const hasToken = () => token !== "";
export function setToken(value) {
  token = value;
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch { /* refused */ }
}

async function reasonOf(response) {
  try {
    const problem = JSON.parse(await response.text());
    return String(problem.detail || problem.title || `status ${response.status}`).slice(0, 500);
  } catch {
    return `the hub answered with status ${response.status}`;
  }
}

async function ask(path, options, limit, as = token) {
  const headers = { Accept: "application/json", ...options.headers };
  if (as) headers.Authorization = `Bearer ${as}`;
  let response, body;
  try {
    response = await fetch(path, {
      ...options, headers, cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(limit),
    });
    if (response.ok) body = await response.text();
  } catch (e) {
    throw new Trouble("offline", e.name === "TimeoutError" ? "no answer in time" : "no connection");
  }
  if (response.status === 401 && as === token) setToken(""); // unknown token: public parts work without it
  if (response.status === 401 || response.status === 403) throw new Trouble("token", await reasonOf(response), response.status);
  if (!response.ok) throw new Trouble("error", await reasonOf(response));
  if (body === "") return {};
  try {
    const value = JSON.parse(body);
    if (value && typeof value === "object") return value;
  } catch { /* below */ }
  throw new Trouble("garbage", "the hub's answer could not be read");
}

// Checks a token with the hub: "" or the fault.
export async function check(value) {
  const fault = faultOf(value);
  if (fault !== "") return fault;
  try {
    await ask("v1/stats", {}, LIMIT_MS, value);
  } catch (e) {
    if (e.kind === "token" && e.status === 401) {
      return "Wrong token: the hub does not know it. gillnet hub token NAME ROLE makes one; the hub knows it at once.";
    }
    if (e.kind !== "token") return `The token could not be checked: ${e.message}. Try again.`;
  }
  return "";
}

export const get = (path) => ask(path, {}, LIMIT_MS);
export const post = (path, value) =>
  ask(path, { method: "POST", body: JSON.stringify(value), headers: { "Content-Type": "application/json" } }, LIMIT_LONG_MS);
// bytes: a text or a File. query: pairs of names and values.
export function postMessage(path, bytes, query) {
  const words = new URLSearchParams(query).toString();
  return ask(words ? `${path}?${words}` : path,
    { method: "POST", body: bytes, headers: { "Content-Type": "message/rfc822" } }, LIMIT_LONG_MS);
}
