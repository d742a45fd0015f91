// canned - a hub's answers, as rich as they get: what the real hub of a test cannot be made to say in seconds.

const BUCKET_S = 600;
const TEN_MINUTES = 144;

function wave(i, high) {
  return Math.max(0, Math.round(high * (0.55 - 0.45 * Math.cos((i / TEN_MINUTES) * 2 * Math.PI)) + ((i * 7919) % 13)));
}

function buckets(now) {
  const end = Math.floor(now / BUCKET_S) * BUCKET_S;
  return Array.from({ length: TEN_MINUTES }, (_, i) => {
    const b = { at: end - (TEN_MINUTES - 1 - i) * BUCKET_S, accept: wave(i, 420), header: wave(i, 30), quarantine: i % 11,
      defer: i % 5, reject: wave(i, 60) + (i > 90 && i < 97 ? 380 : 0), discard: i % 3 };
    b.messages = b.accept + b.header + b.quarantine + b.defer + b.reject + b.discard;
    return b;
  });
}

function scores() {
  const edges = Array.from({ length: 71 }, (_, i) => -5 + i / 2);
  const counts = Array.from({ length: 72 }, (_, i) => (i === 11 ? 61000 : i < 6 ? 0 : Math.round(3000 / (1 + Math.abs(i - 22)) ** 1.4 + ((i * 31) % 7))));
  return { edges, counts, thresholds: { header: 5, quarantine: 8, defer: null, reject: 10, discard: null } };
}

const spark = (n) => Array.from({ length: TEN_MINUTES }, (_, i) => (i < 80 ? 0 : (i * n) % 97));
const counted = (now) => ({ judged: 81234, others: 2300, since_s: Math.floor(now) - 14 * 86400, complete: true, cut: false });
const worth = (now, hits, alone) => ({ hits_today: Math.floor(hits / 14), hits_7d: Math.floor(hits / 2), hits, scored: hits, alone, reported_spam: Math.floor(hits / 30),
  reported_ham: hits > 100 ? 2 : 0, last_hit_s: hits > 0 ? now - 600 : null, useless: hits === 0 ? "no hit" : alone === 0 ? "never alone" : null });
const found = (value) => ({
  value, status: "KNOWN_MALICIOUS", requires_blocking: true, confidence: 0.97,
  matches: [
    { list: "phish", origin: "", type: "url", key: value, status: "confirmed", source: "openphish", first_seen_s: 1795000000, expiry_s: 0 },
    { list: "urlhaus", origin: "two", type: "url_domain", key: "evil.example", status: "confirmed", source: "urlhaus", first_seen_s: 1795100000, expiry_s: 1797000000 },
  ],
  counts: [{ counted_as: "url", key: value, exact: true, first_seen: "2026-11-20T01:00:00Z", last_seen: "2026-11-22T13:00:00Z", w10m: 12, w1h: 80,
    w1d: 1400, w14d: 9001, buckets: spark(5), days: [3, 5, 8, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0], own: { w10m: 12, w1h: 70, w1d: 1000, w14d: 8000 },
    peers: [{ origin: "02", name: "two", cap: 100, w10m: 0, w1h: 10, w1d: 400, w14d: 1001 }] }],
});

const paged = (name, sums, rows) => ({ [name]: rows, total: rows.length, found: rows.length, next: null, sums });

const server = (address, more) => ({ address, role: "master", product: "redis", version: "7.0.15", fault: "none", why: "", memory_bytes: 3900000000, memory_limit: 4000000000,
  replicas: 1, denied: "", policy: "noeviction", persistent: true, can_write: true, clock_ms: 3, evicted: 0, listpack_entries: 512, ...more });
