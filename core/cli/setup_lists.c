/* setup_lists - the place of gillnetd in the lists of milters of main.cf and master.cf. */

#include "core/cli/setup.h"

void wire_copy(char *dst, size_t size, struct slice s)
{
    (void)snprintf(dst, size, "%.*s", SLICE_ARGS(slice_head(s, size - 1)));
}

enum err wire_setting(const struct wire *w, const char *name, bool is_expanded,
                      char dst[WIRE_VALUE], struct errinfo *reterr)
{
    const char *const expanded[] = {"-h", "-x", name, NULL};
    const char *const plain[] = {"-h", name, NULL};
    struct buf said;
    enum err e = ERR_OK;

    buf_init(&said, POSTFIX_OUTPUT_MAX);
    e = postfix_ask(&w->p, is_expanded ? expanded : plain, &said, reterr);
    if (e == ERR_OK && said.n >= WIRE_VALUE) {
        e = errinfo_set(reterr, ERR_LIMIT, name, 0,
                        "is too long to be changed by a program");
    }
    if (e == ERR_OK) {
        wire_copy(dst, WIRE_VALUE, slice_trim(buf_slice(&said)));
    }
    buf_fini(&said);
    return e;
}

static struct edit *add_edit(struct wire *w, bool is_service, const char *name)
{
    struct edit *e = &w->edits[w->nedits];

    if (w->nedits == WIRE_EDITS_MAX) {
        return NULL;
    }
    *e = (struct edit){.is_service = is_service};
    wire_copy(e->name, sizeof(e->name), slice_str(name));
    w->nedits++;
    return e;
}

/* ---- a list of milters, taken apart ---- */

/* Whether the entry is gillnetd, by its present or its wanted socket. */
static bool is_at_ours(const struct wire *w, struct slice milter, bool *retis_right)
{
    *retis_right = postfix_is_at(&w->p, &w->s->wanted, milter, w->p.is_chrooted);
    return *retis_right || postfix_is_at(&w->p, &w->s->wanted, milter, false) ||
           postfix_is_at(&w->p, &w->s->now, milter, true) ||
           postfix_is_at(&w->p, &w->s->now, milter, false);
}

static const struct milter_kind *kind_of_milter(const struct wire *w,
                                                struct slice milter)
{
    struct socket_name theirs;

    return socket_name_read(postfix_milter_socket(milter), &theirs)
               ? milter_kind_at(&theirs, w->s->etc, w->queue, w->p.is_chrooted)
               : NULL;
}

/* Looks through "$name" or "${name}", the milters of another setting. */
static enum err look_through(const struct wire *w, struct slice use,
                             const struct milter_kind **retkind, bool *retis_ours,
                             struct errinfo *reterr)
{
    char name[WIRE_NAME];
    char value[WIRE_VALUE];
    struct slice list;
    struct slice milter;
    enum err e = ERR_OK;

    use = slice_from(use, 1);
    if (use.n > 2 && use.p[0] == '{') {
        use = slice_of(use.p + 1, use.n - 2);
    }
    wire_copy(name, sizeof(name), use);
    /* smtpd_milters will have gillnetd */
    *retis_ours = strcmp(name, "smtpd_milters") == 0;
    e = wire_setting(w, name, true, value, reterr);
    list = slice_str(value);
    while (e == ERR_OK && (milter = postfix_next_milter(&list)).n > 0) {
        const struct milter_kind *k = kind_of_milter(w, milter);
        bool is_right = false;

        *retkind = *retkind == NULL || (k != NULL && k->proves) ? k : *retkind;
        *retis_ours = *retis_ours || is_at_ours(w, milter, &is_right);
    }
    return e;
}

enum err wire_read_chain(const struct wire *w, struct slice list,
                         struct milter_chain *ret, struct errinfo *reterr)
{
    struct slice milter;
    enum err e = ERR_OK;

