/* shared_scripts - the texts, for Lua 5.1 with struct, as Redis 6 and all later servers have it. */
#include "core/hub/shared/shared_scripts.h"

#include "core/base/checksum.h"
#include "core/base/hash256.h"

enum { COUNT_TEXT = 24, CALL_MAX = 64 << 20, BYTE_BITS = 8 };

static const char *const texts[SHARED_SCRIPTS] = {
    [SHARED_SCRIPT_ADD] =
        "local a, m = KEYS[1], ARGV[1]\n"
        "local call, sub, byte, char = redis.call, string.sub, string.byte, string.char\n"
        "local who = sub(m, 1, 24)\n"
        "local expected, number, t, d = struct.unpack('>I8I8I4I4', m, 25)\n"
        "local got = call('HMGET', a, who, 't:' .. t, 'd:' .. d)\n"
        "local has = tonumber(got[1] or '0')\n"
        "if has ~= expected then return struct.pack('>I8', has) end\n"
        "local names, nnames, windows, npairs = {}, 0, {}, (#m - 48) / 10\n"
        "for w, kind in ipairs({'t', 'd'}) do\n"
        "  local start, step = t, 600\n"
        "  if w == 2 then start, step = d, 86400 end\n"
        "  if start > 0 then\n"
        "    local n, nonce = string.match(got[w + 1] or '', '^(%d+):(%x+)$')\n"
        "    if not n then\n"
        "      local before = call('HGET', a, 'n' .. kind .. ':' .. (start - step))\n"
        "      return redis.error_reply('NOTOPEN ' .. kind .. ' ' .. (before or '-'))\n"
        "    end\n"
        "    local first, parts, of = a .. kind .. ':' .. start .. ':' .. nonce .. ':', {}, {}\n"
        "    for i = 1, npairs do\n"
        "      local high, low = byte(m, 45 + 10 * i, 46 + 10 * i)\n"
        "      local part = (high * 256 + low) % n\n"
        "      local name = parts[part]\n"
        "      if not name then\n"
        "        name = first .. part\n"
        "        parts[part] = name\n"
        "        nnames = nnames + 1\n"
        "        names[nnames] = name\n"
        "      end\n"
        "      of[i] = name\n"
        "    end\n"
        "    windows[w] = {of = of, field = 'n' .. kind .. ':' .. start}\n"
        "  end\n"
        "end\n"
        "if call('EXISTS', unpack(names)) ~= nnames then\n"
        "  return redis.error_reply('NOTWHOLE a part is not here')\n"
        "end\n"
        "local totals = {}\n"
        "for w = 1, 2 do\n"
        "  local x = windows[w]\n"
        "  if x then\n"
        "    local of, made = x.of, 0\n"
        "    for i = 1, npairs do\n"
        "      local at = 39 + 10 * i\n"
        "      local high, low = byte(m, at + 8, at + 9)\n"
        "      local amount = high * 256 + low\n"
        "      local sum = call('HINCRBY', of[i], sub(m, at, at + 7), amount)\n"
        "      if sum == amount then made = made + 1 end\n"
        "      if sum < 255 then totals[2 * i - 2 + w] = char(sum)\n"
        "      else totals[2 * i - 2 + w] = struct.pack('>BI4', 255, math.min(sum, 4294967295)) end\n"
        "    end\n"
        "    if made > 0 then call('HINCRBY', a, x.field, made) end\n"
        "  else\n"
        "    for i = 1, npairs do totals[2 * i - 2 + w] = '\\0' end\n"
        "  end\n"
        "end\n"
        "call('HSET', a, who, string.format('%.0f', number))\n"
        "return struct.pack('>I8', number) .. table.concat(totals)\n",

    /* Fields of the anchor from before the parts expired go with each opening. */
    [SHARED_SCRIPT_OPEN] =
        "local a, kind, start = KEYS[1], ARGV[1], tonumber(ARGV[2])\n"
        "local field, fresh = kind .. ':' .. ARGV[2], (#KEYS - 1) .. ':' .. ARGV[3]\n"
        "local has = redis.call('HGET', a, field)\n"
        "if has and has ~= fresh then return has end\n"
        "for i = 2, #KEYS do\n"
        "  if redis.call('HSETNX', KEYS[i], '', '') == 1 then\n"
        "    redis.call('EXPIREAT', KEYS[i], ARGV[4])\n"
        "  end\n"
        "end\n"
        "redis.call('HSET', a, field, fresh)\n"
        "redis.call('EXPIREAT', a, ARGV[5])\n"
        "local oldest = start - (kind == 't' and 100000 or 1728000)\n"
        "for _, f in ipairs(redis.call('HKEYS', a)) do\n"
        "  local s = #f < 24 and string.match(f, '^n?' .. kind .. ':(%d+)$')\n"
        "  if s and tonumber(s) < oldest then redis.call('HDEL', a, f) end\n"
        "end\n"
        "return fresh\n",

    [SHARED_SCRIPT_POSITIONS] =
        "local found = {}\n"
        "for _, f in ipairs(redis.call('HKEYS', KEYS[1])) do\n"
        "  if #f == 24 and string.sub(f, 1, 16) == ARGV[1] then\n"
        "    local n = tonumber(redis.call('HGET', KEYS[1], f)) or 0\n"
        "    found[#found + 1] = string.sub(f, 17) .. struct.pack('>I8', n)\n"
        "  end\n"
        "end\n"
        "return table.concat(found)\n",

    [SHARED_SCRIPT_CHECK] =
        "local a, checked, gone, endless, largest, names, origins = KEYS[1], 0, 0, 0, 0, {}, {}\n"
        "for _, f in ipairs(redis.call('HKEYS', a)) do\n"
        "  if #f == 24 and #origins < 4096 then origins[#origins + 1] = string.sub(f, 1, 16) end\n"
        "  local kind, start = string.match(f, '^([td]):(%d+)$')\n"
        "  local age = kind == 't' and 90600 or 1382400\n"
        "  if kind and #f < 24 and tonumber(start) + age > tonumber(ARGV[3]) then\n"
        "    local n, nonce = string.match(redis.call('HGET', a, f), '^(%d+):(%x+)$')\n"
        "    for i = 1, math.min(tonumber(n or '0'), tonumber(ARGV[4])) do\n"
        "      local name = a .. kind .. ':' .. start .. ':' .. nonce .. ':' .. (ARGV[2] + i) % n\n"
        "      local left = redis.call('TTL', name)\n"
        "      checked = checked + 1\n"
        "      if left == -1 then endless = endless + 1 end\n"
        "      if left == -2 then\n"
        "        gone = gone + 1\n"
        "        if gone < 4 then names[gone] = name end\n"
        "      else\n"
        "        largest = math.max(largest, redis.call('HLEN', name))\n"
        "      end\n"
        "    end\n"
        "  end\n"
        "end\n"
        "return {redis.call('HGET', a, ARGV[1]) or '0', checked, gone, endless, largest,\n"
        "  table.concat(names, ' '), table.concat(origins)}\n",

    [SHARED_SCRIPT_TOTALS] =
        "local a, kind, m = KEYS[1], ARGV[2], ARGV[4]\n"
        "local n, nonce = string.match(\n"
        "  redis.call('HGET', a, kind .. ':' .. ARGV[3]) or '', '^(%d+):(%x+)$')\n"
        "local found = {struct.pack('>I8', tonumber(redis.call('HGET', a, ARGV[1]) or '0'))}\n"
        "if not n then return found[1] end\n"
        "local first = a .. kind .. ':' .. ARGV[3] .. ':' .. nonce .. ':'\n"
        "for i = 1, #m, 8 do\n"
        "  local high, low = string.byte(m, i + 6, i + 7)\n"
        "  local has = redis.call('HGET', first .. (high * 256 + low) % n, string.sub(m, i, i + 7))\n"
        "  found[#found + 1] = struct.pack('>I4', math.min(tonumber(has or '0'), 4294967295))\n"
        "end\n"
        "return table.concat(found)\n",

    [SHARED_SCRIPT_PAST] =
        "local at, now = KEYS[1], tonumber(ARGV[1])\n"
        "local names = {}\n"
        "for i = 0, 144 do names[i + 1] = string.format('t:%d', now - 600 * i) end\n"
        "local today = now - now % 86400\n"
        "for i = 0, 14 do names[i + 146] = string.format('d:%d', today - 86400 * i) end\n"
        "local open = redis.call('HMGET', at, unpack(names))\n"
        "local places = {}\n"
        "local moved = false\n"
        "local function get(key, part, slot)\n"
        "  local place = places[slot]\n"
        "  if place == nil then\n"
        "    local parts, nonce = string.match(open[slot + 1] or '', '^(%d+):(.*)$')\n"
        "    place = parts and {at .. names[slot + 1] .. ':' .. nonce .. ':', tonumber(parts)}\n"
        "    places[slot] = place or false\n"
        "  end\n"
        "  if not place then return 0 end\n"
        "  local got = redis.call('HMGET', place[1] .. part % place[2], key, '')\n"
        "  moved = moved or not got[2]\n"
        "  return tonumber(got[1] or 0)\n"
        "end\n"
        "local answer = {}\n"
        "for i = 1, #ARGV[2], 8 do\n"
        "  local key = string.sub(ARGV[2], i, i + 7)\n"
        "  local part = string.byte(key, 7) * 256 + string.byte(key, 8)\n"
        "  local row = {}\n"
        "  local function take(slot)\n"
        "    local n = get(key, part, slot)\n"
        "    if n > 0 then\n"
        "      if n > 4294967295 then n = 4294967295 end\n"
        "      row[#row + 1] = struct.pack('>BI4', slot, n)\n"
        "    end\n"
        "    return n\n"
        "  end\n"
        "  local first = 0\n"
        "  for day = 0, 14 do\n"
        "    local left = take(145 + day)\n"
        "    local last = (now - today) / 600 + day * 144\n"
        "    for slot = first, last <= 144 and last or 144 do\n"
        "      if left <= 0 then break end\n"
        "      left = left - take(slot)\n"
        "    end\n"
        "    first = last + 1\n"
        "  end\n"
        "  answer[#answer + 1] = string.char(#row) .. table.concat(row)\n"
        "end\n"
        "if moved then return redis.error_reply('NOTWHOLE a part is not here') end\n"
        "return table.concat(answer)\n",
};

