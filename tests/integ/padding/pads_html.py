"""Padding of HTML, by the rules of the WHATWG standard: bytes that a browser drops hide no link."""
from frames import (CARRIERS, HREF, HTML_PLACES, LINKS, address, around, carried, fill, header, html_part)

IMAGE = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"

# (name, opening, repeated bytes, closing, why the link is shown)
UNITS = (
    ("text", b"", b"the quick brown fox, and so on. ", b"", "prose"),
    ("spaces", b"", b" ", b"", "white space is one space"),
    ("line ends", b"", b"\r\n", b"", "white space is one space"),
    ("no-break spaces", b"", b"&nbsp;", b"", "blanks"),
    ("breaks", b"", b"<br>", b"", "empty lines"),
    ("NULs", b"", b"\0", b"", "NULs in text are dropped"),
    ("broken UTF-8", b"", b"\xe2\x80\xff", b"", "replacement characters"),
    ("entities", b"", b"&amp;", b"", "characters"),
    ("numeric entities", b"", b"&#65;", b"", "characters"),
    ("entities begun", b"", b"&CounterClockwiseContourIntegra ", b"", "text"),
    ("entities not known", b"", b"&nosuch;", b"", "text"),
    ("less-than signs", b"", b"< ", b"", "text"),
    ("less-than and more-than signs", b"", b"<>", b"", "text"),
    ("empty end tags", b"", b"</>", b"", "dropped"),
    ("end tags of nothing", b"", b"</x\1>", b"", "dropped"),
    ("end tags of paragraphs", b"", b"</p>", b"", "empty paragraphs"),
    ("comments", b"", b"<!-- a -->", b"", "comments are not shown"),
    ("one long comment", b"<!--", b"a <a href=x> - ", b"-->", "comments are not shown"),
    ("one comment of dashes", b"<!--", b"- ", b"-->", "comments are not shown"),
    ("comments closed at once", b"", b"<!-->", b"", "comments are not shown"),
    ("comments closed oddly", b"", b"<!-- a --!>", b"", "comments are not shown"),
    ("processing instructions", b"", b"<?php a ?>", b"", "comments are not shown"),
    ("declarations", b"", b"<!doctype a\1>", b"", "dropped"),
    ("CDATA", b"", b"<![CDATA[ a ]]>", b"", "outside of SVG a comment"),
    ("one long CDATA", b"<![CDATA[", b"a ]] ", b"]]>", "outside of SVG a comment"),
    ("conditional comments", b"", b"<!--[if mso]><p>a</p><![endif]-->", b"", "shown by one client alone"),
    ("open conditions", b"", b"<![if !mso]><p>a</p><![endif]>", b"", "shown by all others"),
    ("scripts", b"", b"<script>var a\1 = 1;</script>", b"", "scripts are not shown"),
    ("one long script", b"<script>", b"var a\1 = '<a href=x>';", b"</script>", "scripts are not shown"),
    ("a script in a comment", b"<script><!--", b"<script>a</script>", b"--></script>", "scripts are not shown"),
    ("styles", b"", b"<style>p{color:red}</style>", b"", "styles are not shown"),
    ("one long style", b"<style>", b".a\1{margin:0;background:url(a\1.png)}", b"</style>", "styles are not shown"),
    ("titles", b"", b"<title>a < b</title>", b"", "titles are not shown"),
    ("one long title", b"<title>", b"a <b> ", b"</title>", "titles are not shown"),
    ("text areas", b"", b"<textarea>a</textarea>", b"", "fields of a form"),
    ("one long text area", b"<textarea>", b"a <a href=x> ", b"</textarea>", "a field of a form"),
    ("noscript", b"", b"<noscript><p>a</p></noscript>", b"", "clients run no scripts"),
    ("noframes", b"", b"<noframes><p>a</p></noframes>", b"", "raw text that is not shown"),
    ("noembed", b"<noembed>", b"<p>a</p>", b"</noembed>", "raw text that is not shown"),
    ("xmp", b"<xmp>", b"<p>a</p>", b"</xmp>", "raw text"),
    ("templates", b"", b"<template><p>a</p></template>", b"", "not shown"),
    ("hidden text", b"", b"<i hidden>x</i>", b"", "not shown"),
    ("hidden elements not closed", b"<div style='display:none'>", b"<b>x</b>", b"</div>", "not shown, and closed"),
    ("tiny text", b"", b"<font size=1 style='font-size:0'>x</font>", b"", "not seen"),
    ("paragraphs", b"", b"<p>a</p>", b"", "text"),
    ("nested div", b"", b"<div>", b"", "depth is cut, contents are shown"),
    ("nested div, closed", b"", b"<div></div>", b"", "empty elements"),
    ("nested span", b"", b"<span>", b"", "depth is cut, contents are shown"),
    ("nested font", b"", b"<font color=#123456>", b"", "depth is cut, contents are shown"),
    ("nested tables", b"", b"<table><tr><td>", b"", "depth is cut, contents are shown"),
    ("nested unknown elements", b"", b"<x\1>", b"", "depth is cut, contents are shown"),
    ("nested blockquotes", b"", b"<blockquote>", b"", "depth is cut, contents are shown"),
    ("nested lists", b"", b"<ul><li>", b"", "depth is cut, contents are shown"),
    ("formatting not closed", b"", b"<b><i><u>", b"", "formatting goes on"),
    ("elements misnested", b"", b"<i><b></i>x", b"", "formatting goes on"),
    ("paragraphs not closed", b"", b"<p>", b"", "empty paragraphs"),
    ("cells", b"<table><tr>", b"<td>a</td>", b"</table>", "a table"),
    ("rows", b"<table>", b"<tr><td><b></b><td><i></i></tr>", b"</table>", "a table"),
    ("text misplaced in a table", b"<table>", b"a<b>c</b>", b"</table>", "it is shown before the table"),
    ("options", b"<select>", b"<option>a\1", b"</select>", "a field of a form"),
    ("SVG", b"<svg>", b"<g><path d='M0 0'/></g>", b"</svg>", "a picture"),
    ("MathML", b"<math>", b"<mi>x</mi>", b"</math>", "a formula"),
    ("tags with many attributes", b"", b"<p a=1 b=2 c=3 d=4 e=5 f=6 g=7>", b"", "paragraphs"),
    ("one tag with a long attribute", b"<p title='", b"long ", b"'>", "a hint"),
    ("inline styles", b"", b"<p style='margin:0;padding:0;font:12px/1 a,b;color:#123'>a</p>", b"", "paragraphs"),
    ("one long inline style", b"<p style=\"", b"x:((\\6/* a */ url(a\1.png);", b"\">", "a paragraph"),
    ("metas", b"", b"<meta name=a\1 content=b>", b"", "not shown"),
    ("links of other hosts", b"", b"<a href='http://www\1.other\1.example/'>a</a> ", b"", "all are shown"),
    ("links of one host", b"", b"<a href='http://www.other.example/\1'>a</a> ", b"", "all are shown"),
    ("links not closed", b"", b"<a href='http://www\1.other.example/'>a", b"", "a new link ends the old"),
    ("links that show others", b"", b"<a href='//a\1.example'>b\1.example</a>", b"", "all are shown"),
    ("links without a target", b"", b"<a name=a\1>a</a>", b"", "anchors"),
    ("relative links", b"", b"<a href='page\1.html'>a</a>", b"", "they lead nowhere in mail"),
    ("links within the page", b"", b"<a href='#a\1'>a</a>", b"", "a table of contents"),
    ("mailto links", b"", b"<a href='mailto:joe\1@people.example.com'>a</a>", b"", "all are shown"),
    ("scripts as links", b"", b"<a href='javascript:void(\1)'>a</a>", b"", "they do nothing in mail"),
    ("images of one host", b"", b"<img src='https://cdn.other.example/p/\1.png' alt=''>", b"", "pictures"),
    ("images of many hosts", b"", b"<img src='https://i\1.other\1.example/p.png'>", b"", "pictures"),
    ("images in the message", b"", b"<img src='cid:a\1@b'>", b"", "pictures"),
    ("images as data", b"", b"<img src='data:image/png;base64," + IMAGE + b"'>", b"", "pictures"),
    ("one image as data", b"<img src='data:image/png;base64,", IMAGE, b"'>", "a picture, everyday mail"),
    ("images of many sizes", b"<img srcset='", b"a\1.png 2x, ", b"b.png'>", "a picture"),
    ("forms", b"", b"<form action='//a\1.example'><input></form>", b"", "forms"),
    ("fields of a form", b"<form>", b"<input type=hidden name=a\1 value=b>", b"</form>", "not seen"),
    ("redirectors", b"", b"<a href='https://www.google.com/url?q=http://o\1.example/'>a</a>", b"", "all are shown"),
    ("upper case", b"", b"<P ALIGN=\"LEFT\"><FONT SIZE=2>A</FONT></P>\n", b"", "old programs"),
    ("mso markup", b"", b"<o:p>&nbsp;</o:p><v:shape id=a\1></v:shape>", b"", "a word processor's"),
)

