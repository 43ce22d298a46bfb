"""Chunk lengths from Borg's own chunkers, for jobs given as JSON on standard input (see oracle.ask).

Runs under the interpreter that has Borg 1.x or 2.x installed, so it uses only the standard library.
"""

import json
import sys

import borg


def chunker(job):
    bits = job["min_exp"], job["max_exp"], job["mask_bits"]
    if borg.__version__.startswith("1."):
        from borg.chunker import Chunker

        seed = job["seed"] if job["seed"] < 1 << 31 else job["seed"] - (1 << 32)  # Borg takes a C int
        return Chunker(seed, *bits, job["window"])
    from borg import chunkers

    names = {"fastcdc": "ChunkerFastCDC", "toeplitz-aes": "ChunkerToeplitzAES", "rabin-aes": "ChunkerRabinAES"}
    chosen = getattr(chunkers, names[job.get("algorithm", "fastcdc")])
    return chosen(bytes.fromhex(job["key"]), *bits, job["normalization"], normal_size=job.get("normal_size", 0))


def lengths(job):
    """Of each file. Deriving secrets from a key may take longer than cutting a file, so one chunker cuts all."""
    chosen, results = chunker(job), []
    for path in job["paths"]:
        with open(path, "rb") as file:
            results.append([chunk.meta["size"] for chunk in chosen.chunkify(file)])
    return results


if sys.argv[1:] == ["--version"]:
    print(borg.__version__)
else:
    print(json.dumps([lengths(job) for job in json.load(sys.stdin)]))
