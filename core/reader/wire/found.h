/*
 * found - finds of a reader in one file become records.
 *
 * The readers of formats call these functions in the order in which a person meets the content.
 * Each returns false when enough is found: the reader stops then. Texts are made whole before they
 * come here: UTF-8 without NUL. The client trusts none of this.
 *
 * Files in reading order: found, records (they are, written and checked), request.
 * Threads: one object, one thread.   Allocates: the buffer of found_new.   Depends: base.
 */
#ifndef CORE_READER_WIRE_FOUND_H
#define CORE_READER_WIRE_FOUND_H

#include "core/base/slice.h"
#include "core/reader/wire/records.h"

enum {
    FOUND_WHERE_MAX = 200,  /* bytes of a place in a file; a longer one is cut */
    FOUND_NAME_MAX = 1024,  /* bytes of the name of a contained file; likewise */
    FOUND_VALUE_MAX = 8192, /* bytes of a link; a longer one is cut */
    FOUND_CODE_MAX = 8192   /* bytes of a code: a QR code holds 7089 digits at most */
};

/* The work that one file may cause. */
struct reader_limits {
    uint32_t entries; /* contained files and names */
    uint64_t bytes;   /* that come out: of contained files, texts and all else */
    uint32_t ratio;   /* bytes out for one in, beyond RECORD_RATIO_FREE */
    uint32_t pages;   /* of a document that are drawn to look for codes */
    uint64_t pixels;  /* of one picture that are decoded */
    bool with_ocr;    /* text in pictures is read */
};

/* One file to read. Slices are borrowed. */
struct reader_job {
    struct slice bytes;
    struct slice name;            /* UTF-8, or empty */
    struct slice type;            /* media type in lower case, or empty */
    const struct slice *password; /* texts of the message that may open it */
    size_t npasswords;
    /* Pictures that stand behind this one in the message: a code may be cut over all of them. Then
     * codes of them together are sought, and nothing else. */
    const struct slice *next;
    size_t nnext;
    /* Give out what a password opens, and nothing else: the rest is read already. */
    bool locked_only;
    struct reader_limits limits;
};

/* Takes written records. False: nobody wants more. */
typedef bool found_write_fn(void *context, struct slice bytes);

struct found;

/* NULL: no memory. job and context are borrowed until found_free. */
struct found *found_new(const struct reader_job *job, found_write_fn *write,
                        void *context);
/* Writes the rest and the end, and frees. Accepts NULL. */
void found_free(struct found **f);

/* The job of found_new. */
const struct reader_job *found_job(const struct found *f);
/* Writes what is buffered: before work of a library that may end the process. */
bool found_flush(struct found *f);

/* Where the next finds stand, in words for an administrator: "page 2", "sheet Prices"; "" is the
 * file as a whole. Kept until the next call. */
void found_at(struct found *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text in the order in which it is read. Pieces at one place are one text; a word that is cut by
 * the end of a piece continues in the next. is_hidden: a person does not see it. */
bool found_text(struct found *f, struct slice text, bool is_hidden);
/* A link or the address of an action, as it stands. */
bool found_link(struct found *f, struct slice uri);
/* Source of a program that the document holds. */
bool found_script(struct found *f, enum record_language language, struct slice source);
/* The text of a code in a picture. */
bool found_code(struct found *f, enum record_symbology symbology, struct slice payload);
/* One key of a picture's look: near replicas share at least one. Bytes that other servers make
 * alike. */
bool found_look(struct found *f, struct slice key);
/* Something that is true of the file. Once is enough. */
bool found_fact(struct found *f, enum record_fact fact);

/* A contained file: its name, its bytes in pieces, its end. type: media type as the container
 * tells, or empty. */
bool found_file_begin(struct found *f, struct slice name, struct slice type);
bool found_file_data(struct found *f, struct slice bytes);
/* whole: no byte is missing. */
bool found_file_end(struct found *f, bool whole);
/* A name in the container without bytes to see: a folder, an encrypted file. */
bool found_name(struct found *f, struct slice name);

/* Bytes that may still come out; a reader that unpacks asks before it allocates. */
uint64_t found_room(const struct found *f);
/* nin bytes of a stream became nout: false, and the fact is noted, where honest files are packed
 * less tightly. */
bool found_ratio(struct found *f, uint64_t nin, uint64_t nout);

#endif
