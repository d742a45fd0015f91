/*
 * test_extract_file - contents of attachments: archives, PDF, winmail.dat, uuencode, messages.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/extract/extract.h"

#include "tests/unit/archive/build.h"
#include "tests/unit/extract/limits.h"
#include "tests/unit/extract/names.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, HELD = EXTRACT_ATTACHMENT_BYTES };

/* SHA-256 of "hello" */
#define SUM_HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static void add_base64(struct buf *b, struct slice data)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t line = 0;
    for (size_t i = 0; i < data.n; i += 3) {
        unsigned v = 0;
        for (size_t k = 0; k < 3; k++) {
            v = v << 8 | (i + k < data.n ? (unsigned)(unsigned char)data.p[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            buf_add_char(b, i + k > data.n ? '=' : digits[v >> (18 - 6 * k) & 63]);
        }
        if (++line % 18 == 0) {
            buf_add_char(b, '\n');
        }
    }
    buf_add_char(b, '\n');
}

/* A message of one part. */
static void build_message(struct buf *b, const char *fields, struct slice data)
{
    buf_init(b, BUILD_CAP);
    buf_add_str(b, fields);
    buf_add_str(b, "Content-Transfer-Encoding: base64\n\n");
    add_base64(b, data);
}

/* Every feature as " type:text", and the limits as "limit:name". */
static void features_of(struct slice text, size_t step, struct buf *ret)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    assert_non_null(x);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    const struct featureset *fs = extract_finish(x);
    buf_init(ret, BUILD_CAP);
    for (size_t i = 0; i < featureset_count(fs); i++) {
        const struct feature *f = featureset_at(fs, i);
        buf_add_str(ret, " ");
        buf_add_str(ret, name_in_rows(f->type));
        buf_add_str(ret, ":");
        buf_add(ret, f->text);
        buf_add_str(ret, "\n");
    }
    for (unsigned i = 0; limit_name(i) != NULL; i++) {
        if ((featureset_limits(fs) >> i & 1) != 0) {
            buf_add_str(ret, " limit:");
            buf_add_str(ret, limit_name(i));
            buf_add_str(ret, "\n");
        }
    }
    buf_add_str(ret, " end\n");
    arena_free(&arena);
}

/* Each word of wanted ("url:a.com/") is a feature; none of unwanted is. Cut otherwise, the
 * message has the same. Frees the message. */
static void check(struct buf *message, const char *wanted, const char *unwanted)
{
    static const size_t steps[] = {1, 7, 1000};
    struct buf got;
    features_of(buf_slice(message), message->n, &got);
    for (int side = 0; side < 2; side++) {
        struct slice rest = slice_str(side == 0 ? wanted : unwanted);
        while (rest.n > 0) {
            char line[200];
            struct slice word = slice_cut(&rest, ' ');
            (void)snprintf(line, sizeof(line), " %.*s\n", (int)word.n, word.p);
            if ((strstr(got.p, line) != NULL) != (side == 0)) {
                fail_msg("%s: %s\n%s", side == 0 ? "no" : "unwanted", line, got.p);
            }
        }
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct buf again;
        if (message->n > 20000 && steps[i] < 100) {
            continue;
        }
        features_of(buf_slice(message), steps[i], &again);
        assert_string_equal(again.p, got.p);
        buf_fini(&again);
    }
    buf_fini(&got);
    buf_fini(message);
}

static void check_text(const char *text, const char *wanted, const char *unwanted)
{
    struct buf message;
    buf_init(&message, BUILD_CAP);
    buf_add_str(&message, text);
    check(&message, wanted, unwanted);
}

static void check_attached(const char *fields, struct buf *file, const char *wanted,
                           const char *unwanted)
{
    struct buf message;
    build_message(&message, fields, buf_slice(file));
    buf_fini(file);
    check(&message, wanted, unwanted);
}

#define ZIP "Content-Type: application/zip; name=a.zip\n"

/* {name, data} deflated, with the flags given. */
static void zip_of(struct buf *ret, const char *name, struct slice data, unsigned flags)
{
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){
                          .name = name, .data = data, .method = 8, .flags = flags});
    (void)build_zip_end(&z);
    *ret = z.file;
    buf_fini(&z.directory);
}

