// The functions of the CUDA runtime that cuda/ calls, but for those of kernels. The program links them instead of the runtime.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include <cuda.h>

#include "tests/cuda/ptx/device.h"

namespace {

using namespace cutpoint::ptx;

/// The devices whose contexts the thread has pushed, above the one that it has set.
thread_local std::vector<int> current_devices = {0};
int numbers[device_memory::devices] = {0, 1, 2};  // a context is the address of its device's number

CUresult retain_context(CUcontext* context, CUdevice number) {
  *context = reinterpret_cast<CUcontext>(&numbers[number]);
  return number == device_memory::devices - 1 ? CUDA_ERROR_DEVICE_UNAVAILABLE : CUDA_SUCCESS;
}
CUresult push_context(CUcontext context) {
  current_devices.push_back(*reinterpret_cast<int*>(context));
  static_cast<void>(call([](device& there) { ++there.contexts; }));
  return CUDA_SUCCESS;
}
CUresult pop_context(CUcontext*) {
  current_devices.pop_back();
  static_cast<void>(call([](device& there) { --there.contexts; }));
  return CUDA_SUCCESS;
}

constexpr int multiprocessors = 2;

}  // namespace

int cutpoint::ptx::current_device() { return current_devices.back(); }

extern "C" {

// --- Errors and facts ---

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure      ? last_fault.c_str()
         : error == cudaErrorMemoryAllocation ? "out of memory"
                                              : "unknown error";
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = device::instance().planted.driver_version;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = device_memory::devices;
  if (visible != nullptr && *visible == '\0') return fail(cudaErrorNoDevice);
  return device::instance().planted.driver_version < CUDART_VERSION / 1000 * 1000 ? fail(cudaErrorInsufficientDriver)
                                                                                  : cudaSuccess;
}
cudaError_t cudaGetDevice(int* current) {
  *current = current_device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int number) {
  current_devices.back() = number;
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* answer) {
  const std::string_view wanted = name;
  *function = wanted == "cuDevicePrimaryCtxRetain" ? reinterpret_cast<void*>(&retain_context)
              : wanted == "cuCtxPushCurrent"       ? reinterpret_cast<void*>(&push_context)
                                                   : reinterpret_cast<void*>(&pop_context);
  *answer = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "interpreter of PTX");
  properties->totalGlobalMem = std::size_t{1} << 30;
  properties->major = played().major;
  properties->minor = played().minor;
  properties->multiProcessorCount = multiprocessors;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  if (which == cudaDevAttrMultiProcessorCount) {
    *value = multiprocessors;
  } else if (which == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
    *value = static_cast<int>(played().most_shared_bytes());
  } else if (which == cudaDevAttrHostRegisterReadOnlySupported) {
    *value = 1;
  } else {
    return fail(cudaErrorNotSupported);
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int) {
  std::snprintf(id, static_cast<std::size_t>(size), "ffff:ff:1f.0");  // no such folder
  return cudaSuccess;
}

