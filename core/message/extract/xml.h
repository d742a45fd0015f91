/*
 * xml - inside of core/message/extract: text and links in the XML of office documents and of the
 * system's small files.
 *
 * The runs of a paragraph, a cell or a string form one text. Links are read from codes of fields,
 * formulas, external relations and the few attributes that hold addresses. Attributes that name
 * namespaces and schemas are not read. Elements are matched by their local names, because each
 * document chooses its prefixes. A nested field counts with its result, not with its code.
 * Source: ECMA-376 part 1, 17.16 (fields) and 18; part 2, 9.3 (relations); OpenDocument 1.3.
 */
#ifndef CORE_MESSAGE_EXTRACT_XML_H
#define CORE_MESSAGE_EXTRACT_XML_H

#include "core/base/slice.h"

struct extract;

enum {
    EXTRACT_XML_TEXT = 16 * 1024, /* bytes of text that are scanned at once */
    EXTRACT_XML_FIELD = 4 * 1024, /* bytes of a field's code; the rest is not read */
    EXTRACT_XML_TEXT_MIN =
        16 /* bytes of text; a document with fewer is an empty form */
};

/* True if a file with this name holds links in XML: relations, or a file of the system. */
bool extract_is_xml(struct slice name);
/* False: out of memory. */
bool extract_xml_begin(struct extract *x);
void extract_xml_text(struct extract *x, struct slice utf8);
void extract_xml_end(struct extract *x);
/* True if the XML that ended last had text. */
bool extract_xml_has_text(const struct extract *x);

#endif
