// Compression of one record's content with zstd, given up early if it does not pay.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>

namespace cutpoint::store {

/// Holds the memory of the compressor, about 1 MiB at low levels. Movable. Not thread-safe.
class compressor {
 public:
  /// `level` is zstd's, 1 to 19.
  explicit compressor(int level);
  compressor(compressor&&) noexcept;
  compressor& operator=(compressor&&) noexcept;
  ~compressor();

  /// Writes `content` as one zstd frame into `frame`. Returns false if that does not save enough to pay, which costs
  /// little for content that cannot be compressed: only a sample of it is compressed then. `frame` is unspecified then.
  [[nodiscard]] bool compress(byte_span content, std::vector<std::uint8_t>& frame);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Fills `content` from a frame. Returns false unless the frame has exactly that many bytes. Never writes more. Each thread
/// that has called it keeps about 160 KiB.
[[nodiscard]] bool decompress(byte_span frame, std::span<std::uint8_t> content);

}  // namespace cutpoint::store
