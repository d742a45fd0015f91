"""tables_url - second sources of URLs: found in text, read, resolved, normalised; hosts and their domains."""
import html
import json
import re
import urllib.parse

from literals import calls, go_table, python_calls
from table import Table, field

GO = "share/go-1.19/src"
GOCODE = "share/gocode/src"
CARGO = "share/cargo/registry"
PYTHON = "lib/python3.11/test"


def extent(text):
    """Scheme aside, what a list looks up: host in lower case, for mail the address."""
    text = re.sub(rb"(?i)^(mailto:|[a-z][a-z0-9+.-]*://)", b"", text)
    head = re.split(rb"[/?#\\]", text, maxsplit=1)[0]
    return re.sub(rb":\d*$", b"", head).decode("utf-8", "replace").lower()


def finds(answer):
    """[(readings, is_bare)]: a link has a shorter reading beside it where readers differ."""
    groups, shorter = [], []
    for kind, text in answer:
        if kind == "short":
            shorter.append(extent(text))
        else:
            groups.append((shorter + [extent(text)], kind == "bare"))
            shorter = []
    return groups


def same_finds(want, groups):
    """All links of want in their order and no others; bare names may be links or not."""
    want = list(want)
    for readings, is_bare in groups:
        if want and want[0] in readings:
            want.pop(0)
        elif not is_bare:
            return False
    return not want


def same_first(want, groups):
    return same_finds(want, groups) or any(same_finds(want, groups[:n]) for n in range(1, len(groups)) if want)


def xurls_rows(root):
    path = root / GOCODE / "mvdan.cc/xurls/xurls_test.go"
    rows = go_table(path, "var constantTestCases = ") + go_table(path, 'doTest(t, "Relaxed2", Relaxed(), ')
    for text, want in rows:
        want = text if want is True else want or b""
        yield ("find", text), [extent(want)] if want else []


def linkify_rows(root):
    for name in "url", "domains", "email":
        path = root / CARGO / f"linkify-0.9.0/tests/{name}.rs"
        for call, words in calls(path, "assert_linked", "assert_not_linked", "assert_urls_without_protocol"):
            if isinstance(words, list):
                words = [w if isinstance(w, bytes) else w.encode() for w in words]
                marked = words[1] if len(words) > 1 else b""
                yield ("find", words[0]), [extent(w) for w in marked.split(b"|")[1::2]]


def goldmark_rows(root):
    text = (root / GOCODE / "github.com/yuin/goldmark/extension/_test/linkify.txt").read_text()
    for block in re.split(r"\n//(?:= )+=//\n|\n//= = [= ]+//\n", text):
        parts = re.split(r"//- - [- ]+//\n", block)
        if len(parts) == 3 and "[" not in parts[1]:  # other links of Markdown
            hrefs = re.findall(r'href="([^"]*)"', parts[2])
            yield ("find", parts[1].encode()), [extent(urllib.parse.unquote_to_bytes(html.unescape(h))) for h in hrefs]


    rows = go_table(root / GOCODE / "github.com/russross/blackfriday/v2/inline_test.go",
                    "func TestAutoLink(t *testing.T) {\n\tt.Parallel()\n\tvar tests = ")
    for text, shown in zip(rows[::2], rows[1::2]):
        hrefs = re.findall(r'href="([^"]*)"', shown.decode())
        yield ("find", text), [extent(urllib.parse.unquote_to_bytes(html.unescape(h))) for h in hrefs]


def urljoin_rows(path):
    """(base, reference, result); most calls name the base by a constant."""
    text = path.read_text()
    bases = dict(re.findall(r"""^([A-Z0-9]+_BASE) = ["']([^"']*)["']""", text, re.MULTILINE))
    string = r"""(?:'([^']*)'|"([^"]*)"|([A-Z0-9]+_BASE))"""
    for match in re.finditer(rf"self\.checkJoin\({string}, *{string},\s*{string}\)", text):
        words = match.groups()
        base, reference, want = (bases.get(words[i + 2], words[i] or words[i + 1] or "") for i in (0, 3, 6))
        if re.match("https?:.*[^/]$", base) and re.match("https?:", want):
            yield base, reference, want


