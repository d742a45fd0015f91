/*
 * ole - inside of core/reader/document: compound files, one stream after the other.
 *
 * libgsf opens the container. Each stream goes to the reader of its name, the remaining streams to
 * a search for addresses and for files. Storages wait on a stack, so that nothing recurses. A
 * storage inside the file (an embedded document, an attached message) is read like the file itself.
 *
 * Files in reading order: ole, ole_text (characters), field (codes of fields), ole_word, ole_excel
 * and excel_formula, ole_slides, ole_vba, ole_object, ole_message, ole_crypt.
 * uri_scan (addresses in bytes that nobody parses); onenote and rich_text have no container.
 * To add a stream: a reader here, and a row in ole.c.
 * Threads: one object, one thread.   Allocates: an arena for texts; libgsf's objects.
 * Depends: base, wire, text, archive.
 * Source: MS-CFB, MS-DOC, MS-XLS, MS-PPT, MS-OVBA, MS-OLEDS, MS-OXMSG, MS-OFFCRYPTO.
 */
#ifndef CORE_READER_DOCUMENT_OLE_H
#define CORE_READER_DOCUMENT_OLE_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/reader/wire/found.h"

enum {
    OLE_DEPTH = 24,          /* storages in storages; deeper ones are not read */
    OLE_CHILDREN = 4096,     /* of one storage, that are read */
    OLE_WHERE_MAX = 96,      /* bytes of the place of a storage */
    OLE_READ_RATIO = 4,      /* bytes of all streams for one byte of the file ... */
    OLE_READ_FREE = 1 << 20, /* ... beyond this many: streams may share their blocks */
    OLE_ARENA = 128 << 20,   /* bytes of texts that are converted at once */
    OLE_TEXT_STEP = 32 << 10 /* bytes of text after which a record is written */
};

struct ole {
    struct found *f;
    const struct reader_job *job;
    struct arena *arena;
    uint64_t left;     /* bytes of streams that may still be read */
    unsigned object;   /* number of the last embedded object */
    unsigned codepage; /* of the message; 0: unknown */
    bool is_broken;    /* the container is: the search looks for every width */
    char where[OLE_WHERE_MAX];
    bool is_over; /* enough is found */
};

struct ole_folder;

struct ole_stream {
    void *input;
    struct slice bytes;
};

/* Opens and reads a stream of the folder. False: the folder has no such stream. */
bool ole_open(struct ole *o, const struct ole_folder *folder, const char *name,
              struct ole_stream *ret);
void ole_close(struct ole_stream *s);

/* Sets the place of the next finds, behind the place of the storage. */
void ole_at(struct ole *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The result of a found_ function: false ends the reading. */
void ole_keep(struct ole *o, bool is_more);

typedef void ole_stream_fn(struct ole *o, const struct ole_folder *folder,
                           struct slice bytes);
ole_stream_fn word_read;
ole_stream_fn excel_read;
ole_stream_fn slides_read;
ole_stream_fn vba_read;     /* the stream "dir" of a project */
ole_stream_fn native_read;  /* \1Ole10Native */
ole_stream_fn package_read; /* a file as it is */
ole_stream_fn message_read; /* the properties of a message or of an attachment */
ole_stream_fn named_read;   /* a text property whose number a program chose */
ole_stream_fn crypt_read;   /* EncryptedPackage */

/* The content of \1Ole10Native behind its length: a file, with its name where it has one. */
void native_content(struct ole *o, struct slice bytes);
/* An object of OLE 1, as RTF holds it: a file, or where it is. */
void ole_object(struct ole *o, struct slice bytes, unsigned codepage);
/* Addresses of monikers, and strings with an address, in any stream. */
void ole_search(struct ole *o, struct slice bytes);
/* Gives out a whole file. */
void ole_file(struct ole *o, struct slice name, struct slice type, struct slice bytes);

#endif
