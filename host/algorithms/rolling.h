// The loop that all rolling hashes share: from the first length that may be cut to the last, one byte at a time.
#pragma once

#include <cstdint>

namespace cutpoint {

/// The first length in [first, last] at which `is_cut(hash, length)` holds, or `last`. The hash at a length covers the
/// window that ends with the chunk's byte length - 1. A chunk shorter than `first` is not tested.
///
/// `Hash` has window(), over(bytes) (the hash of window() bytes) and roll(hash, outgoing, incoming). `first >=
/// window()`.
template <class Hash, class IsCut>
std::uint64_t roll_until(const Hash& hash, const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                         IsCut&& is_cut) {
  if (last < first) return last;
  const std::uint64_t window = hash.window();
  auto value = hash.over(bytes + (first - window));
  for (std::uint64_t length = first; length < last; ++length) {
    if (is_cut(value, length)) return length;
    value = hash.roll(value, bytes[length - window], bytes[length]);
  }
  is_cut(value, last);
  return last;
}

}  // namespace cutpoint
