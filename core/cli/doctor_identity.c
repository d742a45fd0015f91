/* doctor_identity - the store of correspondents. */
#include "core/cli/doctor.h"
#include "core/verdict/identity/contacts.h"

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
    contacts_close(&store);
    doctor_say(d, DOCTOR_OK, "correspondents", "",
               "%" PRIu64 " entries in " CONTACTS_DIR "/, %" PRIu64 " KiB",
               n.folded + n.recent, n.bytes >> 10);
}
