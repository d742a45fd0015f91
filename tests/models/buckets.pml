/* buckets - counting, closing and expiry of buckets while clocks are set.
 *
 * Node 0 = A counts in the bucket that core/count/bucket_clock.h has (gillnetd), journals, seals what is over; its hub
 * publishes what is durable and closes a bucket's stream when gillnetd is done with it and its end is past by the grace. Node 1 = B
 * takes the streams and lets buckets go when they are older than the window. A tick is half a bucket; both look at their
 * clocks at every event, as they do each second. Clocks are set forward and back, rightly (a clock that was behind) and wrongly:
 * wrongly by more than PERIOD_STEP_BUCKETS for less than PERIOD_PROOF only (one that is wrong for longer is believed, and nothing
 * can be done). Both are restarted, A loses what the journal does not have.
 *
 * Faults (-D), each of which must be found:
 *   EXPIREFWD     expiry goes by the wall clock
 *   NOTRIAL       a step forward is believed at once
 *   NOMAX         the bucket follows the clock back
 *   CLOSEBYCLOCK  the hub closes by its clock, whatever gillnetd does
 *   CLOSEEARLY    the hub closes before it has read what was sealed last
 *   NOREOPEN      what is counted in a bucket whose stream was closed is not published
 *   INITFOLLOWS   a start believes its clock
 */
#ifndef MAXEV
#define MAXEV 2
#endif
#ifndef TICKS
#define TICKS 10
#endif
#ifndef MAXSTEPS
#define MAXSTEPS 2
#endif
#ifndef MAXCRASH
#define MAXCRASH 1
#endif
#define LEN 2    /* ticks of a bucket */
#define STEP 2   /* PERIOD_STEP_BUCKETS */
#define PROOF 2  /* PERIOD_PROOF: one bucket */
#define GRACE 1
#define WINDOW 2 /* buckets kept */
#define START 14
#define NB 18

byte now = START;                /* true time, and both boot clocks */
byte off[2];                     /* of the wall clock, + 16 */
byte wrong[2];                   /* ticks that it has been wrong */
byte steps = 0, crashes = 0, events = 0;
/* struct period */
byte bucket[2], wall[2], boot[2], tried[2];
bool susp[2], trial[2];
bool blind[2];                   /* began with nothing on disk and a wrong clock: that was all there was */
short tstep[2];
/* A */
byte cnt[NB], jour[NB], pub[NB];
bool sealed[NB], closed[NB];
/* B */
byte got[NB];
bool gone[NB];
bool done = false;

#define WALL(n) (now + off[n] - 16)
#define AHEAD(n) (wall[n] / LEN + STEP < bucket[n])
#define NEAR(a, b) ((a) - (b) <= STEP * LEN && (b) - (a) <= STEP * LEN)

/* period_look */
inline look(w, st) {
    st = WALL(w) - (wall[w] + (now - boot[w]));
    if
#ifdef NOTRIAL
    :: true ->
#else
    :: st <= 0 || NEAR(st, 0) || WALL(w) / LEN <= bucket[w] + STEP ->
#endif
        believe(w)
    :: else ->
        if
        :: !trial[w] || !NEAR(st, tstep[w]) -> trial[w] = true; susp[w] = true; tried[w] = now; tstep[w] = st
        :: else -> skip
        fi;
        if
        :: now - tried[w] >= PROOF -> believe(w)
        :: else -> skip
        fi
    fi;
    st = 0
}

inline believe(w) {
#ifdef NOMAX
    bucket[w] = WALL(w) / LEN;
#else
    if
    :: WALL(w) / LEN > bucket[w] -> bucket[w] = WALL(w) / LEN
    :: else -> skip
    fi;
#endif
    wall[w] = WALL(w);
    boot[w] = now;
    susp[w] = AHEAD(w);
    trial[w] = false; tried[w] = 0; tstep[w] = 0
}

