// The fingerprints of a batch's chunks, on a machine.
#pragma once

#include <utility>

#include <cutpoint/fingerprint.h>

#include "cuda/chunk_hash.h"
#include "cuda/return_if_failed.h"
#include "cuda/sha1.h"
#include "cuda/sha256.h"
#include "cuda/slices.h"

namespace cutpoint::cuda {

template <class Machine>
class chunk_hasher {
 public:
  /// For batches of up to `most_bytes` and `most_chunks`. Makes nothing where the kind is not one of the device's.
  [[nodiscard]] static result<chunk_hasher> make(Machine& on, const fingerprint_recipe& recipe,
                                                 std::uint64_t most_bytes, std::uint64_t most_chunks) {
    chunk_hasher made(recipe);
    if (made.digest_bytes() == 0) return made;
  }
};

}  // namespace cutpoint::cuda