static void test_zip__entries__by_name_sum_and_links(void **state)
{
    (void)state;
    struct buf f;
    zip_of(&f, "dir/Hello.EXE", SLICE_LIT("hello"), 0);
    check_attached(ZIP, &f,
                   "attachment_name:a.zip attachment_type:application/zip "
                   "archive_entry:hello.exe attachment:" SUM_HELLO,
                   "trait:archive_encrypted trait:attachment_type_lies");
    zip_of(&f, "a.txt", SLICE_LIT("see http://a.com/x"), 0);
    check_attached(ZIP, &f, "archive_entry:a.txt url:a.com/x", "");
    zip_of(&f, "a.html", SLICE_LIT("<a href='http://a.com/&#120;'>"), 0);
    check_attached(ZIP, &f, "url:a.com/x", "");
    zip_of(&f, "a.url", SLICE_LIT("[InternetShortcut]\r\nURL=http://a.com/x\r\n"), 0);
    check_attached(ZIP, &f, "url:a.com/x", "");
    zip_of(&f, "no-name", SLICE_LIT("<!doctype html><a href='//a.com/x'>"), 0);
    check_attached(ZIP, &f, "url:a.com/x", "");
    zip_of(&f, "a.bin", SLICE_LIT("http://a.com/x"), 0);
    check_attached(ZIP, &f, "archive_entry:a.bin", "url:a.com/x");
}

static void test_zip__encrypted__is_a_trait(void **state)
{
    (void)state;
    struct buf f;
    zip_of(&f, "a.txt", SLICE_LIT("hello"), BUILD_ENCRYPTED);
    check_attached(ZIP, &f, "archive_entry:a.txt trait:archive_encrypted",
                   "attachment:" SUM_HELLO);
}

static void test_zip__declared_otherwise__is_read_and_a_trait(void **state)
{
    (void)state;
    struct buf f;
    zip_of(&f, "a.txt", SLICE_LIT("http://a.com/"), 0);
    check_attached("Content-Type: text/plain; name=x\n", &f,
                   "attachment_type:text/plain attachment_type:application/zip "
                   "trait:attachment_type_lies archive_entry:a.txt url:a.com/",
                   "");
    zip_of(&f, "a.txt", SLICE_LIT("http://a.com/"), 0);
    check_attached("Content-Type: application/octet-stream\n", &f,
                   "attachment_type:application/zip url:a.com/",
                   "trait:attachment_type_lies");
}

static void test_zip__in_a_zip__one_level_is_read(void **state)
{
    (void)state;
    struct buf f[4];
    zip_of(&f[0], "z.txt", SLICE_LIT("http://a.com/z"), 0);
    zip_of(&f[1], "y.zip", buf_slice(&f[0]), 0);
    zip_of(&f[2], "x.zip", buf_slice(&f[1]), 0);
    buf_fini(&f[0]);
    check_attached(ZIP, &f[1], "archive_entry:y.zip archive_entry:z.txt url:a.com/z",
                   "limit:archive_depth");
    check_attached(ZIP, &f[2], "archive_entry:x.zip archive_entry:y.zip",
                   "archive_entry:z.txt");
}

static void test_zip__deeper__sets_the_limit(void **state)
{
    (void)state;
    struct buf f[3];
    zip_of(&f[0], "z.txt", SLICE_LIT("http://a.com/z"), 0);
    zip_of(&f[1], "y.zip", buf_slice(&f[0]), 0);
    zip_of(&f[2], "x.zip", buf_slice(&f[1]), 0);
    buf_fini(&f[0]);
    buf_fini(&f[1]);
    check_attached(ZIP, &f[2], "limit:archive_depth", "url:a.com/z");
}

static void test_pdf__links__are_urls(void **state)
{
    (void)state;
    struct buf f;
    buf_init(&f, BUILD_CAP);
    buf_add_str(&f,
                "%PDF-1.5\n1 0 obj<</URI(http://a.com/1)>>endobj\n/URI(mailto:j@b.com)"
                "/URI<FEFF0068007400740070003A002F002F0063002E0063006F006D>"
                "2 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\n");
    build_deflate(&f, SLICE_LIT("/URI(https://d.com/2)"), false);
    buf_add_str(&f, "\nendstream");
    check_attached("Content-Type: application/pdf\n", &f,
                   "url:a.com/1 text_address:j@b.com url:c.com/ url:d.com/2 "
                   "attachment_type:application/pdf",
                   "trait:attachment_type_lies");
}

