"""Ports for the programs of a test: outside the range of outgoing connections, and not used by another test."""
import random
import socket

LOWEST, HIGHEST = 10240, 32767  # Linux gives connections those from 32768 on
_taken = []  # names in the kernel that say so to other tests, for as long as this process lives


def free_port():
    while True:
        port = random.randint(LOWEST, HIGHEST)
        mark = socket.socket(socket.AF_UNIX)
        try:
            mark.bind(f"\0gillnet-test-port-{port}")
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            continue
        _taken.append(mark)
        return port
