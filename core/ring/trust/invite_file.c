/* invite_file - the file of invitations: hashes of secrets, and the identities that used them. */

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/ring/trust/invite_internal.h"
#include "core/ring/trust/peer_file.h"

static const char file_name[] = "invites";
static const char first_line[] = "gillnet-invites 1";

enum { FILE_MAX = 64 * 1024, US_PER_S = 1000000 };

enum err invite_lock(const char *dir, struct filelock *l, struct errinfo *reterr)
{
    return peer_file_lock(dir, "invites.lock", true, l, reterr);
}

static bool parse_row(struct slice line, struct invite_line *ret)
{
    char text[512];
    char id[2 * INVITE_ID_BYTES + 1];
    char hash[HASH256_HEX + 1];
    char identity[2 * OBJECT_KEY_BYTES + 1];
    char state[8] = "";
    struct invite_line r = {.expires_s = 0};
    int end = -1;

    if (line.n >= sizeof(text) || memchr(line.p, '\0', line.n) != NULL) {
        return false;
    }
    memcpy(text, line.p, line.n);
    text[line.n] = '\0';
    /* NOLINTNEXTLINE(cert-err34-c): numbers of our own file, bounded by their widths */
    int got = sscanf(text, "%16s %64s %15" SCNu64 " %8" SCNx32 " %7s %64s %32s%n", id,
                     hash, &r.expires_s, &r.ring_key, state, identity, r.name, &end);
    r.is_used = strcmp(state, "used") == 0;
    bool ok = got == 7 && end == (int)line.n &&
              hex_parse(slice_str(id), r.id, INVITE_ID_BYTES) &&
              hex_parse(slice_str(hash), r.hash.b, HASH256_BYTES) &&
              hex_parse(slice_str(identity), r.identity, OBJECT_KEY_BYTES) &&
              (r.is_used || strcmp(state, "open") == 0) &&
              manifest_name_is_valid(slice_str(r.name));
    if (ok) {
        *ret = r;
    }
    return ok;
}

bool invite_row_is_over(const struct invite_line *r, uint64_t now_s)
{
    return r->expires_s + (r->is_used ? INVITE_ANSWER_S : 0) <= now_s;
}

enum err invite_rows_read(const char *dir, struct invite_file *ret,
                          struct errinfo *reterr)
{
    struct buf text;

    ret->n = 0;
    buf_init(&text, FILE_MAX);
    enum err e = peer_file_read_secret(dir, file_name, &text, reterr);
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    struct slice rest = buf_slice(&text);
    if (e == ERR_OK && !slice_eq(slice_cut(&rest, '\n'), slice_str(first_line))) {
        e = ERR_CORRUPT;
    }
    while (e == ERR_OK && rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');
        if (ret->n == INVITES_MAX || !parse_row(line, &ret->v[ret->n])) {
            e = ERR_CORRUPT;
        } else {
            ret->n++;
        }
    }
    buf_fini(&text);
    return e != ERR_CORRUPT
               ? e
               : errinfo_set(reterr, ERR_CORRUPT, dir, 0,
                             "the file invites is damaged; remove it and invite again");
}

enum err invite_rows_write(const char *dir, const struct invite_file *rows,
                           struct errinfo *reterr)
{
    char id[2 * INVITE_ID_BYTES + 1];
    char hash[HASH256_HEX + 1];
    char identity[2 * OBJECT_KEY_BYTES + 1];
    struct buf text;

    buf_init(&text, FILE_MAX);
    buf_printf(&text, "%s\n", first_line);
    for (size_t i = 0; i < rows->n; i++) {
        const struct invite_line *r = &rows->v[i];
        hex_print(r->id, INVITE_ID_BYTES, id);
        hex_print(r->hash.b, HASH256_BYTES, hash);
        hex_print(r->identity, OBJECT_KEY_BYTES, identity);
        buf_printf(&text, "%s %s %" PRIu64 " %08" PRIx32 " %s %s %s\n", id, hash,
                   r->expires_s, r->ring_key, r->is_used ? "used" : "open", identity,
                   r->name);
    }
    enum err e = buf_failed(&text) ? errinfo_nomem(reterr, dir)
                                   : peer_file_write(dir, file_name, buf_slice(&text),
                                                     PEER_FILE_SECRET_MODE, reterr);
    buf_fini(&text);
    return e;
}

void invite_rows_forget(struct invite_file *rows, uint64_t now_s, const char *open_name)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->n; i++) {
        const struct invite_line *r = &rows->v[i];
        bool is_named =
            open_name != NULL && !r->is_used && strcmp(r->name, open_name) == 0;
        if (!invite_row_is_over(r, now_s) && !is_named) {
            rows->v[kept++] = *r;
        }
    }
    rows->n = kept;
}

bool invite_is_open(const char *dir)
{
    uint64_t now_s = clock_wall_us() / US_PER_S;
    struct invite_file rows;

    if (invite_rows_read(dir, &rows, NULL) != ERR_OK) {
        return false;
    }
    for (size_t i = 0; i < rows.n; i++) {
        if (!invite_row_is_over(&rows.v[i], now_s)) {
            return true;
        }
    }
    return false;
}

size_t invite_rows(const char *dir, struct invite_row ret[INVITES_MAX])
{
    struct invite_file rows;

    if (invite_rows_read(dir, &rows, NULL) != ERR_OK) {
        return 0;
    }
    for (size_t i = 0; i < rows.n; i++) {
        memcpy(ret[i].name, rows.v[i].name, sizeof(ret[i].name));
        ret[i].expires_s = rows.v[i].expires_s;
        ret[i].is_used = rows.v[i].is_used;
    }
    return rows.n;
}

enum err invite_withdraw(const char *dir, const char *name, struct errinfo *reterr)
{
    struct filelock lock;
    struct invite_file rows;
    size_t kept = 0;
    enum err e = invite_lock(dir, &lock, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = invite_rows_read(dir, &rows, reterr);
    size_t before = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        if (strcmp(rows.v[i].name, name) != 0) {
            rows.v[kept++] = rows.v[i];
        }
    }
    rows.n = kept;
    if (e == ERR_OK && kept == before) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, name, 0, "no invitation has this name");
    } else if (e == ERR_OK) {
        e = invite_rows_write(dir, &rows, reterr);
    }
    filelock_drop(&lock);
    return e;
}
