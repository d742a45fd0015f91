"""tables_text - second sources of text: encoded words, transfer encodings, charsets, addresses, parameters."""
import ast
import re

from literals import calls, go_table, python_calls
from table import Table, field

GO = "share/go-1.19/src"
GOCODE = "share/gocode/src"
CARGO = "share/cargo/registry"
PYTHON = "lib/python3.11/test"
ENMIME = GOCODE + "/github.com/jhillyerd/enmime"


def word_rows(root):
    path = root / GO / "mime/encodedword_test.go"
    for source, want, has_error in go_table(path, "func TestDecodeWord(t *testing.T) {\n\ttests := "):
        yield ("word", source), source if has_error else want
    for source, want in go_table(path, "func TestDecodeHeader(t *testing.T) {\n\ttests := "):
        yield ("word", source), want
    path = root / ENMIME / "internal/coding/headerext_test.go"
    for name in "AsciiB64", "AsciiQ", "Spacing", "Charsets":
        for source, want in go_table(path, f"func TestDecode{name}(t *testing.T) {{\n\tvar ttable = "):
            yield ("word", source), want
    for _, words in python_calls(root / PYTHON / "test_email/test__encoded_words.py", "_test"):
        if isinstance(words[0], str):
            yield ("word", words[0].encode("utf-8", "surrogateescape")), words[1].encode("utf-8", "surrogateescape")


def quoted_printable_rows(root):
    for row in go_table(root / GO / "mime/quotedprintable/reader_test.go", "func TestReader(t *testing.T) {\n\ttests := "):
        if "err" not in row:  # else want is what stood before the fault
            yield ("qp", row["in"]), row["want"]
    for node in ast.walk(ast.parse((root / PYTHON / "test_quopri.py").read_bytes())):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("STRINGS", "ESTRINGS"):
            for plain, encoded in (pair.elts for pair in node.value.elts):
                if isinstance(plain, ast.Constant) and isinstance(encoded, ast.Constant):
                    yield ("qp", encoded.value), plain.value


def base64_rows(root):
    for decoded, encoded in go_table(root / GO / "encoding/base64/base64_test.go", "var pairs = "):
        yield ("base64", encoded), decoded
    for node in ast.walk(ast.parse((root / PYTHON / "test_base64.py").read_bytes())):
        if isinstance(node, ast.FunctionDef) and node.name == "test_b64decode":
            for tests in [n for n in ast.walk(node) if isinstance(n, ast.Dict)]:
                if b"01a-b_cd" not in [getattr(k, "value", b"") for k in tests.keys]:  # another alphabet
                    yield from ((("base64", k.value), v.value) for k, v in zip(tests.keys, tests.values)
                                if isinstance(k, ast.Constant) and isinstance(v, ast.Constant))


def charset_rows(root):
    for text, coded, name in go_table(root / GOCODE / "golang.org/x/net/html/charset/charset_test.go",
                                      "var testCases = "):
        yield ("charset", coded, name), text
    folder = root / GOCODE / "golang.org/x/text/encoding/testdata"
    for path in sorted(folder.iterdir()):
        text, _, name = path.stem.partition("-utf-8")
        if name == "" and path.stem.endswith("-utf-8"):
            for other in sorted(folder.glob(text + "-*")):
                if other != path:
                    yield ("charset", other.read_bytes(), other.stem[len(text) + 1:].encode()), path.read_bytes()


RUST_CHARSETS = ("big5", "euc_jp", "euc_kr", "gb18030", "iso_2022_jp", "shift_jis", "utf_16le", "utf_16be")


def broken_charset_rows(root):
    """Most rows are broken text: what becomes of the bytes behind a fault."""
    for name in RUST_CHARSETS:
        file = name[:6] if name.startswith("utf_16") else name
        for _, words in calls(root / CARGO / f"encoding_rs-0.8.31/src/{file}.rs", "decode_" + name):
            coded, text = words[:2]
            if isinstance(text, bytes) and isinstance(coded, (bytes, list)):
                yield ("charset", bytes(coded), name.replace("_", "-").encode()), text


def charset_index_rows(root):
    """Every code of a charset, a line each."""
    folder = root / CARGO / "encoding_rs-0.8.31/src/test_data"
    for name in ("big5", "euc_kr", "gb18030", "shift_jis", "iso_2022_jp"):
        coded = (folder / f"{name}_in.txt").read_bytes().split(b"\n")
        texts = (folder / f"{name}_in_ref.txt").read_bytes().split(b"\n")
        for line, text in zip(coded[6:], texts[6:]):
            yield ("charset", line, name.replace("_", "-").encode()), text


