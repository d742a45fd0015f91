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

export function answers(now = Date.now() / 1000) {
  return {
    "GET /v1/stats": { version: "0.1.0", time: now, gillnetd: { running: true, faults: [], stats: { start_time: Math.floor(now) - 270000, messages: 81234 } }, hub: { uptime_s: 400 } },
    "GET /v1/history": {
      bucket_s: BUCKET_S, buckets: buckets(now), scores: scores(), latency: {},
      symbols: ["LIST_PHISH", "BULK_TEXT", "NEWSLETTER", "LIST_URLHAUS", "BULK_URL", "LIST_MALWARE", "BULK_SENDER", "LIST_DROP", "BULK_SUBJECT", "PEER_PHISH", "LIST_SPAM", "BULK_BODY"]
        .map((name, i) => ({ name, day: Math.round(9000 / (i + 1)), total: 800000 - i * 1000 })),
      bulk: [["subject", "Your parcel could not be delivered"], ["url_domain", "tracking-parcel.example"], ["text", "110c2480455cac70f892303f76b8d1df5e4606a8411f1c341e94b1eb6a82d019"],
        ["from_domain", "newsletter.example"], ["client_net", "192.0.2.0/24"]].map(([type, value], i) => ({ type, value, w10m: 90 - i, w1h: 500 - i * 40, w1d: 9000 - i * 700, w14d: 41000, spark: spark(i + 3) })),
    },
    "GET /v1/lists": paged("lists", { entries: 1251568, faults: 1 }, [
      { name: "phish", origin: "", category: "phish", weight: 12, shadow: false, entries: 48211, revoked: 3, levels: 2, updated_s: now - 130, fill: 0.31, error_now: 0.00021, error_target: 0.001, filter_bytes: 131072, index_bytes: 6291456, log_bytes: 9000000, max_age_s: 2592000, fault: null },
      { name: "urlhaus", origin: "two", category: "malware", weight: 8, shadow: true, entries: 1203345, revoked: 0, levels: 4, updated_s: now - 400000, fill: 0.52, error_now: 0.0019, error_target: 0.001, filter_bytes: 3145728, index_bytes: 151000000, log_bytes: 209715200, max_age_s: 172800, fault: "filter:urlhaus errs more than designed: gillnet list rebuild urlhaus" },
      { name: "allow", origin: "", category: "allow", weight: -100, shadow: false, entries: 12, revoked: 0, levels: 1, updated_s: now - 864000, fill: 0.0002, error_now: 1e-9, error_target: 0.001, filter_bytes: 512, index_bytes: 12288, log_bytes: 700, max_age_s: 0, fault: null },
    ]),
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
    "POST /v1/check": (body) => ({ results: JSON.parse(body).values.map(found), processing_time_ms: 0.4 }),
    "POST /v1/scan": {
      file: "-", action: "reject", score: 18, limits: ["urls"], time_us: 2782,
      symbols: [{ name: "LIST_PHISH", score: 12, detail: "url=login.bank.example.net/verify" }, { name: "LIST_SENDERS", score: 6, detail: "envelope_domain=bulk.example.com (+1 more)" }],
      features: [{ type: "subject", value: "Win now" }, { type: "url", value: "login.bank.example.net/verify" }, { type: "text", value: "110c2480455cac70f892303f76b8d1df5e4606a8411f1c341e94b1eb6a82d019" }],
      lists: [{ list: "phish", type: "url", value: "login.bank.example.net/verify", status: "confirmed", rating: "MALICIOUS", requires_blocking: true, confidence: 0.75 }],
      counts: [{ type: "subject", value: "Win now", exact: true, w10m: 3, w1h: 3, w1d: 3, w14d: 3 }],
    },
    "POST /v1/report": {}, "POST /v1/revoke": {}, "POST /v1/allow": {}, "POST /v1/feeds/update": {}, "POST /v1/feeds/rollback": {},
  };
}

// Of a server on which nothing was set up yet.
export function nothing(now = Date.now() / 1000) {
  const all = answers(now);
  all["GET /v1/history"] = { bucket_s: BUCKET_S, buckets: [], scores: { edges: [], counts: [], thresholds: {} }, symbols: [], latency: {}, bulk: [] };
  all["GET /v1/lists"] = paged("lists", { entries: 0, faults: 0 }, []);
  all["GET /v1/feeds"] = paged("feeds", { enabled: 0, well: 0 }, []);
  all["GET /v1/peers"] = { ring: null, store: null, ...paged("peers", { others: 0, connected: 0 }, []), subscriptions: [] };
  all["GET /v1/alerts"] = { alerts: [] };
  all["POST /v1/check"] = (body) => ({ results: JSON.parse(body).values.map((value) => ({ value, status: "CLEAN", requires_blocking: false, confidence: 0, matches: [], counts: [] })) });
  return all;
}

// The same answers with a hostile text in the place of every text but those that the page compares.
export function hostile(value, name = "") {
  const evil = `"><img src=x onerror=window.xss=1><script>window.xss=1</script>'\` onmouseover=window.xss=1 javascript:window.xss=1 {{7*7}} \u202e\u0000`;
  const compared = ["state", "severity", "version"];
  if (typeof value === "string") return compared.includes(name) ? value : evil;
  if (Array.isArray(value)) return value.map((v) => hostile(v, name));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, hostile(v, k)]));
  if (typeof value === "function") return (body) => hostile(value(body));
  return value;
}
