#include "store/container/compression.h"

#include <new>

#include <cutpoint/context.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace cutpoint::store {

namespace {

/// Content from this length on is compressed only if a sample of it can be.
constexpr std::size_t sampled_content_bytes = 16 * KiB;
constexpr std::size_t sample_bytes = 4 * KiB;

constexpr std::size_t largest_paying_frame(std::size_t content_bytes) {
  return content_bytes - content_bytes / paying_compression_divisor;
}

template <class Context>
Context* required(Context* context) {
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

}  // namespace

struct compressor::state {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{required(ZSTD_createCCtx()), ZSTD_freeCCtx};

  /// Returns whether the frame is short enough to pay.
  bool compress(byte_span content, std::vector<std::uint8_t>& frame) const {
    frame.resize(largest_paying_frame(content.size()));
    const std::size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size());
    if (ZSTD_isError(size) != 0) {
      if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      return false;
    }
    frame.resize(size);
    return true;
  }
};

compressor::compressor(int level) : state_(std::make_unique<state>()) {
  ZSTD_CCtx* context = state_->context.get();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);  // the record knows it
}
compressor::compressor(compressor&&) noexcept = default;
compressor& compressor::operator=(compressor&&) noexcept = default;
compressor::~compressor() = default;

bool compressor::compress(byte_span content, std::vector<std::uint8_t>& frame) {
  if (content.size() >= sampled_content_bytes) {
    const byte_span sample = content.subspan(content.size() / 2 - sample_bytes / 2, sample_bytes);
    if (!state_->compress(sample, frame)) return false;
  }
  return state_->compress(content, frame);
}

bool decompress(byte_span frame, std::span<std::uint8_t> content) {
  // Making a context takes longer than decompressing a short record.
  thread_local const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context{required(ZSTD_createDCtx()),
                                                                                     ZSTD_freeDCtx};
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), content.data(), content.size(), frame.data(), frame.size());
  return ZSTD_isError(size) == 0 && size == content.size();
}

}  // namespace cutpoint::store