    ret->n = 0;
    while (e == ERR_OK && (milter = postfix_next_milter(&list)).n > 0) {
        const struct milter_kind *kind = NULL;
        bool is_ours = false;
        bool is_right = true;

        if (slice_eq(milter, SLICE_LIT(WIRING_USE))) {
            is_ours = true;
        } else if (milter.p[0] == '$') {
            e = look_through(w, milter, &kind, &is_ours, reterr);
        } else {
            is_ours = is_at_ours(w, milter, &is_right);
            kind = is_ours ? NULL : kind_of_milter(w, milter);
        }
        if (e == ERR_OK &&
            !milter_chain_add(ret,
                              is_ours && !is_right ? SLICE_LIT(WIRING_USE) : milter,
                              kind, is_ours)) {
            e = errinfo_set(reterr, ERR_LIMIT, "smtpd_milters", 0,
                            "more milters than gillnet knows how to order; put "
                            "$gillnet_milter into the list by hand");
        }
    }
    return e;
}

static bool has_blank(const char *text)
{
    return strpbrk(text, " \t,") != NULL;
}

static void write_chain(const struct milter_chain *c, const char *between,
                        char dst[WIRE_VALUE])
{
    struct buf text;

    buf_init(&text, WIRE_VALUE - 1);
    for (size_t i = 0; i < c->n; i++) {
        buf_add_str(&text, i == 0 ? "" : between);
        buf_printf(&text, has_blank(c->v[i].text) ? "{ %s }" : "%s", c->v[i].text);
    }
    wire_copy(dst, WIRE_VALUE, buf_slice(&text));
    buf_fini(&text);
}

/* Whether the planned chain differs from the list. */
static bool differs(const struct milter_chain *c, struct slice list)
{
    struct slice milter;
    size_t i = 0;

    while ((milter = postfix_next_milter(&list)).n > 0) {
        if (i == c->n || !slice_eq(milter, slice_str(c->v[i].text))) {
            return true;
        }
        i++;
    }
    return i != c->n;
}

/* ---- the plan ---- */

static enum err plan_list(struct wire *w, bool is_service, const char *name,
                          struct slice list, struct milter_chain *retchain,
                          struct errinfo *reterr)
{
    struct edit *edit = NULL;
    enum err e = wire_read_chain(w, list, retchain, reterr);

    if (e != ERR_OK) {
        return e;
    }
    (void)milter_chain_place(retchain, WIRING_USE);
    for (size_t i = 0; i < retchain->n; i++) {
        w->uses_parameter =
            w->uses_parameter || strcmp(retchain->v[i].text, WIRING_USE) == 0;
    }
    if (!differs(retchain, list)) {
        return ERR_OK;
    }
    edit = add_edit(w, is_service, name);
    if (edit == NULL) {
        return errinfo_set(reterr, ERR_LIMIT, name, 0, "too many services to change");
    }
    write_chain(retchain, is_service ? "," : ", ", edit->value);
    if (is_service && strpbrk(edit->value, " \t") != NULL) {
        w->nedits--;
        setup_note(w->s,
                   "postconf cannot write blanks into master.cf: put " WIRING_USE
                   " into %s by hand",
                   name);
    }
    return ERR_OK;
}

static enum err plan_main(struct wire *w, const char *name,
                          struct milter_chain *retchain, struct errinfo *reterr)
{
    char value[WIRE_VALUE];
    enum err e = wire_setting(w, name, false, value, reterr);

    return e == ERR_OK ? plan_list(w, false, name, slice_str(value), retchain, reterr)
                       : e;
}

/* Whether users submit mail at the service, in contrast to one for mail that was examined
 * before. */
static bool is_submission(const struct wire *w, struct slice service)
{
    static const char *const names[] = {"submission", "submissions", "smtps", "587",
                                        "465"};
    char key[WIRE_NAME];
    struct slice name = slice_head(service, slice_find(service, '/'));

    while (slice_find(name, ':') < name.n) {
        (void)slice_cut(&name, ':');
    }
    if (name_index(name, names, LENGTH(names)) >= 0) {
        return true;
    }
    (void)snprintf(key, sizeof(key), "%.*s/smtpd_sasl_auth_enable",
                   SLICE_ARGS(slice_head(service, 200)));
    return slice_eq(postfix_value(&w->p.options, key), SLICE_LIT("yes"));
}

/* Services of master.cf with lists of their own. */
static enum err plan_services(struct wire *w, struct errinfo *reterr)
{
    struct slice rest = buf_slice(&w->p.options);
    struct slice key;
    struct slice value;
    enum err e = ERR_OK;