static void test_winmail__texts_and_files__are_read(void **state)
{
    (void)state;
    struct buf f;
    struct buf p;
    struct buf zip;
    buf_init(&f, BUILD_CAP);
    buf_init(&p, BUILD_CAP);
    zip_of(&zip, "in.txt", SLICE_LIT("http://a.com/zip"), 0);
    build_tnef(&f, 1, 0x2800c, SLICE_LIT("http://a.com/body"));
    buf_add_u32(&p, 1);
    build_property(&p, 258, 0x1013, SLICE_LIT("<a href='http://a.com/&#104;'>"));
    build_tnef(&f, 1, 0x69003, buf_slice(&p));
    build_tnef(&f, 2, 0x69002, SLICE_LIT("12345678901234"));
    build_tnef(&f, 2, 0x18010, SLICE_LIT("x.zip\0"));
    build_tnef(&f, 2, 0x6800f, buf_slice(&zip));
    build_tnef(&f, 2, 0x69002, SLICE_LIT("12345678901234"));
    build_tnef(&f, 2, 0x18010, SLICE_LIT("x.bin\0"));
    build_tnef(&f, 2, 0x6800f, SLICE_LIT("hello"));
    buf_fini(&p);
    buf_fini(&zip);
    check_attached("Content-Type: application/ms-tnef; name=winmail.dat\n", &f,
                   "attachment_name:winmail.dat url:a.com/body url:a.com/h "
                   "attachment_name:x.zip archive_entry:in.txt url:a.com/zip "
                   "attachment_name:x.bin attachment:" SUM_HELLO,
                   "limit:archive_depth");
}

