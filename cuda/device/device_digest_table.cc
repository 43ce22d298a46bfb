// `device_digest_table`, in every build.
#include <utility>

#include "cuda/device/digest_table.h"

namespace cutpoint {

result<device_digest_table> device_digest_table::make(std::uint32_t digest_bytes, CUstream_st* stream,
                                                      device_allocator* allocator, int device) {
  auto own = cuda::make_digest_table(digest_bytes, stream, allocator, device);
  if (!own) return own.error();
  return device_digest_table(*std::move(own));
}

device_digest_table::device_digest_table(std::unique_ptr<cuda::digest_table> own) noexcept : table_(std::move(own)) {}
device_digest_table::device_digest_table(device_digest_table&&) noexcept = default;
device_digest_table& device_digest_table::operator=(device_digest_table&&) noexcept = default;
device_digest_table::~device_digest_table() = default;

result<std::uint32_t> device_digest_table::insert(const std::uint8_t* digests, std::uint32_t count,
                                                  std::uint32_t* new_chunks) {
  return table_->insert(digests, count, new_chunks);
}

std::uint64_t device_digest_table::size() const noexcept { return table_->size(); }

}  // namespace cutpoint