/* period_init */
inline start(w, had, st) {
    trial[w] = false; tried[w] = 0; tstep[w] = 0; susp[w] = false;
    bucket[w] = had;
    blind[w] = (had == 0 && off[w] > 16 + STEP * LEN);
    if
#ifdef INITFOLLOWS
    :: true ->
#else
    :: had == 0 || WALL(w) / LEN <= had + STEP ->
#endif
        believe(w)
    :: else ->
        wall[w] = had * LEN;
        boot[w] = now;
        susp[w] = AHEAD(w);
        look(w, st)
    fi
}

inline seal(b) { /* gillnetd: what is not the running bucket any more becomes a run */
    b = 0;
    do
    :: b < NB ->
        if
        :: b != bucket[0] && cnt[b] > 0 && !sealed[b] -> jour[b] = cnt[b]; sealed[b] = true
        :: else -> skip
        fi;
        b++
    :: else -> break
    od;
    b = 0
}

inline at_clock(st, b) {
    look(0, st);
    look(1, st);
    seal(b)
}

proctype Clock() {
    byte n, b;
    short st;
    do
    :: done -> break
    :: atomic { !done && now < START + TICKS && wrong[0] < PROOF && wrong[1] < PROOF ->
            now++;
            n = 0;
            do
            :: n < 2 ->
                if
                :: off[n] > 16 + STEP * LEN -> wrong[n]++
                :: else -> skip
                fi;
                n++
            :: else -> break
            od;
            /* whoever has been wrong for so long is corrected before anybody looks */
            n = 0;
            do
            :: n < 2 ->
                if
                :: wrong[n] >= PROOF -> off[n] = 16; wrong[n] = 0
                :: else -> skip
                fi;
                n++
            :: else -> break
            od;
            n = 0;
            at_clock(st, b)
        }
    :: atomic { !done && steps < MAXSTEPS ->
            steps++;
            select(n : 0 .. 1);
            wrong[n] = 0;
            if
            :: off[n] != 16 -> off[n] = 16
            :: off[n] == 16 -> off[n] = 16 - 3 * LEN
            :: off[n] == 16 -> off[n] = 16 - LEN
            :: off[n] == 16 -> off[n] = 16 + 1
            :: off[n] == 16 -> off[n] = 16 + STEP * LEN
            :: off[n] == 16 -> off[n] = 16 + 5 * LEN
            fi;
            n = 0;
            at_clock(st, b)
        }
    :: atomic { !done && crashes < MAXCRASH -> /* A starts anew */
            crashes++;
            b = 0; n = 0;
            do
            :: b < NB ->
                if
                :: !sealed[b] -> cnt[b] = jour[b]
                :: else -> skip
                fi;
                if
                :: cnt[b] > 0 -> n = b
                :: else -> skip
                fi;
                b++
            :: else -> break
            od;
            start(0, n, st);
            seal(b);
            n = 0
        }
    :: atomic { !done && crashes < MAXCRASH -> /* B does */
            crashes++;
            b = 0; n = 0;
            do
            :: b < NB ->
                if
                :: got[b] > 0 && !gone[b] -> n = b
                :: else -> skip
                fi;
                b++
            :: else -> break
            od;
            start(1, n, st);
            n = 0; b = 0
        }
    od
}

