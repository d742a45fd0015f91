"""api_fastapi - POST /check-urls as the source document writes it: FastAPI, pydantic, a Bloom filter in Python.

For bench_api.py; the environment's API_LISTED names the file of listed URLs. MurmurHash (mmh3) is no package of Debian 12:
the positions come from SHA-256, whose cost in Python is about that of the two mmh3 calls.
"""
import hashlib
import math
import os
import time
from typing import List

from fastapi import FastAPI
from pydantic import BaseModel


class BloomFilter:
    def __init__(self, capacity, error):
        self.size = int(-capacity * math.log(error) / math.log(2) ** 2)
        self.hashes = max(1, int(self.size / capacity * math.log(2)))
        self.bits = bytearray(self.size // 8 + 1)

    def positions(self, item):
        digest = hashlib.sha256(item.encode()).digest()
        a, b = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:16], "big")
        return [(a + i * b) % self.size for i in range(self.hashes)]

    def add(self, item):
        for p in self.positions(item):
            self.bits[p // 8] |= 1 << p % 8

    def __contains__(self, item):
        return all(self.bits[p // 8] >> p % 8 & 1 for p in self.positions(item))


class UrlCheckRequest(BaseModel):
    urls: List[str]


class UrlCheckResult(BaseModel):
    url: str
    status: str
    requires_blocking: bool


class UrlCheckResponse(BaseModel):
    results: List[UrlCheckResult]
    processing_time_ms: float


with open(os.environ["API_LISTED"], encoding="utf-8") as f:
    exact = set(f.read().split())
bloom = BloomFilter(len(exact), 0.001)
for url in exact:
    bloom.add(url)
app = FastAPI()


@app.post("/check-urls", response_model=UrlCheckResponse)
async def check_urls(request: UrlCheckRequest):
    begun = time.time()
    results = []
    for one in request.urls:
        status = "CLEAN"
        if one in bloom:
            status = "MALICIOUS" if one in exact else "FALSE_POSITIVE"
        results.append(UrlCheckResult(url=one, status=status, requires_blocking=status == "MALICIOUS"))
    return UrlCheckResponse(results=results, processing_time_ms=(time.time() - begun) * 1000)