/* Links of Windows that are XML, with names of a namespace and without. */
static void test_xml__of_windows__gives_its_links(void **state)
{
    static const struct {
        const char *name;
        const char *text;
        const char *wanted;
    } rows[] = {
        {"a.library-ms",
         "<libraryDescription><simpleLocation><url>\\\\files.com@80\\s\\</url>"
         "</simpleLocation></libraryDescription>",
         "url:files.com/s/"},
        {"a.settingcontent-ms",
         "<PCSettings><DeepLink><![CDATA[cmd /c start http://b.example/x]]></DeepLink>"
         "</PCSettings>",
         "url:b.example/x"},
        {"a.rels",
         "<r:Relationships><r:Relationship Id='1' TargetMode='External' "
         "Target='http://c.example/x'/></r:Relationships>",
         "url:c.example/x"},
        {"a.rels",
         "<Relationships><Relationship Id='1' TargetMode='External' "
         "Target='http://d.example/x'/></Relationships>",
         "url:d.example/x"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char fields[100];
        struct buf f;
        buf_init(&f, BUILD_CAP);
        buf_add_str(&f, "<?xml version=\"1.0\"?>");
        buf_add_str(&f, rows[i].text);
        (void)snprintf(fields, sizeof(fields),
                       "Content-Type: application/octet-stream; name=%s\n",
                       rows[i].name);
        check_attached(fields, &f, rows[i].wanted, "");
    }
}

static void test_uuencode__in_text_or_as_encoding__is_a_file(void **state)
{
    (void)state;
    check_text("\nsee\nbegin 644 A.TXT\n%:&5L;&\\\n`\nend\nhttp://a.com/after\n",
               "attachment_name:a.txt attachment:" SUM_HELLO " url:a.com/after", "");
    check_text("\nbegin 644 a.txt\n-:'1T<#HO+V$N8V]M+P  \n`\nend\n",
               "attachment_name:a.txt url:a.com/", "");
    check_text(
        "Content-Type: application/x-y; name=b.bin\n"
        "Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a.bin\n%:&5L;&\\\nend\n",
        "attachment_name:b.bin attachment_name:a.bin attachment:" SUM_HELLO, "");
    check_text("Content-Type: text/html\nContent-Transfer-Encoding: x-uuencode\n\n"
               "begin 644 a\n7/&$@:')E9CUH='1P.B\\O82YC;VTO>#X \n`\nend\n",
               "url:a.com/x", "");
}

/* A page as browsers save it. */
static void build_page_archive(struct buf *ret)
{
    buf_init(ret, BUILD_CAP);
    buf_add_str(ret,
                "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n"
                "--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n"
                "PGEgaHJlZj1odHRwOi8vYS5jb20veD4=\n--b--\n");
}

static void test_message__as_a_file__is_read(void **state)
{
    (void)state;
    struct buf f;
    buf_init(&f, BUILD_CAP);
    buf_add_str(&f,
                "Subject: http://a.com/s\nContent-Type: multipart/mixed; boundary=b\n\n"
                "--b\nContent-Type: text/html\n\n<a href=http://a.com/h>\n--b\n"
                "Content-Type: x/y; name=in.bin\nContent-Transfer-Encoding: base64\n\n"
                "aGVsbG8=\n--b--\n");
    check_attached(
        "Content-Type: application/octet-stream; name=a.eml\n", &f,
        "attachment_name:a.eml url:a.com/s url:a.com/h attachment_name:in.bin "
        "attachment:" SUM_HELLO,
        "subject:http://a.com/s");
    build_page_archive(&f);
    check_attached("Content-Type: application/octet-stream; name=A.MHT\n", &f,
                   "url:a.com/x", "");
    build_page_archive(&f);
    check_attached("Content-Type: message/rfc822; name=a.mht\n", &f, "url:a.com/x", "");
}

/* An entity in the wrapping of S/MIME, its text in blocks. */
static void build_signed(struct buf *ret, const char *field)
{
    buf_init(ret, BUILD_CAP);
    buf_add(
        ret,
        SLICE_LIT("0\x80\x06\x09*\x86H\x86\xf7\x0d\x01\x07\x02\xa0\x80$\x80\x04\x20"));
    buf_add_str(ret, field);
    buf_add_str(ret, "text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n"
                     "PGEgaHJlZj1od");
    buf_add(ret, SLICE_LIT("\x04\x82\x10\x00"));
    buf_add_str(ret, "HRwOi8vYS5jb20veD4=\r\n");
}

static void test_signed__not_encrypted__is_read(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "Content-Type: application/pkcs7-mime; smime-type=signed-data\n",
        "Content-Type: application/x-pkcs7-mime\n",
        "Content-Type: application/octet-stream; name=smime.p7m\n"};
    struct buf f;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        build_signed(&f, "Content-Type: ");
        check_attached(fields[i], &f, "url:a.com/x", "");
    }
    build_signed(&f, "No-Type: ");
    check_attached(fields[0], &f, "", "url:a.com/x");
}

static void test_page__in_a_link__is_read(void **state)
{
    (void)state;
#define PAGE "PGEgaHJlZj1odHRwOi8vYS5jb20veD4="
    static const char *const values[] = {
        "data:text/html;base64," PAGE, "DATA:text/html;charset=utf-8;Base64," PAGE,
        "data:image/svg+xml;base64,PGEgaHJlZj1odHRwOi8vYS5jb20veD4%3D"};
    char text[200];
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        (void)snprintf(text, sizeof(text),
                       "Content-Type: text/html\n\n<a href='%s'>x</a>\n", values[i]);
        check_text(text, "url:a.com/x", "limit:archive_depth");
    }
    check_text("Content-Type: text/html\n\n<img src='data:image/png;base64," PAGE "'>",
               "", "url:a.com/x");
    /* a page in a page in a page */
    check_text("Content-Type: text/html\n\n<a href='data:text/html;base64,"
               "PGEgaHJlZj0nZGF0YTp0ZXh0L2h0bWw7YmFzZTY0LFBHRWdhSEpsWmowblpHRjBZ"
               "VHAwWlhoMEwyaDBiV3c3WW1GelpUWTBMRkJIUldkaFNFcHNXbW94YjJSSVVuZFBh"
               "VGgyV1ZNMWFtSXlNSFpsUkRROUp6ND0nPg=='>",
               "limit:archive_depth", "url:a.com/x");
}

