"""Padding before listed values that are no links: addresses, checksums, IP addresses, phone numbers, wallets.

Values that are like the listed one use up what is kept of its type; none may use up what is asked.
"""
import hashlib

from frames import HTML_PLACES, TEXT_PLACES, Value, around, fill, header, html_part, leaf, multipart, text_part

BILL = b"This is the bill that everybody gets.\n"
ADDRESS = Value("pay@evil-mail.example.com", "text_address")
SENDER = Value("pay@evil-mail.example.com", "address")
FILE = Value(hashlib.sha256(BILL).hexdigest(), "attachment")
MACHINE = Value("203.0.113.66", None)
PHONE = Value("+12025550166", "phone")
WALLET = Value("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "wallet")
VALUES = (ADDRESS, SENDER, FILE, MACHINE, PHONE, WALLET)

LIKE = (
    ("mail addresses", b"joe\1@n\1.example.com "),
    ("links", b"http://www\1.other\1.example/ "),
    ("addresses of machines", b"http://192.0.2.\1/ http://\1/ "),
    ("phone numbers", b"+1 202 556 \1 "),
    ("wallets", b"1BoatSLRHtKNngkdXEeobR76b53LETtpyT 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy "),
    ("at signs", b"a@"),
    ("digits and brackets", b"1-(2)."),
    ("prose", b"the quick brown fox jumps over \1 lazy dogs.\n"),
)
SHOWN = ((ADDRESS, b"write to pay@evil-mail.example.com today"), (MACHINE, b"see http://203.0.113.66/ today"),
         (PHONE, b"call +1 202 555 0166 today"), (WALLET, b"pay to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa today"))
NAMES = {ADDRESS: "an address", MACHINE: "a machine", PHONE: "a phone number", WALLET: "a wallet"}


def in_text(unit, shown):
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(unit, n, first), position, size)
        return header() + text_part(before + b"\n" + shown + b"\n" + after, pick(TEXT_PLACES))
    return build


def in_mailto(position, size, pick):
    before, after = around(lambda n, first: fill(b"<a href='mailto:joe\1@people.example.com'>a</a>", n, first), position, size)
    link = b"<a href='mailto:pay@evil-mail.example.com?subject=a'>write</a>"
    return header() + html_part(before + link + after, pick(HTML_PLACES))


def in_field(name):
    """The address is one of many in a field, or the only one, among fields of others."""
    def build(position, size, pick):
        before, after = around(lambda n, first: fill(b"joe\1@people.example.com,\n ", n, first), position, size)
        field = name + b": " + before + b"pay@evil-mail.example.com" + (b",\n " + after[:-3] if after else b"") + b"\n"
        return field + header().replace(b"From: Joe <joe@sender.example>\n", b"" if name == b"From" else b"From: j@s.example\n") + b"\na\n"
    return build


def attached(unit):
    """The listed file among others."""
    bill = leaf(b'application/pdf; name="bill.pdf"', BILL, "base64", b"Content-Disposition: attachment\n")
    def build(position, size, pick):
        before, after = around(lambda n, first: [fill(unit + b"\n--=_padding\n", n, first) + unit], position, size)
        return header() + multipart([leaf(b"text/plain", b"see the file\n", "8bit"), *before, bill, *after])
    return build


def rows():
    for name, unit in LIKE:
        for value, shown in SHOWN:
            yield (f"value {NAMES[value]} among {name}", "the reader sees it", in_text(unit, shown))
    yield ("value an address among mailto links", "the reader can click each", in_mailto)
    for name in (b"From", b"Reply-To"):
        yield (f"value an address among those of {name.decode()}", "an answer goes to all of them", in_field(name))
    for name, unit in (("files", b"Content-Type: image/png; name=a\1.png\nContent-Disposition: attachment\n\na\1"),
                       ("empty parts", b""), ("texts", b"\nwords \1\n"),
                       ("messages", b"Content-Type: message/rfc822\n\nSubject: a\1\n\na\1")):
        yield (f"value a file among {name}", "attachments are listed below the text", attached(unit))
