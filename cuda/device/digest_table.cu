#include "cuda/device/digest_table.h"

#include "cuda/device/thrust_digest_table.h"

namespace cutpoint::cuda {
namespace {

struct cuda_system {
  using memory = stream_memory;

  static auto policy(memory& of_table, CUstream_st* stream) { return thrust::cuda::par(of_table).on(stream); }
  template <class T>
  static T* array(T* data, std::size_t) {
    return data;
  }
};

}  // namespace

result<std::unique_ptr<digest_table>> make_digest_table(std::uint32_t digest_bytes, CUstream_st* stream,
                                                        device_allocator* allocator, int device) {
  return thrust_digest_table<cuda_system>::make(digest_bytes, stream, allocator, device);
}

}  // namespace cutpoint::cuda