static void test_script__base64_round_limit__flag_above(void **state)
{
    (void)state;
    for (size_t n = 2048; n < 2050; n++) {
        struct buf message;
        buf_init(&message, BUILD_CAP);
        buf_add_str(&message,
                    "Content-Type: text/html\n\n<script>atob('aHR0cDovL2EuY29tLz94");
        for (size_t i = sizeof "aHR0cDovL2EuY29tLz94" - 1; i < n; i++) {
            buf_add_str(&message, "A");
        }
        buf_add_str(&message, "')</script>\n");
        check(&message, n > 2048 ? "url_host:a.com limit:url_bytes" : "url_host:a.com",
              n > 2048 ? "" : "limit:url_bytes");
    }
}

static void test_page__by_name__is_read(void **state)
{
    (void)state;
    static const char *const names[] = {"a.hta", "a.xht", "a.webloc"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct buf f;
        char fields[80];
        (void)snprintf(fields, sizeof(fields),
                       "Content-Type: application/octet-stream; name=%s\n", names[i]);
        buf_init(&f, BUILD_CAP);
        buf_add_str(&f, "<?xml version='1.0'?><plist><dict><key>URL</key>"
                        "<string>http://a.com/?b&amp;c</string></dict></plist>");
        check_attached(fields, &f, "url:a.com/?b&c", "");
    }
}

static void test_calendar_and_contact__folded__have_whole_links(void **state)
{
    (void)state;
    check_text("Content-Type: text/calendar\n\nURL:http://a.c\n om/x\n"
               "DESCRIPTION:see http://b.com/y\\nand more\n",
               "url:a.com/x url:b.com/y", "");
    check_text("Content-Type: text/plain; name=a.vcf\n\n"
               "URL;ENCODING=QUOTED-PRINTABLE:http://a.com/=\nx=2Ey\n",
               "url:a.com/x.y", "");
}

static void test_charset__lying_or_cut__links_are_whole(void **state)
{
    (void)state;
    struct buf f;
    buf_init(&f, BUILD_CAP);
    buf_add(&f, SLICE_LIT("\xff\xfeh\0t\0t\0p\0:\0/\0/\0a\0.\0c\0o\0m\0/\0"));
    check_attached("Content-Type: text/plain; charset=us-ascii\n", &f, "url:a.com/",
                   "");
    buf_init(&f, BUILD_CAP);
    buf_add(&f, SLICE_LIT("\0h\0t\0t\0p\0:\0/\0/\0a\0.\0c\0o\0m\0/"));
    check_attached("Content-Type: text/plain; charset=utf-16\n", &f, "url:a.com/", "");
    check_text(
        "Content-Type: text/plain; charset=utf-7\n\n+AGgAdAB0AHAAOgAvAC8-a.com/\n",
        "url:a.com/", "");
    /* shifted once, for more than a window and without white space */
    buf_init(&f, BUILD_CAP);
    buf_add_str(&f, "\x1b$B");
    for (size_t i = 0; i < 50000; i++) {
        buf_add_str(&f, "$\"");
    }
    buf_add_str(&f, "\x1b(B http://a.com/");
    check_attached("Content-Type: text/plain; charset=iso-2022-jp\n", &f, "url:a.com/",
                   "");
    /* an odd byte in front: no unit is where windows are cut */
    buf_init(&f, BUILD_CAP);
    for (size_t i = 0; i < 40000; i++) {
        buf_add(&f, SLICE_LIT("\x2d\x4e"));
    }
    buf_add(&f, SLICE_LIT(" \0h\0t\0t\0p\0:\0/\0/\0a\0.\0c\0o\0m\0/\0"));
    check_attached("Content-Type: text/plain; charset=utf-16le\n", &f, "url:a.com/",
                   "");
}

static void test_readings__of_any_reader__give_their_links(void **state)
{
    (void)state;
    check_text(
        "Content-Type: multipart/mixed; boundary=b; boundary=c\n\nhttp://a.com/pre\n"
        "--c\nContent-Transfer-Encoding: base64\n\naHR0cDovL2EuY29tL2M=\n--c--\n"
        "--b\n\nhttp://a.com/b\n--b--\nhttp://a.com/epi\n",
        "url:a.com/pre url:a.com/c url:a.com/b url:a.com/epi", "limit:readings");
}

