/* counts - one key's count in one bucket, from gillnetd's journal to the files of two peers.
 *
 * Node 0 = A, whose count it is: gillnetd counts (vol), journals (jour), the hub signs objects of a stream
 * (incarnation i, seq s) once they are durable. Nodes 1 = B and 2 = C hold what A signed; C has it from B alone, with BOTH
 * also from A. Whatever was sent may come late, again, in any order, or never. Anybody crashes; with RESTORE A's
 * disk comes back older (the hub's folder, the journal, or both), and A asks its neighbours what they have of it before
 * it publishes again.
 *
 * An object of the chain is DELTA or SNAP (which changes nothing: who stands before it needs the header and compares
 * the root; who does not takes the whole). A root of one key's count is the count.
 * A disk takes longer to restore than a request lasts: what was on the way then is lost.
 *
 * Faults (-D), each of which must be found:
 *   BARE        receivers add what comes, no stream, no cursor (the paper's addition)
 *   TWOSTEP     the sum is durable first, the cursor later; a crash between
 *   EARLYPUB    counts are published that the journal does not have yet
 *   EARLYSEND   an object is sent before it is durable; NEWINC: each start is a new incarnation
 *   REUSEINC    a restored disk goes on in its incarnation without asking
 *   NOTAKEBACK  it asks, begins a new incarnation, but does not take its objects back
 *   ASKONE      (with BOTH) it asks one neighbour alone
 *   SHOWEARLY   (ACK before durable) B shows and relays what is not durable there
 *   SNAPBLIND   (with LIAR: A signs a SNAP that is not so) the root of a SNAP is not compared
 *   PURGEFIRST  (with DROP: B drops A) counts are purged, and the administrator told, before the manifest is durable
 *   NOREDO      what a crash took from the file of applied counts is not applied again
 */
#ifndef MAXEV
#define MAXEV 3
#endif
#ifndef MAXCRASH
#define MAXCRASH 2
#endif
#ifndef MAXRESTORE
#define MAXRESTORE 1
#endif
#define INCS 3
#define SEQS 4 /* seq 1 .. 3 */
#define ix(i, s) ((i) * SEQS + (s))
#define at(m, j) ((m) * INCS + (j))
#define DELTA 1
#define SNAP 2

byte events = 0, crashes = 0, restores = 0;
byte vol = 0, jour = 0;
byte inc = 0, fresh = 1;   /* fresh: no clock gives an incarnation twice */
byte head[INCS];           /* what A's disk knows */
bool knows = true;         /* A asked since its start */
byte val[12];              /* count after the object, as signed */
byte typ[12];              /* 0: never signed */
bool net[12];              /* A has shown it */
bool relay[12];            /* B has shown it */
bool signed_twice = false;
/* receivers, at(n, i) */
byte cur[9], held[9];      /* durable together: cursor, and the count of the root */
byte from[9];              /* the SNAP that was taken whole; 0: none */
byte ap[9], av[9];         /* applied position and count */
byte bare[3], bare_left = 4;
byte tw_i[3], tw_s[3];     /* TWOSTEP: sum durable, cursor not; s 0: none */
byte se_i = 0, se_s = 0;   /* SHOWEARLY at B */
byte es = 0;               /* EARLYSEND: sent, not durable */
bool mf = false, mv = false, told = false; /* DROP: manifest durable, in memory; administrator told */
bool done = false;

inline base(out) { out = val[ix(0, head[0])] + val[ix(1, head[1])] + val[ix(2, head[2])] }
inline total(n, out) { out = held[at(n, 0)] + held[at(n, 1)] + held[at(n, 2)] }
inline applied(n, out) { out = av[at(n, 0)] + av[at(n, 1)] + av[at(n, 2)] }

inline sign(s, t, v) {
    if
    :: net[ix(inc, s)] -> signed_twice = true
    :: else -> skip
    fi;
    typ[ix(inc, s)] = t;
    val[ix(inc, s)] = v;
    assert(!signed_twice) /* I4 */
}

/* A's neighbours that know more than its disk; m: one does. */
inline ask_one(n, j, m) {
    j = 0;
    do
    :: j < INCS ->
        if
        :: cur[at(n, j)] > head[j] ->
            m = true;
#ifndef NOTAKEBACK
            head[j] = cur[at(n, j)];
#endif
        :: else -> skip
        fi;
        j++
    :: else -> break
    od
}

