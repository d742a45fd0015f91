"""Writes many mutants of a C file into one text; the environment chooses the one that runs.

Lines keep their numbers. In the branch of a mutant its operands stand as they were written, because
one mutant at most is chosen. So the text grows with the depth of an expression, not exponentially.
"""
import re

COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.S)

# GILLNET_MUTANT is the number of the mutant that runs. GILLNET_MUTANT_SEEN names a file in which
# byte n is set when the point of mutant n is reached. GILLNET_MUTANT_ONLY compiles one in.
PROLOGUE = """\
#ifdef GILLNET_MUTANT_ONLY
#define MUTANT(n) ((n) == GILLNET_MUTANT_ONLY)
#else
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static int mutant_chosen;
static volatile unsigned char *mutant_seen;
__attribute__((constructor)) static void mutant_choose(void)
{
    const char *number = getenv("GILLNET_MUTANT"), *file = getenv("GILLNET_MUTANT_SEEN");
    mutant_chosen = number == NULL ? 0 : atoi(number);
    int fd = file == NULL ? -1 : open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *bytes = mmap(NULL, %d, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (bytes != MAP_FAILED) mutant_seen = bytes;
}
static inline int mutant_is(int n)
{
    if (mutant_seen != NULL) mutant_seen[n] = 1;
    return n == mutant_chosen;
}
#define MUTANT(n) mutant_is(n)
#endif
#include "%s.mutants"
"""
# As in a header of the system, there are no warnings behind this.
OPENING = """\
#pragma GCC system_header
#line 1 "%s"
"""


def flat(text):
    """TEXT as it was written, on one line."""
    return COMMENT.sub(b" ", text).replace(b"\n", b" ")


class Rewriter:
    """The text of one file with its chosen points, a list of (number, point)."""

    def __init__(self, text, chosen):
        self.text = text
        self.groups = {}  # (start, end, kind): points of one expression
        for number, point in chosen:
            place = (point.start, point.end, point.kind, point.left, point.right)
            self.groups.setdefault(place, []).append((number, point))
        self.order = sorted(self.groups, key=lambda place: self.groups[place][0][1].key())

    def whole(self):
        return self.render(0, len(self.text), 0, len(self.order))

    def render(self, start, end, low, high):
        """The bytes [start, end) with the groups low..high-1 that lie in them."""
        out, at = [], start
        while low < high:
            place = self.order[low]
            inside = low + 1
            while inside < high and self.order[inside][0] < place[1]:
                inside += 1
            out += [self.text[at:place[0]], self.group(place, low + 1, inside)]
            at, low = place[1], inside
        return b"".join(out + [self.text[at:end]])

    def split(self, at, low, high):
        """The first of the groups low..high-1 that begins at or after AT."""
        while low < high and self.order[low][0] < at:
            low += 1
        return low

    def group(self, place, low, high):
        start, end, kind, left, right = place
        old = flat(self.text[start:end])
        if kind == "operator":
            middle = self.split(left, low, high)
            new = (b"((" + self.render(start, left, low, middle) + b")" + self.text[left:right]
                   + b"(" + self.render(right, end, middle, high) + b"))")
        else:
            new = self.render(start, end, low, high)
        branches = b""
        for number, point in self.groups[place]:
            if kind == "jump":
                return b"{ if (!MUTANT(%d)) %s }" % (number, new)
            branches += b"MUTANT(%d) ? %s : " % (number, self.mutant(point, old))
        if kind == "statement":
            new = b"(void)(" + new + b")"
        elif kind == "condition":
            new = b"!!(" + new + b")"
        elif kind == "return":
            new = b"(" + new + b")"
        return b"(" + branches + new + b")"

    def mutant(self, point, old):
        change = point.change.encode()
        if point.kind == "operator":
            left, right = self.text[point.start:point.left], self.text[point.right:point.end]
            return b"((%s) %s (%s))" % (flat(left), change, flat(right))
        if point.kind == "constant":
            return b"%s %s" % (old, change)
        if point.kind == "statement":
            return b"(void)0"
        if change == b"negated":
            return b"!(%s)" % old
        first, other, second = change.partition(b" or else ")
        return b"((%s) == %s ? %s : %s)" % (old, first, second, first) if other else first


def rewrite(name, text, chosen, count):
    """{file: bytes} that take the place of file NAME, with the CHOSEN mutants, of COUNT in all."""
    leaf = name.rpartition("/")[2]
    return {name: (PROLOGUE % (count + 1, leaf)).encode(),
            name + ".mutants": (OPENING % name).encode() + Rewriter(text, chosen).whole()}