static void test_html__that_names_its_charset__is_read_in_it(void **state)
{
    (void)state;
    check_text("Content-Type: text/html\n\n<html><meta charset=\"koi8-r\">"
               "http://\xd0\xd2\xc9\xcd\xc5\xd2.\xd2\xc6/",
               "url_host:xn--e1afmkfd.xn--p1ai", "limit:charset");
    /* a page with readable text is not in wide units */
    check_text("Content-Type: text/html\n\n<meta charset=utf-16>http://a.com/",
               "url:a.com/", "limit:charset");
}

static void test_zip__over_each_limit__sets_its_flag(void **state)
{
    (void)state;
    static const struct {
        size_t files;
        size_t bytes;
        const char *wanted;
    } zips[] = {
        {ARCHIVE_ENTRIES_MAX + 1, 1, "limit:archive_entries"},
        {1, ARCHIVE_RATIO_FREE + 1, "limit:archive_ratio"},
        {ARCHIVE_INFLATED_MAX / ARCHIVE_RATIO_FREE + 1, ARCHIVE_RATIO_FREE,
         "limit:archive_bytes"},
    };
    char *zeros = calloc(1, ARCHIVE_RATIO_FREE + 1);
    for (size_t i = 0; i < sizeof(zips) / sizeof(zips[0]); i++) {
        struct build_zip z;
        build_zip_begin(&z);
        for (size_t k = 0; k < zips[i].files; k++) {
            build_zip_add(&z, &(struct build_entry){.name = "x",
                                                    .data = {zeros, zips[i].bytes},
                                                    .method = 8});
        }
        (void)build_zip_end(&z);
        buf_fini(&z.directory);
        check_attached(ZIP, &z.file, zips[i].wanted, "");
    }
    free(zeros);
}

static void test_held__at_and_above__the_next_file_is_read_all_the_same(void **state)
{
    (void)state;
    struct buf small;
    zip_of(&small, "a.txt", SLICE_LIT("http://a.com/"), 0);
    for (size_t more = 0; more < 2; more++) {
        struct buf f;
        buf_init(&f, BUILD_CAP);
        for (size_t i = 0; i < HELD + more; i++) {
            buf_add_char(&f, i == 0 ? 'P' : 'x');
        }
        struct buf message;
        buf_init(&message, BUILD_CAP);
        buf_add_str(&message, "Content-Type: multipart/mixed; boundary=b\n\n--b\n" ZIP
                              "Content-Transfer-Encoding: base64\n\n");
        add_base64(&message, buf_slice(&f));
        buf_add_str(&message, "--b\n" ZIP "Content-Transfer-Encoding: base64\n\n");
        add_base64(&message, buf_slice(&small));
        buf_add_str(&message, "--b--\n");
        buf_fini(&f);
        check(&message, more == 0 ? "url:a.com/" : "url:a.com/ limit:attachment_bytes",
              more == 0 ? "limit:attachment_bytes" : "none");
    }
    buf_fini(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip__entries__by_name_sum_and_links),
        cmocka_unit_test(test_zip__encrypted__is_a_trait),
        cmocka_unit_test(test_zip__declared_otherwise__is_read_and_a_trait),
        cmocka_unit_test(test_zip__in_a_zip__one_level_is_read),
        cmocka_unit_test(test_zip__deeper__sets_the_limit),
        cmocka_unit_test(test_pdf__links__are_urls),
        cmocka_unit_test(test_winmail__texts_and_files__are_read),
        cmocka_unit_test(test_xml__of_windows__gives_its_links),
        cmocka_unit_test(test_uuencode__in_text_or_as_encoding__is_a_file),
        cmocka_unit_test(test_message__as_a_file__is_read),
        cmocka_unit_test(test_signed__not_encrypted__is_read),
        cmocka_unit_test(test_page__in_a_link__is_read),
        cmocka_unit_test(test_script__base64_round_limit__flag_above),
        cmocka_unit_test(test_page__by_name__is_read),
        cmocka_unit_test(test_calendar_and_contact__folded__have_whole_links),
        cmocka_unit_test(test_charset__lying_or_cut__links_are_whole),
        cmocka_unit_test(test_readings__of_any_reader__give_their_links),
        cmocka_unit_test(test_html__that_names_its_charset__is_read_in_it),
        cmocka_unit_test(test_zip__over_each_limit__sets_its_flag),
        cmocka_unit_test(test_held__at_and_above__the_next_file_is_read_all_the_same),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