void script_add_number(struct buf *b, uint64_t v, unsigned nbytes)
{
    while (nbytes > 0) {
        buf_add_u8(b, (uint8_t)(v >> (--nbytes * BYTE_BITS)));
    }
}

uint64_t script_take_number(struct slice *s, unsigned nbytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < nbytes && s->n > 0; i++) {
        v = v << BYTE_BITS | (uint8_t)*s->p;
        *s = slice_from(*s, 1);
    }
    return v;
}

/* A call as it was made, to be made again with the text. */
struct script_call {
    struct redis *redis;
    enum shared_script script;
    bool may_repeat;
    redis_answer_fn *answer;
    void *context;
    char count[COUNT_TEXT]; /* of keys */
    struct slice *args;     /* the command from its name on */
    size_t nargs;
    struct buf bytes; /* of keys and arguments */
};

static void free_call(struct script_call *c)
{
    buf_fini(&c->bytes);
    free(c->args);
    free(c);
}

/* The SHA-1 of each text in hexadecimal digits; "": the system forbids SHA-1. */
static const char *script_name(enum shared_script script)
{
    static char names[SHARED_SCRIPTS][SHA1_HEX + 1];
    uint8_t sum[SHA1_BYTES];

    if (names[script][0] == '\0' && sha1_sum(slice_str(texts[script]), sum) == ERR_OK) {
        hex_print(sum, sizeof(sum), names[script]);
    }
    return names[script];
}

