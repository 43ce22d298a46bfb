#include "pipeline/tune/compressibility.h"

#include <algorithm>
#include <new>
#include <vector>

#include <cutpoint/context.h>
#include <cutpoint/timing.h>
#include <zstd.h>

namespace cutpoint {

struct chunk_compressor::state {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::vector<std::uint8_t> frame;
  std::uint64_t bytes = 0;
  std::uint64_t compressed_bytes = 0;
  double seconds = 0;
};

chunk_compressor::chunk_compressor() : state_(std::make_unique<state>()) {
  if (!state_->context) throw std::bad_alloc();
}
chunk_compressor::chunk_compressor(chunk_compressor&&) noexcept = default;
chunk_compressor& chunk_compressor::operator=(chunk_compressor&&) noexcept = default;
chunk_compressor::~chunk_compressor() = default;

void chunk_compressor::add(byte_span chunk) {
  state& s = *state_;
  s.frame.resize(std::max(s.frame.size(), ZSTD_compressBound(chunk.size())));
  const double begin = thread_seconds();
  const std::size_t size = ZSTD_compressCCtx(s.context.get(), s.frame.data(), s.frame.size(), chunk.data(),
                                             chunk.size(), usual_compression_level);
  s.seconds += thread_seconds() - begin;
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // with room for any frame, nothing else can fail
  const bool pays = size <= chunk.size() - chunk.size() / paying_compression_divisor;
  s.bytes += chunk.size();
  s.compressed_bytes += pays ? size : chunk.size();
}

measured_compression chunk_compressor::total() const {
  if (state_->bytes == 0) return {};
  const auto bytes = static_cast<double>(state_->bytes);
  return {.compressed_share = static_cast<double>(state_->compressed_bytes) / bytes,
          .bytes_per_second = bytes / std::max(state_->seconds, 1e-9)};
}

}  // namespace cutpoint