const store = (now) => ({
  state: "partly", mode: "cluster", since_s: now - 60, memory: { bytes: 7800000000, limit: 8000000000 },
  servers: [server("10.0.0.1:6379", { answered_s: now - 1 }), server("10.0.0.2:6379", { answered_s: now - 70, fault: "connect", why: "10.0.0.2:6379: no connection: refused", replicas: 0 })],
  bytes_in: 1, bytes_out: 2,
  counts: { flow: "sending", why: "", number: 99, lag_s: 12, cells_behind: 40, spool_bytes: 120000, spool_limit: 1073741824, updates: 9, batches: 123456, batches_repeated: 17, updates_lost: 0, incarnations: 0 },
  view: { answered_s: now - 2, heard: 9, hot_named: 3, hot_read: 5, histories: 1 },
  lists: { current: true, put: 1, put_again: 0, applied: 2, missing: 0, refused: 0 }, lines: { filters: 0, complete: 0, lines: 0, cached: 0, late: 0, lost: 0 },
});

const headline = (now, messages, more = {}) => ({ at: Math.floor(now), state: "well", needs: 0, alerts: [], refused: Math.floor(messages / 3), version: "0.1.0",
  feeds: { oldest_good_s: now - 840, oldest_age_s: 840 },
  today: { messages, accept: Math.ceil(messages / 2), header: Math.floor(messages / 20), quarantine: 3, defer: 0, reject: Math.floor(messages / 3), discard: 0 }, ...more });
