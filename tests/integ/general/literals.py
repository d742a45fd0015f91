"""literals - the rows of tables in the source text of other programs: Go, Rust and Python.

Text is bytes, because tables hold bytes that are no UTF-8.
"""
import ast
import re

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<raw>`[^`]*`|r\#*".*?"\#*)
  | (?P<string>b?"(?:[^"\\]|\\.)*")
  | (?P<rune>b?'(?:[^'\\]|\\.[^']*)')
  | (?P<number>\d\w*)
  | (?P<word>[^\W\d]\w*(?:(?:\.|::)\w+)*!?)
  | (?P<mark>.)""", re.VERBOSE | re.DOTALL)


def unescaped(body):
    """The bytes of a string with the escapes of Go and Rust."""
    def one(match):
        text = match.group(1)
        if text[0] in "xuU":
            digits = text[1:].strip("{}")
            number = int(digits, 16)
            return bytes([number]) if text[0] == "x" else chr(number).encode("utf-8", "surrogatepass")
        if text[0] in "01234567" and len(text) == 3:
            return bytes([int(text, 8)])
        if text[0] == "\n":
            return b""
        return ESCAPES.get(text, text).encode()
    pattern = re.compile(rb"\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|\n\s*|.)", re.DOTALL)
    return pattern.sub(lambda m: one(re.match(r"(.*)", m.group(1).decode(), re.DOTALL)), body.encode())


def tokens(text):
    """[(kind, value)] of source text; strings are bytes."""
    found = []
    for match in TOKEN.finditer(text):
        kind, value = match.lastgroup, match.group()
        if kind == "raw":
            value = (value[1:-1] if value[0] == "`" else value[1:].strip("#")[1:-1]).encode()
        elif kind == "string":
            value = unescaped(value.lstrip("b")[1:-1])
        elif kind == "rune":
            value = unescaped(value.lstrip("b")[1:-1])
        if kind != "space":
            found.append(("string" if kind == "raw" else kind, value))
    return found


class Reader:
    """Composite literals: a list of values, or a dict when the values have keys."""

    def __init__(self, found):
        self.found, self.at = found, 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.found[at] if at < len(self.found) else ("end", "")

    def take(self):
        self.at += 1
        return self.peek(-1)

    def is_mark(self, value):
        return self.peek() == ("mark", value)

    def group(self, end):
        """The values up to the mark end."""
        values, keyed = [], {}
        while not self.is_mark(end) and self.peek()[0] != "end":
            value = self.value()
            if self.is_mark(":"):
                self.take()
                keyed[value] = self.value()
            else:
                values.append(value)
            if self.is_mark(","):
                self.take()
        self.take()
        return keyed if keyed else values

    def part(self):
        kind, value = self.take()
        if kind in ("string", "rune"):
            return value
        if kind == "number":
            return int(re.sub(r"u8$", "", value), 0)
        if kind == "mark" and value == "{":
            return self.group("}")
        if kind == "mark" and value in "[(":
            inside = self.group("]" if value == "[" else ")")
            if value == "[" and not (self.is_mark(",") or self.is_mark(")") or self.is_mark("]")):
                return self.part()  # Go: []Type{...}
            return inside
        if kind == "mark" and value in "&*":
            return self.part()
        if kind == "word":
            return self.named(value)
        return value

    def named(self, word):
        """What a word begins: Type{...}, name(...), or the word itself."""
        if word in ("struct", "interface", "func"):
            self.take()
            self.group("}")
            return self.part()
        if word == "map":
            self.take()
            self.group("]")
            return self.part()
        if self.is_mark("{"):
            self.take()
            return self.group("}")
        if self.is_mark("("):
            self.take()
            inside = self.group(")")
            return inside[0] if word in ("string", "byte") and inside else (word, inside)
        return {"true": True, "false": False, "nil": None}.get(word, word)

    def value(self):
        value = self.part()
        while self.is_mark("+"):
            self.take()
            more = self.part()
            value = value + more if isinstance(value, bytes) and isinstance(more, bytes) else None
        return value


def go_table(path, marker):
    """The composite literal behind marker, such as "var urltests = "."""
    text = path.read_text()
    at = text.index(marker) + len(marker)
    return Reader(tokens(text[at:])).value()


def calls(path, *names):
    """[(name, arguments)] of every call of these functions in Go or Rust."""
    reader, found = Reader(tokens(path.read_text())), []
    while reader.peek()[0] != "end":
        kind, word = reader.take()
        if kind == "word" and word in names and reader.is_mark("(") and reader.peek(-2) != ("word", "fn"):
            reader.take()
            found.append((word, reader.group(")")))
    return found


def python_calls(path, *names):
    """[(name, arguments)] of every call self.NAME(...) whose arguments are literals."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            try:
                found.append((node.func.attr, [ast.literal_eval(a) for a in node.args]))
            except ValueError:
                continue  # it computes something
    return found
