// The index of deduplication: which fingerprints have been seen, in memory.
#pragma once

#include <cstdint>
#include <memory>

#include <cutpoint/fingerprint.h>

namespace cutpoint {

/// A set of digests of one kind. An entry takes the digest's bytes and one more, in a table that is between 7/16 and 7/8
/// full: 19 to 39 bytes for 16 of a digest, 24 to 48 for 20, 38 to 76 for 32. While the table doubles, the old one and
/// the new are held.
///
/// Digests that resist collisions, or claim to, are spread by their own first bytes; XXH3's by a hash of them.
///
/// Movable; one thread at a time.
class fingerprint_index {
 public:
  /// For digests of this kind, which must not be `none`.
  explicit fingerprint_index(fingerprint_kind kind);

  fingerprint_index(fingerprint_index&&) noexcept;
  fingerprint_index& operator=(fingerprint_index&&) noexcept;
  ~fingerprint_index();

  /// Whether the digest is new; it is known afterwards. Throws std::bad_alloc, after which the index is as before.
  bool insert(const digest& fingerprint);

  /// Digests that are known.
  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Bytes that the table takes now.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  class table;
  template <class Key, class Hash>
  class table_of;
  static std::unique_ptr<table> make_table(fingerprint_kind kind);

  std::unique_ptr<table> table_;
};

}  // namespace cutpoint
