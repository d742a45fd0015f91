/* doctor_identity - the store of correspondents. */
#include "core/cli/doctor.h"
#include "core/message/url/address.h"
#include "core/verdict/identity/contacts.h"

/* Somebody here writes to the trap, so it is in use. */
static void say_traps(struct doctor *d, struct contacts *store)
{
    const struct config *c = d->cli->config;
    char ours[ADDRESS_BYTES_MAX + 1];

    for (size_t t = 0; t < c->report_mail.traps.n; t++) {
        const char *trap = c->report_mail.traps.v[t];
        for (size_t i = 0; *trap != '@' && i < c->protected_domains.n; i++) {
            (void)snprintf(ours, sizeof(ours), "x@%s", c->protected_domains.v[i]);
            if (contacts_wrote(store, slice_str(ours), slice_str(trap))) {
                doctor_say(
                    d, DOCTOR_WARN, "correspondents",
                    "take it out of traps, unless somebody wrote to it by mistake",
                    "%s is a trap and a known correspondent", trap);
                break;
            }
        }
    }
}

void doctor_identity(struct doctor *d)
{
    struct contacts *store = NULL;
    struct contacts_numbers n;
    struct errinfo why = {.code = ERR_OK};

    if (contacts_view(d->cli->config->state_dir, &d->cli->keys, &store, &why) !=
        ERR_OK) {
        doctor_say_why(d, DOCTOR_FAIL, "correspondents",
                       "mail is filtered without them; mend the file, or move it away "
                       "and restart gillnetd",
                       &why);
        return;
    }
    contacts_numbers(store, &n);
    say_traps(d, store);
    contacts_close(&store);
    doctor_say(d, DOCTOR_OK, "correspondents", "",
               "%" PRIu64 " entries in " CONTACTS_DIR "/, %" PRIu64 " KiB",
               n.folded + n.recent, n.bytes >> 10);
}
