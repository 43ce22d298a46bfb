// `device_chunker`: batches in device memory.
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <cutpoint/cuda.h>
#include <launchers.cuh>

#include "cuda/batch/make_batch_offload.h"
#include "cuda/device/devices.h"

namespace cutpoint {
namespace {

using cuda::check;
using cuda::device_scope;

constexpr std::uint64_t max_batch_bytes = (std::uint64_t{1} << 32) - 64;

/// The values that determine a batch's partitions.
struct batch_shape {
  std::uint64_t lead = 0;  ///< bytes between the multiple of 16 before the first byte and that byte
  std::uint64_t byte_count = 0;
  bool at_end = false;

  friend bool operator==(const batch_shape&, const batch_shape&) = default;
};

__global__ void subtract(std::uint64_t* positions, const std::uint32_t* count, std::uint64_t lead) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < *count; i += gridDim.x * blockDim.x) {
    positions[i] -= lead;
  }
}

}  // namespace

class device_chunker::implementation {
 public:
  static result<std::unique_ptr<implementation>> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                      std::uint64_t max_bytes, int device) {
    CUTPOINT_RETURN_IF_FAILED(cuda::check_device(device));
    const auto scope = device_scope::enter(device);
    if (!scope) return scope.error();
    auto executor = cuda::device_executor::make();
    if (!executor) return executor.error();
    auto launcher = cuda::make_cut_launcher(*executor, cuts);
    if (!launcher) return launcher.error();
    auto work = cuda::batch_launcher<cuda::device_executor>::make(*executor, std::move(*launcher), fingerprint,
                                                                  {.bytes = max_bytes + sizeof(cuda::bytes16)});
    if (!work) return work.error();
    return std::unique_ptr<implementation>(
        new implementation(device, max_bytes, std::move(*executor), std::move(*work)));
  }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation() {
    const auto scope = device_scope::enter(device_);
    static_cast<void>(executor_->wait());
    work_.reset();
    executor_.reset();
  }

  result<device_chunks> enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end, cudaStream_t stream) {
    if (byte_count > max_bytes_) {
      return status(status_code::invalid_argument, "a batch of " + std::to_string(byte_count) +
                                                       " bytes is more than it was made for, " +
                                                       std::to_string(max_bytes_));
    }
    const auto scope = device_scope::enter(device_);
    if (!scope) return scope.error();
    CUTPOINT_RETURN_IF_FAILED(executor_->enter_stream(stream));
    auto outputs = enqueue_entered(bytes, byte_count, at_end);
    if (status left = executor_->leave_stream(); !left.ok() && outputs) return left;
    return outputs;
  }

  result<std::vector<chunk>> chunks() {
    const auto scope = device_scope::enter(device_);
    if (!scope) return scope.error();
    const cuda::chunk_list list = work_->chunks();
    std::uint32_t counters[cuda::counter_words::changed] = {};
    if (!shape_) return std::vector<chunk>();
    CUTPOINT_RETURN_IF_FAILED(executor_->copy_out(counters, work_->counters(), std::size(counters)));
    CUTPOINT_RETURN_IF_FAILED(executor_->wait());
    if (counters[cuda::counter_words::overflowed] != 0) {
      return status(status_code::memory_limit, "the batch has more short chunks than there is room for");
    }
    const std::uint32_t count = counters[cuda::counter_words::chunk_count];
    std::vector<std::uint64_t> offsets(count);
    std::vector<std::uint32_t> lengths(count);
    CUTPOINT_RETURN_IF_FAILED(executor_->copy_out(offsets.data(), list.begins, count));
    CUTPOINT_RETURN_IF_FAILED(executor_->copy_out(lengths.data(), list.lengths, count));
    CUTPOINT_RETURN_IF_FAILED(executor_->wait());
    std::vector<chunk> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = {offsets[i], lengths[i]};
    return all;
  }

 private:
  implementation(int device, std::uint64_t max_bytes, cuda::device_executor executor,
                 cuda::batch_launcher<cuda::device_executor> work)
      : device_(device), max_bytes_(max_bytes), executor_(std::move(executor)), work_(std::move(work)) {}

  /// Puts the work into the stream that the executor has entered.
  result<device_chunks> enqueue_entered(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end) {
    const batch_shape shape{reinterpret_cast<std::uintptr_t>(bytes) % sizeof(cuda::bytes16), byte_count, at_end};
    if (shape_ != shape) {
      shape_.reset();
      const cuda::stream_range all{.begin = shape.lead,
                                   .start = shape.lead,
                                   .stop = shape.lead + byte_count,
                                   .end = shape.lead + byte_count,
                                   .ends = at_end ? 1u : 0u};
      const std::span<const cuda::stream_range> stream_ranges(&all, byte_count == 0 ? std::size_t{0} : std::size_t{1});
      work_->partition_streams(stream_ranges);
      CUTPOINT_RETURN_IF_FAILED(executor_->wait());  // the last batch reads its description
      CUTPOINT_RETURN_IF_FAILED(work_->copy_description(*executor_, stream_ranges));
      shape_ = shape;
    }
    const std::uint64_t end = shape.lead + byte_count;
    CUTPOINT_RETURN_IF_FAILED(work_->enqueue_cuts(*executor_, bytes - shape.lead, end));
    CUTPOINT_RETURN_IF_FAILED(work_->enqueue_fingerprints(*executor_, bytes - shape.lead, end));
    const cuda::chunk_list list = work_->chunks();
    if (shape.lead != 0) {
      CUTPOINT_RETURN_IF_FAILED(cuda::launch_kernel(&subtract, {.blocks = 64, .threads = 256}, executor_->stream(),
                                                    list.begins, list.count, shape.lead));
    }
    return device_chunks{.offsets = list.begins,
                         .lengths = list.lengths,
                         .digests = work_->digests(),
                         .count = list.count,
                         .overflowed = work_->counters() + cuda::counter_words::overflowed,
                         .digest_bytes = static_cast<std::uint32_t>(work_->digest_bytes())};
  }

  int device_;
  std::uint64_t max_bytes_;
  std::optional<cuda::device_executor> executor_;
  std::optional<cuda::batch_launcher<cuda::device_executor>> work_;
  std::optional<batch_shape> shape_;
};

result<device_chunker> device_chunker::make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                            std::uint64_t max_bytes, int device) {
  if (max_bytes == 0 || max_bytes > max_batch_bytes) {
    return status(status_code::invalid_argument, "max_bytes = " + std::to_string(max_bytes) +
                                                     " must be between 1 and " + std::to_string(max_batch_bytes));
  }
  if (!cuda::hash_launcher<cuda::device_executor>::has(fingerprint.kind)) {
    return status(status_code::invalid_argument,
                  "no device makes the fingerprint " + std::string(name_of(fingerprint)));
  }
  auto own = implementation::make(cuts, fingerprint, max_bytes, device);
  if (!own) return own.error();
  return device_chunker(std::move(*own));
}

device_chunker::device_chunker(std::unique_ptr<implementation> own) noexcept : implementation_(std::move(own)) {}
device_chunker::device_chunker(device_chunker&&) noexcept = default;
device_chunker& device_chunker::operator=(device_chunker&&) noexcept = default;
device_chunker::~device_chunker() = default;

result<device_chunks> device_chunker::enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end,
                                              CUstream_st* stream) {
  return implementation_->enqueue(bytes, byte_count, at_end, stream);
}

result<std::vector<chunk>> device_chunker::chunks() { return implementation_->chunks(); }

}  // namespace cutpoint
