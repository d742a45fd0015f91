"""The places of a C file where one small change makes a mutant, as clang's parser sees the file.

A point is spelled in the file itself, inside the body of a function: nothing that a macro writes,
no initializer of static storage, no size, label or enumerator, which must stay constant.
"""
import bisect
import dataclasses
import re

from clang import cindex
from clang.cindex import CursorKind as Kind

# Each operator and its replacements. A comparison has its neighbour and its opposite.
OPERATORS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "%": ("*",), "&": ("|",), "|": ("&",), "^": ("|",),
    "<<": (">>",), ">>": ("<<",), "&&": ("||",), "||": ("&&",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("+=",), "/=": ("*=",), "%=": ("*=",), "&=": ("|=",), "|=": ("&=",),
    "^=": ("|=",), "<<=": (">>=",), ">>=": ("<<=",),
}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.S)
CONDITIONS = {Kind.IF_STMT, Kind.WHILE_STMT, Kind.CONDITIONAL_OPERATOR}
EXPRESSIONS = (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR)
CONSTANT = {Kind.ENUM_DECL, Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.TYPEDEF_DECL,
            Kind.CXX_UNARY_EXPR}
# Of two points with one text the earlier kind holds the later.
ORDER = ["jump", "statement", "return", "condition", "operator", "constant"]


@dataclasses.dataclass(frozen=True)
class Point:
    """One change: kind, the text [start, end), the operands' inner bounds, and the replacement."""
    file: str
    line: int
    kind: str
    start: int
    end: int
    left: int  # kind operator: where the left operand ends
    right: int  # and where the right one begins
    change: str

    def key(self):
        return (self.start, -self.end, ORDER.index(self.kind))


def bare(cursor):
    """The expression within parentheses and implicit casts."""
    while cursor.kind in (Kind.PAREN_EXPR, Kind.UNEXPOSED_EXPR):
        inner = list(cursor.get_children())
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor


