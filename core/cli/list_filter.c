/* list_filter - `gillnet list export LIST --filter FILE`: the entries of a list, as a filter for
 * others. */
#include <sysexits.h>

#include "core/cli/list_commands.h"
#include "core/cli/print.h"

struct fill {
    struct bloomfile *filter;
    enum entry_status status;
    uint64_t n;
};

int list_filter_say(const struct cli *cli, const char *where,
                    const struct bloomfile_shape *s)
{
    const struct bloomfile_facts *facts = &s->facts;
    double error = bloom_error(s->layout, s->nlines, s->k, facts->entries);
    uint64_t bits = s->nlines * BLOOM_LINE_BITS;

    if (cli->json) {
        bool is_said = json_line(json_pack(
            "{s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:f}", "filter",
            json_text(slice_str(where)), "role", bloomfile_role_name(facts->role),
            "layout", bloom_layout_name(s->layout), "bits", (json_int_t)bits, "k",
            (json_int_t)s->k, "items", (json_int_t)facts->capacity, "entries",
            (json_int_t)facts->entries, "error", error));
        return is_said ? 0 : EX_OSERR;
    }
    printf("%s: %s filter of %" PRIu64 " entries, %" PRIu64 " planned; %s, %" PRIu64
           " bits, k %u, error now %.3g %%\n",
           where, bloomfile_role_name(facts->role), facts->entries, facts->capacity,
           bloom_layout_name(s->layout), bits, s->k, error * 100);
    return 0;
}

/* ---- options ---- */

static int read_layout(const char *text, enum bloom_layout *ret)
{
    enum filter_layout layout = FILTER_ONE_LINE;

    if (!filter_layout_by_name(slice_str(text), &layout)) {
        return cli_error(EX_USAGE,
                         "--layout: \"%.64s\" is no layout; use one-line, two-lines, "
                         "classic or partitioned",
                         text);
    }
    *ret = (enum bloom_layout)layout;
    return 0;
}

static int read_error(const char *text, double *ret)
{
    char *end = NULL;

    *ret = strtod(text, &end);
    if (end == text || *end != '\0' || !(*ret > 0 && *ret <= BLOOMFILE_ERROR_MAX)) {
        return cli_error(
            EX_USAGE,
            "--error: \"%.64s\" is no share of false answers; use a number "
            "above 0 and up to 0.1, such as 0.001",
            text);
    }
    return 0;
}

static int read_items(const char *text, uint64_t *ret)
{
    if (!slice_to_u64(slice_str(text), 10, UINT64_MAX, ret) || *ret == 0) {
        return cli_error(EX_USAGE,
                         "--items: \"%.64s\" is no number of entries; use 1 or more",
                         text);
    }
    return 0;
}

int list_filter_plan(const struct cli *cli, const char *list,
                     const struct list_filter_options *o, struct list_filter_plan *ret)
{
    const struct config_list *c = config_list_find(cli->config, slice_str(list));
    int status = 0;

    *ret = (struct list_filter_plan){.layout = (enum bloom_layout)c->filter_layout,
                                     .error = c->filter_error};
    THEN(status, o->layout != NULL ? read_layout(o->layout, &ret->layout) : 0);
    THEN(status, o->error != NULL ? read_error(o->error, &ret->error) : 0);
    THEN(status, o->items != NULL ? read_items(o->items, &ret->items) : 0);
    return status;
}

/* ---- building ---- */

static bool on_digest(void *context, const struct digest *d, enum entry_status status)
{
    struct fill *f = context;
    if (status == f->status) {
        bloom_add(&f->filter->bloom, d);
        f->n++;
    }
    return true;
}

static enum err make_filter(const struct list_reader *r,
                            const struct list_filter_plan *p, struct bloomfile *f,
                            struct errinfo *reterr)
{
    uint64_t nlines = 0;
    unsigned k = 0;
    enum err e = bloom_size(p->layout, p->items, p->error, &nlines, &k);
    if (e != ERR_OK) {
        return errinfo_set(
            reterr, ERR_RANGE, "--items", 0,
            "the layout %s has no filter of %" PRIu64
            " entries with an error of %.3g; choose other sizes (gillnet "
            "plan)",
            bloom_layout_name(p->layout), p->items, p->error);
    }
    return bloomfile_new(f, p->layout, nlines, k, list_reader_key(r), reterr);
}

static enum err fill_filter(const struct cli *cli, const struct list_reader *r,
                            const struct list_filter_plan *p, struct bloomfile *f,
                            struct errinfo *reterr)
{
    struct fill x = {.filter = f,
                     .status = p->is_revoked ? ENTRY_REVOKED : ENTRY_LISTED};
    uint8_t origin[KEYRING_DERIVED_BYTES];
    enum err e = list_reader_each_digest(r, on_digest, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (x.n > p->items) {
        return errinfo_set(reterr, ERR_LIMIT, list_reader_name(r), 0,
                           "%" PRIu64 " entries are more than the %" PRIu64
                           " of --items; nothing was written, give a larger number",
                           x.n, p->items);
    }
    keyring_derive(&cli->keys.node, "filter origin", 0, origin);
    f->facts = (struct bloomfile_facts){
        .role = p->is_revoked ? BLOOMFILE_REVOKED : BLOOMFILE_SPAM,
        .digest_key = list_reader_key(r)->id,
        .position_key = list_reader_key(r)->id,
        .entries = x.n,
        .capacity = p->items,
    };
    memcpy(f->facts.origin, origin, BLOOMFILE_ORIGIN_BYTES);
    return ERR_OK;
}

int list_filter_export(const struct cli *cli, const struct list_reader *r,
                       const struct list_filter_plan *plan, const char *file)
{
    struct errinfo info = {.code = ERR_OK};
    struct list_filter_plan p = *plan;
    struct bloomfile f = {0};
    uint64_t listed = 0;
    uint64_t revoked = 0;

    list_reader_totals(r, &listed, &revoked);
    uint64_t n = p.is_revoked ? revoked : listed;
    if (p.items == 0) {
        p.items = bloom_items_step(n);
    }
    enum err e = make_filter(r, &p, &f, &info);
    THEN(e, fill_filter(cli, r, &p, &f, &info));
    THEN(e, bloomfile_write(&f, file, &info));
    struct bloomfile_shape shape = bloomfile_shape_of(&f);
    bloomfile_close(&f);
    return e == ERR_OK ? list_filter_say(cli, file, &shape) : cli_fail(&info);
}
