// Measures how much shorter zstd makes chunks, and how fast.
#pragma once

#include <memory>

#include <cutpoint/bytes.h>
#include <cutpoint/tune/facts.h>

namespace cutpoint {

/// Compresses chunks as a store does: one by one, at its usual level, and not at all where that does not pay. Not thread-safe.
class chunk_compressor {
 public:
  /// Throws std::bad_alloc.
  chunk_compressor();
  chunk_compressor(chunk_compressor&&) noexcept;
  chunk_compressor& operator=(chunk_compressor&&) noexcept;
  ~chunk_compressor();

  /// Compresses a chunk, which is not empty, on the calling thread. Throws std::bad_alloc.
  void add(byte_span chunk);
  /// Returns what all chunks came to; a share of 1 without any.
  [[nodiscard]] measured_compression total() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace cutpoint
