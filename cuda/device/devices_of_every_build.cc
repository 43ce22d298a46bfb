// What needs no CUDA compiler: why CUDA cannot be used, PCI Express links, batches that a device refuses, `device_digest_table`.
#include <array>
#include <fstream>
#include <string>
#include <utility>

#include <cutpoint/cuda.h>

#include "cuda/device/devices.h"
#include "cuda/device/digest_table.h"

namespace cutpoint::cuda {

std::string to_string(version v) { return std::to_string(v.major) + "." + std::to_string(v.minor); }

status no_cuda_in_this_build() {
  return {
      status_code::unavailable,
      "this build has no CUDA code: install one that was made with a CUDA compiler, as scripts/setup --cuda and then "
      "scripts/package make it in a checkout"};
}

status check_driver(const driver_probe& probe) {
  const auto unavailable = [](std::string sentence) { return status(status_code::unavailable, std::move(sentence)); };
  const std::string needed = "CUDA " + to_string(version{probe.runtime.major, 0}) + " or newer";
  if (probe.driver == version{}) {
    return unavailable("no NVIDIA driver was found: install one for " + needed +
                       ", or start the container with the GPUs of its host");
  }
  if (probe.driver.major < probe.runtime.major) {
    return unavailable("the NVIDIA driver supports CUDA " + to_string(probe.driver) + ", but this build needs " +
                       needed);
  }
  if (!probe.error.empty()) return unavailable("the NVIDIA driver could not list its devices: " + probe.error);
  if (probe.device_count == 0)
    return unavailable(
        "the NVIDIA driver shows this process no device: CUDA_VISIBLE_DEVICES or a container can hide them");
  return {};
}

std::string reason_device_is_unsupported(std::string_view device_name, version device, version oldest_code) {
  if (device >= oldest_code) return {};
  return std::string(device_name) + " has compute capability " + to_string(device) + ", but this build has code for " +
         to_string(oldest_code) + " and newer only";
}

// Reads max_link_speed ("32.0 GT/s PCIe") and current_link_width ("16") of a PCI device.

namespace {

double read_number(const std::filesystem::path& file) {
  std::ifstream in(file);
  double number = 0;
  return in >> number ? number : 0;
}

}  // namespace

pci_link read_pci_link(const std::filesystem::path& device_folder) {
  constexpr std::array gigatransfers_per_second{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};  // generations 1 to 6
  const double speed = read_number(device_folder / "max_link_speed");
  pci_link link;
  for (const double generation_speed : gigatransfers_per_second) link.generation += speed >= generation_speed ? 1 : 0;
  const double width = read_number(device_folder / "current_link_width");
  if (width >= 1 && width <= 32) link.width = static_cast<int>(width);
  return link;
}

}  // namespace cutpoint::cuda

namespace cutpoint {

// The sentences for batches that a device refuses. In every build.

status describe_problem(device_batch_problem problem, const device_batch_bounds& bounds) {
  const auto refused = [](status_code code, const char* why, std::uint64_t bound, const char* unit) {
    return status(code, std::string("the device refused the batch: ") + why + ' ' + std::to_string(bound) + ' ' + unit);
  };
  switch (problem) {
    case device_batch_problem::none:
      return {};
    case device_batch_problem::too_many_buffers:
      return refused(status_code::invalid_argument, "it has more than max_buffers =", bounds.max_buffers, "buffers");
    case device_batch_problem::buffer_too_long: {
      const std::uint64_t most = bounds.max_buffer_bytes == 0 ? bounds.max_total_bytes : bounds.max_buffer_bytes;
      return refused(status_code::invalid_argument, "a buffer is longer than max_buffer_bytes =", most, "bytes");
    }
    case device_batch_problem::too_many_bytes:
      return refused(status_code::invalid_argument,
                     "its buffers have more than max_total_bytes =", bounds.max_total_bytes, "bytes together");
    case device_batch_problem::too_many_chunks:
      return bounds.max_chunks == 0
                 ? status(
                       status_code::memory_limit,
                       "the device refused the batch: it has more chunks of fewer than 64 bytes than there is room for")
                 : refused(status_code::memory_limit, "it has more than max_chunks =", bounds.max_chunks, "chunks");
  }
  return {status_code::invalid_argument,
          std::to_string(static_cast<std::uint32_t>(problem)) + " is no problem of a batch"};
}

// `device_digest_table`, in every build.

result<device_digest_table> device_digest_table::make(std::uint32_t digest_bytes, CUstream_st* stream,
                                                      device_allocator* allocator, int device) {
  CUTPOINT_TRY(auto own, cuda::make_digest_table(digest_bytes, stream, allocator, device));
  return device_digest_table(std::move(own));
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