proctype A() {
    byte b;
    do
    :: done -> break
    :: atomic { !done && events < MAXEV ->
            events++;
            /* after a start with a clock set back it may be a bucket that was sealed and closed: another run of
             * gillnetd's, and a stream of another incarnation */
            assert(crashes > 0 || !sealed[bucket[0]]);
            sealed[bucket[0]] = false;
            cnt[bucket[0]] = cnt[bucket[0]] + 1
        }
    :: atomic { !done && jour[bucket[0]] < cnt[bucket[0]] -> jour[bucket[0]] = cnt[bucket[0]] }
    :: atomic { !done ->
            b = 0;
            do
            :: b < NB - 1 && pub[b] == jour[b] -> b++
            :: b < NB - 1 && pub[b] != jour[b] -> break
            :: b == NB - 1 -> break
            od;
            if
#ifdef NOREOPEN
            :: pub[b] != jour[b] && !closed[b] -> pub[b] = jour[b]
#else
            :: pub[b] != jour[b] -> pub[b] = jour[b]; closed[b] = false
#endif
            :: else -> skip
            fi;
            b = 0
        }
    :: atomic { !done ->
            b = 0;
            do
            :: b < NB - 1 && (closed[b] || cnt[b] == 0) -> b++
            :: b < NB - 1 && !(closed[b] || cnt[b] == 0) -> break
            :: b == NB - 1 -> break
            od;
            if
#ifdef CLOSEBYCLOCK
            :: cnt[b] > 0 && !closed[b] && pub[b] == jour[b] && WALL(0) >= (b + 1) * LEN + GRACE ->
#elif defined(CLOSEEARLY)
            :: cnt[b] > 0 && !closed[b] && sealed[b] && WALL(0) >= (b + 1) * LEN + GRACE ->
#else
            :: cnt[b] > 0 && !closed[b] && sealed[b] && pub[b] == jour[b] && WALL(0) >= (b + 1) * LEN + GRACE ->
#endif
                assert(pub[b] == cnt[b]); /* the stream ends with what the sealed run has */
                closed[b] = true
            :: else -> skip
            fi;
            b = 0
        }
    od
}

proctype B() {
    byte b;
    do
    :: done -> break
    :: atomic { !done -> /* takes what it may have by its clock; what it may not have now it asks for again */
            b = 0;
            do
            :: b < NB - 1 -> b++
            :: got[b] < pub[b] -> break
            :: b == NB - 1 -> break
            od;
            if
            :: got[b] < pub[b] && !gone[b] && b <= WALL(1) / LEN + 1 && b + WINDOW + 1 >= WALL(1) / LEN -> got[b] = pub[b]
            :: else -> skip
            fi;
            b = 0
        }
    :: atomic { !done -> /* lets the oldest go */
            b = 0;
            do
            :: b < NB - 1 && (gone[b] || got[b] == 0) -> b++
            :: b < NB - 1 && !(gone[b] || got[b] == 0) -> break
            :: b == NB - 1 -> break
            od;
            if
#ifdef EXPIREFWD
            :: got[b] > 0 && !gone[b] && b + WINDOW < WALL(1) / LEN ->
#else
            :: got[b] > 0 && !gone[b] && !susp[1] && b + WINDOW < bucket[1] ->
#endif
                gone[b] = true;
                /* never before its time, but for the step that needs no proof */
                assert(blind[1] || b + WINDOW < now / LEN + STEP)
            :: else -> skip
            fi;
            b = 0
        }
    od
}

init {
    byte b;
    short st;
    atomic {
        off[0] = 16; off[1] = 16;
        if
        :: true -> skip
        :: true -> off[0] = 16 - 5 * LEN /* a clock that is behind, and set right some day */
        fi;
        start(0, 0, st);
        start(1, 0, st);
        run Clock(); run A(); run B()
    };
    atomic { !done -> done = true };
    atomic { /* clocks are right again, and looked at */
        off[0] = 16; off[1] = 16;
        look(0, st); look(1, st);
        assert(trial[0] || bucket[0] >= now / LEN);
        assert(blind[0] || bucket[0] <= now / LEN + STEP);
        assert(blind[1] || bucket[1] <= now / LEN + STEP);
        seal(b);
        b = 0;
        do /* all is journalled, published and fetched */
        :: b < NB ->
            jour[b] = cnt[b];
#ifdef NOREOPEN
            if
            :: !closed[b] -> pub[b] = jour[b]
            :: else -> skip
            fi;
#else
            pub[b] = jour[b];
#endif
            assert(pub[b] == cnt[b]);
            if
            :: !gone[b] && b <= now / LEN + 1 && b + WINDOW + 1 >= now / LEN -> got[b] = pub[b]; assert(got[b] == cnt[b])
            :: else -> skip
            fi;
            b++
        :: else -> break
        od
    }
}
