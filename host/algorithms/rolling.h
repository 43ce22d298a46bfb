// The loop that all rolling hashes share: from the first length that may be cut to the last, one byte at a time.
#pragma once

#include <cstdint>

namespace cutpoint {

/// Visits the lengths from `first` to `last` with the hash of the window that ends with the chunk's byte length - 1,
/// until a visit returns true; gives the length of that visit, or `last`. A chunk shorter than `first` is not visited.
///
/// `Hash` has window(), over(bytes) (the hash of window() bytes) and roll(hash, outgoing, incoming). `first >=
/// window()`.
template <class Hash, class Visit>
std::uint64_t roll_until(const Hash& hash, const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                         Visit&& visit) {
  if (last < first) return last;
  const std::uint64_t window = hash.window();
  auto value = hash.over(bytes + (first - window));
  for (std::uint64_t length = first; length < last; ++length) {
    if (visit(value, length)) return length;
    value = hash.roll(value, bytes[length - window], bytes[length]);
  }
  visit(value, last);
  return last;
}

}  // namespace cutpoint