def reference_rows(root):
    for base, reference, want in go_table(root / GO / "net/url/url_test.go", "var resolveReferenceTests = "):
        yield ("web", reference, base), ("web", want)
    for base, reference, want in urljoin_rows(root / PYTHON / "test_urlparse.py"):
        yield ("web", reference.encode(), base.encode()), ("web", want.encode())


def registrable_rows(root):
    """Of a public suffix and a name: the label before the suffix counts."""
    path = root / GOCODE / "golang.org/x/net/publicsuffix/list_test.go"
    for domain, suffix, _ in go_table(path, "var publicSuffixTestCases = "):
        label = domain[:-len(suffix) - 1].rpartition(b".")[2]
        yield ("registrable", domain), label + b"." + suffix if label else b""
    path = root / GOCODE / "github.com/weppos/publicsuffix-go/publicsuffix/acceptance_test.go"
    for name in "Valid", "IncludePrivate":
        for row in go_table(path, f"func Test{name}(t *testing.T) {{\n\ttestCases := "):
            yield ("registrable", row[0]), row[1]


# Browsers neither check hyphens (V2, V3) nor lengths (A4_1, A4_2, X4_2).
BROWSERS_SKIP = {"V2", "V3", "A4_1", "A4_2", "X4_2"}


def idna_rows(root):
    """IdnaTestV2 of another year (Unicode 13); toASCII without transitional processing."""
    path = root / CARGO / "idna-0.3.0/tests/IdnaTestV2.txt"
    for line in path.read_text().splitlines():
        pieces = [p.strip() for p in line.split("#")[0].split(";")]
        if len(pieces) < 5:
            continue
        source, unicode, status, ascii_n, ascii_status = pieces[:5]
        source = re.sub(r"\\u([0-9A-F]{4})|\\x\{([0-9A-F]+)\}",
                        lambda m: chr(int(m.group(1) or m.group(2), 16)), source)
        unicode = re.sub(r"\\u([0-9A-F]{4})", lambda m: chr(int(m.group(1), 16)), unicode) or source
        want = ascii_n or unicode
        errors = set(re.split(r", *", (ascii_status or status).strip("[]"))) - {""} - BROWSERS_SKIP
        yield ("host", source.encode("utf-8", "surrogatepass")), "" if errors else want


def punycode_rows(root):
    for row in json.loads((root / CARGO / "idna-0.3.0/tests/punycode_tests.json").read_text()):
        yield ("host", row["decoded"].encode()), "xn--" + row["encoded"].lower()


def urltest_rows(root):
    for row in json.loads((root / CARGO / "url-2.3.1/tests/urltestdata.json").read_text()):
        if isinstance(row, dict):
            base = row.get("base")
            question = ("web", row["input"].encode("utf-8", "surrogatepass"))
            if base and base != "about:blank":
                question += (base.encode(),)
            yield question, b"" if row.get("failure") else row["href"].encode("utf-8", "surrogatepass")


SAFE = {"FlagLowercaseScheme", "FlagLowercaseHost", "FlagUppercaseEscapes", "FlagDecodeUnnecessaryEscapes",
        "FlagEncodeNecessaryEscapes", "FlagRemoveDefaultPort", "FlagRemoveEmptyQuerySeparator", "FlagsSafe",
        "FlagRemoveDotSegments", "FlagDecodeDWORDHost", "FlagDecodeOctalHost", "FlagDecodeHexHost",
        "FlagRemoveUnnecessaryHostDots", "FlagRemoveEmptyPortSeparator"}


def purell_rows(root):
    """Only normalisations that name the same page: both forms must have one canonical form."""
    text = (root / GOCODE / "github.com/PuerkitoBio/purell/purell_test.go").read_text()
    row = r"\{\s*\"\w+\",\s*(?:\"([^\"]*)\"|`([^`]*)`),\s*([\w| ]+),\s*\"([^\"]*)\""
    for source, raw, flags, want in re.findall(row, text):
        if {f.strip() for f in flags.split("|")} <= SAFE:
            yield ("url", (source or raw).encode()), ("url", want.encode())
    path = root / GOCODE / "github.com/PuerkitoBio/purell/urlnorm_test.go"
    for source, want in go_table(path, "testcases := ").items():
        yield ("url", source), ("url", want)