static void take_script_answer(void *context, const struct redis_answer *a);

static enum err call_script(struct script_call *c, bool has_text)
{
    enum { FIRST_KEY = 3 };
    const struct redis_call call = {.key = c->args[FIRST_KEY],
                                    .args = c->args,
                                    .nargs = c->nargs,
                                    .may_repeat = c->may_repeat,
                                    .answer = take_script_answer,
                                    .context = c};

    c->args[0] = has_text ? SLICE_LIT("EVAL") : SLICE_LIT("EVALSHA");
    c->args[1] = slice_str(has_text ? texts[c->script] : script_name(c->script));
    return redis_call(c->redis, &call);
}

static bool is_unknown_script(const struct redis_answer *a)
{
    return a->fault == REDIS_FAULT_NONE && a->reply->nodes[0].kind == RESP_ERROR &&
           slice_has_prefix(resp_text(a->reply, 0), SLICE_LIT("NOSCRIPT"));
}

static void take_script_answer(void *context, const struct redis_answer *a)
{
    struct script_call *c = context;

    if (is_unknown_script(a) && call_script(c, true) == ERR_OK) {
        return;
    }
    c->answer(c->context, a);
    free_call(c);
}

static bool copy_args(struct script_call *c, const struct shared_script_call *call)
{
    size_t at = 0;
    size_t n = 3;

    for (size_t i = 0; i < call->nkeys; i++) {
        buf_add(&c->bytes, call->keys[i]);
    }
    for (size_t i = 0; i < call->nargs; i++) {
        buf_add(&c->bytes, call->args[i]);
    }
    if (buf_failed(&c->bytes)) {
        return false;
    }
    for (size_t i = 0; i < call->nkeys + call->nargs; i++) {
        const struct slice *s =
            i < call->nkeys ? &call->keys[i] : &call->args[i - call->nkeys];

        c->args[n++] = slice_of(c->bytes.p + at, s->n);
        at += s->n;
    }
    (void)snprintf(c->count, sizeof(c->count), "%zu", call->nkeys);
    c->args[2] = slice_str(c->count);
    c->nargs = n;
    return true;
}

enum err shared_script_run(struct redis *r, enum shared_script script,
                           const struct shared_script_call *call)
{
    struct script_call *c = calloc(1, sizeof(*c));
    enum err e = ERR_NOMEM;

    if (c == NULL) {
        return ERR_NOMEM;
    }
    c->redis = r;
    c->script = script;
    c->may_repeat = call->may_repeat;
    c->answer = call->answer;
    c->context = call->context;
    buf_init(&c->bytes, CALL_MAX);
    c->args = calloc(call->nkeys + call->nargs + 3, sizeof(*c->args));
    if (c->args != NULL && copy_args(c, call)) {
        e = call_script(c, *script_name(script) == '\0');
    }
    if (e != ERR_OK) {
        free_call(c);
    }
    return e;
}
