/*
 * office - role of an entry of a zip file in a document of an office program.
 *
 * One table gives the role by path, for Office Open XML (docx, xlsx, pptx and the like) and for
 * OpenDocument (odt, ods, odp).
 * Threads: pure.   Allocates: nothing.   Source: ECMA-376 part 1, 11 to 15 and part 2;
 * OpenDocument 1.3 part 2.
 */
#ifndef CORE_MESSAGE_ARCHIVE_OFFICE_H
#define CORE_MESSAGE_ARCHIVE_OFFICE_H

#include "core/base/slice.h"

enum office_kind { OFFICE_NOT, OFFICE_OPEN_XML, OFFICE_OPEN_DOCUMENT };

enum office_role {
    OFFICE_FILE,     /* an ordinary file, of a plain zip or embedded in the document */
    OFFICE_MEDIA,    /* a picture or sound: the program made its name */
    OFFICE_DOCUMENT, /* XML with the document's own text */
    OFFICE_TEXT,     /* XML with other text that readers see: headers, masters, notes */
    OFFICE_RELATIONS, /* XML with the targets of parts */
    OFFICE_OWN /* the program's: styles, settings, themes; many documents share them */
};

/* zip: a zip file or the beginning of one. */
enum office_kind office_kind_of(struct slice zip);
enum office_role office_role_of(enum office_kind kind, struct slice path);

#endif
