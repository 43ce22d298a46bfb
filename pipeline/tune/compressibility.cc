#include "pipeline/tune/compressibility.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <cutpoint/timing.h>
#include <zstd.h>

namespace cutpoint {

namespace {

constexpr std::size_t block_bytes = 64 * KiB;
constexpr int zstd_level = 3;  ///< zstd's own default; a store's is 1

}  // namespace

measured_compression measure_compression(byte_span data) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  std::vector<std::uint8_t> frame(ZSTD_compressBound(block_bytes));
  std::uint64_t compressed_bytes = 0;
  const double begin = thread_seconds();
  for (std::size_t position = 0; position < data.size(); position += block_bytes) {
    const byte_span block = data.subspan(position, std::min(block_bytes, data.size() - position));
    const std::size_t size =
        ZSTD_compressCCtx(context.get(), frame.data(), frame.size(), block.data(), block.size(), zstd_level);
    if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // with room for any frame, nothing else can fail
    compressed_bytes += std::min(size, block.size());
  }
  const double seconds = std::max(thread_seconds() - begin, 1e-9);
  const auto bytes = static_cast<double>(data.size());
  return {.compressed_share = static_cast<double>(compressed_bytes) / bytes, .bytes_per_second = bytes / seconds};
}

}  // namespace cutpoint