// --- Streams and events ---

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return call([&](device& there) {
    *stream = there.new_handle<cudaStream_t>();
    there.streams[*stream];
    there.devices_of_streams[*stream] = current_device();
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](device& there) {
    const bool is_busy = !there.queue_of(stream).empty();
    there.streams.erase(stream);
    there.devices_of_streams.erase(stream);
    if (is_busy) throw fault("a stream is destroyed whose work nobody has waited for");
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](device& there) { there.finish(there.queue_of(stream)); });
}
cudaError_t cudaDeviceSynchronize() {
  return call([](device& there) {
    for (auto& [stream, queue] : there.streams) there.finish(queue);
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call([&](device& there) {
    *event = there.new_handle<cudaEvent_t>();
    there.events[*event] = std::make_shared<event_state>();
  });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](device& there) {
    static_cast<void>(there.event_of(event));
    there.events.erase(event);
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](device& there) {
    const auto state = there.event_of(event);
    state->stream = device::resolved(stream);
    state->time.reset();
    if (const auto capturing = there.captures.find(stream); capturing != there.captures.end()) {
      capturing->second.events.insert(state.get());
      return;
    }
    for (auto& [other, captured] : there.captures) captured.events.erase(state.get());
    there.enqueue(stream, [state, number = ++state->recorded](device_memory&) {
      state->reached = number;
      if (state->recorded == number) state->time = std::chrono::steady_clock::now();
    });
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](device& there) {
    const auto state = there.event_of(event);
    there.refuse_in_capture("an event is waited for");
    if (!there.loses(device_call::wait)) there.reach(*state, state->stream, state->recorded);
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call([&](device& there) {
    const auto state = there.event_of(event);
    if (const auto capturing = there.captures.find(stream); capturing != there.captures.end()) {
      if (capturing->second.events.count(state.get()) != 0) return;  // recorded by the capture itself
      throw fault("a stream that captures waits for an event of other work");
    }
    there.enqueue(stream, [&there, state, from = state->stream, record = state->recorded](device_memory&) {
      there.reach(*state, from, record);
    });
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second) {
  bool are_reached = false;
  const cudaError_t read = call([&](device& there) {
    const auto begin = there.event_of(first)->time;
    const auto end = there.event_of(second)->time;
    are_reached = begin && end;
    if (are_reached) *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
  });
  return read != cudaSuccess || are_reached ? read : fail(cudaErrorNotReady);
}

// --- Memory ---

cudaError_t cudaMalloc(void** data, std::size_t size) {
  *data = nullptr;
  const cudaError_t outcome = call([&](device& there) {
    there.refuse_in_capture("memory is allocated");
    if (there.memory.byte_count() + size <= there.planted.memory_bytes) {
      *data = there.memory.allocate(current_device(), size);
    }
  });
  return outcome == cudaSuccess && *data == nullptr ? fail(cudaErrorMemoryAllocation) : outcome;
}
cudaError_t cudaFree(void* data) {
  return call([&](device& there) {
    there.refuse_in_capture("memory is freed");
    there.memory.free(data);
  });
}
cudaError_t cudaMallocAsync(void** data, std::size_t size, cudaStream_t) { return cudaMalloc(data, size); }
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  return call([&](device& there) {
    there.refuse_in_capture("memory is freed");
    there.enqueue(stream, [=](device_memory& all) { all.free(data); });
  });
}
cudaError_t cudaMallocHost(void** data, std::size_t size) {
  return call([&](device& there) {
    there.refuse_in_capture("pinned memory is allocated");
    *data = std::memset(std::malloc(size), 0xc3, size);
    there.pinned.insert(*data);
  });
}
cudaError_t cudaFreeHost(void* data) {
  return call([&](device& there) {
    if (there.pinned.erase(data) == 0) throw fault("pinned memory is freed that is not allocated");
    std::free(data);
  });
}
cudaError_t cudaHostRegister(void* data, std::size_t size, unsigned flags) {
  const auto* const first = static_cast<const u8*>(data);
  bool is_locked = false;
  const cudaError_t outcome = call([&](device& there) {
    there.refuse_in_capture("host memory is locked");
    if ((flags & cudaHostRegisterReadOnly) == 0) throw fault("host memory is locked that devices may write");
    is_locked = std::any_of(there.locked.begin(), there.locked.end(), [&](const auto& range) {
      return first < range.first + range.second && range.first < first + size;
    });
    if (!is_locked) there.locked.emplace(first, size);
  });
  return outcome == cudaSuccess && is_locked ? fail(cudaErrorHostMemoryAlreadyRegistered) : outcome;
}
cudaError_t cudaHostUnregister(void* data) {
  return call([&](device& there) {
    if (there.locked.erase(static_cast<const u8*>(data)) == 0) {
      throw fault("host memory is unlocked that is not locked");
    }
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  *attributes = {};
  return call([&](device& there) {
    const auto* const byte = static_cast<const u8*>(data);
    const auto after = there.locked.upper_bound(byte);
    const bool is_locked = after != there.locked.begin() && byte < std::prev(after)->first + std::prev(after)->second;
    attributes->type = is_locked ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  });
}
cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t size, cudaMemcpyKind,
                            cudaStream_t stream) {
  return call([&](device& there) { there.copy(destination, source, size, stream); });
}
cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t size, cudaMemcpyKind) {
  return call([&](device& there) {
    there.copy(destination, source, size, nullptr);
    there.finish(there.queue_of(nullptr));
  });
}
cudaError_t cudaMemsetAsync(void* destination, int value, std::size_t size, cudaStream_t stream) {
  return call([&](device& there) {
    if (there.loses(device_call::clear)) return;
    there.enqueue(
        stream, [=](device_memory& all) { std::memset(all.array(static_cast<u8*>(destination), size), value, size); });
  });
}
cudaError_t cudaMemset(void* destination, int value, std::size_t size) {
  return cudaMemsetAsync(destination, value, size, nullptr);
}

}  // extern "C"

// The functions of the CUDA runtime for graphs that a stream captures. A graph is a list of work, which each launch does again.

using namespace cutpoint::ptx;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return call([&](device& there) {
    static_cast<void>(there.queue_of(stream));
    if (stream == nullptr) throw fault("the default stream captures");
    if (!there.captures.try_emplace(stream).second) throw fault("a stream begins a capture while it captures");
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* state) {
  return call([&](device& there) {
    *state = there.captures.contains(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  return call([&](device& there) {
    auto captured = there.captures.extract(stream);
    if (captured.empty()) throw fault("a capture ends that has not begun");
    *graph = there.new_handle<cudaGraph_t>();
    there.graphs[*graph] = std::move(captured.mapped().work);
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return call([&](device& there) {
    *executable = there.new_handle<cudaGraphExec_t>();
    there.graphs[*executable] = there.graphs.at(graph);
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&](device& there) {
    for (const auto& work : there.graphs.at(executable)) there.enqueue(stream, work);
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](device& there) {
    if (there.graphs.erase(graph) == 0) throw fault("a graph is destroyed that does not exist");
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](device& there) {
    if (there.graphs.erase(executable) == 0) throw fault("a graph is destroyed that does not exist");
  });
}

}  // extern "C"
