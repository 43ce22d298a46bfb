// Compares the content that files have with that which they should have.
#pragma once

#include <span>
#include <vector>

#include "store/files/content_window.h"

namespace cutpoint::store {

/// Reads the bytes of files and makes their digests. Memory: the largest chunk for each thread. Not thread-safe.
class content_comparison {
 public:
  /// Errors: those of the fingerprinter.
  [[nodiscard]] static result<content_comparison> make(const store_reading& store, std::uint64_t threads);

  /// Returns the places whose bytes do not have the digest of their chunk, in the same order. Of a chunk that follows
  /// itself these are the repetitions that differ, or all if the first does. A file that cannot be read differs.
  [[nodiscard]] std::vector<content_place> find_differences(std::span<const content_place> places);

 private:
  struct worker {
    record_fingerprinter check;
    std::vector<std::uint8_t> bytes = {};
    std::vector<std::uint8_t> repetition = {};
  };

  explicit content_comparison(std::vector<worker> workers) noexcept : workers_(std::move(workers)) {}
  static void compare(worker& own, const content_place& place, std::vector<content_place>& differences);

  std::vector<worker> workers_;
};

}  // namespace cutpoint::store
