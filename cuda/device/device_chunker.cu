// `device_chunker`: batches of one buffer, by a `device_batch_chunker`.
#include <iterator>
#include <optional>
#include <utility>

#include <cutpoint/cuda.h>

#include "cuda/batch/workspace.h"
#include "cuda/device/device_executor.cuh"
#include "cuda/device/devices.h"

namespace cutpoint {
namespace {

using cuda::device_array;
using cuda::device_scope;

constexpr std::uint64_t max_batch_bytes = (std::uint64_t{1} << 32) - 64;

/// A batch of one buffer, in device memory.
struct one_buffer {
  const std::uint8_t* bytes;
  std::uint64_t byte_count;
  std::uint64_t ends;  ///< its lowest byte is `device_batch::ends`
};

__global__ void describe(one_buffer* destination, one_buffer value) {
  if (threadIdx.x == 0) *destination = value;
}

struct batch_memory {
  device_array<one_buffer> buffer;
  device_array<std::uint64_t> offsets;
  device_array<std::uint32_t> lengths;
  device_array<std::uint8_t> digests;
  device_array<std::uint32_t> numbers;  ///< two indices of first chunks, and the problem
  device_array<std::uint8_t> workspace;

  [[nodiscard]] static result<batch_memory> allocate(const device_batch_chunker& cuts,
                                                     const device_batch_bounds& bounds) {
    CUTPOINT_TRY(const auto max_chunks, cuts.max_chunks(bounds));
    CUTPOINT_TRY(const auto workspace_bytes, cuts.workspace_bytes(bounds));
    batch_memory all;
    CUTPOINT_TRY(all.buffer, device_array<one_buffer>::allocate(1));
    CUTPOINT_TRY(all.offsets, device_array<std::uint64_t>::allocate(max_chunks));
    CUTPOINT_TRY(all.lengths, device_array<std::uint32_t>::allocate(max_chunks));
    CUTPOINT_TRY(all.digests, device_array<std::uint8_t>::allocate(max_chunks * cuts.digest_bytes()));
    CUTPOINT_TRY(all.numbers, device_array<std::uint32_t>::allocate(3));
    CUTPOINT_TRY(all.workspace, device_array<std::uint8_t>::allocate(workspace_bytes));
    return result<batch_memory>(std::move(all));
  }

  [[nodiscard]] device_batch input() const {
    one_buffer* const only = buffer.data();
    return {.buffers = &only->bytes,
            .byte_counts = &only->byte_count,
            .ends = reinterpret_cast<const std::uint8_t*>(&only->ends)};
  }
  [[nodiscard]] device_batch_chunks output() const {
    return {.first_chunks = numbers.data(),
            .offsets = offsets.data(),
            .lengths = lengths.data(),
            .digests = digests.data(),
            .problem = numbers.data() + 2};
  }
};

}  // namespace

class device_chunker::buffer_enqueuer {
 public:
  static result<std::unique_ptr<buffer_enqueuer>> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                       std::uint64_t max_bytes, int device) {
    CUTPOINT_TRY(auto batches, device_batch_chunker::make(cuts, fingerprint, device));
    CUTPOINT_TRY(const auto scope, device_scope::enter(device));
    CUTPOINT_TRY(auto executor, cuda::device_executor::make());
    const device_batch_bounds bounds{.max_total_bytes = max_bytes};
    CUTPOINT_TRY(auto memory, batch_memory::allocate(batches, bounds));
    return std::unique_ptr<buffer_enqueuer>(
        new buffer_enqueuer(device, std::move(batches), bounds, std::move(executor), std::move(memory)));
  }
  buffer_enqueuer(const buffer_enqueuer&) = delete;
  buffer_enqueuer& operator=(const buffer_enqueuer&) = delete;
  ~buffer_enqueuer() {
    const auto scope = device_scope::enter(device_);
    static_cast<void>(executor_->wait());
    memory_.reset();
    executor_.reset();
  }

