/*
 * test_check_traits - each trait in a message that has it and in one that nearly has it.
 *
 * A row lacks nothing that another trait asks for, so a wrong trait cannot hide behind the right one.
 */
#include <stdio.h>

#include "core/message/extract/extract.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, TEXT_MAX = 16384 };

#define FROM "From: Ann <ann@shop.com>\n"
#define HTML "MIME-Version: 1.0\nContent-Type: text/html\n"
#define MIXED \
    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n--b\n"
#define NAMED(name) \
    MIXED "Content-Type: application/octet-stream; name=\"" name "\"\n\nx\n--b--\n"
#define ENCODED(type, text)                            \
    FROM "MIME-Version: 1.0\nContent-Type: " type "\n" \
         "Content-Transfer-Encoding: base64\n\n" text "\n"
#define ZIP(base64) ENCODED("application/zip; name=a.zip", base64)
#define PAGE(html)                                 \
    MIXED "Content-Type: text/html; name=a.html\n" \
          "Content-Disposition: attachment; filename=a.html\n\n" html "\n--b--\n"
#define BOTH(plain, html)                                                          \
    "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\n"  \
    "Content-Type: text/plain\n\n" plain "\n--b\nContent-Type: text/html\n\n" html \
    "\n--b--\n"
#define WORDS \
    "Every sentence of these twelve different words stands here once more today friend"
#define OTHER \
    "Nothing what above was written occurs below because cheap tablets ship overnight worldwide"