const told = (name, more) => ({ name, self: false, summary: "current", age_s: 31, why: "", headline: null, ...more });
// Mail, campaigns, held mail and reports.
function mail(now) {
  const iso = (ago) => new Date((now - ago) * 1000).toISOString();
  const message = (i, action, score) => ({ time: iso(60 * i), case: `1kzjj8x5y4z${i}`, id: `6ASH6hPm00122${i}`, place: `m${20 - i}`, from: `alice${i}@sender.example`, header_from: `alice${i}@sender.example`,
    to: ["bob@here.example", "eve@here.example", "ann@here.example"], recipients: 3, client: { address: "192.0.2.7" }, subject: `Your parcel ${i} could not be delivered, look at the label`, size: 21000 + i, action, score, outgoing: false,
    symbols: [{ name: "LIST_PHISH", score }] });
  const report = (i, kind, undone) => ({ id: `2kzjj8x5y4z${i}`, time: now - 3600 * i, kind, reporter: i === 0 ? "administrator" : `api:desk${i}`, trust: i === 0 ? 1 : 0.05, way: "api", case: "1kzjj8x5y4z1", queue_id: null, items: 3, taught: true, undone,
    ...(undone ? { undone_by: "administrator" } : {}), changed: [{ status: "revoked", list: "phish", type: "url", value: "evil.example/pay" }] });
  const campaign = { id: "6b0b0a230000", first: now - 90000, last: now - 300, messages: 412, networks: 31, senders: 2, accepted: 12, marked: 0, held: 300, refused: 100, score: 8.25, sender: "a@s1.example", subject: "offer of the day",
    picture: { step_s: 9600, messages: [3, 40, 200, 150, 12, 0, 0, 4, 3] }, standing: "disputed", reported_spam: 3, reported_ham: 1 };
  return {
    "GET /v1/messages": { messages: [message(0, "reject", 12.5), message(1, "header", 6), message(2, "accept", -1.25), message(3, "quarantine", 8)], next: "m11", searched: 4, complete: true, thresholds: { header: 5, quarantine: 8, defer: null, reject: 10, discard: null } },
    "GET /v1/messages/live": ":\n\n",
    "GET /v1/campaigns": paged("campaigns", {}, [campaign, { ...campaign, id: "6b0b0a230001", standing: "open", subject: null, sender: null }]),
    "GET /v1/campaign": { ...campaign, keys: [{ type: "text_band", digest: "00112233445566aa", messages: 255 }, { type: "body", digest: "00112233445566ab", messages: 3 }] },
    "GET /v1/explain": { sentence: "Rejected: 12.5 of 10.0; 12.0 from list phish (url evil.example/pay, listed since 2026-11-20T10:00:00Z, expires never, source openphish), 0.5 from BULK_TEXT", action: "reject", wanted: "reject", score: 12.5, case: "1kzjj8x5y4z0",
      time: iso(60), client: "192.0.2.7", queue_id: "6ASH6hPm001220", from: "alice@sender.example", header_from: "alice@sender.example", subject: "Your parcel", to: ["bob@here.example"], bytes: 21000, symbols: [{ name: "LIST_PHISH", score: 12, detail: "url=evil.example/pay" }],
      lists: [{ list: "phish", origin: "", category: "phish", type: "url", value: "evil.example/pay", status: "confirmed", weight: 12, listed_now: true, rating: "MALICIOUS", first_seen: iso(9000), source: "openphish" }],
      senders: [{ of: "from", address: "alice@sender.example", domain: "sender.example", proved: false }], outgoing: false, traits: ["text_short_link"], identity: ["first_contact"], limits: [], counts: [{ type: "url", digest: 7, w10m: 1, w1h: 2, w1d: 3, w14d: 4 }],
      changes: ["without LIST_PHISH (12.0): accept"], reports: [report(1, "spam", false)], campaign, held: true },
    "GET /v1/quarantine": paged("held", {}, [0, 1].map((i) => ({ id: `4XnYx31tq8z1Fg${i}`, time_s: now - 4000, bytes: 3841, sender: "a@sender.example", recipients: ["b@here.example"], nrcpt: 1, from: "A <a@sender.example>", subject: "pay now", decoded: "pay now", reason: "", symbols: "LIST_PHISH(5.0)", case: "1kz5tszkk2t3", score: 5, gillnet: true }))),
    "GET /v1/quarantine/message": { id: "4XnYx31tq8z1Fg0", bytes: 3841, text: "Subject: pay now\n\nPay now.\n", cut: false },
    "GET /v1/reports": paged("reports", {}, [report(0, "ham", false), report(1, "spam", true)]),
    "POST /v1/reports/undo": { id: "2kzjj8x5y4z1", undone: true, changed: [] }, "POST /v1/campaigns/mark": { id: "2kzjj8x5y4z1", changed: [{ status: "voted", items: 4 }] },
    "POST /v1/quarantine/release": (body) => ({ results: (JSON.parse(body).ids ?? []).map((id) => ({ id, state: "released", reported: true, report: { id: "2kzjj8x5y4z1", changed: [{ status: "voted", items: 4 }] } })) }),
    "POST /v1/quarantine/delete": (body) => ({ results: (JSON.parse(body).ids ?? []).map((id) => ({ id, state: "deleted" })) }),
  };
}
// Of the view "What if".
function tuning(now) {
  return {
    version: 7, former: 6, at: Math.floor(now) - 90000, who: "anna", why: "promotion passed", fault: null,
    settings: [{ key: "thresholds.reject", value: "10", configured: "12", gone: false }, { key: "rules.gone.score", value: "2", configured: null, gone: true }],
    lines: "thresholds = { reject = 10.0; };\nrules = (\n  { name = \"gone\"; score = 2.0; }\n);\n",
    thresholds: [["header", 5], ["quarantine", 8], ["defer", null], ["reject", 10], ["discard", null]].map(([action, value]) => ({ action, value })),
    lists: [{ name: "phish", weight: 12, shadow: false, enabled: true, allow: false, symbol: "LIST_PHISH" }, { name: "urlhaus", weight: 8, shadow: true, enabled: true, allow: false, symbol: "LIST_URLHAUS" },
      { name: "allow", weight: -100, shadow: false, enabled: true, allow: true, symbol: "LIST_ALLOW" }],
    rules: Array.from({ length: 60 }, (_, i) => ({ name: `rule-${i}`, score: i / 10, shadow: i % 7 === 0, enabled: i % 11 !== 0, symbol: `RULE_RULE_${i}`, description: `a rule with the number ${i}` })),
  };
}
function replay(now, { settings, sample }) {
  const changed = settings.length * (sample ? 38 : 386);
  return {
    messages: sample ? 5000 : 81234, outgoing: 3, changed, estimates: 0, undecided: 12, undecided_by_reason: {}, sample: Boolean(sample), complete: !sample, since: Math.floor(now) - 86400 * (sample ? 1 : 14), until: Math.floor(now),
    ms: 12.5, actions: { accept: { before: 4000, after: 4000 }, header: { before: 700, after: 700 - changed }, reject: { before: 300, after: 300 + changed } },
    moved: changed > 0 ? [{ from: "header", to: "reject", messages: changed }] : [],
    scores: Array.from({ length: 30 }, (_, i) => ({ score: i - 8, before: Math.round(4000 / (1 + Math.abs(i - 8) ** 2)), after: Math.round(4000 / (1 + Math.abs(i - 8) ** 2)) + (settings.length > 0 ? i : 0) })),
    symbols: [{ symbol: "LIST_PHISH", messages: 310, score: 3720 }, { symbol: "RULE_RULE_9", messages: 120, score: 108 }],
    examples: Array.from({ length: Math.min(20, changed) }, (_, i) => ({ time: new Date((now - i * 600) * 1000).toISOString(), case: `00000000000${(i % 10)}`, id: "4VqWZb", from: `s${i}@sender.example`, subject: "Win now", to: ["r@here.example"],
      recipients: 1, client: { address: "192.0.2.7" }, size: 1200, action: "header", score: 8.5, outgoing: false, symbols: [], from_action: "header", to_action: "reject", score_after: 8.5 })),
  };
}

