"""Padding within an address: bytes that a browser drops or ignores when it opens the link.

The link itself is padded; before: in front of its host; after: behind it, or else the link is
bare and another padded one follows.  Browsers open addresses of up to a megabyte.
"""
from frames import CARRIERS, HTML_PLACES, LINKS, SECOND_HALF, carried, fill, header, html_part, text_part

LONGEST = 1000000  # Firefox opens 1 MB, Chromium 2 MB
BY_HOST = LINKS[:2]  # listings that hold whatever the path and query are


def pieces(size):
    """Bytes of each of the padded addresses."""
    return [LONGEST] * (size // LONGEST) + ([size % LONGEST] if size % LONGEST else [])


def message(urls, pick, is_html):
    if is_html:
        body = b"".join(carried(CARRIERS[0], url) + b"\n" for url in urls)
        return header() + html_part(body, pick(HTML_PLACES))
    body = b"".join(b"See " + url + b" today\n" for url in urls)
    return header() + text_part(body, pick(("plain", "base64", "quoted", "attached")))


def padded(make, links=BY_HOST, kinds=(True, False)):
    """make(link host and rest, padding size, number) is an address."""
    def build(position, size, pick):
        link = pick(links)
        parts = pieces(size) or [0]
        if position == "before":  # the last is the listed one
            urls = [make(b"http", b"o%d.other.example" % i, b"/", n, i) for i, n in enumerate(parts[:-1])]
            urls.append(make(link.scheme, link.host, link.rest, parts[-1], 0))
        elif position == "amid":
            urls = [make(b"http", b"o%d.other.example" % i, b"/", n // 2, i) for i, n in enumerate(parts)]
            urls.insert(len(urls) // 2, make(link.scheme, link.host, link.rest, min(size // 2, LONGEST), 0))
            urls += [make(b"http", b"p%d.other.example" % i, b"/", n // 2, i) for i, n in enumerate(parts[1:])]
        else:
            urls = [link.scheme + b"://" + link.host + link.rest]
            urls += [make(b"http", b"o%d.other.example" % i, b"/", n, SECOND_HALF + i) for i, n in enumerate(parts)]
        return message(urls, pick, pick(kinds))
    return build


def user(unit):
    return lambda scheme, host, rest, n, first: (
        scheme + b"://" + (fill(unit, n, first) + b"@" if n else b"") + host + rest)


def opening(unit):
    """Browsers take any number of slashes and backslashes for two."""
    return lambda scheme, host, rest, n, first: scheme + b"://" + fill(unit, n) + host + rest


def port(scheme, host, rest, n, first):
    return scheme + b"://" + host + (b":" + b"0" * n + (b"443" if scheme == b"https" else b"80") if n else b"") + rest


def segments(unit):
    """Dot segments and the segments that they remove."""
    return lambda scheme, host, rest, n, first: scheme + b"://" + host + fill(unit, n) + rest


def path(unit):
    return lambda scheme, host, rest, n, first: scheme + b"://" + host + fill(unit, n, first) + rest.split(b"?")[0]


def query(unit):
    return lambda scheme, host, rest, n, first: (
        scheme + b"://" + host + rest.split(b"?")[0] + b"?" + fill(unit, n, first))


def fragment(unit):
    return lambda scheme, host, rest, n, first: scheme + b"://" + host + rest + b"#" + fill(unit, n, first)


def inside(unit):
    """Tabs and line ends in an address are dropped wherever they stand."""
    return lambda scheme, host, rest, n, first: (
        scheme + b":" + fill(unit, n // 3) + b"//" + host[:4] + fill(unit, n // 3) + host[4:] + fill(unit, n // 3) + rest)


def redirector(scheme, host, rest, n, first):
    """Parameters before the one that says where it leads."""
    target = scheme + b"%3A%2F%2F" + host + rest.replace(b"/", b"%2F").replace(b"?", b"%3F").replace(b"=", b"%3D")
    return b"https://www.google.com/url?" + fill(b"a\1=b&", n, first) + b"q=" + target


def redirectors(scheme, host, rest, n, first):
    """Redirectors that lead to redirectors, as many as the padding allows, at most eight."""
    count = min(8, n // 40)
    return b"https://go.example/?url=" * count + scheme + b"://" + host + rest + b"#" + b"a" * max(0, n - 40 * count)


def labels(scheme, host, rest, n, first):
    """A long host below the listed one: at most 253 characters, the rest is a fragment."""
    room = (250 - len(host)) // 2
    count = min(room, n // 2)
    return scheme + b"://" + b"a." * count + host + rest + b"#" + b"a" * max(0, n - 2 * count)


def rows():
    why = "browsers drop it or send it along"
    for name, unit in (("letters", b"a"), ("at signs", b"@"), ("colons", b":"), ("escapes", b"%41"), ("dots", b"www.bank.example."),
                       ("words", b"bank-\1.")):
        yield (f"url user of {name}", "what stands before the last @ is no host", padded(user(unit), LINKS, (True,)))
    yield ("url user in text", "what stands before the @ is no host", padded(user(b"a"), LINKS, (False,)))
    yield ("url slashes", "any number of slashes is two", padded(opening(b"/"), LINKS, (True,)))
    yield ("url backslashes", "a backslash is a slash", padded(opening(b"\\"), LINKS, (True,)))
    yield ("url slashes of both kinds", "a backslash is a slash", padded(opening(b"/\\"), LINKS, (True,)))
    yield ("url zeros of the port", "zeros before a number", padded(port, LINKS))
    yield ("url dot segments", "they are taken back", padded(segments(b"/a/.."), LINKS))
    yield ("url single dots", "they are dropped", padded(segments(b"/."), LINKS))
    yield ("url escaped dot segments", "they are taken back", padded(segments(b"/a/%2e%2E"), LINKS))
    yield ("url path", why, padded(path(b"/a\1")))
    yield ("url path of slashes", why, padded(path(b"/")))
    yield ("url path of escapes", why, padded(path(b"/%25")))
    yield ("url path of identifiers", why, padded(path(b"/A1b2-c3\1")))
    yield ("url query", why, padded(query(b"a\1=b&")))
    yield ("url query of one value", why, padded(query(b"a")))
    yield ("url query of escapes", why, padded(query(b"%25%26")))
    yield ("url query of tracking parameters", "they change no page", padded(
        lambda s, h, r, n, first: s + b"://" + h + r + (b"&" if b"?" in r else b"?") + fill(b"utm_source=\1&", n, first)))
    yield ("url fragment", "it stays in the browser", padded(fragment(b"a"), LINKS))
    yield ("url fragment of numbers", "it stays in the browser", padded(fragment(b"/\1?"), LINKS))
    yield ("url fragment of at signs", "it stays in the browser", padded(fragment(b"@b.example/"), LINKS))
    yield ("url tabs inside", "browsers drop them", padded(inside(b"\t"), LINKS, (True,)))
    yield ("url line ends inside", "browsers drop them", padded(inside(b"\n"), LINKS, (True,)))
    yield ("url parameters of a redirector", "the redirector ignores them", padded(redirector))
    yield ("url redirectors nested", "each leads to the next", padded(redirectors))
    yield ("url labels before a domain", "all hosts below a listed domain", padded(labels, LINKS[:1]))
