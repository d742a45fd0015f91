/*
 * conversation - readers of the fields that name other messages and mailing lists; of this room.
 *
 * Each takes the value of one field of the message itself; the result is extract_conversation.
 * Threads: one at a time.   Allocates: from the arena of the message.
 */
#ifndef CORE_MESSAGE_EXTRACT_CONVERSATION_H
#define CORE_MESSAGE_EXTRACT_CONVERSATION_H

#include "core/message/extract/extract_internal.h"

void conversation_reply_to_id(struct extract *x, struct slice value);
void conversation_references(struct extract *x, struct slice value);
void conversation_auto_submitted(struct extract *x, struct slice value);
void conversation_autoreply(struct extract *x, struct slice value);
void conversation_type(struct extract *x, struct slice value);
void conversation_precedence(struct extract *x, struct slice value);
void conversation_list(struct extract *x, struct slice value);
void conversation_list_post(struct extract *x, struct slice value);
void conversation_unsubscribe(struct extract *x, struct slice value);

#endif
