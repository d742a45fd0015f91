"""tables_html - second sources of HTML: tokens, character references, text that is shown."""
import ast
import html
import re

from literals import go_table, python_calls
from table import Table, field

GO = "share/go-1.19/src"
GOCODE = "share/gocode/src"
PYTHON = "lib/python3.11/test"


def go_tokens(answer):
    """Tokens as golang.org/x/net/html writes them, joined by '$'."""
    found, text, tag = [], "", ""
    for name, value in [(n, v.decode("utf-8", "replace")) for n, v in answer] + [("end of input", "")]:
        if name in ("text", "nul"):
            text += value
            continue
        if text and name not in ("name", "value"):
            found.append(escaped(text))
            text = ""
        if name in ("start", "end"):
            tag = ("</" if name == "end" else "<") + value
        elif name == "name":
            tag += f" {value}="
        elif name == "value":
            tag += f'"{escaped(value)}"'
        elif name in ("close", "selfclose"):
            found.append(tag + ("/>" if name == "selfclose" and tag[1] != "/" else ">"))
        elif name == "comment":
            found.append(f"<!--{escaped(value)}-->")
        elif name == "doctype":
            found.append("<!DOCTYPE")
    return "$".join(found)


def escaped(text):
    return (text.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;").replace(">", "&gt;")
            .replace('"', "&#34;").replace("\r", "&#13;"))


def is_empty_end(question, want):
    return b"</>" in question[1]


def token_rows(root):
    for _, text, want in go_table(root / GOCODE / "golang.org/x/net/html/token_test.go", "var tokenTests = "):
        want = re.sub(r"<!DOCTYPE[^$]*", "<!DOCTYPE", want.decode())
        yield ("html", text), [want]


def python_tokens(answer):
    """[(kind, value)] as html.parser tells them, text in one piece."""
    found = []
    for name, value in [(n, v.decode("utf-8", "replace")) for n, v in answer]:
        if name in ("text", "nul"):
            if found and found[-1][0] == "data":
                value = found.pop()[1] + value
            found.append(("data", value))
        elif name == "start":
            found.append(("starttag", value, []))
        elif name == "end":
            found.append(("endtag", value))
        elif name == "name":
            if found[-1][0] == "starttag":
                found[-1][2].append([value, ""])
        elif name == "value":
            if found[-1][0] == "starttag":
                found[-1][2][-1][1] = value
        elif name == "comment":
            found.append(("comment", value))
        elif name == "doctype":
            found.append(("decl",))
    if answer and answer[-1][0] in ("start", "value", "name") and found[-1][0] == "starttag":
        found.pop()  # the input ends in it
    return [(t[0], t[1].replace(";", "")) if t[0] == "data" else t for t in found]


def python_token_rows(root):
    for _, words in python_calls(root / PYTHON / "test_htmlparser.py", "_run_check"):
        source, events = words[0], words[1]
        source = "".join(source) if isinstance(source, list) else source
        want = []
        for kind, *rest in events:
            if kind in ("data", "entityref", "charref"):
                value = rest[0] if kind == "data" else html.unescape("&" + ("#" if kind == "charref" else "") + rest[0] + ";")
                if want and want[-1][0] == "data":
                    value = want.pop()[1] + value
                want.append(("data", value))
            elif kind in ("starttag", "startendtag"):
                want.append(("starttag", rest[0], [[n, v or ""] for n, v in rest[1]]))
            elif kind == "pi":
                want.append(("comment", "?" + rest[0]))
            elif kind in ("decl", "unknown decl"):
                want.append(("decl",))
            else:
                want.append((kind, *rest))
        # html.parser does not tell whether a reference has its semicolon
        yield ("html", source.encode()), [(t[0], t[1].replace(";", "")) if t[0] == "data" else t for t in want]


def text_of(answer):
    return b"".join(v for n, v in answer if n in ("text", "nul"))


def reference_rows(root):
    for _, source, want in go_table(root / GO / "html/escape_test.go", "var unescapeTests = "):
        yield ("html", source), want
    for node in ast.walk(ast.parse((root / PYTHON / "test_html.py").read_bytes())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check":
            try:
                source, want = (ast.literal_eval(a) for a in node.args)
            except ValueError:
                continue
            yield ("html", source.encode()), want.encode()


def words_of(answer):
    return b" ".join(b" ".join(v for n, v in answer if n == "text").replace(b"\xc2\xa0", b" ").split())


def shown_rows(root):
    """Words alone: that program sets lines, draws titles and lists, and writes the target behind each link."""
    text = (root / GOCODE / "jaytaylor.com/html2text/html2text_test.go").read_text()
    for name in re.findall(r"func Test(\w+)\(t \*testing\.T\) \{\n\ttestCases := \[\]struct \{\n\t\tinput +string\n\t\toutput +string\n", text):
        for row in go_table(root / GOCODE / "jaytaylor.com/html2text/html2text_test.go",
                            f"func Test{name}(t *testing.T) {{\n\ttestCases := "):
            if len(row) == 2 and isinstance(row[1], bytes) and b"<img" not in row[0]:
                want = re.sub(rb"\( \S+ \)|(?<!\S)[*-]+(?!\S)|[*>]", b"", row[1].replace(b"\xc2\xa0", b" "))
                yield ("shown", row[0]), b" ".join(want.split())


TABLES = [
    Table("HTML tokens (Go)", token_rows, lambda a: [go_tokens(a)], "html5lib tokenizer", 100,
          others=(("</> is nothing by the standard, a comment to Go", is_empty_end),)),
    Table("HTML tokens (Python)", python_token_rows, python_tokens, "html5lib tokenizer", 100),
    Table("character references (Go, Python)", reference_rows, text_of, "html5lib entities", 100),
    Table("shown text (html2text)", shown_rows, words_of, "rspamd-html-text, sa-uri-html", 98),
]
