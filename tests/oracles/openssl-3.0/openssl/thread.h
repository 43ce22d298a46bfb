// What Borg 2.0.0b25 takes from OpenSSL 3.2 and OpenSSL 3.0 lacks, for its key derivation, which the comparisons of cuts do not use.
#pragma once

#include <openssl/types.h>
#include <stdint.h>

#define OSSL_KDF_PARAM_THREADS "threads"
#define OSSL_KDF_PARAM_ARGON2_LANES "lanes"
#define OSSL_KDF_PARAM_ARGON2_MEMCOST "memcost"

static inline int OSSL_set_max_threads(OSSL_LIB_CTX* context, uint64_t threads) {
  (void)context;
  (void)threads;
  return 0;
}