  result<device_chunks> enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end, cudaStream_t stream) {
    if (byte_count > bounds_.max_total_bytes) {
      return status(status_code::invalid_argument, "a batch of " + std::to_string(byte_count) +
                                                       " bytes is more than it was made for, " +
                                                       std::to_string(bounds_.max_total_bytes));
    }
    CUTPOINT_TRY(const auto scope, device_scope::enter(device_));
    CUTPOINT_RETURN_IF_FAILED(executor_->enter_stream(stream));
    status enqueued = enqueue_entered({bytes, byte_count, std::uint64_t{at_end ? 1u : 0u}}, stream);
    const status left = executor_->leave_stream();
    if (!enqueued.ok()) return enqueued;
    if (!left.ok()) return left;
    has_batch_ = true;
    const device_batch_chunks output = memory_->output();
    return device_chunks{.offsets = output.offsets,
                         .lengths = output.lengths,
                         .digests = output.digests,
                         .count = output.first_chunks + 1,
                         .overflowed = output.problem,
                         .digest_bytes = batches_.digest_bytes()};
  }

  result<std::vector<chunk>> chunks() {
    if (!has_batch_) return std::vector<chunk>();
    CUTPOINT_TRY(const auto scope, device_scope::enter(device_));
    std::uint32_t numbers[3] = {};
    CUTPOINT_RETURN_IF_FAILED(executor_->copy_out(numbers, memory_->numbers.data(), std::size(numbers)));
    CUTPOINT_RETURN_IF_FAILED(executor_->wait());
    CUTPOINT_RETURN_IF_FAILED(describe_problem(static_cast<device_batch_problem>(numbers[2]), bounds_));
    const std::uint32_t count = numbers[1];
    std::vector<std::uint64_t> offsets(count);
    std::vector<std::uint32_t> lengths(count);
    CUTPOINT_RETURN_IF_FAILED(executor_->copy_out(offsets.data(), memory_->offsets.data(), count));
    CUTPOINT_RETURN_IF_FAILED(executor_->copy_out(lengths.data(), memory_->lengths.data(), count));
    CUTPOINT_RETURN_IF_FAILED(executor_->wait());
    std::vector<chunk> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = {offsets[i], lengths[i]};
    return all;
  }

 private:
  buffer_enqueuer(int device, device_batch_chunker batches, const device_batch_bounds& bounds,
                  cuda::device_executor executor, batch_memory memory)
      : device_(device),
        batches_(std::move(batches)),
        bounds_(bounds),
        executor_(std::move(executor)),
        memory_(std::move(memory)) {}

  [[nodiscard]] status enqueue_entered(const one_buffer& buffer, cudaStream_t stream) {
    CUTPOINT_RETURN_IF_FAILED(
        cuda::launch_kernel(&describe, {.threads = cuda::warp_size}, stream, memory_->buffer.data(), buffer));
    return batches_.enqueue(bounds_, memory_->input(), memory_->output(), memory_->workspace.data(),
                            memory_->workspace.size(), stream);
  }

  int device_;
  device_batch_chunker batches_;
  device_batch_bounds bounds_;
  std::optional<cuda::device_executor> executor_;
  std::optional<batch_memory> memory_;
  bool has_batch_ = false;
};

result<device_chunker> device_chunker::make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                            std::uint64_t max_bytes, int device) {
  if (max_bytes == 0 || max_bytes > max_batch_bytes) {
    return status(status_code::invalid_argument, "max_bytes = " + std::to_string(max_bytes) +
                                                     " must be between 1 and " + std::to_string(max_batch_bytes));
  }
  CUTPOINT_TRY(auto own, buffer_enqueuer::make(cuts, fingerprint, max_bytes, device));
  return device_chunker(std::move(own));
}

device_chunker::device_chunker(std::unique_ptr<buffer_enqueuer> own) noexcept : implementation_(std::move(own)) {}
device_chunker::device_chunker(device_chunker&&) noexcept = default;
device_chunker& device_chunker::operator=(device_chunker&&) noexcept = default;
device_chunker::~device_chunker() = default;

result<device_chunks> device_chunker::enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end,
                                              CUstream_st* stream) {
  return implementation_->enqueue(bytes, byte_count, at_end, stream);
}

result<std::vector<chunk>> device_chunker::chunks() { return implementation_->chunks(); }

}  // namespace cutpoint
