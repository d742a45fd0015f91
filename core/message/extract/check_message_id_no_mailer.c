/* check_message_id_no_mailer - programs that imitate Outlook's Message-ID and forget to name a mail
 * program, as Outlook always does. */
#include "core/message/extract/check.h"
#include "core/message/text/ascii.h"

enum { ID_WORD = 8 }; /* hexadecimal digits of each of the three words, at least */

/* Whether id begins with "<", three words of hexadecimal digits with "$" between, and "@". */
static bool is_of_outlook(struct slice id)
{
    static const char ends[] = "$$@";
    size_t i = 1;

    for (const char *end = ends; *end != '\0'; end++, i++) {
        const size_t begin = i;
        while (i < id.n && ASCII_IS(id.p[i], ASCII_HEX)) {
            i++;
        }
        if (i < begin + ID_WORD || i >= id.n || id.p[i] != *end) {
            return false;
        }
    }
    return true;
}

bool check_message_id_no_mailer(const struct facts *facts)
{
    return facts->fields[NOTED_MAILER] == 0 && is_of_outlook(facts->message_id);
}
