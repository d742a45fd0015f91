/* lists - a shared list with revocations, from its log to the folders of two peers.
 *
 * Node 0 = A: commands write the log (an entry stands, is taken back, goes away); the hub follows it, compares
 * with its mirror of what was published, and publishes the difference as steps (state before, state after); it
 * stores the log's position with the cursor, and brings the mirror up to date from its objects. Node 1 = B takes them from A,
 * node 2 = C from B alone. What was sent may come late, again, in any order, or never; anybody crashes. With
 * RESTORE A's disk comes back older, log and hub's folder each for itself; A asks B then, takes its objects back and begins
 * a new incarnation, which replaces the old one at the receivers.
 *
 * A list of two entries is a number: state of entry 0 + 3 * state of entry 1; a root is that number. Faults (-D), each of
 * which must be found:
 *   POSFIRST   the position is stored before the steps are published; a crash between
 *   NOREDO     a crash takes from the mirror what is not applied again
 *   APPLYLOST  a receiver's applied position moves before its list is durable
 *   NOCHAIN    steps are taken in any order
 *   SNAPBLIND  (with LIAR: A signs a SNAP that is not so) the root of a SNAP is not compared
 *   REUSEINC   (with RESTORE) no question, no new incarnation
 *   POSALIAS   (with RESTORE) a position is believed that the restored log reaches
 *   NOBEGIN    (with RESTORE) a new incarnation of a list that is empty publishes nothing
 *   OLDINC     (with RESTORE) receivers go by the incarnation that they heard of last, not by the newest
 */
#ifndef MAXOPS
#define MAXOPS 4
#endif
#ifndef MAXCRASH
#define MAXCRASH 2
#endif
#define MAXRESTORE 1
#ifdef RESTORE
#define INCS 2
#else
#define INCS 1
#endif
#ifndef SEQS
#define SEQS 5
#endif
#define ABSENT 0
#define STANDS 1
#define TAKEN 2
#define DELTA 1
#define SNAP 2
#define ix(i, s) ((i) * SEQS + (s))
#define at(m, j) ((m) * INCS + (j))

/* A */
byte ops = 0;
byte list[6];            /* state of the list at each position of the log */
byte pos = 0;            /* durable with the cursor */
byte inc = 0, head[2];
byte mpos = 0;           /* mirror: applied seq of the incarnation */
byte mirror = 0;
bool knows = true;
byte pf = 0;             /* POSFIRST: position stored, steps not published, +1 */
/* what was signed */
byte was[10], val[10];   /* state before and after */
byte typ[10];
bool net[10], relay[10];
/* receivers */
byte cur[6], held[6], from[6];
byte ap[6], av[6];       /* position in the folder of applied entries, and these */
byte lost_av[6]; bool is_unsynced[6]; /* APPLYLOST */
byte newest[3];          /* OLDINC: heard of last */
byte crashes = 0, restores = 0;
bool done = false;

#define ENTRY(v, e) (e == 0 -> (v) % 3 : (v) / 3)
/* One step of entry e from v's state to w's; other entries as in held. */
#define STEP(h, v, w) ((((v) % 3 != (w) % 3) -> (w) % 3 : (h) % 3) + 3 * (((v) / 3 != (w) / 3) -> (w) / 3 : (h) / 3))

inline sign(t, b, a) {
    if
    :: head[inc] < SEQS - 1 ->
        assert(!net[ix(inc, head[inc] + 1)]); /* I4: one signature for one place */
        typ[ix(inc, head[inc] + 1)] = t;
        was[ix(inc, head[inc] + 1)] = b;
        val[ix(inc, head[inc] + 1)] = a;
        net[ix(inc, head[inc] + 1)] = true;
        head[inc]++
    :: else -> skip
    fi
}

