// The sealer of stores without encryption: XXH3-128 of the bytes, with part and position in the seed.
#pragma once

#include <memory>

#include "store/crypto/sealer.h"

namespace cutpoint::store {

/// Returns the 128 bits of XXH3 in their canonical, big-endian form.
[[nodiscard]] seal_tag checksum(byte_span bytes, std::uint64_t seed);

/// The same of bytes that come in several parts. Movable. Not thread-safe.
class running_checksum {
 public:
  explicit running_checksum(std::uint64_t seed);
  running_checksum(running_checksum&&) noexcept;
  running_checksum& operator=(running_checksum&&) noexcept;
  ~running_checksum();
  void update(byte_span bytes);
  [[nodiscard]] seal_tag tag() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

class checksum_sealer final : public sealer {
 public:
  seal_tag seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) override;
  bool open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
            const seal_tag& tag) override;
};

}  // namespace cutpoint::store
