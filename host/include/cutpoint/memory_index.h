// A fingerprint index in memory.
#pragma once

#include <memory>

#include <cutpoint/fingerprint_index.h>

namespace cutpoint {

/// A hash set of digests of one kind. An entry takes the bytes of the digest and one more, in a table that is between
/// 7/16 and 7/8 full: 19 to 39 bytes for a digest of 16 bytes, 24 to 48 for 20, 38 to 76 for 32. While the table
/// doubles, both the old and the new table are in memory.
///
/// The hash of a digest that resists collisions is its first bytes; others are hashed again.
///
/// The index is movable. It is not thread-safe. Its calls fail only by std::bad_alloc.
class memory_index final : public fingerprint_index {
 public:
  /// Makes an empty index for digests of `kind`, which must not be `none`.
  explicit memory_index(fingerprint_kind kind);

  memory_index(memory_index&&) noexcept;
  memory_index& operator=(memory_index&&) noexcept;
  ~memory_index() override;

  [[nodiscard]] status look_up(std::span<const digest> digests, std::span<index_answer> answers) override;
  [[nodiscard]] status insert(std::span<const digest> digests, std::span<index_answer> answers) override;

  [[nodiscard]] std::uint64_t size() const noexcept override;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override;

 private:
  class table;
  template <class Key, class Hash>
  class table_of;
  static std::unique_ptr<table> make_table(fingerprint_kind kind);

  std::unique_ptr<table> table_;
};

}  // namespace cutpoint