proctype Origin() {
    byte b, j, r;
    bool m;
    do
    :: atomic { !done && events < MAXEV -> events++; vol++ }
    :: atomic { !done && jour < vol -> jour = vol }
    :: atomic { !done && knows && es == 0 && head[inc] < SEQS - 1 ->
            base(b);
            if
#ifdef EARLYPUB
            :: vol > b -> sign(head[inc] + 1, DELTA, val[ix(inc, head[inc])] + vol - b)
#else
            :: jour > b -> sign(head[inc] + 1, DELTA, val[ix(inc, head[inc])] + jour - b)
#endif
            :: head[inc] > 0 && typ[ix(inc, head[inc])] == DELTA ->
                sign(head[inc] + 1, SNAP, val[ix(inc, head[inc])])
#ifdef LIAR
            :: head[inc] > 0 && typ[ix(inc, head[inc])] == DELTA ->
                select(r : 0 .. MAXEV);
                sign(head[inc] + 1, SNAP, r)
#endif
            :: else -> goto nothing
            fi;
#ifdef EARLYSEND
            es = head[inc] + 1;
            net[ix(inc, es)] = true;
#else
            head[inc]++;
            net[ix(inc, head[inc])] = true; /* durable, then to be seen */
#endif
nothing:    b = 0; r = 0
        }
#ifdef EARLYSEND
    :: atomic { !done && es > 0 -> head[inc] = es; es = 0 }
#endif
    :: atomic { !done && crashes < MAXCRASH ->
            crashes++;
            vol = jour;
            es = 0;
#ifdef NEWINC
            if
            :: fresh < INCS -> inc = fresh; fresh++
            :: else -> knows = false
            fi
#endif
        }
#ifdef RESTORE
    :: atomic { !done && restores < MAXRESTORE ->
            restores++;
            if /* the hub's folder */
            :: true -> select(r : 0 .. 2);
                if
                :: r < head[inc] -> head[inc] = r
                :: inc > 0 && r >= head[inc] -> head[inc] = 0; inc = 0
                :: else -> skip
                fi
            :: true -> skip
            fi;
            if /* gillnetd's counts */
            :: jour > 0 -> jour--
            :: true -> skip
            fi;
            vol = jour;
            es = 0;
            j = 0;
            do /* what was on the way is lost */
            :: j < 12 ->
                if
                :: cur[at(1, j / SEQS)] >= j % SEQS || cur[at(2, j / SEQS)] >= j % SEQS || head[j / SEQS] >= j % SEQS || relay[j] -> skip
                :: else -> net[j] = false
                fi;
                j++
            :: else -> break
            od;
#ifndef REUSEINC
            knows = false;
#endif
            j = 0; r = 0
        }
    :: atomic { !done && !knows ->
            m = false;
            ask_one(1, j, m);
#if defined(BOTH) && !defined(ASKONE)
            ask_one(2, j, m);
#endif
            if
            :: m && fresh < INCS -> inc = fresh; fresh++; knows = true
            :: m && fresh == INCS -> break /* the model has no more incarnations */
            :: !m -> knows = true
            fi;
            j = 0; m = false
        }
#endif
    :: done -> break
    od
}

/* Whether n can be given (i, s). */
#define SENT(n, i, s) ((n == 1 && (net[ix(i, s)] || cur[at(2, i)] >= s)) || (n == 2 && (relay[ix(i, s)] || BOTH_NET(i, s))))
#ifdef BOTH
#define BOTH_NET(i, s) net[ix(i, s)]
#else
#define BOTH_NET(i, s) false
#endif

inline check(n, b) {
    total(n, b);
#ifndef LIAR
    assert(b <= events);                /* I6, I2: never more than was seen */
#ifndef RESTORE
    assert(b <= jour);                  /* I3: what a peer knows is durable at the origin */
#endif
#endif
    applied(n, b);
#ifndef LIAR
    assert(b <= events);
#endif
    b = 0
}

inline take(n, i, s) { /* the object is good: cursor and root in one durable step */
    cur[at(n, i)] = s;
    if
    :: n == 1 -> relay[ix(i, s)] = true
    :: else -> skip
    fi
}