def has_other_scheme(question, want):
    """One that has no host to look up."""
    return bool(re.match(rb"(?i)\W*(?!https?:|ftp:|mailto:.*@)[a-z0-9][a-z0-9+.-]*:(?![\d@])", question[1])
                and b"http" not in question[1])


def is_address_without_scheme(question, want):
    return re.fullmatch(rb"(.*@)?([0-9.]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)", question[1]) is not None


def is_no_top_level(question, want):
    """Names for home networks, examples and overlay networks."""
    return any(re.search(r"\.(example|i2p|local|onion|baz|b|xy\u03f8)$", w) for w in want)


def is_other_web(question, want):
    return not re.match(rb"(?i)https?:|ftp:|^$", want)


def is_ascii_name(question, want):
    return question[0] == "host" and question[1].isascii() or b"xn--" in question[1].lower()


def ends_in_number(question, want):
    return want.rstrip(".").rpartition(".")[2].isdigit()


def has_newer_mapping(question, want):
    return re.search("[\u04c0\u10a0-\u10cd\u1e9e\u2132\u2183]", question[1].decode("utf-8", "replace")) is not None


def is_no_host(question, want):
    return not re.fullmatch(r"xn--[a-z0-9-]+", want) or want.endswith("-")


def drops_private(question, want):
    return want == b"blogspot.com"


def keeps_fragment(question, want):
    """http:g and an empty reference, which RFC 3986 reads in another way than browsers."""
    return question[1] in (b"", b"http:", b"http:g")


def has_empty_query(question, want):
    return question[1].endswith(b"?")


def is_marked(question, want):
    return b"|" in question[1]


def is_code(question, want):
    return b"`" in question[1]


def is_html(question, want):
    return re.search(rb"<a |=[\"']", question[1]) is not None


IN_TEXT = (("schemes of other programs", has_other_scheme),
           ("IP addresses alone: no mail client links them", is_address_without_scheme),
           ("names of no top level", is_no_top_level),
           ("rows whose text has the mark of a link", is_marked))

TABLES = [
    Table("URLs in text (xurls)", xurls_rows, finds, "sa-uri-text, rspamd-url-find-in-text", 96.5, same_first, IN_TEXT),
    Table("URLs in text (linkify)", linkify_rows, finds, "sa-uri-text, rspamd-url-find-in-text", 96.5, same_finds,
          IN_TEXT),
    Table("links of Markdown (goldmark, blackfriday)", goldmark_rows, finds, "cmark-gfm-autolink", 94.1, same_finds,
          (*IN_TEXT[2:3], ("code of Markdown", is_code), ("HTML", is_html))),
    Table("relative references (Go, Python)", reference_rows, field("href"), "rfc3986-resolve", 100,
          others=(("references that browsers read otherwise than RFC 3986", keeps_fragment),)),
    Table("registrable domains (Go)", registrable_rows, field("domain"), "psl-registrable", 100,
          others=(("without the list's private section", drops_private),)),
    Table("IDNA test of Unicode 13", idna_rows, field("host"), "wpt-idnatestv2", 99.9,
          others=(("ASCII names: browsers take them as they stand", is_ascii_name),
                  ("browsers read a last label of digits as an address", ends_in_number),
                  ("letters that are mapped since Unicode 15.1", has_newer_mapping))),
    Table("Punycode", punycode_rows, field("host"), "wpt-toascii", 100, others=(("no names of hosts", is_no_host),)),
    Table("URLs of WHATWG (Rust's url)", urltest_rows, field("href"), "wpt-urltestdata", 100,
          others=(("other schemes", is_other_web), ("ASCII names: browsers take them as they stand", is_ascii_name))),
    Table("normal forms (purell)", purell_rows, field("canonical"), "rspamd-path-normalise, gsb-canonical-url", 100,
          others=(("an empty query: url.h keeps it", has_empty_query),)),
]