export function answers(now = Date.now() / 1000) {
  return {
    "GET /v1/now": headline(now, 7413),
    "GET /v1/servers": {
      servers: [told("one", { self: true, age_s: 0, headline: headline(now, 7413) }),
        told("two", { headline: headline(now, 812, { state: "needs", needs: 2, alerts: ["GillnetFeedRefused", "GillnetDiskFull"] }) }),
        told("three", { summary: "stale", age_s: 81000, headline: headline(now - 81000, 99, { feeds: null }) }),
        told("four", { summary: "unheard", age_s: null }), told("five", { summary: "refused", age_s: null, why: "it was made in the future" })],
      total: { messages: 8225, accept: 4113, header: 410, quarantine: 6, defer: 0, reject: 2741, discard: 0 }, missing: ["three", "four", "five"],
    },
    "GET /v1/stats": { version: "0.1.0", time: now, gillnetd: { running: true, faults: [], stats: { start_time: Math.floor(now) - 270000, messages: 81234 } }, hub: { uptime_s: 400 } },
    "GET /v1/history": {
      bucket_s: BUCKET_S, buckets: buckets(now), scores: scores(), latency: {},
      symbols: ["LIST_PHISH", "BULK_TEXT", "NEWSLETTER", "LIST_URLHAUS", "BULK_URL", "LIST_MALWARE", "BULK_SENDER", "LIST_DROP", "BULK_SUBJECT", "PEER_PHISH", "LIST_SPAM", "BULK_BODY"]
        .map((name, i) => ({ name, day: Math.round(9000 / (i + 1)), total: 800000 - i * 1000 })),
      bulk: [["subject", "Your parcel could not be delivered"], ["url_domain", "tracking-parcel.example"], ["text", "110c2480455cac70f892303f76b8d1df5e4606a8411f1c341e94b1eb6a82d019"],
        ["from_domain", "newsletter.example"], ["client_net", "192.0.2.0/24"]].map(([type, value], i) => ({ type, value, w10m: 90 - i, w1h: 500 - i * 40, w1d: 9000 - i * 700, w14d: 41000, spark: spark(i + 3) })),
    },
    "GET /v1/whoami": { name: "anonymous", role: "read", proof: "none" },
    "GET /v1/users": { users: [{ name: "anna@here.example", set: ["sensitivity=high", "allow.addresses=a@b.example"] }, { name: "@here.example", set: ["thresholds.reject=off"] }], next: null },
    "GET /v1/changes": { changes: [
      { id: "0-300", time: Math.floor(now) - 60, who: "anna", way: "page", kind: "list-add", object: "phish", values: ["url:evil.example/pay"], count: 1, reason: "reported by phone", undo: "possible" },
      { id: "0-200", time: Math.floor(now) - 7200, who: "root", way: "command", kind: "user-set", object: "anna@here.example", before: "", after: "sensitivity=high", undo: "done" },
      { id: "0-100", time: Math.floor(now) - 90000, who: "root", way: "command", kind: "token-make", object: "desk", after: "messages", undo: "none" },
    ], next: null },
    "GET /v1/errors": { missing: null, errors: [
      { program: "gillnetd", time_s: Math.floor(now) - 40, level: "warn", times: 3, text: "event=lookup limit=unverified list=phish: the index cannot be read" },
      { program: "gillnet-hub", time_s: Math.floor(now) - 4000, level: "error", times: 1, text: "event=feed name=urlhaus: 3 entries instead of about 1203345" },
    ] },
    "GET /v1/lists": { counted: counted(now), ...paged("lists", { entries: 1251568, faults: 1 }, [
      { ...worth(now, 900, 41), name: "phish", origin: "", category: "phish", weight: 12, shadow: false, entries: 48211, revoked: 3, levels: 2, updated_s: now - 130, fill: 0.31, error_now: 0.00021, error_target: 0.001, filter_bytes: 131072, index_bytes: 6291456, log_bytes: 9000000, max_age_s: 2592000, fault: null },
      { ...worth(now, 12, 0), name: "urlhaus", origin: "two", category: "malware", weight: 8, shadow: true, entries: 1203345, revoked: 0, levels: 4, updated_s: now - 400000, fill: 0.52, error_now: 0.0019, error_target: 0.001, filter_bytes: 3145728, index_bytes: 151000000, log_bytes: 209715200, max_age_s: 172800, fault: "filter:urlhaus errs more than designed: gillnet list rebuild urlhaus" },
      { ...worth(now, 0, 0), name: "allow", origin: "", category: "allow", weight: -100, shadow: false, entries: 12, revoked: 0, levels: 1, updated_s: now - 864000, fill: 0.0002, error_now: 1e-9, error_target: 0.001, filter_bytes: 512, index_bytes: 12288, log_bytes: 700, max_age_s: 0, fault: null },
    ]) },
    "GET /v1/rules": { counted: counted(now), ...paged("rules", {}, [
      { rule: "reply", symbol: "RULE_REPLY", state: "live", score: 2.5, description: "an answer to nothing", group: "reply", emergency: false, ...worth(now, 300, 12) },
      { rule: "watch", symbol: "RULE_WATCH", state: "shadow", score: 1, description: "", group: "", emergency: false, ...worth(now, 0, 0) },
      { rule: "urgent_bitcoin", symbol: "BLOCKED_PATTERN_URGENT_BITCOIN", state: "off", score: 2, description: "a link that names urgent and bitcoin", group: "emergency_patterns", emergency: true, ...worth(now, 5, 0), useless: null },
    ]) },
    "GET /v1/list": { name: "phish", origin: null, listed: 48211, revoked: 3, searched: 200000, share: 0.42, without_text: 7, next: "l1-1-1", entries: [
      { type: "url", value: "http://evil.example/pay", status: "listed", explicit: true, who: "api:anna", reason: "a customer asked", first_seen_s: now - 900, changed_s: now - 900, expires_s: now + 90000 },
      { type: "domain", value: "bad.example", status: "revoked", explicit: true, who: "cli", reason: null, first_seen_s: now - 90000, changed_s: now - 7200, expires_s: null },
      { type: "domain", value: null, status: "listed", explicit: false, who: "openphish", reason: null, first_seen_s: now - 90000, changed_s: now - 90000, expires_s: null },
    ] },
    "GET /v1/feeds": paged("feeds", { enabled: 3, well: 2 }, [
      { name: "openphish", list: "phish", url: "https://openphish.example/feed.txt", enabled: true, state: "ok", format: "plain", entries: 48211, added: 211, removed: 96, asked_s: now - 130, good_s: now - 130, changed_s: now - 130, next_s: now + 171, failures: 0, trouble: null, download_bytes: 3211000, fetch_ms: 412, check_ms: 80, import_ms: 166, versions: 3, pinned: false, added_total: 99000 },
      { name: "urlhaus", list: "urlhaus", url: "https://urlhaus.example/csv", enabled: true, state: "refused", format: "urlhaus-csv", entries: 1203345, added: 0, removed: 0, asked_s: now - 60, good_s: now - 90000, changed_s: now - 90000, next_s: now + 3600, failures: 4, trouble: "3 entries instead of about 1203345: fewer than half of the last good version. Look at it with gillnet feed diff urlhaus", download_bytes: 211, fetch_ms: 90, check_ms: 2, import_ms: 0, versions: 2, pinned: true, added_total: 2000000 },
      { name: "drop", list: "drop", url: "file:/srv/feeds/drop.txt", enabled: false, state: "off", format: "drop", entries: 0, added: 0, removed: 0, asked_s: 0, good_s: 0, changed_s: 0, next_s: 0, failures: 0, trouble: null, download_bytes: 0, fetch_ms: 0, check_ms: 0, import_ms: 0, versions: 0, pinned: false, added_total: 0 },
      { name: "big", list: "big", url: "http://127.0.0.1/big.txt.gz", enabled: true, state: "importing", format: "plain", entries: 9000000, added: 0, removed: 0, asked_s: now - 5, good_s: now - 305, changed_s: now - 305, next_s: now + 295, failures: 0, trouble: null, download_bytes: 91000000, fetch_ms: 3000, check_ms: 11000, import_ms: 0, versions: 1, pinned: false, added_total: 9000000 },
    ]),
    "GET /v1/peers": { store: store(now), ring: { manifest: 7, members: 3 }, ...paged("peers", { others: 2, connected: 1 }, [
      { name: "one", origin: "00", state: "active", address: "one.example:8894", self: true, bytes_out: 0, refused: {} },
      { name: "two", origin: "01", state: "active", address: "two.example:8894", self: false, connected: true, bytes_in: 81234567, bytes_out: 71234567, lag_s: 2, quota: 1000000, quota_used: 12000, is_stale: false, is_distrusted: false, refused: { quota: 3 }, last_failure: "", last_refusal: "" },
      { name: "three", origin: "02", state: "active", address: "[2001:db8::3]:8894", self: false, connected: false, bytes_in: 1234, bytes_out: 0, lag_s: 81000, quota: 1000000, quota_used: 0, is_stale: true, is_distrusted: false, refused: {}, last_failure: "three.example:8894: connection refused", last_refusal: "" },
    ]), subscriptions: [{ subscription: "club", origin: "03", state: "well", lists: 2, entries: 9000, refused: 0, publications: 12, heads_ms: (now - 500) * 1000, expires_ms: (now + 86400) * 1000, asked_ms: now * 1000, bytes_in: 999999, objects: 12, last_failure: "" }] },
    "GET /v1/alerts": { alerts: [
      { name: "GillnetFeedRefused", severity: "warning", firing: true, since_s: now - 90000, value: 4, threshold: 1, message: "The feed urlhaus was refused four times", action: "gillnet feed diff urlhaus shows what it would change; gillnet feed update --force takes it" },
      { name: "GillnetDown", severity: "critical", firing: false, since_s: 0, value: 0, threshold: 1, message: "gillnetd does not run", action: "systemctl start gillnetd" },
    ] },
    "GET /v1/progress": { tasks: [] },
    ...mail(now),
    "POST /v1/check": (body) => ({ results: JSON.parse(body).values.map(found), processing_time_ms: 0.4 }),
    "POST /v1/scan": {
      file: "-", action: "reject", score: 18, limits: ["urls"], time_us: 2782,
      symbols: [{ name: "LIST_PHISH", score: 12, detail: "url=login.bank.example.net/verify" }, { name: "LIST_SENDERS", score: 6, detail: "envelope_domain=bulk.example.com (+1 more)" }],
      features: [{ type: "subject", value: "Win now" }, { type: "url", value: "login.bank.example.net/verify" }, { type: "text", value: "110c2480455cac70f892303f76b8d1df5e4606a8411f1c341e94b1eb6a82d019" }],
      lists: [{ list: "phish", type: "url", value: "login.bank.example.net/verify", status: "confirmed", rating: "MALICIOUS", requires_blocking: true, confidence: 0.75 }],
      counts: [{ type: "subject", value: "Win now", exact: true, w10m: 3, w1h: 3, w1d: 3, w14d: 3 }],
    },
    "GET /v1/tuning": tuning(now), "POST /v1/replay": (body) => replay(now, JSON.parse(body)),
    "POST /v1/tuning/set": { version: 8, of_version: 0, reload: "reloaded", words: "" }, "POST /v1/tuning/undo": { version: 8, of_version: 6, reload: "reloaded", words: "" },
    "POST /v1/report": {}, "POST /v1/revoke": {}, "POST /v1/allow": {}, "POST /v1/list/add": {}, "POST /v1/list/revoke": {}, "POST /v1/feeds/update": {}, "POST /v1/feeds/rollback": {},
  };
}