#define TEN     "0123456789"
#define LINE64  "YWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJj\n"
#define LINES64 LINE64 LINE64 LINE64 LINE64
#define LONG    TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct row {
    const char *trait;
    bool has;
    const char *text;
} rows[] = {
    /* names */
    {"name_address_elsewhere", true, "From: \"help@bank.com\" <x@evil.org>\n\n"},
    {"name_address_elsewhere", true,
     "From: =?utf-8?q?help=40bank.com?= <x@evil.org>\n\n"},
    {"name_address_elsewhere", false,
     "From: \"help@bank.com via List\" <list@evil.org>\n\n"},
    {"name_address_elsewhere", false,
     "From: \"help@bank.com [via Relay]\" <x@evil.org>\n\n"},
    {"name_address_elsewhere", false, "From: \"ann@mail.shop.com\" <x@shop.com>\n\n"},
    {"name_host_elsewhere", true, "From: \"www.bank.com help\" <x@evil.org>\n\n"},
    {"name_host_elsewhere", false, "From: \"Bank.com\" <x@mail.bank.co.uk>\n\n"},
    {"name_host_elsewhere", false, "From: \"J. Smith Jr. file.txt\" <x@evil.org>\n\n"},
    {"name_encoded", true, "From: =?utf-8?b?QmFuaw==?= <x@a.com>\n\n"},
    {"name_encoded", false, "From: =?utf-8?q?B=C3=A4nk?= <x@a.com>\n\n"},
    {"name_broken", true, "From: Your account team ,_<x@evil.org>\n\n"},
    {"name_broken", false, "From: \"Smith, Ann\" <x@evil.org>\n\n"},
    {"name_broken", false, "From: Ann <x@evil.org>, Bob <y@evil.org>\n\n"},
    {"name_folded", true, "From: =?utf-8?q?=D0=A0=D0=B0yPal?= <x@a.com>\n\n"},
    {"name_folded", false, "From: =?utf-8?q?B=C3=A4nk?= <x@a.com>\n\n"},
    {"name_is_recipient", true,
     "From: \"victor IT\" <x@evil.org>\nTo: victor@our.com\n\n"},
    {"name_is_recipient", true,
     "From: \"Example-Corp\" <x@evil.org>\nTo: a@example-corp.com\n\n"},
    {"name_is_recipient", false,
     "From: \"victoria\" <x@evil.org>\nTo: victor@our.com\n\n"},
    {"name_is_recipient", false,
     "From: \"victor\" <x@our.com>\nTo: victor@our.com\n\n"},
    {"subject_has_recipient", true, FROM "To: victor@our.com\nSubject: Hi victor\n\n"},
    {"subject_has_recipient", true,
     FROM "To: abc@our.com\nSubject: our.com is full\n\n"},
    {"subject_has_recipient", false,
     FROM "To: ann@our.com\nSubject: Hi ann of our\n\n"},
    {"text_has_recipient", true, FROM "To: v@our.com\n\nDear v@our.com,\n"},
    {"text_has_recipient", false, FROM "To: v@our.com\n\nDear w@our.com,\n"},
    {"from_is_recipient_domain", true, FROM "To: x@mail.shop.com\n\n"},
    {"from_is_recipient_domain", false, FROM "To: x@our.com\n\n"},
    {"from_digits", true, "From: mary4713@a.com\n\n"},
    {"from_digits", true, "From: mary2001x@a.com\n\n"},
    {"from_digits", false, "From: mary471@a.com\n\n"},
    {"from_digits", false, "From: mary1971@a2345.com\n\n"},
    {"from_digits", false, "From: ticket_47113+b4711@a.com\n\n"},
    {"from_domain_random", true, "From: a@mail.kbhnrtzxq.com\n\n"},
    {"from_domain_random", false, "From: a@kbhnrtzxq.shop.com\n\n"},
    {"from_lookalike", true, "From: a@\xd1\x80\xd0\xb0ypal.com\n\n"},
    {"from_lookalike", false,
     "From: a@b\xc3\xbc"
     "cher.com\n\n"},
    {"to_desk", true, "To: Abuse <abuse@our.com>\nCc: security+x@our.com\n\n"},
    {"to_desk", true, FROM "To: abuse@our.com\nCc: ann@shop.com\n\n"},
    {"to_desk", false, "To: abuse@our.com\nCc: bob@our.com\n\n"},
    {"to_desk", false, "To: abused@our.com\n\n"},
    {"to_desk", false, "\nhello\n"},
    {"to_is_from", true, FROM "To: <ann@shop.com>\n\n"},
    {"to_is_from", false, FROM "To: ann@shop.org\n\n"},
    {"from_several", true, "From: a@bank.com, b@evil.org\n\n"},
    {"from_several", true, "From: a@bank.com\nFrom: b@evil.org\n\n"},
    {"from_several", false, "From: a@one.com, b@mail.one.com\n\n"},
    {"from_several", false, "\nFrom: a@one.com, b@two.com\n"},
    /* fields */
    {"date_missing", true, FROM "\n"},
    {"date_missing", false, FROM "Date: x\n\n"},
    {"date_missing", false, "\nDear all\n"},
    {"date_odd", true, FROM "Date: yesterday\n\n"},
    {"date_odd", true, FROM "Date: Mon, 21 Nov 1997 09:55:06 -0600\n\n"},
    {"date_odd", false, FROM "Date: Fri, 21 Nov 1997 09:55:06 -0600 (CST)\n\n"},
    {"date_behind", true,
     "Received: from a by b; Fri, 28 Nov 1997 09:55:07 +0000\nDate: 21 Nov 1997 09:55:06 +0000\n\n"},
    {"date_behind", false,
     "Received: from a by b; Thu, 27 Nov 1997 09:55:06 +0000\nReceived: x; 1 Jan 2005 00:00:00 GMT\n"
     "Date: 21 Nov 1997 09:55:06 +0000\n\n"},
    {"date_ahead", true,
     "Received: from a by b; Fri, 21 Nov 1997 09:55:06 +0000\nDate: 21 Nov 1997 21:55:07 +0000\n\n"},
    {"date_ahead", false,
     "Received: from a by b; Fri, 21 Nov 1997 09:55:06 +0000\nDate: 21 Nov 1997 21:55:06 +0000\n\n"},
    {"message_id_missing", true, FROM "\n"},
    {"message_id_missing", false, FROM "Message-ID: x\n\n"},
    {"message_id_odd", true, FROM "Message-ID: a@b.com\n\n"},
    {"message_id_odd", true, FROM "Message-ID: <@b.com>\n\n"},
    {"message_id_odd", true, FROM "Message-ID: <a b@b.com>\n\n"},
    {"message_id_odd", false, FROM "Message-ID: <a@b.com>\n\n"},
    {"message_id_local", true, FROM "Message-ID: <a@localhost>\n\n"},
    {"message_id_local", false, FROM "Message-ID: <a@[IPv6:::1]>\n\n"},
    {"message_id_elsewhere", true, FROM "Message-ID: <a@b.com>\n\n"},
    {"message_id_elsewhere", false, FROM "Message-ID: <a@mx.shop.com>\n\n"},
    {"message_id_no_mailer", true,
     FROM "Message-ID: <000a01c2$DEADBEEF$0100007f@b.com>\n\n"},
    {"message_id_no_mailer", false,
     FROM "Message-ID: <000a01c2$deadbeef$0100007f@b.com>\nX-Mailer: x\n\n"},
    {"message_id_no_mailer", false,
     FROM "Message-ID: <000a01c2$deadbee$0100007f@b.com>\n\n"},
    {"from_missing", true, "To: a@b.com\n\n"},
    {"from_missing", false, "From: x\n\n"},
    {"from_odd", true, "From: x\n\n"},
    {"from_odd", false, FROM "\n"},
    {"to_missing", true, FROM "To: undisclosed-recipients:;\n\n"},
    {"to_missing", false, FROM "Cc: a@b.com\n\n"},
    {"field_repeated", true, FROM "Subject: a\nSubject: b\n\n"},
    {"field_repeated", false, FROM "Subject: a\nReceived: b\nReceived: c\n\n"},
    {"header_8bit", true, FROM "Subject: caf\xc3\xa9\n\n"},
    {"header_8bit", false, FROM "X-Note: caf\xc3\xa9\nSubject: a\n\ncaf\xc3\xa9\n"},
    {"mime_version_missing", true, FROM "Content-Type: text/plain\n\n"},
    {"mime_version_missing", false,
     FROM "MIME-Version: 1.0\nContent-Type: text/plain\n\n"},
    {"mime_version_missing", false, FROM "\n"},
    {"priority_high", true, FROM "Importance: High\nX-Mailer: x\n\n"},
    {"priority_high", false, FROM "Importance: normal\n\n"},
    {"envelope_elsewhere", true, "Return-Path: <a@evil.org>\n" FROM "\n"},
    {"envelope_elsewhere", false, "Return-Path: <a@mx.shop.com>\n" FROM "\n"},
    {"priority_no_mailer", true, FROM "X-Priority: 1 (Highest)\n\n"},
    {"priority_no_mailer", false, FROM "X-Priority: 1\nX-Mailer: x\n\n"},
    {"priority_no_mailer", false, FROM "X-Priority: 3\n\n"},
    {"reply_elsewhere", true, FROM "Reply-To: a@list.com\nTo: b@list.com\n\n"},
    {"reply_elsewhere", false, FROM "Reply-To: My@list.com\nTo: mY@list.com\n\n"},
    {"reply_to_list", true, FROM "Reply-To: My@list.com\nTo: mY@list.com\n\n"},
    {"reply_to_list", false, FROM "Reply-To: a@list.com\nTo: b@list.com\n\n"},
    {"reply_elsewhere", true, "From: a@bank.example.com\nReply-To: b@evil.org\n\n"},
    {"reply_elsewhere", true, "From: a@one.com\nReply-To: a@one.com, b@evil.org\n\n"},
    {"reply_elsewhere", false, "From: a@mail.one.com\nReply-To: b@help.one.com\n\n"},
    {"reply_elsewhere", false, FROM "\n"},
    {"reply_elsewhere", false, "Reply-To: b@evil.org\n\n"},
    {"reply_several", true, FROM "Reply-To: a@b.com, c@d.com\n\n"},
    {"reply_several", false, FROM "Reply-To: a@b.com, c@x.b.com\n\n"},
    {"reply_fake", true, FROM "Subject: Re: your order\n\n"},
    {"reply_fake", false, FROM "Subject: Re: your order\nReferences: <a@b>\n\n"},
    {"reply_fake", false, FROM "Subject: Reply: your order\n\n"},
    {"boundary_digits", true,
     "Content-Type: multipart/mixed; boundary=\"--12345678\"\n\n"},
    {"boundary_digits", false,
     "Content-Type: multipart/mixed; boundary=\"1234567a\"\n\n"},
    {"mailer_lies", true,
     "X-Mailer: Microsoft Outlook Express 6.00\nX-MimeOLE: x\n"
     "Message-ID: <abc.1@evil.org>\n\n"},
    {"mailer_lies", true,
     "X-Mailer: Microsoft Outlook Express 6.00\n"
     "Message-ID: <0123$45$67@evil.org>\n\n"},
    {"mailer_lies", true,
     "X-Mailer: Apple Mail (2.1)\n"
     "Content-Type: multipart/mixed; boundary=x\n\n"},
    {"mailer_lies", false,
     "X-Mailer: Microsoft Outlook Express 6.00\nX-MimeOLE: x\n"
     "Message-ID: <0123$45$67@evil.org>\n\n"},
    {"mailer_lies", false,
     "X-Mailer: Apple Mail (2.1)\nContent-Type: multipart/mixed;\n"
     " boundary=\"Apple-Mail=_1\"\nMessage-Id: "
     "<01234567-89AB-CDEF-0123-456789ABCDEF@shop.com>\n\n"},
    {"mailer_lies", false, "X-Mailer: Microsoft Outlook Express Macintosh Edition\n\n"},
    {"mailer_lies", false, "X-Mailer: Some Mailer\nMessage-ID: x\n\n"},
    /* subjects */
    {"subject_empty", true, FROM "Subject:  \n\n"},
    {"subject_empty", true, FROM "\n"},
    {"subject_empty", false, FROM "Subject: a\n\n"},
    {"subject_caps", true, FROM "Subject: ACT NOW OR NEVER\n\n"},
    {"subject_caps", false, FROM "Subject: ACT NOW OR never\n\n"},
    {"subject_caps", false, FROM "Subject: RFC 5322 MIME\n\n"},
    {"subject_spaced", true, FROM "Subject: see l i k e this\n\n"},
    {"subject_spaced", true, FROM "Subject: V-I-P-S here\n\n"},
    {"subject_spaced", false, FROM "Subject: plan a or b or c, and x y z\n\n"},
    {"subject_marks", true, FROM "Subject: Now!!\n\n"},
    {"subject_marks", true, FROM "Subject: $5 now!\n\n"},
    {"subject_marks", false, FROM "Subject: Now! Really?\n\n"},
    {"subject_gap", true, FROM "Subject: Hello       xkf\n\n"},
    {"subject_gap", false, FROM "Subject: Hello     xkf\n\n"},
    {"subject_random", true, FROM "Subject: Your order a1b2c3d4e5\n\n"},
    {"subject_random", true, FROM "Subject: Your order xkcvbnzqwr\n\n"},
    {"subject_random", false, FROM "Subject: Your order 20260101123456\n\n"},
    {"subject_random", false, FROM "Subject: Die Rechtsschutzversicherung\n\n"},
    {"subject_encoded", true, FROM "Subject: =?utf-8?b?SGVsbG8=?=\n\n"},
    {"subject_encoded", false, FROM "Subject: =?utf-8?q?caf=C3=A9?=\n\n"},
    {"subject_folded", true, FROM "Subject: =?utf-8?q?v=D1=96agra?=\n\n"},
    {"subject_folded", false, FROM "Subject: =?utf-8?q?caf=C3=A9?=\n\n"},
    /* links */
    {"url_defanged", true, "\nhxxp://a.com/ hxxp://b.com/\n"},
    {"url_defanged", false, "\nhttp://a.com/ see b.com and\n<http://c.com/x>\n"},
    {"url_hidden", true, "\nhttp://a.co\xe2\x80\x8bm/\n"},
    {"url_hidden", false, "\nhttp://a.com/\n"},
    {"url_joined", true, "\n<http://a.com/\nlong>\n"},
    {"url_joined", false, "\nhttp://a.com/ see b.com and\n<http://c.com/x>\n"},
    {"url_user", true, "\nhttp://bank.com@evil.com/\n"},
    {"url_user", false, "\nhttp://a.com/@b http://a.com?@b\n"},
    {"url_odd_host", true, "\nhttp://0x7f.1/\n"},
    {"url_odd_host", false, "\nhttp://192.0.2.1/\n"},
    {"links_elsewhere", true, FROM "\nhttp://a.com/ http://b.com/\n"},
    {"links_elsewhere", true, FROM "\nhttp://192.0.2.1/\n"},
    {"links_elsewhere", false, FROM "\nhttp://a.com/ http://www.shop.com/\n"},
    {"links_elsewhere", false, FROM "\nhttp://shop.co.uk/\n"},
    {"links_elsewhere", false, FROM "\nno link\n"},
    {"links_elsewhere", false,
     FROM HTML "\n<a href=http://shop.com/>see</a><a href=http://x.com>y</a>"},
    {"links_elsewhere", true,
     FROM HTML "\n<a href=http://shop.com/></a><a href=http://x.com>y</a>"},
    {"links_elsewhere", true,
     FROM HTML "\n<img src=http://shop.com/p.gif><a href=http://x.com>y</a>"},
    {"links_elsewhere", true,
     FROM HTML
     "\n<a href=http://shop.com style='display:none'>see</a><a href=http://x.com>y</a>"},
    {"links_elsewhere", true,
     FROM BOTH("http://shop.com/", "<a href=http://x.com>y</a>")},
    {"links_elsewhere", false, FROM BOTH("http://x.com/", "http://shop.com/")},
    {"links_elsewhere", false,
     "From: a@motleyfool.com\n\nhttp://fool.com/ http://x.com/\n"},
    {"links_elsewhere", true, "From: a@fool.com\n\nhttp://motleyfool.com/\n"},
    {"links_elsewhere", true, "From: a@motleyfool.com\n\nhttp://ool.com/\n"},
    {"links_of_replies", true, FROM "Reply-To: a@foo.com\n\nhttp://www.foo.com/\n"},
    {"links_of_replies", false,
     FROM "Reply-To: a@foo.com\n\nhttp://foo.com/ http://x.com/\n"},
    {"links_of_replies", false, FROM "\nhttp://shop.com/\n"},
    {"links_one_elsewhere", true, FROM "\nhttp://a.com/ http://x.a.com/y\n"},
    {"links_one_elsewhere", false, FROM "\nhttp://a.com/ http://b.com/\n"},
    {"link_has_address", true, FROM "\nhttp://a.com/x?e=v@our.com\n"},
    {"link_has_address", true, FROM "\nhttp://a.com/x?e=v%40our.com&y\n"},
    {"link_has_address", false, FROM "\nhttp://v@our.com/@x\n"},
    {"link_has_coded_address", true, FROM "\nhttp://a.com/x?e=dkBvdXIuY29t&y=1\n"},
    {"link_has_coded_address", true, FROM "\nhttp://a.com/76406f75722e636f6d\n"},
    {"link_has_coded_address", false,
     FROM "\nhttp://a.com/x?e=dkAvdXIuY29t/abcdefghijkl\n"},
    {"link_has_fragment_address", true, FROM "\nhttp://a.com/x#v@our.com\n"},
    {"link_has_fragment_address", false, FROM "\nhttp://a.com/x#ann@shop.com\n"},
    {"link_has_fragment_address", false, FROM "\nhttp://a.com/v@our.com#x\n"},
    {"link_has_recipient", true, FROM "To: V@our.com\n\nhttp://a.com/x#dkBvdXIuY29t\n"},
    {"link_has_recipient", false,
     FROM "To: w@our.com\n\nhttp://a.com/x#dkBvdXIuY29t\n"},
    {"url_host_labels", true, FROM "\nhttp://a.b.c.d.evil.com/\n"},
    {"url_host_labels", false, FROM "\nhttp://b.c.d.evil.com/\n"},
    {"url_host_long", true, FROM "\nhttp://abcdefghijabcdefghijabcdefghij.evil.com/\n"},
    {"url_host_long", false, FROM "\nhttp://abcdefghijabcdefghijabcdefghi.evil.com/\n"},
    {"url_host_hyphens", true, FROM "\nhttp://a-b-c-d.com/\n"},
    {"url_host_hyphens", false, FROM "\nhttp://a-b-c.d-e.com/\n"},
    {"url_host_random", true, FROM "\nhttp://a1b2c3d4.evil.com/\n"},
    {"url_host_random", false, FROM "\nhttp://newsletter2026.evil.com/\n"},
    {"url_domain_random", true, FROM "\nhttp://www.kbhnrtzxq.com/\n"},
    {"url_domain_random", false, FROM "\nhttp://a1b2c3d4.evil.com/\n"},
    {"url_domain_random", false, FROM "\nhttp://a1b2c3d4.github.io/\n"},
    {"url_host_idn", true,
     FROM "\nhttp://b\xc3\xbc"
          "cher.com/\n"},
    {"url_host_idn", false, FROM "\nhttp://books.com/\n"},
    {"url_host_lookalike", true, FROM "\nhttp://\xd1\x80\xd0\xb0ypal.com/\n"},
    {"url_host_lookalike", false,
     FROM "\nhttp://b\xc3\xbc"
          "cher.com/\n"},
    {"url_port", true, FROM "\nhttp://a.com:8080/\n"},
    {"url_port", false, FROM "\nhttp://a.com:80/\n"},
    {"url_site_folder", true, FROM "\nhttp://a.com/wp-content/x/login.html\n"},
    {"url_site_folder", false, FROM "\nhttp://a.com/wp-content/uploads/logo.PNG\n"},
    {"url_bare_script", true, FROM "\nhttp://a.com/x/go.php\n"},
    {"url_bare_script", false, FROM "\nhttp://a.com/x/go.php?id=1\n"},
    {"url_runs", true, FROM "\nhttp://a.com/invoice.exe\n"},
    {"url_runs", false,
     FROM "\nhttp://example.com/ http://a.com/x.js http://a.com/b.com\n"},
    {"url_nested", true, FROM "\nhttp://a.com/?u=https%3A%2F%2Fb.com\n"},
    {"url_nested", true, FROM "\nhttp://a.com/https://b.com\n"},
    {"url_nested", false, FROM "\nhttp://a.com/http/why\n"},
    {"url_escaped", true, FROM "\nhttp://a.com/%6c%6f%67in\n"},
    {"url_escaped", false, FROM "\nhttp://a.com/%6c%6fgin%20a%2Fb\n"},
    {"link_data", true, FROM HTML "\n<a href='data:text/html,x'>a</a>"},
    {"link_data", false, FROM HTML "\n<img src='data:image/png;base64,x'>"},
    {"link_script", true, FROM HTML "\n<a href='javascript:x()'>a</a>"},
    {"link_script", false, FROM HTML "\n<a href='http://javascript/'>a</a>"},
    {"form_elsewhere", true, FROM HTML "\n<form action=https://a.com/x>"},
    {"form_elsewhere", false, FROM HTML "\n<form action=https://x.shop.com/x>"},
    {"form_http", true, FROM HTML "\n<form action=http://a.com/x>"},
    {"form_http", false, FROM HTML "\n<form action=https://a.com/x>"},
    {"html_password", true, FROM HTML "\n<input name=a type=PassWord>"},
    {"html_password", false, FROM HTML "\n<input name=password type=text>"},
    {"html_base", true, HTML "\n<base href=x>"},
    {"html_base", false, HTML "\n<base target=x>"},
    {"html_form", true, HTML "\n<form action=y>"},
    {"html_form", false, HTML "\n<p>form action=y</p>"},
    {"html_refresh", true, HTML "\n<meta http-equiv=refresh content='0;url=z'>"},
    {"html_refresh", false, HTML "\n<meta name=viewport content='width=1'>"},
    {"html_script", true, HTML "\n<script>s</script>"},
    {"html_script", false, HTML "\n<style>s</style>"},
    {"text_hidden", true, HTML "\n<p hidden>12345678</p>"},
    {"text_hidden", true, HTML "\n<p style='font-size:0'>more words</p>"},
    {"text_hidden", false, HTML "\n<p hidden>1234567</p><p>shown, not hidden</p>"},
    /* files */
    {"attachment_runs", true, FROM NAMED("a.EXE")},
    {"attachment_runs", true,
     FROM MIXED "Content-Disposition: attachment\n\nMZ\n--b--\n"},
    {"attachment_runs", false, FROM NAMED("exe.pdf")},
    {"attachment_double_ext", true, FROM NAMED("invoice.pdf.exe")},
    {"attachment_double_ext", true, FROM NAMED("photo.jpg   .html")},
    {"attachment_double_ext", true,
     FROM NAMED("x\xe2\x80\xae"
                "fdp.e")},
    {"attachment_double_ext", false, FROM NAMED("setup-1.0.exe")},
    {"attachment_double_ext", false, FROM NAMED("report.doc.pdf")},
    {"attachment_macro", true, FROM NAMED("a.docm")},
    {"attachment_macro", false, FROM NAMED("a.docx")},
    {"attachment_page", true, FROM PAGE("hello")},
    {"attachment_page", false, FROM HTML "\nhello"},
    {"attachment_page_form", true, FROM PAGE("<form action=x>")},
    {"attachment_page_form", false, FROM HTML "\n<form action=x>"},
    {"attachment_page_script", true, FROM PAGE("<script>x</script>")},
    {"attachment_page_script", false, FROM HTML "\n<script>x</script>"},
    {"attachment_page_alone", true, FROM PAGE("hello")},
    {"attachment_page_alone", false, FROM NAMED("a.pdf")},
    {"archive_encrypted", true, /* of a.txt, encrypted */
     ZIP("UEsDBBQAAQAAAAAAIQCDFtyMAQAAAAEAAAAFAAAAYS50eHR4UEsBAhQDFAABAAAAAAAhAIMW3IwB"
         "AAAAAQAAAAUAAAAAAAAAAAAAAIABAAAAAGEudHh0UEsFBgAAAAABAAEAMwAAACQAAAAAAA==")},
    {"archive_encrypted", false, /* of a.txt */
     ZIP("UEsDBBQAAAAAAAAAIQCDFtyMAQAAAAEAAAAFAAAAYS50eHR4UEsBAhQDFAAAAAAAAAAhAIMW3IwB"
         "AAAAAQAAAAUAAAAAAAAAAAAAAIABAAAAAGEudHh0UEsFBgAAAAABAAEAMwAAACQAAAAAAA==")},
    {"archive_only_pages", true, /* of a.html */
     ZIP("UEsDBBQAAAAAAAAAIQCDFtyMAQAAAAEAAAAGAAAAYS5odG1seFBLAQIUAxQAAAAAAAAAIQCDFtyM"
         "AQAAAAEAAAAGAAAAAAAAAAAAAACAAQAAAABhLmh0bWxQSwUGAAAAAAEAAQA0AAAAJQAAAAAA")},
    {"archive_only_pages", false, /* of a.html and b.txt */
     ZIP("UEsDBBQAAAAAAAAAIQCDFtyMAQAAAAEAAAAGAAAAYS5odG1seFBLAwQUAAAAAAAAACEAgxbcjAEA"
         "AAABAAAABQAAAGIudHh0eFBLAQIUAxQAAAAAAAAAIQCDFtyMAQAAAAEAAAAGAAAAAAAAAAAAAACA"
         "AQAAAABhLmh0bWxQSwECFAMUAAAAAAAAACEAgxbcjAEAAAABAAAABQAAAAAAAAAAAAAAgAElAAAA"
         "Yi50eHRQSwUGAAAAAAIAAgBnAAAASQAAAAAA")},
    {"archive_runs", true, /* of a.exe */
     ZIP("UEsDBBQAAAAAAAAAIQCDFtyMAQAAAAEAAAAFAAAAYS5leGV4UEsBAhQDFAAAAAAAAAAhAIMW3IwB"
         "AAAAAQAAAAUAAAAAAAAAAAAAAIABAAAAAGEuZXhlUEsFBgAAAAABAAEAMwAAACQAAAAAAA==")},
    {"archive_runs", false, /* of a.pdf */
     ZIP("UEsDBBQAAAAAAAAAIQCDFtyMAQAAAAEAAAAFAAAAYS5wZGZ4UEsBAhQDFAAAAAAAAAAhAIMW3IwB"
         "AAAAAQAAAAUAAAAAAAAAAAAAAIABAAAAAGEucGRmUEsFBgAAAAABAAEAMwAAACQAAAAAAA==")},
    {"attachment_type_lies", true,
     ENCODED("image/png; name=a.png", "UEsDBAoAAAAAAA==")},
    {"attachment_type_lies", false,
     ENCODED("application/octet-stream; name=a", "UEsDBAoAAAAAAA==")},
    {"pdf_encrypted", true,
     FROM MIXED "Content-Type: application/pdf\n\n%PDF-1.5\n"
                "trailer<</Root 1 0 R/Encrypt 2 0 R>>\n--b--\n"},
    {"pdf_encrypted", false,
     FROM MIXED "Content-Type: application/pdf\n\n%PDF-1.5\n"
                "trailer<</Root 1 0 R/Encrypted 2 0 R>>\n--b--\n"},
    {"script_obfuscated", true,
     FROM HTML "\n<script>document.write(unescape('%61'))</script>"},
    {"script_obfuscated", false,
     FROM HTML "\n<p>unescape('%61')</p><script>x</script>"},
    /* text */
    {"body_empty", true, FROM "\n \n"},
    {"body_empty", true, FROM HTML "\n<p> </p>"},
    {"body_empty", false, FROM HTML "\n<img src=a.png>"},
    {"image_only", true, FROM HTML "\n<a href=http://a.com/><img src=a.png></a> see"},
    {"image_only", false, FROM HTML "\n<img src=a.png>" LONG},
    {"image_only", false, FROM HTML "\nsee"},
    {"text_short_link", true, FROM "\nsee http://a.com/x\n"},
    {"text_short_link", false, FROM "\nsee http://a.com/x " LONG "\n"},
    {"text_few_words", true, FROM "\nsee this\n"},
    {"text_few_words", false, FROM "\n" WORDS " " WORDS " " WORDS "\n"},
    {"text_few_words", false, FROM "\n\n"},
    {"text_split", true, FROM HTML "\nv<!-- a -->iag<!-- b -->ra is ch<!-- c -->eap"},
    {"text_split", false, FROM HTML "\nv<!-- a -->iag<!-- b -->ra is <!-- c -->cheap"},
    {"html_only", true, FROM HTML "\nhello"},
    {"html_only", false, FROM BOTH("a", "b")},
    {"html_text_differs", true, FROM BOTH(WORDS, OTHER)},
    {"html_text_differs", false, FROM BOTH(WORDS, OTHER " " WORDS)},
    {"html_text_differs", false, FROM BOTH("see the page", OTHER)},
    {"hidden_much", true, FROM HTML "\n<p hidden>" LONG LONG LONG "</p>see"},
    {"hidden_much", false, FROM HTML "\n<p hidden>" LONG LONG "</p>see"},
    {"hidden_much", false,
     FROM HTML "\n<p hidden>" LONG LONG LONG "</p>" LONG LONG LONG LONG},
    {"comments_much", true,
     FROM HTML "\nsee<!--" LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG "-->"},
    {"comments_much", false, FROM HTML "\nsee<!--" LONG LONG "-->"},
    {"text_blank_lines", true, FROM "\na\n\n\n\n\n\n\n\n\n\n\n\n\nb\n"},
    {"text_blank_lines", false,
     FROM "\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\n"},
    {"text_blank_lines", false, FROM "\na\n\n\n\n\n\n\n\n\n\n\n\nb\n"},
    {"text_folded", true, FROM "\nbuy v1agra, c1al1s and \xd0\xb5xtra now\n"},
    {"text_folded", false, FROM "\nroom 101, the 2nd floor, at 10am\n"},
    {"base64_needless", true, ENCODED("text/plain", LINES64 LINES64 LINES64)},
    {"base64_needless", false, ENCODED("text/plain", LINES64 LINES64)},
    {"charset_lies", true,
     FROM
     "MIME-Version: 1.0\nContent-Type: text/plain; charset=us-ascii\n\n\xc3\xa9\n"},
    {"charset_lies", false,
     FROM "MIME-Version: 1.0\nContent-Type: text/plain; charset=us-ascii\n\ne\n"},
    {"charset_unused", true,
     FROM "MIME-Version: 1.0\nContent-Type: text/plain; charset=windows-1251\n\n" LONG
          "\n"},
    {"charset_unused", false,
     FROM
     "MIME-Version: 1.0\nContent-Type: text/plain; charset=windows-1251\n\n\xe0" LONG
     "\n"},
    {"charset_unused", false,
     FROM "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n" LONG "\n"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool has_trait(const char *text, const char *trait, size_t step)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    struct slice rest = slice_str(text);
    assert_non_null(x);
    while (rest.n > 0) {
        struct slice piece = slice_head(rest, step);
        extract_raw(x, piece);
        rest = slice_from(rest, piece.n);
    }
    bool has = featureset_has(extract_finish(x), FEATURE_trait, slice_str(trait));
    arena_free(&arena);
    return has;
}

static void test_traits__of_each_message__as_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(trait_is_known(slice_str(rows[i].trait)));
        if (has_trait(rows[i].text, rows[i].trait, SIZE_MAX) != rows[i].has) {
            fail_msg("%s%s\n%s", rows[i].has ? "no " : "", rows[i].trait, rows[i].text);
        }
    }
}

