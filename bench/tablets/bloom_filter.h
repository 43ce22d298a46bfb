// The filter in memory that PRUNE asks before its tablets (section 3.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <cutpoint/fingerprint.h>

namespace cutpoint::bench {

/// A Bloom filter of digests. Not thread-safe.
class bloom_filter {
 public:
  /// A filter without bits answers "perhaps" always.
  bloom_filter(std::uint64_t bits, unsigned functions);

  void add(const digest& content) noexcept;
  /// Returns false only for a digest that was not added.
  [[nodiscard]] bool may_have(const digest& content) const noexcept;

  /// The bits, which a file may keep.
  [[nodiscard]] std::span<std::uint64_t> words() noexcept { return words_; }

  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] unsigned functions() const noexcept { return functions_; }

  /// Returns the number of functions that makes the fewest false positives: 0.7 m/n (section 3.1), at least 1.
  [[nodiscard]] static unsigned best_functions(std::uint64_t bits, std::uint64_t digests) noexcept;
  /// Returns the share of absent digests that are taken for present ones (equation 1).
  [[nodiscard]] static double false_positives(std::uint64_t bits, unsigned functions, std::uint64_t digests) noexcept;

 private:
  std::uint64_t bits_;
  unsigned functions_;
  std::vector<std::uint64_t> words_;
};

}  // namespace cutpoint::bench
