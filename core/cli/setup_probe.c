/* setup_probe - the test message: the MTA accepts it, gillnetd recognises and drops it. */
#include <poll.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/cli/services.h"
#include "core/cli/setup.h"

enum {
    TOKEN_BYTES = 16,
    REPLY_MAX = 1024,
    REPLY_WAIT_S = 40,    /* postscreen and Sendmail's greet_pause let a client wait */
    ASKED_WAIT_MS = 2000, /* from the greeting to gillnetd */
    TRY_FOR_US =
        20 * 1000000, /* an MTA that reloads still answers with the old settings */
    PAUSE_MS = 100
};

struct probe {
    const struct setup *s;
    char token[TOKEN_BYTES * 2 + 1];
    const char *rcpt;      /* who the message is for */
    FILE *mta;             /* the connection, to read from */
    char reply[REPLY_MAX]; /* the last line */
};

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* Whether gillnetd reports the expected state of the probe within wait_ms. */
static bool is_state(const struct probe *p, const char *expected, int wait_ms)
{
    char request[64];
    char line[64];

    (void)snprintf(request, sizeof(request), "probe %s", p->token);
    (void)snprintf(line, sizeof(line), "ok %s", expected);
    for (;;) {
        struct buf answer;
        struct errinfo why = {0};
        bool is_there = false;

        buf_init(&answer, CONTROL_ANSWER_MAX);
        is_there = control_ask(p->s->cli->config->control_socket, request, &answer,
                               &why) == ERR_OK &&
                   slice_eq(slice_trim(buf_slice(&answer)), slice_str(line));
        buf_fini(&answer);
        if (is_there || wait_ms <= 0) {
            return is_there;
        }
        pause_ms(PAUSE_MS);
        wait_ms -= PAUSE_MS;
    }
}

/* Sends a line (NULL: none) and reads the reply to its last line. Returns the code, or 0. */
static int talk(struct probe *p, const char *line)
{
    if (line != NULL && (send(fileno(p->mta), line, strlen(line), MSG_NOSIGNAL) < 0 ||
                         send(fileno(p->mta), "\r\n", 2, MSG_NOSIGNAL) < 0)) {
        return 0;
    }
    do {
        if (fgets(p->reply, sizeof(p->reply), p->mta) == NULL) {
            (void)snprintf(p->reply, sizeof(p->reply), "it closed the connection");
            return 0;
        }
        p->reply[strcspn(p->reply, "\r\n")] = '\0';
    } while (strlen(p->reply) > 3 && p->reply[3] == '-');
    return (int)strtol(p->reply, NULL, 10);
}

static bool dial(struct probe *p, const char *host, const char *port)
{
    struct errinfo why = {0};
    int fd = -1;

    if (control_dial(host, port, REPLY_WAIT_S, &fd, &why) != ERR_OK) {
        (void)snprintf(p->reply, sizeof(p->reply), "%s", why.text);
        return false;
    }
    p->mta = fdopen(fd, "r");
    if (p->mta == NULL) {
        close(fd);
    }
    return p->mta != NULL;
}

/* Connects and greets. False: gillnetd did not see the greeting, and reply has the reason. */
static bool greet_once(struct probe *p, const char *host, const char *port)
{
    char line[96];

    if (!dial(p, host, port)) {
        return false;
    }
    (void)snprintf(line, sizeof(line), "EHLO %s.gillnet-probe.invalid", p->token);
    if (talk(p, NULL) == 220 && talk(p, line) == 250) {
        if (is_state(p, "greeted", ASKED_WAIT_MS)) {
            return true;
        }
        (void)snprintf(p->reply, sizeof(p->reply),
                       "it did not ask gillnetd about a client that greets");
    }
    (void)fclose(p->mta);
    p->mta = NULL;
    return false;
}

/* Connects until gillnetd has seen the greeting: mail on that connection reaches nobody. */
static bool greet(struct probe *p, const char *host, const char *port)
{
    uint64_t end_us = clock_mono_us() + TRY_FOR_US;

    while (clock_mono_us() < end_us) {
        if (greet_once(p, host, port)) {
            return true;
        }
        pause_ms(PAUSE_MS * 5);
    }
    return false;
}

/* Sendmail as Debian installs it has no aliases, and so no postmaster. */
static bool name_recipient(struct probe *p)
{
    p->rcpt = "postmaster";
    if (talk(p, "RCPT TO:<postmaster>") == 250) {
        return true;
    }
    p->rcpt = "root";
    return talk(p, "RCPT TO:<root>") == 250;
}

static bool send_message(struct probe *p)
{
    return talk(p, "MAIL FROM:<>") == 250 && name_recipient(p) &&
           talk(p, "DATA") == 354 &&
           talk(p, "From: gillnet setup <postmaster>\r\n"
                   "To: postmaster\r\n"
                   "Subject: test message of gillnet setup\r\n"
                   "\r\n"
                   "gillnetd drops this message. If you read it, it did not: "
                   "`gillnet doctor` says why.\r\n"
                   ".") == 250;
}

void setup_probe(struct setup *s, const char *host, const char *port)
{
    struct probe p = {.s = s};
    unsigned char bytes[TOKEN_BYTES];

    random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        (void)snprintf(p.token + i * 2, 3, "%02x", bytes[i]);
    }
    if (!is_state(&p, "waiting", 0)) {
        setup_note(
            s,
            "no test message was sent: this gillnetd is older and would not recognise "
            "it; restart gillnetd, then run this again");
        return;
    }
    if (!greet(&p, host, port)) {
        setup_note(
            s,
            "%s at %s port %s does not work with gillnetd yet: %s; no message was "
            "sent; `gillnet doctor` looks at what is between them",
            s->program, host, port, p.reply);
    } else if (!send_message(&p)) {
        setup_note(
            s,
            "%s asked gillnetd, and then refused the test message: %s; nobody got it",
            s->program, p.reply);
    } else if (!is_state(&p, "dropped", ASKED_WAIT_MS)) {
        setup_note(
            s,
            "%s took the test message past gillnetd; %s has it; `gillnet doctor` "
            "looks at what is between them",
            s->program, p.rcpt);
    } else {
        setup_say(s, "test",
                  "%s took a message at %s port %s and showed it to gillnetd, which "
                  "recognised and "
                  "dropped it: nobody got mail",
                  s->program, host, port);
    }
    if (p.mta != NULL) {
        (void)talk(&p, "QUIT");
        (void)fclose(p.mta);
    }
}