def addresses_in(answer):
    return [value for name, value in answer if name == "address"]


def names_and_addresses(answer):
    """Names without their comments, white space squeezed."""
    return [plain_name(value) if name == "name" else value for name, value in answer]


def plain_name(name):
    return b" ".join(re.sub(rb"\([^()]*\)", b" ", name).split())


def address_rows(root):
    path = root / GO / "net/mail/message_test.go"
    for name in "TestAddressParsing", "TestAddressParser":
        for source, found in go_table(path, f"func {name}(t *testing.T) {{\n\ttests := "):
            found = [a for a in found if isinstance(a, dict)]
            yield ("addresses", source), [v for a in found for v in (plain_name(a.get("Name", b"")), a["Address"])]
    for call in ast.walk(ast.parse((root / PYTHON / "test_email/test_email.py").read_bytes())):
        if (isinstance(call, ast.Call) and len(call.args) == 2 and isinstance(call.args[0], ast.Call)
                and getattr(call.args[0].func, "attr", "") in ("parseaddr", "getaddresses")):
            try:
                source, found = ast.literal_eval(call.args[0].args[0]), ast.literal_eval(call.args[1])
            except ValueError:
                continue
            if call.args[0].keywords:
                continue  # another mode
            source, found = ([source], [found]) if isinstance(source, str) else (source, found)
            yield (("addresses", ", ".join(source).encode()),
                   [v.encode() for name, address in found if address
                    for v in (plain_name(name.encode()).decode(), address)])


def media_type_rows(root):
    path = root / GO / "mime/mediatype_test.go"
    for source, kind, pairs in go_table(path, "tests := []mediaTypeTest"):
        words = pairs[1] if isinstance(pairs, tuple) else [b"name", b"foo"] if pairs == "nameFoo" else []
        if not kind:
            continue  # Go refuses the whole field
        yield ("main", source), kind
        for name, value in zip(words[::2], words[1::2]):
            yield ("parameter", source, name), value
    for row in go_table(root / ENMIME / "mediatype/mediatype_test.go",
                        "func TestParseMediaType(t *testing.T) {\n\ttestCases := "):
        yield ("main", row["input"]), row["mtype"]
        for name, value in row["params"].items():
            yield ("parameter", row["input"], name), value


def is_malformed_word(question, want):
    return question[1] == want and re.search(rb"=\?[^?]+\?Q\?.*=(?![0-9A-F]{2}|\?=$|$)", question[1]) is not None


def is_two_signs(question, want):
    return want == [] and question[1].count(b"@") > 1


def is_idn(question, want):
    return any(not w.isascii() for w in want[1::2])


def same_address(want, got):
    """Of several words before the @ ours is the last."""
    return len(want) == len(got) and all(w == g or (i % 2 and w.rpartition(b"@")[2] == g.rpartition(b"@")[2] and b'"' in w)
                                         for i, (w, g) in enumerate(zip(want, got)))


def same_lower(want, got):
    return want.lower() == b" ".join(got.split()).lower() or want == got


def letters(text):
    """What is no letter is alike: U+FFFD, control characters, private use; a run of them is one."""
    return re.sub("[\x00-\x1f\x80-\x9f\ue000-\uf8ff\ufffd]+", "\ufffd", text.decode("utf-8", "replace"))


def same_letters(want, got):
    return letters(want) == letters(got)


TABLES = [
    Table("encoded words (Go, enmime, Python)", word_rows, field("text"), "rspamd-rfc2047", 100,
          others=(("words with broken escapes: Go keeps them, Python and mail programs decode the rest",
                   is_malformed_word),)),
    Table("quoted-printable (Go, Python)", quoted_printable_rows, field("bytes"), "rspamd-quoted-printable", 100),
    Table("base64 (Go, Python)", base64_rows, field("bytes"), "torture", 99.1),
    Table("charsets (Go)", charset_rows, field("text"), "wpt-percent-encoding", 100),
    Table("broken text of charsets (encoding_rs)", broken_charset_rows, field("text"), "test_charset", 100, same_letters,
          below=6),  # codes of Big5-HKSCS that ICU has in private use, and four bytes of GB 18030 cut short
    Table("codes of charsets (encoding_rs)", charset_index_rows, field("text"), "test_charset", 100, same_letters),
    Table("addresses (Go, Python)", address_rows, names_and_addresses, "rspamd-mime-addr, rspamd-smtp-addr", 95,
          same_address, (("two @, which Python refuses", is_two_signs),
                         ("names beyond ASCII come in their ASCII form", is_idn))),
    Table("media types (Go, enmime)", media_type_rows, field("main", "text"), "torture, test_params", 99.1, same_lower),
]