static bool has_row(const char *trait, bool has)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].has == has && strcmp(rows[i].trait, trait) == 0) {
            return true;
        }
    }
    return false;
}

/* Only the reader of files finds these. Their rows are in test_read_file. */
static bool is_of_reader(const char *trait)
{
    static const char *const names[] = {
        "code_drawn",      "code_link",       "code_split",      "document_form",
        "document_hidden", "document_runs",   "document_script", "file_opened",
        "file_unread",     "office_encrypted"};

    return name_index(slice_str(trait), names, LENGTH(names)) >= 0;
}

/* Limits have tests of their own, with messages of that size. */
static void test_traits__each_of_the_list__has_rows_of_both_kinds(void **state)
{
    static const char *const names[] = {
#define TRAIT(name, help) #name,
#include "core/message/feature/trait.def"
#undef TRAIT
    };
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is_of_reader(names[i])) {
            continue;
        }
        if (!has_row(names[i], true) || !has_row(names[i], false)) {
            fail_msg("%s: add a message that has the trait, and one that lacks it",
                     names[i]);
        }
    }
}

static void test_traits__cut_anywhere__are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t step = 1; step < 40; step += 3) {
            assert_int_equal(has_trait(rows[i].text, rows[i].trait, step), rows[i].has);
        }
    }
}

