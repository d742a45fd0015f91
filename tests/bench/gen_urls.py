#!/usr/bin/env python3
"""Make URLs shaped like those of phishing and malware feeds, the same for the same arguments.

Usage: gen_urls.py COUNT [SEED]        one URL a line on standard output, all different.
Hosts follow Zipf's law (few hosts have many pages, most have one or two); paths have one to four
segments, a third have a file name, a fifth a query.  The mean length is about 55 bytes.  Two seeds
give disjoint sets: the seed is part of every path.
"""
import random
import sys

WORDS = ("login secure account update verify bank office mail web portal admin wp content "
         "plugins themes uploads images cgi public assets static docs invoice payment order "
         "track parcel support help service session token reset wallet gift promo news").split()
TLDS = "com net org info top xyz online site shop ru cn br in example test invalid".split()
FILES = "index.html login.php auth.php page.htm doc.pdf setup.exe a.js view.aspx".split()


def host_name(rng, number):
    """The host with this rank."""
    label = f"{rng.choice(WORDS)}{number:x}"
    if number % 3 == 0:
        label = f"{rng.choice(WORDS)}.{label}"
    return f"{label}.{TLDS[number % len(TLDS)]}"


def main(count, seed):
    rng = random.Random(seed)
    hosts = [host_name(random.Random(n), n) for n in range(max(count // 4, 1))]
    out = []
    for number in range(count):
        # Zipf with exponent 1 over the ranks, by inversion
        host = hosts[min(int(len(hosts) ** rng.random()) - 1 + rng.randrange(2),
                         len(hosts) - 1)]
        path = "/".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 4)))
        url = f"http{'s' if number & 1 else ''}://{host}/{path}/{seed:x}-{number:x}"
        kind = rng.random()
        if kind < 0.33:
            url += f"/{rng.choice(FILES)}"
        elif kind < 0.53:
            url += f"?id={rng.randrange(1 << 30)}&t={rng.choice(WORDS)}"
        out.append(url)
        if len(out) == 10000:
            print("\n".join(out))
            out.clear()
    if out:
        print("\n".join(out))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