PAIRS = 12
# (name, bytes repeated among the attributes, why)
ATTRIBUTES = (
    ("many", b"a\1=b ", "attributes that nobody knows are ignored"),
    ("of one name", b"title=b ", "the first of a name counts"),
    ("without values", b"a\1 ", "attributes without values"),
    ("with empty values", b"a\1='' ", "empty values"),
    ("data-*", b"data-x\1=\"y\" ", "data of scripts"),
    ("handlers", b"onclick='a(\1)' ", "scripts do not run"),
    ("slashes", b"/", "slashes between attributes are dropped"),
    ("equals signs", b"= ", "a name that begins with an equals sign"),
    ("spaces", b" ", "white space"),
    ("line ends", b"\r\n", "white space"),
    ("of other scripts", "é\1=ü ".encode(), "names in any script"),
    ("NULs", b"\0 ", "replacement characters"),
    ("quotes in names", b"\"a\1 ", "names with quotes in them"),
    ("addresses of others", b"title=http://t\1.example/ ", "a hint is no link"),
    ("styles", b"style='a:url(//s\1.example/)' ", "the first of a name counts"),
)

# (name, opening, repeated bytes, closing): one long attribute
LONG_ATTRIBUTES = (
    ("a long name", b"", b"a", b"=b "),
    ("a long value", b"title=\"", b"word ", b"\" "),
    ("a long value unquoted", b"title=", b"a", b" "),
    ("a long value of entities", b"title='", b"&amp;", b"' "),
    ("a long style", b"style='", b"color:red;", b"' "),
)