/* base64 of n letters, in lines. */
static bool is_needless(size_t n, const char *end)
{
    char text[TEXT_MAX];
    size_t at = (size_t)snprintf(text, sizeof(text), "%s",
                                 FROM "MIME-Version: 1.0\nContent-Type: text/plain\n"
                                      "Content-Transfer-Encoding: base64\n\n");
    for (size_t i = 0; i < n; i += 3) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%sYWJj",
                               i % 57 == 0 ? "\n" : "");
    }
    snprintf(text + at, sizeof(text) - at, "%s\n", end);
    return has_trait(text, "base64_needless", SIZE_MAX);
}

static void test_base64__long_ascii__is_needless(void **state)
{
    (void)state;
    assert_true(is_needless(402, ""));
    assert_false(is_needless(399, ""));
    assert_false(is_needless(402, "w6k=")); /* a letter outside ASCII */
}

/* A document of an old office program: its magic, then filler, then the directory. */
static bool has_macro(size_t filler, const char *name, size_t n)
{
    char text[TEXT_MAX];
    static const char head[] = FROM MIXED "Content-Type: application/msword\n"
                                          "Content-Transfer-Encoding: 8bit\n\n"
                                          "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    size_t at = sizeof(head) - 1;
    memcpy(text, head, at);
    memset(text + at, 'x', filler);
    memcpy(text + at + filler, name, n);
    at += filler + n;
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    assert_non_null(x);
    extract_raw(x, slice_of(text, at));
    extract_raw(x, SLICE_LIT("xx\n--b--\n"));
    bool has =
        featureset_has(extract_finish(x), FEATURE_trait, SLICE_LIT("attachment_macro"));
    arena_free(&arena);
    return has;
}