proctype Recv(byte n) {
    byte i, s, b;
    do
    :: done && tw_s[n] == 0 -> break
    :: atomic { !done && tw_s[n] == 0 && !(n == 1 && mv) ->
            select(i : 0 .. 2);
            select(s : 1 .. 3);
            if
            :: !SENT(n, i, s) || typ[ix(i, s)] == 0 -> skip
#ifdef BARE
            :: SENT(n, i, s) && typ[ix(i, s)] == DELTA && bare_left > 0 ->
                bare_left--;
                bare[n] = bare[n] + val[ix(i, s)] - val[ix(i, s - 1)];
                assert(bare[n] <= events)
            :: SENT(n, i, s) && typ[ix(i, s)] != 0 && (typ[ix(i, s)] != DELTA || bare_left == 0) -> skip
#else
            :: SENT(n, i, s) && typ[ix(i, s)] == DELTA && s == cur[at(n, i)] + 1 ->
#ifdef TWOSTEP
                av[at(n, i)] = av[at(n, i)] + val[ix(i, s)] - val[ix(i, s - 1)];
                tw_i[n] = i; tw_s[n] = s;
#elif defined(SHOWEARLY)
                if
                :: n == 1 && se_s == 0 -> se_i = i; se_s = s; relay[ix(i, s)] = true
                :: n == 1 && se_s != 0 -> skip
                :: n == 2 ->
                    held[at(n, i)] = held[at(n, i)] + val[ix(i, s)] - val[ix(i, s - 1)];
                    take(n, i, s)
                fi;
#else
                b = held[at(n, i)] + val[ix(i, s)] - val[ix(i, s - 1)];
                if
                :: b == val[ix(i, s)] -> held[at(n, i)] = b; take(n, i, s) /* the root is right */
                :: else -> skip
                fi;
#endif
                check(n, b)
            :: SENT(n, i, s) && typ[ix(i, s)] == SNAP && s == cur[at(n, i)] + 1 ->
#ifdef SNAPBLIND
                take(n, i, s)
#else
                if
                :: held[at(n, i)] == val[ix(i, s)] -> take(n, i, s)
                :: else -> skip /* FORK */
                fi
#endif
            :: SENT(n, i, s) && typ[ix(i, s)] == SNAP && s > cur[at(n, i)] + 1 && held[at(n, i)] <= val[ix(i, s)] ->
                held[at(n, i)] = val[ix(i, s)];
                from[at(n, i)] = s;
                take(n, i, s);
                check(n, b)
            :: SENT(n, i, s) && typ[ix(i, s)] != 0 && (s <= cur[at(n, i)] || (typ[ix(i, s)] == DELTA && s > cur[at(n, i)] + 1)
                || (typ[ix(i, s)] == SNAP && held[at(n, i)] > val[ix(i, s)] && s > cur[at(n, i)] + 1)) -> skip
#endif
            fi;
            assert(!(cur[at(1, i)] == cur[at(2, i)] && held[at(1, i)] != held[at(2, i)])); /* I2: one version, one content */
            i = 0; s = 0; b = 0
        }
#ifndef BARE
    :: atomic { !done && tw_s[n] == 0 -> /* applies the next of what is durable */
            select(i : 0 .. 2);
            if
            :: ap[at(n, i)] < from[at(n, i)] -> av[at(n, i)] = val[ix(i, from[at(n, i)])]; ap[at(n, i)] = from[at(n, i)]
            :: ap[at(n, i)] >= from[at(n, i)] && ap[at(n, i)] < cur[at(n, i)] ->
#ifndef TWOSTEP
                av[at(n, i)] = av[at(n, i)] + (typ[ix(i, ap[at(n, i)] + 1)] == DELTA ->
                    val[ix(i, ap[at(n, i)] + 1)] - val[ix(i, ap[at(n, i)])] : 0);
#endif
                ap[at(n, i)] = ap[at(n, i)] + 1
            :: else -> skip
            fi;
            check(n, b);
            i = 0
        }
    :: atomic { !done && crashes < MAXCRASH -> /* its file of applied counts is not synced */
            crashes++;
            tw_s[n] = 0;
            if
            :: n == 1 -> se_s = 0
            :: else -> skip
            fi;
#ifndef TWOSTEP
            select(i : 0 .. 2);
#ifdef NOREDO
            av[at(n, i)] = 0;
#else
            ap[at(n, i)] = 0; av[at(n, i)] = 0;
#endif
#endif
#ifdef DROP
            if
            :: n == 1 && mf -> mv = true;
                i = 0;
                do
                :: i < INCS -> cur[at(1, i)] = 0; held[at(1, i)] = 0; from[at(1, i)] = 0; ap[at(1, i)] = 0; av[at(1, i)] = 0; i++
                :: else -> break
                od
            :: n == 1 && !mf -> mv = false
            :: n == 2 -> skip
            fi;
#endif
            i = 0
        }
#endif
#ifdef TWOSTEP
    :: atomic { tw_s[n] != 0 ->
            held[at(n, tw_i[n])] = val[ix(tw_i[n], tw_s[n])];
            cur[at(n, tw_i[n])] = tw_s[n];
            ap[at(n, tw_i[n])] = tw_s[n];
            if
            :: n == 1 -> relay[ix(tw_i[n], tw_s[n])] = true
            :: else -> skip
            fi;
            tw_s[n] = 0; tw_i[n] = 0
        }
#endif
#ifdef SHOWEARLY
    :: atomic { !done && n == 1 && se_s == cur[at(1, se_i)] + 1 && se_s != 0 ->
            held[at(1, se_i)] = val[ix(se_i, se_s)];
            cur[at(1, se_i)] = se_s;
            se_s = 0; se_i = 0
        }
#endif
#ifdef DROP
    :: atomic { !done && n == 1 && !mf && !mv ->
#ifdef PURGEFIRST
            mv = true
        };
        atomic {
            i = 0;
            do
            :: i < INCS -> cur[at(1, i)] = 0; held[at(1, i)] = 0; from[at(1, i)] = 0; ap[at(1, i)] = 0; av[at(1, i)] = 0; i++
            :: else -> break
            od;
            i = 0;
            told = true
        }
    :: atomic { !done && n == 1 && mv && !mf -> mf = true
#else
            mf = true; mv = true /* durable before it is used */
        }
    :: atomic { !done && n == 1 && mf && !told ->
            i = 0;
            do
            :: i < INCS -> cur[at(1, i)] = 0; held[at(1, i)] = 0; from[at(1, i)] = 0; ap[at(1, i)] = 0; av[at(1, i)] = 0; i++
            :: else -> break
            od;
            i = 0;
            told = true
#endif
        }
    :: atomic { !done && n == 1 && told ->
            total(1, b);
            assert(b == 0); /* I8 */
            applied(1, b);
            assert(b == 0)
        }
#endif
    od
}