def html_message(data, pick):
    return header() + html_part(data, pick(HTML_PLACES))


def content(opening, unit, closing):
    def build(position, size, pick):
        before, after = around(lambda n, first: opening + fill(unit, n, first) + closing, position, size)
        link = carried(pick(CARRIERS), address(pick(LINKS)))
        return html_message(before + link + b"\n" + after, pick)
    return build


def pair(one, two):
    """Two kinds in turn, a kilobyte each: the second uses up the rest of the first one's budget."""
    def build(position, size, pick):
        def make(n, first):
            count = -(-n // 2048)
            return b"".join(opening + fill(unit, min(n, 1024), first + i * 1024) + closing
                            for i in range(count) for _, opening, unit, closing, _ in (one, two))
        before, after = around(make, position, size)
        return html_message(before + carried(pick(CARRIERS), address(pick(LINKS))) + after, pick)
    return build


def attributes(opening, unit, closing):
    def build(position, size, pick):
        before, after = around(lambda n, first: opening + fill(unit, n, first) + closing, position, size)
        return html_message(carried(pick(CARRIERS), address(pick(LINKS)), before, after), pick)
    return build


def in_value(unit):
    """White space and bytes that browsers drop around and inside of the address."""
    def build(position, size, pick):
        url = address(pick(LINKS))
        before, after = around(lambda n, _: fill(unit, n), position, size)
        if position == "amid" and unit not in (b" ", b"\x01\x1f"):  # only tabs and line ends are dropped inside
            url = url[:9] + fill(unit, size // 4) + url[9:]
        return html_message(carried(pick(CARRIERS[:2]), before + url + after), pick)
    return build


def zeros_in_references(position, size, pick):
    """&#000104; is h, however many zeros it has."""
    url = address(pick(LINKS))
    where = {"before": 0, "amid": len(url) // 2, "after": len(url) - 1}[position]
    url = url[:where] + b"&#" + b"0" * size + b"%d;" % url[where] + url[where + 1:]
    return html_message(carried(pick(HREF), url), pick)


def relative_before_base(position, size, pick):
    """The first base counts for all relative links, also those before it."""
    link = pick(LINKS)
    base = b"<base href='" + link.scheme + b"://" + link.host + b"/'>"
    before, after = around(lambda n, first: fill(b"<a href='page\1'>a</a>", n, first), position, size)
    return html_message(before + b"<a href='" + link.rest[1:] + b"'>Sign in</a>" + after + base, pick)


def relative_after_base(position, size, pick):
    link = pick(LINKS)
    base = b"<base href='" + link.scheme + b"://" + link.host + b"/'>"
    before, after = around(lambda n, first: fill(b"<base href='//b\1.example/'>", n, first), position, size)
    return html_message(base + before + b"<a href='" + link.rest[1:] + b"'>Sign in</a>" + after, pick)


def refresh(position, size, pick):
    before, after = around(lambda n, _: fill(b" ", n), position, size)
    return html_message(b"<meta http-equiv=refresh content='0;" + before + b"url=" + address(pick(LINKS)) +
                        after + b"'>", pick)


def candidates(position, size, pick):
    """The link is one of many candidates of srcset."""
    before, after = around(lambda n, first: fill(b"http://i\1.example/a.png \1w, ", n, first), position, size)
    return html_message(b"<img srcset='" + before + address(pick(LINKS)) + b" 2x, " + after + b"'>", pick)


def in_condition(position, size, pick):
    """Outlook shows what other clients take for a comment."""
    before, after = around(lambda n, _: fill(b"<p>a</p>", n), position, size)
    return html_message(b"<!--[if mso]>" + before + carried(pick(CARRIERS[:3]), address(pick(LINKS))) + after +
                        b"<![endif]-->", pick)


def text_of_html(position, size, pick):
    """Clients make links of addresses in the text of HTML too."""
    before, after = around(lambda n, _: fill(b"<td>a</td>", n), position, size)
    return html_message(b"<table><tr>" + before + b"<td>" + address(pick(LINKS)) + b" </td>" + after +
                        b"</table>", pick)


def rows():
    yield from (("html " + name, why, content(opening, unit, closing))
                for name, opening, unit, closing, why in UNITS)
    for i in range(PAIRS):
        one, two = UNITS[i * 5 % len(UNITS)], UNITS[(i * 7 + 3) % len(UNITS)]
        yield (f"html {one[0]} and {two[0]}", "each is shown or dropped", pair(one, two))
    yield from (("attributes " + name, why, attributes(b"", unit, b"")) for name, unit, why in ATTRIBUTES)
    yield from (("attribute with " + name, "attributes do not hide each other", attributes(*how))
                for name, *how in LONG_ATTRIBUTES)
    for name, unit in (("spaces", b" "), ("tabs", b"\t"), ("line ends", b"\n"), ("CRLF", b"\r\n"),
                       ("control characters", b"\x01\x1f"), ("&Tab;", b"&Tab;"), ("&NewLine;", b"&NewLine;"),
                       ("&#9;", b"&#9;")):
        yield (f"href {name}", "browsers strip blanks and controls at the ends and drop tabs and line ends",
               in_value(unit))
    yield ("href zeros in references", "zeros in a reference say nothing", zeros_in_references)
    yield ("html relative links before the base", "one base for all links", relative_before_base)
    yield ("html bases", "the first base counts", relative_after_base)
    yield ("html refresh", "white space in content is dropped", refresh)
    yield ("html candidates", "the client loads one of them", candidates)
    yield ("html in a conditional comment", "Outlook shows it", in_condition)
    yield ("html cells around text", "clients make a link of it", text_of_html)
