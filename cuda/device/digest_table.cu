#include "cuda/device/digest_table.h"

#include "cuda/device/thrust_digest_table.h"

namespace cutpoint::cuda {
namespace {

struct cuda_system {
  class memory {
   public:
    using value_type = char;

    memory(device_allocator& allocator, CUstream_st* stream) : allocator_(&allocator), stream_(stream) {}

    char* allocate(std::ptrdiff_t byte_count) {
      void* const data = allocator_->allocate(static_cast<std::size_t>(byte_count), stream_);
      if (data == nullptr) throw std::bad_alloc();
      return static_cast<char*>(data);
    }
    void deallocate(char* data, std::size_t byte_count) { allocator_->deallocate(data, byte_count, stream_); }

   private:
    device_allocator* allocator_;
    CUstream_st* stream_;
  };

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
