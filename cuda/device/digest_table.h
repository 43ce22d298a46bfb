// The work of a `device_digest_table`, by Thrust.
#pragma once

#include <cstdint>
#include <memory>

#include <cutpoint/cuda.h>

namespace cutpoint::cuda {

class digest_table {
 public:
  digest_table() = default;
  digest_table(const digest_table&) = delete;
  digest_table& operator=(const digest_table&) = delete;
  virtual ~digest_table() = default;

  [[nodiscard]] virtual result<std::uint32_t> insert(const std::uint8_t* digests, std::uint32_t count,
                                                     std::uint32_t* new_chunks) = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
};

/// As `device_digest_table::make`.
[[nodiscard]] result<std::unique_ptr<digest_table>> make_digest_table(std::uint32_t digest_bytes, CUstream_st* stream,
                                                                      device_allocator* allocator, int device);

}  // namespace cutpoint::cuda
