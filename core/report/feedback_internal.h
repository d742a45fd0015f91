/* feedback_internal - the inside of feedback, shared by its files only. */
#ifndef CORE_REPORT_FEEDBACK_INTERNAL_H
#define CORE_REPORT_FEEDBACK_INTERNAL_H

#include "core/report/feedback.h"

/* Reads the text of a message/feedback-report. */
void feedback_read_abuse(struct slice text, struct feedback *ret);
/* Reads the text of a message/delivery-status. */
void feedback_read_status(struct slice text, struct feedback *ret);
/* The text in <>, or all of it, trimmed. */
struct slice feedback_bare(struct slice value);
/* text begins with a field, or with the "From " line of a mailbox. */
bool feedback_is_mail(struct slice text);

#endif