    while (e == ERR_OK && postfix_next_setting(&rest, &key, &value)) {
        struct slice service = slice_head(key, key.n - (sizeof("/smtpd_milters") - 1));
        struct milter_chain chain;
        char name[WIRE_NAME];

        if (!slice_has_suffix_nocase(key, SLICE_LIT("/smtpd_milters")) ||
            key.n >= sizeof(name)) {
            continue;
        }
        wire_copy(name, sizeof(name), key);
        if (slice_trim(value).n == 0 && !is_submission(w, service)) {
            setup_say(w->s, "found", "%s asks no milters at all and is left so", name);
            continue;
        }
        e = plan_list(w, true, name, slice_trim(value), &chain, reterr);
    }
    return e;
}

static enum err plan_parameter(struct wire *w, struct errinfo *reterr)
{
    struct wiring wiring = socket_name_wiring(&w->s->wanted);
    char now[WIRE_VALUE];
    struct buf text;
    struct edit *edit = NULL;
    enum err e = wire_setting(w, WIRING_PARAMETER, false, now, reterr);

    if (e != ERR_OK || !w->uses_parameter) {
        return e;
    }
    buf_init(&text, WIRE_VALUE - 1);
    wiring_postfix_milter(&wiring, w->queue, &text);
    if (!slice_eq(slice_str(now), buf_slice(&text))) {
        edit = add_edit(w, false, WIRING_PARAMETER);
        if (edit != NULL) {
            memmove(&w->edits[1], &w->edits[0], (w->nedits - 1) * sizeof(w->edits[0]));
            w->edits[0] = (struct edit){.name = WIRING_PARAMETER};
            wire_copy(w->edits[0].value, WIRE_VALUE, buf_slice(&text));
        }
    }
    buf_fini(&text);
    return ERR_OK;
}

enum err wire_plan(struct wire *w, struct errinfo *reterr)
{
    struct milter_chain local;
    enum err e = plan_main(w, "smtpd_milters", &w->chain, reterr);

    THEN(e, plan_main(w, "non_smtpd_milters", &local, reterr));
    THEN(e, plan_services(w, reterr));
    return e == ERR_OK ? plan_parameter(w, reterr) : e;
}

/* ---- undo ---- */

static bool take_out(struct slice list, const char *between, char dst[WIRE_VALUE])
{
    struct milter_chain chain = {.n = 0};
    struct slice milter;
    bool has_use = false;

    while ((milter = postfix_next_milter(&list)).n > 0) {
        if (slice_eq(milter, SLICE_LIT(WIRING_USE))) {
            has_use = true;
        } else if (!milter_chain_add(&chain, milter, NULL, false)) {
            return false;
        }
    }
    write_chain(&chain, between, dst);
    return has_use;
}

static enum err plan_main_undo(struct wire *w, const char *name, struct errinfo *reterr)
{
    char now[WIRE_VALUE];
    char value[WIRE_VALUE];
    struct edit *edit = NULL;
    enum err e = wire_setting(w, name, false, now, reterr);

    if (e == ERR_OK && take_out(slice_str(now), ", ", value)) {
        edit = add_edit(w, false, name);
    }
    if (edit != NULL) {
        wire_copy(edit->value, WIRE_VALUE, slice_str(value));
        edit->is_removed = *value == '\0';
    }
    return e;
}

enum err wire_plan_undo(struct wire *w, struct errinfo *reterr)
{
    struct slice rest = buf_slice(&w->p.options);
    struct slice key;
    struct slice list;
    char value[WIRE_VALUE];
    struct edit *edit = NULL;
    enum err e = plan_main_undo(w, "smtpd_milters", reterr);

    THEN(e, plan_main_undo(w, "non_smtpd_milters", reterr));
    while (e == ERR_OK && postfix_next_setting(&rest, &key, &list)) {
        if (slice_has_suffix_nocase(key, SLICE_LIT("/smtpd_milters")) &&
            take_out(slice_trim(list), ",", value)) {
            char name[WIRE_NAME];

            wire_copy(name, sizeof(name), key);
            edit = add_edit(w, true, name);
            if (edit != NULL) {
                wire_copy(edit->value, WIRE_VALUE, slice_str(value));
            }
        }
    }
    THEN(e, wire_setting(w, WIRING_PARAMETER, false, value, reterr));
    if (e == ERR_OK && *value != '\0' &&
        (edit = add_edit(w, false, WIRING_PARAMETER)) != NULL) {
        edit->is_removed = true;
    }
    return e;
}
