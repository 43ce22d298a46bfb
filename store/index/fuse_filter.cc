#include "store/index/fuse_filter.h"

#include <algorithm>
#include <cmath>

namespace cutpoint::store {

namespace {

constexpr int most_attempts = 100;

/// The keys that still use a slot: their number, the XOR of their hashes, and the XOR of which of their three slots it
/// is. If one key is left, these are its hash and the slot's number.
struct slot_users {
  std::uint64_t hashes = 0;
  std::uint32_t count = 0;
  std::uint8_t which = 0;
};

void toggle(slot_users& slot, std::uint64_t hash, std::uint8_t which, std::uint32_t change) {
  slot.hashes ^= hash;
  slot.count += change;
  slot.which ^= which;
}

struct peeled_key {
  std::uint64_t hash;
  std::uint8_t which;  ///< the slot that no key peeled later uses
};

}  // namespace

fuse_filter_shape fuse_filter_shape_for(std::uint64_t key_count) noexcept {
  const double count = std::max<double>(static_cast<double>(key_count), 2);
  const auto bits = static_cast<std::uint32_t>(std::max(0.0, std::floor(std::log(count) / std::log(3.33) + 2.25)));
  fuse_filter_shape shape;
  shape.segment_bits = std::min(bits, fuse_filter_shape::most_segment_bits);
  const double factor = std::max(1.125, 0.875 + 0.25 * std::log(1e6) / std::log(count));
  const auto capacity = static_cast<std::uint64_t>(count * factor);
  const std::uint64_t segments = (capacity >> shape.segment_bits) + 1;
  shape.segment_count = static_cast<std::uint32_t>(segments > 3 ? segments - 2 : 1);
  return shape;
}

std::optional<std::vector<std::uint8_t>> build_fuse_filter(std::span<const std::uint64_t> keys,
                                                           fuse_filter_shape& shape) {
  std::vector<slot_users> users(shape.fingerprint_count());
  std::vector<peeled_key> peeled;
  std::vector<std::uint64_t> single;  // slots that one key uses
  splitmix64 seeds(keys.size());
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    shape.seed = seeds.next();
    const fuse_filter filter(shape, nullptr);
    std::fill(users.begin(), users.end(), slot_users{});
    for (const std::uint64_t key : keys) {
      const std::uint64_t hash = filter.hash_of(key);
      const fuse_filter::slots slots = filter.slots_of_hash(hash);
      for (std::uint8_t i = 0; i < 3; ++i) toggle(users[slots.at[i]], hash, i, 1);
    }
    peeled.clear();
    single.clear();
    for (std::uint64_t at = 0; at < users.size(); ++at) {
      if (users[at].count == 1) single.push_back(at);
    }
    while (!single.empty()) {
      const slot_users last = users[single.back()];
      single.pop_back();
      if (last.count != 1) continue;
      peeled.push_back({last.hashes, last.which});
      const fuse_filter::slots slots = filter.slots_of_hash(last.hashes);
      for (std::uint8_t i = 0; i < 3; ++i) {
        slot_users& slot = users[slots.at[i]];
        toggle(slot, last.hashes, i, ~std::uint32_t{0});
        if (slot.count == 1) single.push_back(slots.at[i]);
      }
    }
    if (peeled.size() != keys.size()) continue;
    std::vector<std::uint8_t> fingerprints(shape.fingerprint_count());
    for (auto key = peeled.rbegin(); key != peeled.rend(); ++key) {
      const fuse_filter::slots slots = filter.slots_of_hash(key->hash);
      std::uint8_t& free = fingerprints[slots.at[key->which]];
      free = 0;
      free = static_cast<std::uint8_t>(slots.fingerprint ^ fingerprints[slots.at[0]] ^ fingerprints[slots.at[1]] ^
                                       fingerprints[slots.at[2]]);
    }
    return fingerprints;
  }
  return std::nullopt;
}

}  // namespace cutpoint::store
