"""Documents with known words and known links, as flat OpenDocument for LibreOffice to convert."""

SPACES = " ".join(f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in [
    ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("style", "style"),
    ("fo", "xsl-fo-compatible"), ("svg", "svg-compatible"), ("presentation", "presentation")])
SPACES += (' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
           ' xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2"'
           ' xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"')
SCRIPTS = {
    "latin": ["Überweisung", "façade", "naïve", "señor", "invoice", "payment"],
    "cyrillic": ["счёт", "оплата", "договор", "подпись"],
    "greek": ["τιμολόγιο", "πληρωμή", "υπογραφή"],
    "hebrew": ["חשבונית", "תשלום"],
    "arabic": ["فاتورة", "الدفع"],
    "han": ["发票", "付款", "合同"],
    "kana": ["インボイス", "おしはらい"],
    "beyond": ["\U0001d5d4\U0001d5d5\U0001d5d6"],  # letters beyond 16 bits
}


class Known:
    """Words and links of one document, each at one place."""

    def __init__(self, seed):
        self.seed, self.words, self.links, self.n = seed, [], [], 0

    def text(self, place, script=None):
        self.n += 1
        words = [f"{place}{self.seed}w{self.n}x{i}" for i in range(4)]
        words += SCRIPTS[script] if script else []
        self.words += words
        return " ".join(words)

    def link(self, place):
        self.n += 1
        self.links.append(f"http://{place}{self.seed}n{self.n}.example/way{self.n}")
        return self.links[-1]


def flat(kind, styles, body, master=""):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {SPACES} office:version="1.3" '
            f'office:mimetype="application/vnd.oasis.opendocument.{kind}">'
            f'<office:automatic-styles>{styles}</office:automatic-styles>'
            f'<office:master-styles>{master}</office:master-styles>'
            f'<office:body>{body}</office:body></office:document>')


def anchor(href, text):
    return f'<text:a xlink:type="simple" xlink:href="{href}">{text}</text:a>'


def note(kind, number, text):
    return (f'<text:note text:id="{kind}{number}" text:note-class="{kind}"><text:note-citation>{number}</text:note-citation>'
            f'<text:note-body><text:p>{text}</text:p></text:note-body></text:note>')


def comment(text):
    return (f'<office:annotation><dc:creator>Somebody</dc:creator><dc:date>2024-05-01T10:00:00</dc:date>'
            f'<text:p>{text}</text:p></office:annotation>')


def letter(seed):
    """A text document: body, headers, footers, notes, comments, tables, text boxes, list, links."""
    k = Known(f"l{seed}")
    p = []
    for script in SCRIPTS:
        p.append(f"<text:h text:outline-level='1'>{k.text('head')}</text:h>")
        p.append(f"<text:p>{k.text('body', script)} {anchor(k.link('shown'), k.text('anchor'))} {k.text('behind')}</text:p>")
    bare = k.link("bare")
    p.append(f"<text:p>{k.text('bare')} {bare} {k.text('bare')}</text:p>")
    p.append(f"<text:p>{k.text('noted')}{note('footnote', 1, k.text('foot') + ' ' + anchor(k.link('foot'), k.text('foota')))}"
             f"{note('endnote', 2, k.text('end') + ' ' + anchor(k.link('end'), k.text('enda')))}</text:p>")
    p.append(f"<text:p>{k.text('commented')}{comment(k.text('comment') + ' ' + k.link('comment'))}</text:p>")
    rows = "".join("<table:table-row>" + "".join(
        f"<table:table-cell><text:p>{k.text('cell')} {anchor(k.link('cell'), 'here')}</text:p></table:table-cell>"
        for _ in range(3)) + "</table:table-row>" for _ in range(3))
    p.append(f"<table:table table:name='T'><table:table-column table:number-columns-repeated='3'/>{rows}</table:table>")
    p.append(f"<text:p><draw:frame text:anchor-type='paragraph' svg:width='8cm' svg:height='3cm'><draw:text-box>"
             f"<text:p>{k.text('box')} {anchor(k.link('box'), k.text('boxa'))}</text:p></draw:text-box></draw:frame></text:p>")
    p.append("<text:list>" + "".join(f"<text:list-item><text:p>{k.text('item')}</text:p></text:list-item>" for _ in range(3))
             + "</text:list>")
    p.append(f"<text:p><text:span text:style-name='B'>split{seed}</text:span>word<text:span>joined</text:span> "
             f"{anchor(k.link('query') + '?a=1&amp;b=%D1%87', 'query')}</text:p>")
    k.links[-1] += "?a=1&b=%D1%87"
    k.words.append(f"split{seed}wordjoined")
    styles = ("<style:page-layout style:name='L'><style:page-layout-properties fo:page-width='21cm' fo:page-height='29cm'/>"
              "<style:header-style/><style:footer-style/></style:page-layout>"
              "<style:style style:name='B' style:family='text'><style:text-properties fo:font-weight='bold'/></style:style>")
    master = (f"<style:master-page style:name='Standard' style:page-layout-name='L'><style:header><text:p>{k.text('top')} "
              f"{anchor(k.link('top'), k.text('topa'))}</text:p></style:header><style:footer><text:p>{k.text('bottom')} "
              f"{anchor(k.link('bottom'), k.text('bottoma'))}</text:p></style:footer></style:master-page>")
    return flat("text", styles, f"<office:text>{''.join(p)}</office:text>", master), k


