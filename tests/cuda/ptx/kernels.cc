// Finds, decodes and launches the kernels of the program, by the functions that code of nvcc calls.
#include <cstring>

#include <zstd.h>

#include "tests/cuda/ptx/device.h"

namespace {

using namespace cutpoint::ptx;

/// Reads an integer of the binary that nvcc embeds in a program. Its header has its own size at byte 6 and that of the
/// binaries for all architectures, which follow it, at byte 8.
template <class T>
T read(const u8* begin) {
  T value;
  std::memcpy(&value, begin, sizeof value);
  return value;
}

/// Returns the PTX in such a binary that the device's driver would take: the newest that is no newer than the device.
std::string ptx_of(const u8* binary) {
  std::string newest;
  u32 newest_architecture = 0;
  const u32 device_architecture = static_cast<u32>(10 * played().major + played().minor);
  const u8* at = binary + read<u16>(binary + 6);
  for (const u8* const end = at + read<u64>(binary + 8); at < end;) {
    const bool is_ptx = read<u16>(at) == 1;
    const u32 architecture = read<u32>(at + 28);
    const bool is_compressed_by_zstd = (read<u64>(at + 40) & 0x8000) != 0;
    const u8* const data = at + read<u32>(at + 4);
    if (is_ptx && is_compressed_by_zstd && architecture > newest_architecture && architecture <= device_architecture) {
      std::string text(read<u64>(at + 56), ' ');
      if (ZSTD_decompress(text.data(), text.size(), data, read<u32>(at + 16)) == text.size()) {
        newest = std::move(text);
        newest_architecture = architecture;
      }
    }
    at = data + read<u64>(at + 8);
  }
  if (newest.empty()) throw fault("a binary without PTX for the device that Zstandard can decompress");
  return newest;
}

registered_kernel& kernel_of(device& there, const void* function) {
  const auto entry = there.kernels.find(function);
  if (entry == there.kernels.end()) throw fault("a function is launched that is no kernel");
  registered_kernel& code = entry->second;
  if (code.decoded == nullptr) {
    static std::map<const u8*, std::map<std::string, std::string, std::less<>>> texts;
    auto& kernels = texts[code.binary];
    if (kernels.empty()) kernels = split_kernels(ptx_of(code.binary));
    std::string text = kernels.at(code.name);
    if (there.planted.alter) there.planted.alter(text);
    code.decoded = std::make_unique<kernel>(std::move(text));
  }
  return code;
}

/// The most shared memory that launches of a kernel on the current device may have.
u64& limit_of(device& there, const void* function) {
  return kernel_of(there, function).shared_limits.at(static_cast<std::size_t>(current_device()));
}

/// What __cudaRegisterFatBinary gets.
struct binary_wrapper {
  int magic;
  int version;
  void* data;
  void* unused;
};

constexpr int blocks_of_multiprocessor = 2;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return static_cast<void**>(static_cast<const binary_wrapper*>(wrapper)->data);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** binary, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  device::instance().kernels[function] = {.binary = reinterpret_cast<const u8*>(binary), .name = name};
}

// The statement f<<<...>>>(), which no source has, would call these between the statement and the launch.
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) { return cudaErrorNotSupported; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) { return cudaErrorNotSupported; }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaErrorNotSupported; }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return cudaErrorNotSupported;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return call([&](device& there) {
    if (blocks.x == 0 || blocks.y * blocks.z * threads.y * threads.z != 1) throw fault("a launch of no blocks");
    registered_kernel& code = kernel_of(there, function);
    const int number = current_device();
    if (shared_bytes > code.shared_limits.at(static_cast<std::size_t>(number)))
      throw fault("a kernel is launched with more shared memory than its limit");
    launch work{code.decoded.get(), blocks.x, threads.x, shared_bytes, {}};
    for (std::size_t i = 0; i < work.code->parameters.size(); ++i) {
      const parameter& each = work.code->parameters[i];
      work.parameters.resize(each.offset + each.size);
      std::memcpy(work.parameters.data() + each.offset, arguments[i], each.size);
    }
    there.enqueue(stream, [&there, number, name = code.name, work = std::move(work)](device_memory& memory) {
      memory.running = number;
      try {
        run(work, memory, there.order);
        memory.running = device_memory::any_device;
      } catch (const fault& f) {
        memory.running = device_memory::any_device;
        throw fault(std::string(f.what()) + ", in " + name);
      }
    });
  });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call([&](device& there) {
    *attributes = {};
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(limit_of(there, function));
  });
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize || static_cast<u64>(value) > played().most_shared_bytes()) {
    return fail(cudaErrorInvalidValue);
  }
  return call([&](device& there) { limit_of(there, function) = static_cast<u64>(value); });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = blocks_of_multiprocessor;
  return cudaSuccess;
}

}  // extern "C"