static void test_macro__name_of_storage_anywhere__is_found(void **state)
{
    static const char name[] = "_\0V\0B\0A\0_\0P\0R\0O\0J\0E\0C\0T\0";
    static const char part[] = "_\0V\0B\0A\0_\0P\0R\0O\0J\0E\0C\0S\0";
    (void)state;
    for (size_t filler = 400; filler < 9000;
         filler += 37) { /* over each cut of decoding */
        assert_true(has_macro(filler, name, sizeof(name) - 1));
        assert_false(has_macro(filler, part, sizeof(part) - 1));
    }
}

/* The envelope is asked before the fields. */
static void test_recipient__of_the_envelope__counts_alone(void **state)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    (void)state;
    extract_rcpt_to(x, SLICE_LIT("<victor@our.com>"));
    extract_header(x, SLICE_LIT("From"), SLICE_LIT("Other Name <a@shop.com>"));
    extract_header(x, SLICE_LIT("To"), SLICE_LIT("other@their.com"));
    extract_header(x, SLICE_LIT("Subject"), SLICE_LIT("for victor"));
    extract_end_of_headers(x);
    extract_body(x, SLICE_LIT("x\r\n"));
    const struct featureset *set = extract_finish(x);
    assert_true(featureset_has(set, FEATURE_trait, SLICE_LIT("subject_has_recipient")));
    assert_false(featureset_has(set, FEATURE_trait, SLICE_LIT("name_is_recipient")));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traits__of_each_message__as_in_the_table),
        cmocka_unit_test(test_traits__each_of_the_list__has_rows_of_both_kinds),
        cmocka_unit_test(test_traits__cut_anywhere__are_the_same),
        cmocka_unit_test(test_base64__long_ascii__is_needless),
        cmocka_unit_test(test_macro__name_of_storage_anywhere__is_found),
        cmocka_unit_test(test_recipient__of_the_envelope__counts_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
