#include "simd/hashes/fingerprints.h"

namespace cutpoint::simd {

std::unique_ptr<batch_fingerprinter> make_batch_fingerprinter(const fingerprint_recipe& recipe, instruction_set set) {
  switch (recipe.kind) {
    case fingerprint_kind::sha1:
      return make_sha1_fingerprinter(set);
    case fingerprint_kind::sha256:
      return make_sha256_fingerprinter(set);
    case fingerprint_kind::blake3:
      return make_blake3_fingerprinter(set, recipe.key);
    default:
      return nullptr;
  }
}

}  // namespace cutpoint::simd