proctype Origin() {
    byte e, s, j;
    bool m;
    do
    :: atomic { !done && ops < MAXOPS -> /* a command, or an expiry */
            select(e : 0 .. 1);
            s = ENTRY(list[ops], e);
            if
            :: s != STANDS -> j = STANDS
            :: s != TAKEN -> j = TAKEN
            :: s != ABSENT -> j = ABSENT
            fi;
            list[ops + 1] = (e == 0 -> j + 3 * (list[ops] / 3) : list[ops] % 3 + 3 * j);
            ops++;
            e = 0; s = 0; j = 0
        }
#ifdef POSFIRST
    :: atomic { !done && knows && pf == 0 && pos != ops && head[inc] < SEQS - 1 && mpos == head[inc] ->
            pf = pos + 1; pos = ops }
    :: atomic { !done && pf != 0 ->
            if
            :: list[pos] != mirror && head[inc] < SEQS - 1 -> sign(DELTA, mirror, list[pos])
            :: else -> skip
            fi;
            pf = 0 }
#else
    :: atomic { !done && knows && pos != ops && head[inc] < SEQS - 1 &&
#ifdef NOREDO
                true ->
#else
                mpos == head[inc] -> /* the mirror is up to date before it is compared with */
#endif
            if
            :: list[ops] != mirror -> sign(DELTA, mirror, list[ops])
            :: else -> skip
            fi;
            pos = ops }
#endif
    :: atomic { !done && knows && head[inc] > 0 && head[inc] < SEQS - 1 && typ[ix(inc, head[inc])] == DELTA && pf == 0 ->
            sign(SNAP, 0, val[ix(inc, head[inc])]) }
#ifdef LIAR
    :: atomic { !done && knows && head[inc] > 0 && head[inc] < SEQS - 1 && typ[ix(inc, head[inc])] == DELTA ->
            sign(SNAP, 0, (val[ix(inc, head[inc])] + 1) % 9) }
#endif
    :: atomic { !done && mpos < head[inc] -> /* the mirror follows */
            mpos++;
            mirror = (typ[ix(inc, mpos)] == DELTA -> STEP(mirror, was[ix(inc, mpos)], val[ix(inc, mpos)]) : val[ix(inc, mpos)]) }
    :: atomic { !done && crashes < MAXCRASH ->
            crashes++;
            pf = 0;
#ifdef NOREDO
            mpos = head[inc] /* the mirror stays behind, and nobody brings it up */
#else
            skip             /* positions are durable, and what is behind them is applied at the start */
#endif
        }
#ifdef RESTORE
    :: atomic { !done && restores < MAXRESTORE ->
            restores++;
            if
            :: ops > 0 -> ops-- /* the list lost its last change */
            :: true -> skip
            fi;
            if
            :: head[inc] > 0 -> head[inc]--
            :: true -> skip
            fi;
            if
            :: pos > 0 -> pos--
            :: true -> skip
            fi;
            if
            :: mpos > head[inc] -> mpos = head[inc]
            :: else -> skip
            fi;
            mirror = val[ix(inc, mpos)];
            pf = 0;
            j = 0;
            do
            :: j < INCS * SEQS ->
                if /* what was on the way is lost */
                :: cur[at(1, j / SEQS)] >= j % SEQS || head[j / SEQS] >= j % SEQS -> skip
                :: else -> net[j] = false
                fi;
                j++
            :: else -> break
            od;
            j = 0;
#ifndef REUSEINC
            knows = false
#endif
        }
    :: atomic { !done && !knows ->
            m = cur[at(1, inc)] > head[inc];
            if
            :: m && inc == 0 ->
                inc = 1; mpos = 0; mirror = 0; pos = 0; knows = true;
#ifndef NOBEGIN
                sign(SNAP, 0, list[ops]) /* the new incarnation begins with all there is, be it nothing */
#endif
            :: m && inc == 1 -> break
            :: !m -> knows = true
            fi;
#ifdef POSALIAS
            if /* a position that the log does not reach: compare all */
            :: pos > ops -> pos = 9
            :: else -> skip
            fi;
#else
            pos = 9; /* a start compares all: the log may be another one than it was */
#endif
            m = false
        }
#endif
    :: done -> break
    od
}

#define SENT(n, i, s) ((n == 1 && (net[ix(i, s)] || cur[at(2, i)] >= s)) || (n == 2 && relay[ix(i, s)]))

inline take(n, i, s, v) {
    held[at(n, i)] = v;
    cur[at(n, i)] = s;
    newest[n] = i;
    if
    :: n == 1 -> relay[ix(i, s)] = true
    :: else -> skip
    fi
}

