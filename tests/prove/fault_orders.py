"""Orders to the preloaded library fault_calls: which call fails, waits or is the last one, and what time it is."""
import mmap
import os
import shutil
import struct

from fault_site import USER

WRITE, SYNC, SIZE, NAME, READ, MEMORY = 1, 2, 4, 8, 16, 32
CHANGES = WRITE | SYNC | SIZE | NAME
KILL, FAIL, WAIT = 1, 2, 3
FIELDS = ("calls", "kinds", "first", "last", "action", "value", "clock_s")
EVER = 1 << 62


class Orders:
    """The orders to all processes that are started with env()."""

    def __init__(self, site):
        self.path = site.top / "orders"
        self.root = site.state
        self.library = site.bin / "libfault_calls.so"
        self.path.write_bytes(bytes(8 * len(FIELDS)))
        shutil.chown(self.path, USER, USER)
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 0)

    def env(self):
        return {"LD_PRELOAD": str(self.library), "FAULT_ORDERS": str(self.path), "FAULT_ROOT": os.path.realpath(self.root)}

    def put(self, **fields):
        for name, value in fields.items():
            struct.pack_into("<q", self.map, 8 * FIELDS.index(name), value)

    def count(self, kinds):
        """From now on calls of these kinds are counted, and nothing else happens."""
        self.put(action=0, kinds=kinds, calls=0)

    def at(self, kinds, first, last, action, value=0):
        self.put(action=0, kinds=kinds, calls=0, first=first, last=last, value=value)
        self.put(action=action)

    def calls(self):
        return struct.unpack_from("<q", self.map, 0)[0]

    def clear(self):
        self.put(action=0, kinds=0)
