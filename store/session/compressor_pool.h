// Compressors that the threads of a session share.
#pragma once

#include <mutex>
#include <vector>

#include "store/container/compression.h"
#include "store/container/record.h"

namespace cutpoint::store {

/// Makes as many compressors as threads compress at once, and reuses them. Thread-safe.
class compressor_pool {
 public:
  compressor_pool(record_codec codec, int level) noexcept : codec_(codec), level_(level) {}

  /// Compresses into `frame` and returns the codec; `none` if the content should be stored as it is.
  [[nodiscard]] record_codec compress(byte_span content, std::vector<std::uint8_t>& frame) {
    if (codec_ == record_codec::none) return codec_;
    compressor idle_compressor = take();
    const bool pays = idle_compressor.compress(content, frame);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(idle_compressor));
    return pays ? codec_ : record_codec::none;
  }

 private:
  compressor take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        compressor compressor_of_pool = std::move(idle_.back());
        idle_.pop_back();
        return compressor_of_pool;
      }
    }
    return compressor(level_);
  }

  record_codec codec_;
  int level_;
  std::mutex mutex_;
  std::vector<compressor> idle_;
};

}  // namespace cutpoint::store