/* All goes on until nothing is left to fetch: everybody has the newest that anybody has. */
inline drain(n, i, b) {
    cur[at(n, i)] = b;
    held[at(n, i)] = val[ix(i, b)]
}

init {
    byte i, b, c;
    atomic { run Origin(); run Recv(1); run Recv(2) };
    atomic { !done -> done = true };
#if !defined(BARE) && !defined(LIAR) && !defined(DROP)
    atomic {
        tw_s[1] == 0 && tw_s[2] == 0;
        i = 0;
        do
        :: i < INCS ->
            b = head[i];
            if :: cur[at(1, i)] > b -> b = cur[at(1, i)] :: else -> skip fi;
            if :: cur[at(2, i)] > b -> b = cur[at(2, i)] :: else -> skip fi;
            c = 1;
            do
            :: c <= 2 ->
                /* what is applied, redone to its end, is what is held */
#ifdef NOREDO
                assert(ap[at(c, i)] < cur[at(c, i)] || av[at(c, i)] == held[at(c, i)]);
#endif
#ifdef TWOSTEP
                assert(av[at(c, i)] == held[at(c, i)]);
#else
                assert(!(ap[at(c, i)] == cur[at(c, i)] && av[at(c, i)] != held[at(c, i)]));
#endif
                drain(c, i, b);
                c++
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        total(1, b);
        total(2, c);
        assert(b == c && b <= events);           /* I5 */
#if !defined(RESTORE) && !defined(EARLYSEND)
        base(i);
        assert(b == i && b <= jour)              /* nothing that was published is lost */
#endif
    }
#endif
}