def outermost(ranges):
    """RANGES in order, without those that lie in another."""
    kept = []
    for start, end in sorted(ranges, key=lambda r: (r[0], -r[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


class Finder:
    """Collects the points of one translation unit."""

    def __init__(self, name, text, unit, path):
        self.name, self.text, self.path = name, text, path
        self.points = []
        self.lines = [m.end() for m in re.finditer(rb"\n", text)]
        macros = [c.extent for c in unit.cursor.get_children()
                  if c.kind == Kind.MACRO_INSTANTIATION and c.location.file and c.location.file.name == path]
        self.macros = outermost((e.start.offset, e.end.offset) for e in macros)
        for cursor in unit.cursor.get_children():
            if (cursor.kind == Kind.FUNCTION_DECL and cursor.is_definition() and cursor.location.file
                    and cursor.location.file.name == path):
                self.function(cursor)

    def macro_at(self, offset):
        """The use of a macro that holds the byte at OFFSET, or an empty range."""
        i = bisect.bisect_right(self.macros, (offset, len(self.text) + 1)) - 1
        return self.macros[i] if i >= 0 and offset < self.macros[i][1] else (offset, offset)

    def of_macro(self, start, end):
        """Whether [start, end) is what one use of a macro writes, or a part of it."""
        return end <= self.macro_at(start)[1]

    def cuts_macro(self, start, end):
        """Whether [start, end) begins or ends amid the use of a macro."""
        return self.macro_at(start)[0] < start or self.macro_at(end)[0] < end

    def add(self, kind, start, end, change, left=0, right=0):
        if end <= start or self.cuts_macro(start, end) or b"\n#" in self.text[start:end]:
            return
        line = bisect.bisect_right(self.lines, start) + 1
        self.points.append(Point(self.name, line, kind, start, end, left, right, change))

    def function(self, cursor):
        result = cursor.result_type.get_canonical()
        self.returns_bool = result.kind == cindex.TypeKind.BOOL
        self.errors = []
        if result.kind == cindex.TypeKind.ENUM:
            self.errors = [c.spelling for c in result.get_declaration().get_children()
                           if c.kind == Kind.ENUM_CONSTANT_DECL]
        for child in cursor.get_children():
            if child.kind == Kind.COMPOUND_STMT:
                self.walk(child)

    def walk(self, top):
        waiting = [top]
        while waiting:
            cursor = waiting.pop()
            if cursor.kind in CONSTANT or self.of_macro(cursor.extent.start.offset, cursor.extent.end.offset):
                continue
            children = list(cursor.get_children())
            if cursor.kind == Kind.VAR_DECL:
                children = self.initializer(cursor, children)
            elif cursor.kind == Kind.CASE_STMT:
                children = children[1:]
            self.visit(cursor, children)
            waiting.extend(children)

    def initializer(self, cursor, children):
        if cursor.storage_class == cindex.StorageClass.STATIC:
            return []
        at = self.text.find(b"=", cursor.location.offset, cursor.extent.end.offset)
        return [c for c in children if 0 <= at < c.extent.start.offset]

    def visit(self, cursor, children):
        kind = cursor.kind
        if kind in (Kind.COMPOUND_STMT, Kind.DEFAULT_STMT, Kind.CASE_STMT, Kind.LABEL_STMT):
            for child in children:
                self.statement(child)
        elif kind in CONDITIONS and children:
            self.condition(children[0])
        if kind in (Kind.IF_STMT, Kind.WHILE_STMT):
            for child in children[1:]:
                self.statement(child)
        elif kind == Kind.FOR_STMT and children:
            self.statement(children[-1])
        elif kind == Kind.DO_STMT and len(children) == 2:
            self.condition(children[1])
        elif kind in EXPRESSIONS and len(children) == 2:
            self.operator(cursor, *children)
        elif kind == Kind.INTEGER_LITERAL:
            start, end = cursor.extent.start.offset, cursor.extent.end.offset
            if self.text[start:start + 1].isdigit():
                self.add("constant", start, end, "+ 1")
                self.add("constant", start, end, "- 1")
        elif kind == Kind.RETURN_STMT and children:
            self.value(children[0])

    def statement(self, cursor):
        """A call, an assignment, break or continue that stands alone can be left out."""
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if cursor.kind in (Kind.BREAK_STMT, Kind.CONTINUE_STMT):
            stop = re.compile(rb"\s*;").match(self.text, end)
            if stop:
                self.add("jump", start, stop.end(), "left out")
            return
        inner = bare(cursor)
        assigns = (inner.kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR
                   or inner.kind == Kind.BINARY_OPERATOR and self.between(inner)[0] == "=")
        if inner.kind == Kind.CALL_EXPR or assigns:
            self.add("statement", start, end, "left out")

    def condition(self, cursor):
        """A comparison is negated as an operator already."""
        inner = bare(cursor)
        if inner.kind == Kind.BINARY_OPERATOR and self.between(inner)[0] in COMPARISONS:
            return
        self.add("condition", cursor.extent.start.offset, cursor.extent.end.offset, "negated")

    def between(self, cursor):
        """The operator of a binary expression, and the operands' inner bounds."""
        children = list(cursor.get_children())
        if len(children) != 2:
            return "", 0, 0
        left, right = children[0].extent.end.offset, children[1].extent.start.offset
        return COMMENT.sub(b"", self.text[left:right]).strip().decode("ascii", "replace"), left, right

    def operator(self, cursor, _left, _right):
        spelled, left, right = self.between(cursor)
        for other in OPERATORS.get(spelled, ()):
            self.add("operator", cursor.extent.start.offset, cursor.extent.end.offset, other, left, right)

    def value(self, cursor):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        inner = bare(cursor)
        compares = inner.kind == Kind.BINARY_OPERATOR and self.between(inner)[0] in COMPARISONS
        if self.returns_bool and not compares:
            self.add("return", start, end, "negated")
        if len(self.errors) < 2:
            return
        text = self.text[start:end].decode("utf-8", "replace")
        if text in self.errors:
            self.add("return", start, end, self.errors[(self.errors.index(text) + 1) % len(self.errors)])
        else:
            self.add("return", start, end, f"{self.errors[0]} or else {self.errors[1]}")


def find(name, text, path, arguments):
    """The points of file NAME, whose bytes are TEXT and which is compiled as PATH with ARGUMENTS."""
    unit = cindex.Index.create().parse(
        path, args=arguments, unsaved_files=[(path, text.decode("utf-8", "surrogateescape"))],
        options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    errors = [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{name}: {errors[0]}")
    return sorted(set(Finder(name, text, unit, path).points), key=lambda p: (p.key(), p.change))
