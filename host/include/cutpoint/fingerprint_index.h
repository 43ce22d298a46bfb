// The fingerprint index, which records in memory the digests that have been seen.
#pragma once

#include <cstdint>
#include <memory>

#include <cutpoint/fingerprint.h>

namespace cutpoint {

/// A set of digests of one kind. An entry takes the bytes of the digest and one more, in a table that is between 7/16
/// and 7/8 full: 19 to 39 bytes for a digest of 16 bytes, 24 to 48 for 20, 38 to 76 for 32. While the table doubles,
/// both the old and the new table are in memory.
///
/// The hash of a digest that resists collisions is its first bytes; others are hashed again.
///
/// The index is movable. It is not thread-safe.
class fingerprint_index {
 public:
  /// Makes an empty index for digests of `kind`, which must not be `none`.
  explicit fingerprint_index(fingerprint_kind kind);

  fingerprint_index(fingerprint_index&&) noexcept;
  fingerprint_index& operator=(fingerprint_index&&) noexcept;
  ~fingerprint_index();

  /// Inserts a digest and returns whether it is new. Throws std::bad_alloc and then leaves the index unchanged.
  bool insert(const digest& fingerprint);

  /// Returns the number of digests in the index.
  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Returns the number of bytes that the table occupies now.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  class table;
  template <class Key, class Hash>
  class table_of;
  static std::unique_ptr<table> make_table(fingerprint_kind kind);

  std::unique_ptr<table> table_;
};

}  // namespace cutpoint