proctype Recv(byte n) {
    byte i, s, b;
    do
    :: done -> break
    :: atomic { !done ->
            select(i : 0 .. INCS - 1);
            select(s : 1 .. SEQS - 1);
            if
            :: !SENT(n, i, s) || typ[ix(i, s)] == 0 || s <= cur[at(n, i)] -> skip
            :: SENT(n, i, s) && s > cur[at(n, i)] && typ[ix(i, s)] == DELTA ->
                b = STEP(held[at(n, i)], was[ix(i, s)], val[ix(i, s)]);
                if
#ifdef NOCHAIN
                :: take(n, i, s, b)
#else
                :: s == cur[at(n, i)] + 1 && b == val[ix(i, s)] -> take(n, i, s, b)
#ifdef LIAR
                :: s == cur[at(n, i)] + 1 && b != val[ix(i, s)] -> skip /* ROOT */
#else
                :: s == cur[at(n, i)] + 1 && b != val[ix(i, s)] -> assert(false) /* an honest chain has its roots */
#endif
                :: s > cur[at(n, i)] + 1 -> skip
#endif
                fi
            :: SENT(n, i, s) && s == cur[at(n, i)] + 1 && s > 1 && typ[ix(i, s)] == SNAP ->
                if
#ifdef SNAPBLIND
                :: take(n, i, s, held[at(n, i)])
#else
                :: held[at(n, i)] == val[ix(i, s)] -> take(n, i, s, held[at(n, i)])
                :: held[at(n, i)] != val[ix(i, s)] -> skip /* FORK */
#endif
                fi
            :: SENT(n, i, s) && (s > cur[at(n, i)] + 1 || s == 1) && s > cur[at(n, i)] && typ[ix(i, s)] == SNAP ->
                take(n, i, s, val[ix(i, s)]);
                from[at(n, i)] = s
            fi;
            assert(!(cur[at(1, i)] == cur[at(2, i)] && held[at(1, i)] != held[at(2, i)])); /* I2 */
#ifndef NOCHAIN
#ifndef LIAR
            assert(held[at(n, i)] == val[ix(i, cur[at(n, i)])]);
#endif
#endif
            i = 0; s = 0; b = 0
        }
    :: atomic { !done -> /* applies */
            select(i : 0 .. INCS - 1);
            if
            :: ap[at(n, i)] < from[at(n, i)] -> av[at(n, i)] = val[ix(i, from[at(n, i)])]; ap[at(n, i)] = from[at(n, i)]
            :: ap[at(n, i)] >= from[at(n, i)] && ap[at(n, i)] < cur[at(n, i)] ->
#ifdef APPLYLOST
                if
                :: !is_unsynced[at(n, i)] -> lost_av[at(n, i)] = av[at(n, i)]; is_unsynced[at(n, i)] = true
                :: else -> skip
                fi;
#endif
                s = ap[at(n, i)] + 1;
                av[at(n, i)] = (typ[ix(i, s)] == DELTA -> STEP(av[at(n, i)], was[ix(i, s)], val[ix(i, s)]) : av[at(n, i)]);
                /* the position is stored later than the entries are durable, or not at all */
                if
                :: true -> ap[at(n, i)] = s
#ifndef APPLYLOST
                :: crashes < MAXCRASH -> crashes++
#endif
                fi
            :: else -> skip
            fi;
#ifndef LIAR
            assert(ap[at(n, i)] < cur[at(n, i)] || av[at(n, i)] == held[at(n, i)]);
#endif
            i = 0; s = 0
        }
#ifdef APPLYLOST
    :: atomic { !done -> select(i : 0 .. INCS - 1); is_unsynced[at(n, i)] = false; i = 0 }
    :: atomic { !done && crashes < MAXCRASH ->
            crashes++;
            select(i : 0 .. INCS - 1);
            if
            :: is_unsynced[at(n, i)] -> av[at(n, i)] = lost_av[at(n, i)]; is_unsynced[at(n, i)] = false
            :: else -> skip
            fi;
            assert(ap[at(n, i)] < cur[at(n, i)] || av[at(n, i)] == held[at(n, i)]);
            i = 0 }
#endif
    od
}

/* What n's list is: of the newest incarnation it has something of. */
inline effective(n, out) {
#ifdef OLDINC
    out = held[at(n, newest[n])]
#else
    if
    :: INCS == 2 && cur[at(n, INCS - 1)] > 0 -> out = held[at(n, INCS - 1)]
    :: else -> out = held[at(n, 0)]
    fi
#endif
}

init {
    byte i, b, c;
    atomic { run Origin(); run Recv(1); run Recv(2) };
    atomic { !done -> done = true };
#ifndef LIAR
    atomic { /* A publishes what is left, if the model has room; then everybody takes the newest that anybody has */
        if
        :: knows && pf == 0 && head[inc] < SEQS - 1 ->
#ifndef NOREDO
            mirror = (mpos < head[inc] -> val[ix(inc, head[inc])] : mirror);
            mpos = head[inc];
#endif
            if
            :: pos != ops ->
                if
                :: list[ops] != mirror -> sign(DELTA, mirror, list[ops])
                :: else -> skip
                fi;
                pos = ops
            :: else -> skip
            fi
        :: else -> goto over
        fi;
        i = 0;
        do
        :: i < INCS ->
            b = head[i];
            if :: cur[at(1, i)] > b -> b = cur[at(1, i)] :: else -> skip fi;
            if :: cur[at(2, i)] > b -> b = cur[at(2, i)] :: else -> skip fi;
            c = 1;
            do
            :: c <= 2 ->
                do /* along the chain */
                :: cur[at(c, i)] < b ->
                    cur[at(c, i)] = cur[at(c, i)] + 1;
                    held[at(c, i)] = (typ[ix(i, cur[at(c, i)])] == DELTA ->
                        STEP(held[at(c, i)], was[ix(i, cur[at(c, i)])], val[ix(i, cur[at(c, i)])]) :
                        (cur[at(c, i)] == 1 -> val[ix(i, 1)] : held[at(c, i)]));
                    newest[c] = i;
                    assert(held[at(c, i)] == val[ix(i, cur[at(c, i)])])
                :: else -> break
                od;
                c++
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        effective(1, b);
        effective(2, c);
        assert(b == c);          /* I5 */
        assert(b == list[ops])   /* what A lists, and took back, and nothing else */
    };
over:
#endif
    skip
}
