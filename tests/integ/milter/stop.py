"""A stop at any moment of libmilter's own start, which it takes for a failure of its socket: gillnetd
still ends with 0.   Usage: stop.py LATE_LOCK.SO"""
import sys
import time

from daemon import Daemon


def main(preload):
    for i in range(8):
        d = Daemon("count = { messages_per_day = 0; };", env={"LD_PRELOAD": preload}).start()
        time.sleep(i * 0.1)
        d.__exit__(None, None, None)  # fails when the exit status is not 0


main(sys.argv[1])
