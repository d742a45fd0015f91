// health - whether all is well: one sentence on top of every view, and what needs the administrator.
import { amount, byId, chip, count, el, lasting, list, number, say, text, timeOf } from "./dom.js";
import { plural, t } from "./language.js";

// Emergency mode, from gillnetd's own numbers: the alert of it comes later and knows less. Null: off.
function emergency(daemon) {
  const it = daemon?.running ? daemon.stats : null;
  if (!it || amount(it.emergency) === 0) return null;
  const domains = amount(it.escalated);
  return { key: "emergency", severity: "warning", since: it.emergency_since_time,
    message: t("Emergency mode: {rate} URL checks a second; it began above {level}", { rate: count(amount(it.emergency_rate)), level: count(amount(it.emergency_level)) }),
    action: domains === 0 ? t("gillnet emergency shows it")
      : plural("gillnet emergency shows it, and {n} domain that counts as listed for a while|gillnet emergency shows it, and {n} domains that count as listed for a while", domains) };
}

// Reasons against "all is well": firing alerts and faults of gillnetd.
function needs(data) {
  const mode = emergency(data.stats?.gillnetd);
  const isNews = (a) => a.firing && !(mode && a.name === "GillnetEmergency");
  const found = list(data.alerts?.alerts).filter(isNews).map((a) => ({
    key: `alert ${a.name}`, severity: a.severity === "critical" ? "critical" : "warning", message: text(a.message || a.name),
    action: a.action ?? "", since: a.since_s,
  }));
  const daemon = data.stats?.gillnetd;
  if (daemon && daemon.running === false && !found.some((f) => f.severity === "critical")) {
    found.push({ key: "down", severity: "critical", message: t("gillnetd does not run: mail is not examined"), action: "systemctl status gillnetd", since: 0 });
  }
  for (const fault of Array.isArray(daemon?.faults) ? daemon.faults : []) {
    found.push({ key: `fault ${fault}`, severity: "warning", message: text(fault), action: t("gillnet doctor says what to do"), since: 0 });
  }
  if (mode) found.push(mode);
  return found.sort((a, b) => (a.severity > b.severity) - (a.severity < b.severity));
}

const SEVERITY = { warning: t("warning"), critical: t("critical") };
function need(found) {
  return el("li", { class: found.severity },
    chip(SEVERITY[found.severity], found.severity),
    el("div", {},
      el("p", { class: "what" }, found.message),
      found.action ? el("p", { class: "advice" }, found.action) : null,
      number(found.since) > 0 ? el("p", { class: "muted" }, t("since {time}", { time: timeOf(found.since) })) : null));
}

function aboutDaemon(stats) {
  const daemon = stats?.gillnetd;
  const up = number(daemon?.stats?.start_time);
  return !daemon ? "" : daemon.running === false ? t("gillnetd is not running.")
    : up > 0 ? t("gillnetd has been running for {time}.", { time: lasting(number(stats.time) - up) }) : t("gillnetd is running.");
}

// The numbers of today, as `gillnet stat` says them.
function todayWords(it) {
  const n = (name) => amount(it?.today?.[name]);
  if (!it?.today) return "";
  const parts = [plural("{n} message today|{n} messages today", n("messages")), t("{n} refused", { n: count(amount(it.refused)) }), t("{n} marked", { n: count(n("header")) })];
  if (n("quarantine") > 0) parts.push(t("{n} held", { n: count(n("quarantine")) }));
  if (n("defer") > 0) parts.push(t("{n} deferred", { n: count(n("defer")) }));
  const age = it.feeds?.oldest_age_s;
  const feed = !it.feeds ? "" : ` ${t("Oldest feed: {time}.", { time: age === null ? t("never") : lasting(amount(age)) })}`;
  return `${parts.join(", ")}.${feed}`;
}

let shown = "";
function showNeeds(found) {
  const now = JSON.stringify(found);
  if (now === shown) return;
  shown = now;
  byId("needs").replaceChildren(...found.map(need));
}

export const health = {
  // doubt: why the data may be out of date, {words, more}; null: it is current.
  show(data, doubt) {
    const found = needs(data);
    const state = doubt ? "unknown" : found.length === 0 ? "well" : found[0].severity;
    const words = doubt ? doubt.words : found.length === 0 ? t("All is well") : plural("{n} thing needs you|{n} things need you", found.length);

    for (const part of ["health", "truth"]) {
      byId(part).dataset.state = state;
      say(byId(`${part}-word`), words);
    }
    document.title = doubt ? t("(?) gillnet: not known") : found.length > 0 ? t("({n}) gillnet: needs you", { n: found.length }) : t("gillnet: all is well");
    say(byId("truth-more"), todayWords(data.now));
    byId("truth-more").title = t("Today is the last 24 hours.");
    say(byId("health-more"), doubt ? doubt.more : aboutDaemon(data.stats));
    showNeeds(found);
  },
};
