// api - requests to the hub: token, time limit, kinds of failures.
import { t } from "./language.js";

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
  return t("Character {n} of this token, \"{character}\", is in no token: they are made of ASCII letters, digits and signs, without spaces. It was not sent. Copy it again, as gillnet hub token printed it.",
    { n: at + 1, character: String.fromCodePoint(value.codePointAt(at)) });
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
    return t("the hub answered with status {status}", { status: response.status });
  }
}

async function ask(path, options, limit, as = token) {
  const headers = { Accept: "application/json", ...options.headers };
  if (as) headers.Authorization = `Bearer ${as}`;
  let response, body;
  try {
    response = await fetch(path, {
      ...options, headers, cache: "no-store", credentials: "same-origin", redirect: "error",
      signal: AbortSignal.any([AbortSignal.timeout(limit), ...(options.signal ? [options.signal] : [])]),
    });
    if (response.ok) body = await response.text();
  } catch (e) {
    throw new Trouble("offline", e.name === "TimeoutError" ? t("no answer in time") : t("no connection"));
  }
  if (response.status === 401 && as === token) setToken(""); // unknown token: public parts work without it
  if (response.status === 401 || response.status === 403) throw new Trouble("token", await reasonOf(response), response.status);
  if (!response.ok) throw new Trouble("error", await reasonOf(response), response.status);
  if (body === "") return {};
  try {
    const value = JSON.parse(body);
    if (value && typeof value === "object") return value;
  } catch { /* below */ }
  throw new Trouble("garbage", t("the hub's answer could not be read"));
}

// Checks a token with the hub: "" or the fault.
export async function check(value) {
  const fault = faultOf(value);
  if (fault !== "") return fault;
  try {
    await ask("v1/stats", {}, LIMIT_MS, value);
  } catch (e) {
    if (e.kind === "token" && e.status === 401) {
      return t("Wrong token: the hub does not know it. gillnet hub token NAME ROLE makes one; the hub knows it at once.");
    }
    if (e.kind !== "token") return t("The token could not be checked: {why}. Try again.", { why: e.message });
  }
  return "";
}

const LINE_MAX = 1 << 20; // characters of an event

// Follows server-sent events until the signal or the hub ends them. take(objects): those that came at once; begun(): the hub answered.
// EventSource cannot send a token.
export async function follow(path, take, begun, signal) {
  let response;
  try {
    response = await fetch(path, { headers: { Accept: "text/event-stream", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      cache: "no-store", credentials: "same-origin", redirect: "error", signal });
  } catch {
    throw new Trouble("offline", t("no connection"));
  }
  if (response.status === 401 || response.status === 403) throw new Trouble("token", await reasonOf(response), response.status);
  if (!response.ok) throw new Trouble("error", await reasonOf(response));
  begun();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop();
      if (rest.length > LINE_MAX) throw new Trouble("garbage", t("the hub's answer could not be read"));
      const found = lines.filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice("data: ".length)));
      if (found.length > 0) take(found);
    }
  } catch (e) {
    throw e instanceof Trouble ? e : new Trouble("offline", t("no connection"));
  } finally {
    reader.cancel().catch(() => {});
  }
}

export const get = (path) => ask(path, {}, LIMIT_MS);
// signal: an AbortSignal that ends the request.
export const post = (path, value, signal = null) =>
  ask(path, { method: "POST", body: JSON.stringify(value), headers: { "Content-Type": "application/json" }, signal }, LIMIT_LONG_MS);
// bytes: a text or a File. query: pairs of names and values.
export function postMessage(path, bytes, query) {
  const words = new URLSearchParams(query).toString();
  return ask(words ? `${path}?${words}` : path,
    { method: "POST", body: bytes, headers: { "Content-Type": "message/rfc822" } }, LIMIT_LONG_MS);
}