def cell(content, more=""):
    return f"<table:table-cell office:value-type='string' {more}>{content}</table:table-cell>"


def workbook(seed):
    """Sheets with strings, links, HYPERLINK(), comments, a shape and headers; one sheet is hidden."""
    k = Known(f"w{seed}")
    sheets = []
    for number, hidden in enumerate([False, False, True]):
        rows = []
        for script in SCRIPTS:
            href, formula, shown = k.link("cell"), k.link("formula"), f"go{seed}{k.n}"
            k.words.append(shown)
            rows.append("<table:table-row>" + cell(f"<text:p>{k.text('cell', script)}</text:p>")
                        + cell(f"<text:p>{anchor(href, k.text('link'))}</text:p>")
                        + cell(f"<text:p>{shown}</text:p>",
                               f"table:formula='of:=HYPERLINK(&quot;{formula}&quot;;&quot;{shown}&quot;)'")
                        + cell(f"<text:p>{k.link('bare')}</text:p>")
                        + cell(f"{comment(k.text('comment'))}<text:p>{k.text('noted')}</text:p>") + "</table:table-row>")
        joined = k.link("joined")
        rows.append("<table:table-row>" + cell("<text:p>x</text:p>",
                    f"table:formula='of:=HYPERLINK(&quot;{joined[:9]}&quot;&amp;&quot;{joined[9:]}&quot;)'") + "</table:table-row>")
        name = f"sheet{seed}n{number}"
        k.words.append(name)
        shape = (f"<table:shapes><draw:frame svg:x='1cm' svg:y='9cm' svg:width='8cm' svg:height='3cm'><draw:text-box>"
                 f"<text:p>{k.text('box')}</text:p></draw:text-box></draw:frame></table:shapes>")
        sheets.append(f"<table:table table:name='{name}' table:style-name='{'H' if hidden else 'V'}'>{shape}"
                      f"<table:table-column table:number-columns-repeated='5'/>{''.join(rows)}</table:table>")
    styles = ("<style:style style:name='V' style:family='table' style:master-page-name='Default'>"
              "<style:table-properties table:display='true'/></style:style>"
              "<style:style style:name='H' style:family='table'><style:table-properties table:display='false'/></style:style>"
              "<style:page-layout style:name='L'><style:header-style/><style:footer-style/></style:page-layout>")
    master = (f"<style:master-page style:name='Default' style:page-layout-name='L'><style:header><text:p>{k.text('top')}</text:p>"
              f"</style:header><style:footer><text:p>{k.text('bottom')}</text:p></style:footer></style:master-page>")
    return flat("spreadsheet", styles, f"<office:spreadsheet>{''.join(sheets)}</office:spreadsheet>", master), k


def slides(seed):
    """Pages with text boxes, links, a table and notes."""
    k = Known(f"s{seed}")
    pages = []
    for number, script in enumerate(SCRIPTS):
        box = (f"<draw:frame svg:x='1cm' svg:y='1cm' svg:width='20cm' svg:height='4cm'><draw:text-box><text:p>"
               f"{k.text('box', script)} {anchor(k.link('shown'), k.text('anchor'))}</text:p><text:p>{k.text('second')} "
               f"{k.link('bare')}</text:p></draw:text-box></draw:frame>")
        shape = (f"<draw:custom-shape svg:x='1cm' svg:y='6cm' svg:width='9cm' svg:height='3cm'><text:p>{k.text('shape')}</text:p>"
                 f"<draw:enhanced-geometry svg:viewBox='0 0 21600 21600' draw:type='rectangle' "
                 f"draw:enhanced-path='M 0 0 L 21600 0 21600 21600 0 21600 0 0 Z N'/></draw:custom-shape>")
        table = (f"<draw:frame svg:x='1cm' svg:y='10cm' svg:width='20cm' svg:height='3cm'><table:table>"
                 f"<table:table-column/><table:table-column/><table:table-row>"
                 f"<table:table-cell><text:p>{k.text('cell')}</text:p></table:table-cell>"
                 f"<table:table-cell><text:p>{anchor(k.link('cell'), k.text('cella'))}</text:p></table:table-cell>"
                 f"</table:table-row></table:table></draw:frame>")
        notes = (f"<presentation:notes><draw:frame presentation:class='notes' svg:x='1cm' svg:y='14cm' svg:width='15cm' "
                 f"svg:height='9cm'><draw:text-box><text:p>{k.text('note')}</text:p></draw:text-box></draw:frame>"
                 f"</presentation:notes>")
        pages.append(f"<draw:page draw:name='p{number}' draw:master-page-name='M'>{box}{shape}{table}{notes}</draw:page>")
    styles = ("<style:page-layout style:name='L'><style:page-layout-properties fo:page-width='28cm' fo:page-height='21cm'/>"
              "</style:page-layout>")
    master = "<style:master-page style:name='M' style:page-layout-name='L'/>"
    return flat("presentation", styles, f"<office:presentation>{''.join(pages)}</office:presentation>", master), k
