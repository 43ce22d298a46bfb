// Batches that are in device memory already.
#include <optional>
#include <span>
#include <utility>

#include <cutpoint/cuda.h>
#include <device_slicers.cuh>

#include "cuda/backend.h"
#include "cuda/make_batch.h"

namespace cutpoint {
namespace {

using cuda::check;
using cuda::device_scope;

constexpr std::uint64_t most_batch_bytes = (std::uint64_t{1} << 32) - 64;

/// What decides a batch's slices.
struct batch_shape {
  std::uint64_t lead = 0;  ///< bytes before the first one, from a multiple of 16 on
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
                                                      std::uint64_t most_bytes, int device) {
    CUTPOINT_RETURN_IF_FAILED(cuda::check_device(device));
    const auto scope = device_scope::enter(device);
    if (!scope) return scope.error();
    auto machine = cuda::device_machine::make();
    if (!machine) return machine.error();
    auto cutting = cuda::make_slicer(*machine, cuts);
    if (!cutting) return cutting.error();
    auto work = cuda::batch<cuda::device_machine>::make(*machine, std::move(*cutting), fingerprint,
                                                        {.bytes = most_bytes + sizeof(cuda::bytes16)});
    if (!work) return work.error();
    return std::unique_ptr<implementation>(
        new implementation(device, most_bytes, std::move(*machine), std::move(*work)));
  }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation() {
    const auto scope = device_scope::enter(device_);
    static_cast<void>(machine_->wait());
    work_.reset();
    machine_.reset();
  }

  result<device_chunks> enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end, cudaStream_t stream) {
    if (byte_count > most_bytes_) {
      return status(status_code::invalid_argument, "a batch of " + std::to_string(byte_count) +
                                                       " bytes is more than it was made for, " +
                                                       std::to_string(most_bytes_));
    }
    const auto scope = device_scope::enter(device_);
    if (!scope) return scope.error();
    if (stream != machine_->stream()) CUTPOINT_RETURN_IF_FAILED(machine_->wait());
    machine_->go_on_in(stream);
    const batch_shape shape{reinterpret_cast<std::uintptr_t>(bytes) % sizeof(cuda::bytes16), byte_count, at_end};
    if (shape_ != shape) {
      shape_.reset();
      const cuda::piece all{.begin = shape.lead,
                            .start = shape.lead,
                            .stop = shape.lead + byte_count,
                            .end = shape.lead + byte_count,
                            .ends = at_end ? 1u : 0u};
      const std::span<const cuda::piece> pieces(&all, byte_count == 0 ? std::size_t{0} : std::size_t{1});
      work_->slice_up(pieces);
      CUTPOINT_RETURN_IF_FAILED(work_->copy_slices(*machine_, pieces));
      shape_ = shape;
    }
    const std::uint64_t end = shape.lead + byte_count;
    CUTPOINT_RETURN_IF_FAILED(work_->enqueue_cuts(*machine_, bytes - shape.lead, end));
    CUTPOINT_RETURN_IF_FAILED(work_->enqueue_fingerprints(*machine_, bytes - shape.lead, end));
    const auto found = work_->chunks().list();
    if (shape.lead != 0) {
      subtract<<<64, 256, 0, stream>>>(found.begins, found.count, shape.lead);
      CUTPOINT_RETURN_IF_FAILED(check(cudaGetLastError(), "launching a kernel"));
    }
    return device_chunks{.offsets = found.begins,
                         .lengths = found.lengths,
                         .digests = work_->digests(),
                         .count = found.count,
                         .overflowed = work_->found().overflowed.data(),
                         .digest_bytes = static_cast<std::uint32_t>(work_->digest_bytes())};
  }

  result<std::vector<chunk>> chunks() {
    const auto scope = device_scope::enter(device_);
    if (!scope) return scope.error();
    const auto found = work_->chunks().list();
    std::uint32_t count = 0;
    std::uint32_t overflowed = 0;
    if (!shape_) return std::vector<chunk>();
    CUTPOINT_RETURN_IF_FAILED(machine_->copy_out(&count, found.count, 1));
    CUTPOINT_RETURN_IF_FAILED(machine_->copy_out(&overflowed, work_->found().overflowed.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(machine_->wait());
    if (overflowed != 0) {
      return status(status_code::memory_limit, "the batch has more short chunks than there is room for");
    }
    std::vector<std::uint64_t> offsets(count);
    std::vector<std::uint32_t> lengths(count);
    CUTPOINT_RETURN_IF_FAILED(machine_->copy_out(offsets.data(), found.begins, count));
    CUTPOINT_RETURN_IF_FAILED(machine_->copy_out(lengths.data(), found.lengths, count));
    CUTPOINT_RETURN_IF_FAILED(machine_->wait());
    std::vector<chunk> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = {offsets[i], lengths[i]};
    return all;
  }

 private:
  implementation(int device, std::uint64_t most_bytes, cuda::device_machine machine,
                 cuda::batch<cuda::device_machine> work)
      : device_(device), most_bytes_(most_bytes), machine_(std::move(machine)), work_(std::move(work)) {}

  int device_;
  std::uint64_t most_bytes_;
  std::optional<cuda::device_machine> machine_;
  std::optional<cuda::batch<cuda::device_machine>> work_;
  std::optional<batch_shape> shape_;
};

result<device_chunker> device_chunker::make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                            std::uint64_t most_bytes, int device) {
  if (most_bytes == 0 || most_bytes > most_batch_bytes) {
    return status(status_code::invalid_argument, "most_bytes = " + std::to_string(most_bytes) +
                                                     " must be between 1 and " + std::to_string(most_batch_bytes));
  }
  switch (fingerprint.kind) {
    case fingerprint_kind::none:
    case fingerprint_kind::sha1:
    case fingerprint_kind::sha256:
    case fingerprint_kind::blake3:
      break;
    default:
      return status(status_code::invalid_argument,
                    "on a device there are the fingerprints sha1, sha256, blake3 and none");
  }
  auto made = implementation::make(cuts, fingerprint, most_bytes, device);
  if (!made) return made.error();
  return device_chunker(std::move(*made));
}

device_chunker::device_chunker(std::unique_ptr<implementation> held) noexcept : implementation_(std::move(held)) {}
device_chunker::device_chunker(device_chunker&&) noexcept = default;
device_chunker& device_chunker::operator=(device_chunker&&) noexcept = default;
device_chunker::~device_chunker() = default;

result<device_chunks> device_chunker::enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end,
                                              CUstream_st* stream) {
  return implementation_->enqueue(bytes, byte_count, at_end, stream);
}

result<std::vector<chunk>> device_chunker::chunks() { return implementation_->chunks(); }

}  // namespace cutpoint