// Of a server on which nothing was set up yet.
export function nothing(now = Date.now() / 1000) {
  const all = answers(now);
  all["GET /v1/history"] = { bucket_s: BUCKET_S, buckets: [], scores: { edges: [], counts: [], thresholds: {} }, symbols: [], latency: {}, bulk: [] };
  all["GET /v1/now"] = headline(now, 0, { feeds: null });
  all["GET /v1/servers"] = { servers: [told("this", { self: true, age_s: 0, headline: headline(now, 0) })], total: { messages: 0 }, missing: [] };
  const none = { judged: 0, others: 0, since_s: null, complete: true, cut: false };
  all["GET /v1/lists"] = { counted: none, ...paged("lists", { entries: 0, faults: 0 }, []) };
  all["GET /v1/rules"] = { counted: none, ...paged("rules", {}, []) };
  all["GET /v1/feeds"] = paged("feeds", { enabled: 0, well: 0 }, []);
  all["GET /v1/peers"] = { ring: null, store: null, ...paged("peers", { others: 0, connected: 0 }, []), subscriptions: [] };
  all["GET /v1/alerts"] = { alerts: [] };
  all["GET /v1/errors"] = { errors: [], missing: null };
  all["GET /v1/users"] = { users: [], next: null };
  all["GET /v1/changes"] = { changes: [], next: null };
  all["GET /v1/messages"] = { messages: [], next: null, searched: 0, complete: true, thresholds: {} };
  for (const [path, name] of [["campaigns", "campaigns"], ["quarantine", "held"], ["reports", "reports"]]) all[`GET /v1/${path}`] = paged(name, {}, []);
  all["GET /v1/tuning"] = { version: 0, former: 0, at: 0, who: "", why: "", fault: null, settings: [], lines: "", thresholds: [], lists: [], rules: [] };
  all["POST /v1/replay"] = { messages: 0, outgoing: 0, changed: 0, estimates: 0, undecided: 0, undecided_by_reason: {}, actions: {}, moved: [], scores: [], sample: true, complete: true, since: null, until: null, ms: 1, symbols: [] };
  all["POST /v1/check"] = (body) => ({ results: JSON.parse(body).values.map((value) => ({ value, status: "CLEAN", requires_blocking: false, confidence: 0, matches: [], counts: [] })) });
  return all;
}

// The same answers with a hostile text in the place of every text but those that the page compares.
export function hostile(value, name = "") {
  const evil = `"><img src=x onerror=window.xss=1><script>window.xss=1</script>'\` onmouseover=window.xss=1 javascript:window.xss=1 {{7*7}} \u202e\u0000`;
  const compared = ["state", "severity", "version", "level", "summary", "useless"];
  if (typeof value === "string") return compared.includes(name) ? value : evil;
  if (Array.isArray(value)) return value.map((v) => hostile(v, name));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, hostile(v, k)]));
  if (typeof value === "function") return (body) => hostile(value(body));
  return value;
}
