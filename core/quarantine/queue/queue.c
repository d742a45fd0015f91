#include "core/quarantine/queue/queue.h"

enum err queue_program(const struct queue *q, const char *name, char ret[FILE_PATH_MAX],
                       struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/%s", q->programs, name);
}

enum err queue_not_held(struct slice id, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_NOT_FOUND, NULL, 0,
                       "no message %.*s is held; `gillnet quarantine list --all` "
                       "shows those that are",
                       SLICE_ARGS(slice_head(id, QUARANTINE_ID_MAX)));
}

static bool has_program(const struct queue *q, const char *name)
{
    char path[FILE_PATH_MAX];

    return queue_program(q, name, path, NULL) == ERR_OK && access(path, X_OK) == 0;
}

enum err queue_find(const struct config *config, struct queue *ret,
                    struct errinfo *reterr)
{
    const struct config_quarantine *c = &config->quarantine;

    *ret = (struct queue){.mta = c->mta,
                          .programs = c->programs,
                          .mta_config = c->mta_config,
                          .delivers = true};
    if (ret->mta == QUARANTINE_AUTO) { /* Postfix, too, has a program sendmail */
        ret->mta =
            has_program(ret, "postsuper") ? QUARANTINE_POSTFIX : QUARANTINE_SENDMAIL;
    }
    if (!has_program(ret, ret->mta == QUARANTINE_POSTFIX ? "postsuper" : "sendmail")) {
        return errinfo_set(reterr, ERR_NOT_FOUND, c->programs, 0,
                           "neither Postfix's postsuper nor sendmail can be run "
                           "there; see quarantine.programs in gillnet.conf");
    }
    return ERR_OK;
}

enum err queue_list(const struct queue *q, struct buf *ret, struct errinfo *reterr)
{
    enum err e = q->mta == QUARANTINE_POSTFIX ? queue_postfix_list(q, ret, reterr)
                                              : queue_sendmail_list(q, ret, reterr);

    if (e == ERR_OK && buf_failed(ret)) {
        e = errinfo_set(reterr, ERR_LIMIT, NULL, 0,
                        "the list of held messages is too long");
    }
    return e;
}

/* A checked id as a C string. */
struct checked_id {
    char text[QUARANTINE_ID_MAX + 1];
};

static enum err check_id(struct slice id, struct checked_id *ret,
                         struct errinfo *reterr)
{
    if (!quarantine_is_id(id)) {
        return errinfo_set(reterr, ERR_SYNTAX, NULL, 0, "this is no queue id");
    }
    memcpy(ret->text, id.p, id.n);
    ret->text[id.n] = '\0';
    return ERR_OK;
}

enum err queue_show(const struct queue *q, struct slice id, struct buf *ret,
                    struct errinfo *reterr)
{
    struct checked_id c;
    enum err e = check_id(id, &c, reterr);

    THEN(e, q->mta == QUARANTINE_POSTFIX ? queue_postfix_show(q, c.text, ret, reterr)
                                         : queue_sendmail_show(q, c.text, ret, reterr));
    if (e == ERR_OK && buf_failed(ret)) {
        e = errinfo_set(reterr, ERR_LIMIT, c.text, 0, "the message is too long");
    }
    return e;
}

enum err queue_release(const struct queue *q, struct slice id, struct errinfo *reterr)
{
    struct checked_id c;
    enum err e = check_id(id, &c, reterr);

    THEN(e, q->mta == QUARANTINE_POSTFIX ? queue_postfix_release(q, c.text, reterr)
                                         : queue_sendmail_release(q, c.text, reterr));
    return e;
}

enum err queue_delete(const struct queue *q, struct slice id, struct errinfo *reterr)
{
    struct checked_id c;
    enum err e = check_id(id, &c, reterr);

    THEN(e, q->mta == QUARANTINE_POSTFIX ? queue_postfix_delete(q, c.text, reterr)
                                         : queue_sendmail_delete(q, c.text, reterr));
    return e;
}
