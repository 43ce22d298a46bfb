#!/usr/bin/env bash
# LLVM 16 to 20 put two instructions between a gear hash and the next where GCC 12.2 puts one, which halves the speed of the loop.
#
# Valid input: the loop of the gear hash as published, `hash = (hash << 1) + table[byte]` with a test of some bits, in C with -O3 for x86-64,
#   eight steps unrolled in the source.
# Behaviour: clang folds the load of the table's word into the addition, so a byte takes `add hash, hash` and then `add hash, [table + 8 byte]`,
#   and each waits for the other. GCC loads the word into a register and takes one `lea hash, [word + 2 hash]`. On a Zen 4 (one core,
#   512 KiB in L2, no cut) that is 1.74 to 1.83 GB/s against 3.68. An empty `asm("" : "+r"(word))` after the load gives clang's loop GCC's speed (3.63 to 3.68).
# Seen 2026-11-30 with clang 16.0.6, 18.1.6 and 20.1.2 (of the Python packages ziglang 0.11.0, 0.13.0 and 0.15.1) and Debian's gcc
#   12.2.0-14+deb12u1. Needs x86-64, root for Debian's packages, and Python's pip.
set -euo pipefail
packages=(gcc-12=12.2.0-14+deb12u1 libc6-dev python3-venv)
apt-get install -qq --no-install-recommends "${packages[@]}" >/dev/null 2>&1 || { echo "needs root, and Debian 12's packages ${packages[*]}"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"
cat >gear.c <<'C'
#include <stddef.h>
#include <stdint.h>

#ifdef APART
#define KEPT_APART(word) asm("" : "+r"(word))
#else
#define KEPT_APART(word) (void)0
#endif
#define STEP(k)                                \
  {                                            \
    uint64_t word = table[bytes[i + (k)]];     \
    KEPT_APART(word);                          \
    hash = (hash << 1) + word;                 \
    if ((hash & mask) == 0) return i + (k) + 1; \
  }

// `size` is a multiple of 8.
size_t find(const uint8_t* bytes, size_t size, const uint64_t* table, uint64_t mask) {
  uint64_t hash = 0;
  for (size_t i = 0; i < size; i += 8) {
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
  }
  return size;
}
C
cat >main.c <<'C'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

size_t find(const uint8_t* bytes, size_t size, const uint64_t* table, uint64_t mask);

static uint8_t bytes[512 * 1024];

int main(void) {
  uint64_t table[256], state = 1;
  for (size_t i = 0; i < 256; ++i) table[i] = (state = state * 6364136223846793005u + 1442695040888963407u) ^ state >> 29;
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (uint8_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
  double best = 1e9;
  for (int turn = 0; turn < 200; ++turn) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const size_t found = find(bytes, sizeof bytes, table, ~(uint64_t)0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (found == sizeof bytes && seconds < best) best = seconds;
  }
  printf("%.2f GB/s\n", sizeof bytes / best / 1e9);
}
C
gcc-12 -O2 -c main.c

# chain_of ASSEMBLY: how many instructions stand between a hash and the next: "one" (lea) or "two" (an addition to itself, and one from memory).
chain_of() {
  if grep -qE '\slea[lq]?\s+(0)?\(%r[a-z0-9]+, ?%r[a-z0-9]+, ?2\)' "$1"; then echo one
  elif grep -qE '\saddq\s+\(%r[a-z0-9]+, ?%r[a-z0-9]+, ?8\)' "$1"; then echo two
  else echo unknown; fi
}

# check NAME WANTED COMMAND...: compiles the loop, prints its chain and speed, and fails if the chain is not WANTED.
check() {
  local name=$1 wanted=$2 chain
  shift 2
  "$@" -O3 -S gear.c -o gear.s 2>/dev/null
  "$@" -O3 -c gear.c -o gear.o 2>/dev/null
  gcc-12 gear.o main.o -o gear
  chain=$(chain_of gear.s)
  printf '%-40s %s, %s\n' "$name" "$chain" "$(./gear)"
  [[ $chain == "$wanted" ]] || { echo "not as seen: $wanted"; exit 1; }
}

check "gcc $(gcc-12 -dumpfullversion)" one gcc-12
python3 -m venv tools
for release in 0.11.0 0.13.0 0.15.1; do
  tools/bin/pip install --quiet --no-deps "ziglang==$release"
  clang=(tools/bin/python -m ziglang cc -target x86_64-linux-gnu -g0)
  version=$("${clang[@]}" --version | sed -n 's/^clang version \([0-9.]*\).*/\1/p')
  check "clang $version" two "${clang[@]}"
  check "clang $version, the word kept apart" one "${clang[@]}" -DAPART
done
