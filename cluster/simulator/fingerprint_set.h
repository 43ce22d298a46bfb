// A set of fingerprints in at most 16 bytes each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

/// A hash table with linear probing. It grows by half, so that between one half and three quarters of the slots are full:
/// 10.7 to 16 bytes for each fingerprint, from a few on. At most 2^32 slots. Not thread-safe.
class fingerprint_set {
 public:
  /// Inserts a fingerprint and returns whether the set did not have it.
  bool insert(std::uint64_t fingerprint) {
    if (fingerprint == empty) return !std::exchange(has_empty_, true);
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    const std::size_t i = find(fingerprint);
    if (slots_[i] == fingerprint) return false;
    slots_[i] = fingerprint;
    ++count_;
    return true;
  }

  [[nodiscard]] bool contains(std::uint64_t fingerprint) const {
    if (fingerprint == empty) return has_empty_;
    return !slots_.empty() && slots_[find(fingerprint)] == fingerprint;
  }

  /// Loads into the cache what a look-up of the fingerprint needs.
  void prefetch(std::uint64_t fingerprint) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home(fingerprint)]);
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return count_ + (has_empty_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return slots_.size() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t least_slots = 8;
  static constexpr std::uint64_t empty = 0;  // marks a slot; the fingerprint 0 is a flag

  [[nodiscard]] std::size_t home(std::uint64_t fingerprint) const {
    // Not the hash that the ring has, or the fingerprints of a node would crowd on a few arcs of the table too.
    return (splitmix64::mixed(fingerprint + splitmix64::step) >> 32) * slots_.size() >> 32;
  }
  /// Returns the slot that has the fingerprint, or the empty one that it would get.
  [[nodiscard]] std::size_t find(std::uint64_t fingerprint) const {
    std::size_t i = home(fingerprint);
    while (slots_[i] != fingerprint && slots_[i] != empty) i = i + 1 == slots_.size() ? 0 : i + 1;
    return i;
  }

  void grow() {
    const std::vector<std::uint64_t> old =
        std::exchange(slots_, std::vector<std::uint64_t>(std::max(least_slots, slots_.size() + slots_.size() / 2)));
    for (const std::uint64_t each : old) {
      if (each != empty) slots_[find(each)] = each;
    }
  }

  std::vector<std::uint64_t> slots_;
  std::size_t count_ = 0;  ///< full slots
  bool has_empty_ = false;
};

}  // namespace cutpoint::cluster
