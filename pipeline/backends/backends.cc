// Back ends and GPUs, gathered from the layers below.
#include <algorithm>
#include <array>
#include <optional>

#include <cutpoint/backends.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cuda/device/devices.h"
#include "pipeline/backends/fastest.h"
#include "simd/cuts/kernels.h"
#include "simd/dispatch/plain_read.h"
#include "simd/hashes/fingerprints.h"

namespace cutpoint {

namespace {

struct known_backend {
  backend kind;
  std::string_view name;
  std::string_view meaning;
  std::optional<simd::instruction_set> set = {};
  backend stand_in = backend::scalar;  ///< the one whose kernels it runs where it has none
};

constexpr std::array<known_backend, 9> every_backend = {{
    {backend::scalar, "scalar", "the references and the libraries: one chunk after the other"},
    {backend::sha_ni, "sha-ni", "the SHA extensions, several messages side by side; other kernels are those of sse4",
     simd::instruction_set::sha_ni, backend::sse4},
    {backend::sse4, "sse4", "SSE4.2, vectors of 16 bytes", simd::instruction_set::sse4},
    {backend::avx2, "avx2", "AVX2 and BMI2, vectors of 32 bytes", simd::instruction_set::avx2},
    {backend::avx512, "avx512", "AVX-512 F, BW, CD, DQ and VL, vectors of 64 bytes", simd::instruction_set::avx512},
    {backend::avx512_dl, "avx512-dl",
     "AVX-512 with VBMI and GFNI also; kernels without use of these are those of avx512",
     simd::instruction_set::avx512_dl, backend::avx512},
    {backend::neon, "neon", "AArch64, vectors of 16 bytes", simd::instruction_set::neon},
    {backend::cuda, "cuda", "an NVIDIA GPU, by CUDA, in batches of segments"},
    {backend::hybrid, "hybrid", "the processor and the GPU together, each as it is free"},
}};

bool needs_gpu(backend which) { return which == backend::cuda || which == backend::hybrid; }

const known_backend* known(backend which) {
  const auto entry = std::find_if(every_backend.begin(), every_backend.end(),
                                  [which](const known_backend& b) { return b.kind == which; });
  return entry != every_backend.end() ? &*entry : nullptr;
}

std::optional<simd::instruction_set> set_of(backend which) {
  const known_backend* const entry = known(which);
  return entry != nullptr ? entry->set : std::nullopt;
}

backend stand_in_of(backend which) {
  const known_backend* const entry = known(which);
  return entry != nullptr ? entry->stand_in : backend::scalar;
}

status does_not_run(backend which) {
  return {status_code::unavailable, fmt::format("back end '{}' does not run on this processor", to_string(which))};
}

/// Ok where there is a device that this build can use.
status why_no_gpu() {
  CUTPOINT_TRY(const auto devices, cuda::devices());
  for (const cuda::device_info& each : devices) {
    if (each.problem.empty()) return {};
  }
  return {status_code::unavailable, devices.front().problem};
}

std::string described(const cuda::pci_link& link) {
  return link.generation == 0 ? "" : fmt::format("PCIe {}.0 x{}", link.generation, link.width);
}

gpu_info described(const cuda::device_info& device) {
  return {.index = device.index,
          .name = device.name,
          .memory_bytes = device.memory_bytes,
          .l2_bytes = device.l2_bytes,
          .multiprocessor_count = device.multiprocessor_count,
          .compute_capability = to_string(device.compute_capability),
          .pci_bus_id = device.pci_bus_id,
          .link = described(device.link),
          .numa_node = device.numa_node,
          .driver_version = to_string(device.driver),
          .runtime_version = to_string(device.runtime),
          .problem = device.problem};
}

}  // namespace

std::string_view to_string(backend which) noexcept {
  if (which == backend::automatic) return "auto";
  const known_backend* const entry = known(which);
  return entry != nullptr ? entry->name : "unknown";
}

std::vector<backend_info> processor_backends() {
  std::vector<backend_info> built;
  for (const known_backend& b : every_backend) {
    if (needs_gpu(b.kind) || (b.set && !simd::is_compiled(*b.set))) continue;
    built.push_back({b.kind, b.name, b.meaning, !b.set || simd::runs_here(*b.set)});
  }
  return built;
}

std::vector<backend_info> backends() {
  std::vector<backend_info> all = processor_backends();
  const bool has_gpu = why_no_gpu().ok();
  for (const known_backend& b : every_backend) {
    if (needs_gpu(b.kind)) all.push_back({b.kind, b.name, b.meaning, has_gpu});
  }
  return all;
}

result<backend> parse_backend(std::string_view name) {
  if (name == to_string(backend::automatic)) return backend::automatic;
  for (const known_backend& b : every_backend) {
    if (b.name != name || !needs_gpu(b.kind)) continue;
    const status usable = why_no_gpu();
    if (usable.ok()) return b.kind;
    return status(usable.code(), fmt::format("back end '{}' cannot be used: {}", name, usable.message()));
  }
  std::vector<std::string_view> names = {to_string(backend::automatic)};
  for (const backend_info& b : processor_backends()) {
    if (b.name == name) return b.runs_here ? result<backend>(b.kind) : does_not_run(b.kind);
    names.push_back(b.name);
  }
  names.push_back(to_string(backend::cuda));
  names.push_back(to_string(backend::hybrid));
  return unknown_name("back end", name, names);
}

result<chunker> chunker_on(const chunker& cuts, backend which) {
  if (which == backend::automatic || needs_gpu(which)) return fastest(cuts);
  if (which == backend::scalar) return cuts.by(nullptr);
  const auto set = set_of(which);
  if (!set || !simd::runs_here(*set)) return does_not_run(which);
  auto kernel = simd::kernel_for(cuts.parameters(), *set);
  if (!kernel) return chunker_on(cuts, stand_in_of(which));
  return cuts.by(std::move(kernel));
}

backend backend_of(const chunker& cuts) noexcept {
  const auto entry = std::find_if(every_backend.begin(), every_backend.end(),
                                  [name = cuts.backend()](const known_backend& b) { return b.name == name; });
  return entry != every_backend.end() ? entry->kind : backend::scalar;
}

result<chosen_fingerprinter> fingerprints_on(const fingerprint_recipe& recipe, backend which) {
  if (which == backend::automatic || needs_gpu(which)) return fastest(recipe);
  if (which != backend::scalar) {
    const auto set = set_of(which);
    if (!set || !simd::runs_here(*set)) return does_not_run(which);
    if (auto batch = simd::make_batch_fingerprinter(recipe, *set)) return chosen_fingerprinter{std::move(batch), which};
    return fingerprints_on(recipe, stand_in_of(which));
  }
  CUTPOINT_TRY(auto maker, fingerprinter::make(recipe));
  return chosen_fingerprinter{make_one_by_one_fingerprinter(std::move(maker)), backend::scalar};
}

backend widest_backend() noexcept {
  const auto runs = [](const known_backend& b) {
    return b.set && simd::is_compiled(*b.set) && simd::runs_here(*b.set);
  };
  const auto widest = std::find_if(every_backend.rbegin(), every_backend.rend(), runs);
  return widest != every_backend.rend() ? widest->kind : backend::scalar;
}

std::uint64_t plain_read(byte_span bytes, backend which) noexcept {
  if (which == backend::scalar) return simd::plain_read(bytes);
  const auto asked = set_of(which == backend::sha_ni ? stand_in_of(which) : which);  // it has no vectors of its own
  const auto set = asked && simd::runs_here(*asked) ? asked : set_of(widest_backend());
  return set ? simd::plain_read(bytes, *set) : simd::plain_read(bytes);
}

result<std::vector<gpu_info>> gpus() {
  CUTPOINT_TRY(const auto devices, cuda::devices());
  std::vector<gpu_info> all;
  for (const cuda::device_info& device : devices) all.push_back(described(device));
  return all;
}

}  // namespace cutpoint
