#include "store/crypto/checksum_sealer.h"

#include <algorithm>
#include <new>

#include <xxhash.h>

namespace cutpoint::store {

namespace {

seal_tag canonical(XXH128_hash_t hash) {
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, hash);
  seal_tag tag;
  std::copy_n(digits.digest, tag.size(), tag.begin());
  return tag;
}

}  // namespace

seal_tag checksum(byte_span bytes, std::uint64_t seed) {
  return canonical(XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
}

struct running_checksum::state {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash{XXH3_createState(), XXH3_freeState};
};

running_checksum::running_checksum(std::uint64_t seed) : state_(std::make_unique<state>()) {
  if (!state_->hash) throw std::bad_alloc();
  XXH3_128bits_reset_withSeed(state_->hash.get(), seed);
}
running_checksum::running_checksum(running_checksum&&) noexcept = default;
running_checksum& running_checksum::operator=(running_checksum&&) noexcept = default;
running_checksum::~running_checksum() = default;

void running_checksum::update(byte_span bytes) { XXH3_128bits_update(state_->hash.get(), bytes.data(), bytes.size()); }

seal_tag running_checksum::tag() const { return canonical(XXH3_128bits_digest(state_->hash.get())); }

seal_tag checksum_sealer::seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) {
  return checksum(bytes, position << 8 | static_cast<std::uint64_t>(content));
}

bool checksum_sealer::open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
                           const seal_tag& tag) {
  return seal(content, position, bytes) == tag;
}

}  // namespace cutpoint::store
