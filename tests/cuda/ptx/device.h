// The interpreted devices: their streams, events, memory and kernels, on which the functions of the CUDA runtime work (runtime.cc,
// kernels.cc). There are three equal ones, of which another process has the last.
//
// Work is done as late as CUDA allows: when something waits for its stream. Now and then some of it is done earlier, as a seed
// says. So code that forgets to wait finds garbage, and code that reuses memory too early spoils its own work.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include <cuda_runtime_api.h>

#include "tests/cuda/ptx/warp.h"

namespace cutpoint::ptx {

/// The device that the interpreter plays.
struct played_device {
  int major = 9;
  int minor = 0;

  /// What its blocks may have of shared memory, by NVIDIA's programming guide.
  [[nodiscard]] u64 most_shared_bytes() const {
    const bool is_small = major == 12 || (major == 8 && (minor == 6 || minor == 9));
    return (is_small ? 99 : major == 8 ? 163 : 227) * 1024;
  }
};

/// By the environment's CUTPOINT_INTERPRETED_CAPABILITY, such as 8.6; else one of compute capability 9.0.
[[nodiscard]] const played_device& played();

/// The calls that a test can lose.
enum class device_call { copy, clear, wait };

/// The faults that a test plants, and the properties of a device that cannot be used.
struct planted_faults {
  /// Changes a kernel's PTX before it is decoded. May be empty.
  std::function<void(std::string& text)> alter = {};
  /// Whether this call does nothing. May be empty.
  std::function<bool(device_call)> lose = {};
  int driver_version = CUDART_VERSION;     ///< 0 without a driver
  std::uint64_t memory_bytes = 1 << 30;    ///< free on the device
  std::uint64_t calls_until_lost = ~0ull;  ///< calls of the runtime before the device is lost
};

/// A kernel of the program, with the binary that has its PTX.
struct registered_kernel {
  const u8* binary = nullptr;
  std::string name;
  std::array<u64, device_memory::devices> shared_limits = {48 * 1024, 48 * 1024, 48 * 1024};  ///< on each device
  std::unique_ptr<kernel> decoded = {};  ///< null until the first launch
};

/// Records are numbered from 1.
struct event_state {
  cudaStream_t stream = nullptr;  ///< of the last record
  u64 recorded = 0;
  u64 reached = 0;
  std::optional<std::chrono::steady_clock::time_point> time = {};  ///< when the last record was reached
};

/// The device that the calling thread has made current.
[[nodiscard]] int current_device();

/// All devices. One thread at a time may use it (`call`).
class device {
 public:
  using work_queue = std::deque<std::function<void(device_memory&)>>;
  /// What a stream has captured, and the events that it has recorded meanwhile.
  struct capture {
    work_queue work;
    std::set<const event_state*> events;
  };

  static device& instance();

  /// What null stands for: the default stream of the current device.
  [[nodiscard]] static cudaStream_t resolved(cudaStream_t stream) {
    return stream != nullptr ? stream : reinterpret_cast<cudaStream_t>(static_cast<u64>(current_device()));
  }
  [[nodiscard]] work_queue& queue_of(cudaStream_t stream);
  [[nodiscard]] int device_of(cudaStream_t stream);
  [[nodiscard]] const std::shared_ptr<event_state>& event_of(cudaEvent_t event);
  /// CUDA allows some copies in a stream of another device than the current one; here all work is refused there.
  void enqueue(cudaStream_t stream, std::function<void(device_memory&)> work);
  void finish(work_queue& queue);
  /// Does the work of a stream until an event's record with this number is reached.
  void reach(const event_state& event, cudaStream_t stream, u64 record);
  void copy(void* destination, const void* source, std::size_t size, cudaStream_t stream);
  /// A call that CUDA forbids while a stream captures (cudaStreamCaptureModeGlobal).
  void refuse_in_capture(const char* what) const {
    if (!captures.empty()) throw fault(std::string(what) + " while a stream captures");
  }
  /// Whether a call does nothing. A copy to the host that a lost wait was for is never done, since the memory may be freed.
  [[nodiscard]] bool loses(device_call call) {
    const bool is_lost = planted.lose && planted.lose(call);
    lost_waits_ += is_lost && call == device_call::wait ? 1u : 0u;
    return is_lost;
  }
  /// A handle of a stream or an event. None is used twice.
  template <class Handle>
  [[nodiscard]] Handle new_handle() {
    return reinterpret_cast<Handle>(++last_handle_);
  }

  device_memory memory;
  std::map<cudaStream_t, work_queue> streams = default_streams();  ///< by `resolved` handles
  std::map<cudaStream_t, int> devices_of_streams;                  ///< of those that were made
  std::map<cudaEvent_t, std::shared_ptr<event_state>> events;
  std::map<cudaStream_t, capture> captures;           ///< of the streams that capture
  std::map<const void*, work_queue> graphs;           ///< captured, and those made executable, by their handles
  std::set<void*> pinned;                             ///< allocated
  std::map<const std::uint8_t*, std::size_t> locked;  ///< ranges of host memory, by their first byte
  std::map<const void*, registered_kernel> kernels;   ///< by the functions that stand for them
  random_order order{1};
  int contexts = 0;  ///< that were made current, and not left
  u64 calls = 0;     ///< of the runtime
  planted_faults planted;
  std::vector<std::string> faults;

  // For tests.
  /// Plants faults from now on and forgets which kernels were decoded.
  void plant(planted_faults wanted);
  /// Returns the faults since the last call, with what was left over, and makes the device as new.
  [[nodiscard]] std::vector<std::string> end_of_test();

 private:
  static std::map<cudaStream_t, work_queue> default_streams() {
    std::map<cudaStream_t, work_queue> all;
    for (u64 device = 0; device < device_memory::devices; ++device) all[reinterpret_cast<cudaStream_t>(device)];
    return all;
  }
  void do_next(work_queue& queue);

  u64 last_handle_ = device_memory::devices;
  u64 lost_waits_ = 0;
};

inline std::mutex one_at_a_time;
inline thread_local cudaError_t last_error = cudaSuccess;  ///< until cudaGetLastError
inline thread_local std::string last_fault;                ///< the reason of the last cudaErrorLaunchFailure

inline cudaError_t fail(cudaError_t error) { return last_error = error; }

/// Calls f(device), one thread at a time. A fault is kept for the test, and the call fails. A lost device does nothing.
template <class Function>
cudaError_t call(Function f) {
  const std::lock_guard lock(one_at_a_time);
  device& there = device::instance();
  if (there.calls++ >= there.planted.calls_until_lost) return fail(cudaErrorUnknown);
  try {
    f(there);
    return cudaSuccess;
  } catch (const std::exception& broken) {
    last_fault = broken.what();
    there.faults.push_back(last_fault);
    return fail(cudaErrorLaunchFailure);
  }
}

}  // namespace cutpoint::ptx
