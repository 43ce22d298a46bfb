// Digest tables in the memory of the interpreted device, by Thrust's C++ back end, which stands for its kernels.
#include "cuda/device/digest_table.h"

#include <map>

#include "cuda/device/thrust_digest_table.h"
#include "tests/cuda/ptx/device.h"

namespace cutpoint::cuda {
namespace {

struct interpreted_system {
  /// The host's addresses of memory that an allocator gives on the device.
  class memory : public stream_memory {
   public:
    using stream_memory::stream_memory;

    char* allocate(std::ptrdiff_t byte_count) {
      char* const data = stream_memory::allocate(byte_count);
      char* const there = array(data, static_cast<std::size_t>(byte_count));
      device_addresses_[there] = data;
      return there;
    }
    void deallocate(char* there, std::size_t byte_count) {
      stream_memory::deallocate(device_addresses_.extract(there).mapped(), byte_count);
    }

   private:
    std::map<char*, char*> device_addresses_;
  };

  static auto policy(memory& of_table, CUstream_st*) { return thrust::cpp::par(of_table); }
  template <class T>
  static T* array(T* data, std::size_t count) {
    T* there = nullptr;
    const cudaError_t outcome = ptx::call([&](ptx::device& devices) {
      if (ptx::device_memory::device_of(reinterpret_cast<ptx::u64>(data)) != ptx::current_device()) {
        throw ptx::fault("digests are in another device's memory");
      }
      there = devices.memory.array(data, count);
    });
    if (outcome != cudaSuccess) throw thrust::system_error(EFAULT, thrust::generic_category(), ptx::last_fault);
    return there;
  }
};

}  // namespace

result<std::unique_ptr<digest_table>> make_digest_table(std::uint32_t digest_bytes, CUstream_st* stream,
                                                        device_allocator* allocator, int device) {
  return thrust_digest_table<interpreted_system>::make(digest_bytes, stream, allocator, device);
}

}  // namespace cutpoint::cuda
