-- gillnet's results for a message, as symbols of rspamd (3.0 or later).
--
-- source = "header": gillnetd ran before rspamd, and its header fields are read. No request is made.
-- source = "scan":   the whole message is posted to gillnet-hub's API (/v1/scan) and examined as gillnetd would.
-- source = "check":  only its URLs are looked up (/v1/check). Only URLs leave rspamd.
-- Every failure (no answer, a late one, a malformed one) gives GILLNET_FAIL, which has no score: mail passes.
-- README.md beside this file describes installation and trust.

local rspamd_http = require "rspamd_http"
local rspamd_logger = require "rspamd_logger"
local ucl = require "ucl"

local N = "gillnet"
local settings = {
  source = "header",
  url = "http://127.0.0.1:8896", -- or https://; a token then belongs in `token`
  token = nil,
  timeout = 2.0, -- seconds for the whole request
  max_size = 16 * 1024 * 1024, -- larger messages are not sent
  max_urls = 200,
  max_points = 15.0, -- of gillnet's score that count
  skip_local = false,
  skip_authenticated = true,
}
local STATUS, SCORE, SYMBOLS = "X-Gillnet-Status", "X-Gillnet-Score", "X-Gillnet-Symbols"
local OPTIONS_MAX = 16

local function fail(task, why)
  rspamd_logger.warnx(task, "%s: %s; the message passes without it", N, why)
  task:insert_result("GILLNET_FAIL", 0.0, why)
end

-- points: gillnet's score. It never lowers the score of a message.
local function insert(task, points, names)
  if type(points) ~= "number" or points ~= points or points <= 0 then return end
  while #names > OPTIONS_MAX do table.remove(names) end
  task:insert_result("GILLNET", math.min(points, settings.max_points), names)
  for _, name in ipairs(names) do
    if name:find("^BULK_") then
      task:insert_result("GILLNET_BULK", 1.0, name)
      return
    end
  end
end

-- The value of a field that occurs once. "twice": gillnetd leaves only its own field, so the other one did not pass through it.
local function field(task, name)
  local all = task:get_header_full(name)
  if not all or #all == 0 then return nil end
  if #all > 1 then return "twice" end
  return all[1].decoded or all[1].value
end

local function from_header(task)
  local status, score, symbols = field(task, STATUS), field(task, SCORE), field(task, SYMBOLS)
  if status == "twice" or score == "twice" or symbols == "twice" then
    task:insert_result("GILLNET_FORGED", 1.0)
    return
  end
  if not status then return end
  if status:find("^unchecked,") then
    task:insert_result("GILLNET_FAIL", 0.0, status:sub(1, 80))
    return
  end
  local names = {}
  for name in (symbols or ""):gmatch("([%u%d_]+)%(%-?[%d.]+%)") do names[#names + 1] = name end
  insert(task, tonumber((score or ""):match("^%d+%.%d$")), names)
end

-- JSON of an answer with status 200, or nil after a GILLNET_FAIL.
local function parsed(task, err, code, body)
  if err or code ~= 200 then
    fail(task, err and tostring(err) or "answer " .. tostring(code))
    return nil
  end
  local parser = ucl.parser()
  local ok, why = parser:parse_text(body)
  local object = ok and parser:get_object()
  if type(object) ~= "table" then
    fail(task, "no JSON: " .. tostring(why))
    return nil
  end
  return object
end

local function on_scan(task, err, code, body)
  local answer = parsed(task, err, code, body)
  if not answer then return end
  local names = {}
  for _, s in ipairs(type(answer.symbols) == "table" and answer.symbols or {}) do
    if type(s) == "table" and type(s.name) == "string" then names[#names + 1] = s.name end
  end
  insert(task, answer.score, names)
end

local function on_check(task, err, code, body)
  local answer = parsed(task, err, code, body)
  if not answer then return end
  local listed = {}
  for _, r in ipairs(type(answer.results) == "table" and answer.results or {}) do
    if type(r) == "table" and r.requires_blocking == true and #listed < OPTIONS_MAX then
      listed[#listed + 1] = tostring(r.value):sub(1, 100)
    end
  end
  if #listed > 0 then task:insert_result("GILLNET_URL", 1.0, listed) end
end

local function post(task, path, body, kind, callback)
  local headers = {}
  if settings.token then headers["Authorization"] = "Bearer " .. settings.token end
  local sent = rspamd_http.request({
    task = task, url = settings.url .. path, method = "POST", mime_type = kind, body = body, headers = headers,
    timeout = settings.timeout, max_size = 1024 * 1024,
    callback = function(err, code, answer) callback(task, err, code, answer) end,
  })
  if not sent then fail(task, "no request can be made") end
end

local function quoted(s)
  return (tostring(s):gsub("[^%w%-._~@]", function(c) return string.format("%%%02X", c:byte()) end))
end

-- The envelope as /v1/scan takes it.
local function envelope(task)
  local parts = {}
  local function add(name, value)
    if value and value ~= "" then parts[#parts + 1] = name .. "=" .. quoted(value) end
  end
  local ip = task:get_from_ip()
  if ip and ip:is_valid() then add("client", ip:to_string()) end
  add("helo", task:get_helo())
  local from = task:get_from("smtp")
  if from and from[1] then add("from", from[1].addr) end
  for i, r in ipairs(task:get_recipients("smtp") or {}) do
    if i > 100 then break end
    add("rcpt", r.addr)
  end
  return #parts > 0 and "?" .. table.concat(parts, "&") or ""
end

local function from_scan(task)
  if task:get_size() > settings.max_size then return end
  post(task, "/v1/scan" .. envelope(task), task:get_content(), "message/rfc822", on_scan)
end

local function from_check(task)
  local values, seen = {}, {}
  for _, url in ipairs(task:get_urls() or {}) do
    local text = url:get_text()
    if text and not seen[text] and #values < settings.max_urls then
      seen[text] = true
      values[#values + 1] = text
    end
  end
  if #values > 0 then
    post(task, "/v1/check", ucl.to_format({ values = values }, "json-compact"), "application/json", on_check)
  end
end

local sources = { header = from_header, scan = from_scan, check = from_check }

local function ask(task)
  local ip = task:get_from_ip()
  if settings.skip_authenticated and task:get_user() then return end
  if settings.skip_local and ip and ip:is_valid() and ip:is_local() then return end
  sources[settings.source](task)
end

for key, value in pairs(rspamd_config:get_all_opt(N) or {}) do settings[key] = value end
if not sources[settings.source] then
  rspamd_logger.errx(rspamd_config, "%s: source is header, scan or check, not %s", N, tostring(settings.source))
elseif settings.enabled ~= false then
  local id = rspamd_config:register_symbol({
    name = "GILLNET_ASK", type = "callback", callback = ask, flags = "empty,nice",
  })
  for name, row in pairs({
    GILLNET = { 1.0, "gillnet's points" },
    GILLNET_URL = { 6.0, "URLs on lists of gillnet" },
    GILLNET_BULK = { 0.5, "gillnet: seen in bulk" },
    GILLNET_FORGED = { 1.0, "a header field of gillnet came in from outside" },
    GILLNET_FAIL = { 0.0, "gillnet could not be asked" },
  }) do
    rspamd_config:register_symbol({ name = name, type = "virtual", parent = id })
    rspamd_config:set_metric_symbol({ name = name, score = row[1], description = row[2], group = N })
  end
end
