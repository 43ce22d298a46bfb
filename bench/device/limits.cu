// Measures the limits of a device: reads and copies of its memory, the link in both directions, integer operations.
#include <algorithm>
#include <string>

#include "bench/device/runtime.h"
#include "cuda/device/devices.h"
#include "cuda/device/runtime.cuh"
#include "cuda/kernel/block.h"

namespace cutpoint::bench {
namespace {

using cuda::check;

constexpr int threads = 256;
constexpr int loads_in_flight = 8;
constexpr int chains = 8;
constexpr int chain_steps = 4096;

/// Reads by loads of 16 bytes, eight in flight for each thread, at neighbouring addresses for neighbouring threads.
__global__ void read_kernel(const uint4* __restrict__ source, std::uint64_t units, std::uint32_t* sums) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * threads;
  std::uint64_t position = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  std::uint32_t sum = 0;
  for (; position + (loads_in_flight - 1) * stride < units; position += loads_in_flight * stride) {
    uint4 loaded[loads_in_flight];
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) loaded[i] = __ldcs(source + position + i * stride);
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) sum += loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
  }
  for (; position < units; position += stride)
    sum += source[position].x ^ source[position].y ^ source[position].z ^ source[position].w;
  sums[blockIdx.x * threads + threadIdx.x] = sum;
}

/// Additions and exclusive ors in eight independent chains, in each of which every operation depends on the one before.
__global__ void integer_kernel(std::uint32_t* sums, std::uint32_t seed) {
  std::uint32_t a[chains];
  std::uint32_t b[chains];
  for (int i = 0; i < chains; ++i) {
    a[i] = seed + threadIdx.x * chains + i;
    b[i] = a[i] * 0x9e3779b9;
  }
#pragma unroll 8
  for (int step = 0; step < chain_steps; ++step) {
#pragma unroll
    for (int i = 0; i < chains; ++i) {
      a[i] += b[i];
      b[i] ^= a[i];
    }
  }
  std::uint32_t sum = 0;
  for (int i = 0; i < chains; ++i) sum += b[i];
  sums[blockIdx.x * threads + threadIdx.x] = sum;
}

/// Returns bytes (or operations) a second if each call of `enqueue` does `amount`.
result<double> rate_of(double amount, const std::function<status(CUstream_st*)>& enqueue) {
  const auto seconds = median_device_seconds(enqueue);
  if (!seconds) return seconds.error();
  return amount / *seconds;
}

status measure_memory(const device_bytes& data, int blocks, std::uint32_t* sums, device_limits& limits) {
  const std::uint64_t units = data.size / sizeof(uint4);
  const auto* const source = reinterpret_cast<const uint4*>(data.data());
  const auto read = rate_of(static_cast<double>(units * sizeof(uint4)), [&](cudaStream_t stream) {
    return cuda::launch_kernel(&read_kernel, {static_cast<std::uint32_t>(blocks), threads}, stream, source, units,
                               sums);
  });
  if (!read) return read.error();
  limits.read = *read;

  const std::uint64_t half = data.size / 2 / sizeof(uint4) * sizeof(uint4);
  const auto copied = cuda::device_array<std::uint8_t>::allocate(half);
  if (!copied) return copied.error();
  const auto copy = rate_of(2 * static_cast<double>(half), [&](cudaStream_t stream) {
    return check(cudaMemcpyAsync(copied->data(), data.data(), half, cudaMemcpyDeviceToDevice, stream), "copying");
  });
  if (!copy) return copy.error();
  limits.copy = *copy;
  return {};
}

status measure_link(std::uint8_t* host, std::uint8_t* device, std::uint64_t size, double& in, double& out) {
  const auto there = rate_of(static_cast<double>(size), [&](cudaStream_t stream) {
    return check(cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice, stream), "copying to the device");
  });
  if (!there) return there.error();
  const auto back = rate_of(static_cast<double>(size), [&](cudaStream_t stream) {
    return check(cudaMemcpyAsync(host, device, size, cudaMemcpyDeviceToHost, stream), "copying from the device");
  });
  if (!back) return back.error();
  in = *there;
  out = *back;
  return {};
}

status measure_links(std::uint64_t most_bytes, device_limits& limits) {
  const std::uint64_t size = std::min(256 * MiB, most_bytes);
  const auto device = cuda::device_array<std::uint8_t>::allocate(size);
  if (!device) return device.error();
  const auto pinned = cuda::pinned_array<std::uint8_t>::allocate(size);
  if (!pinned) return pinned.error();
  CUTPOINT_RETURN_IF_FAILED(
      measure_link(pinned->data(), device->data(), size, limits.link_in_pinned, limits.link_out_pinned));
  std::vector<std::uint8_t> pageable(size);
  return measure_link(pageable.data(), device->data(), size, limits.link_in_pageable, limits.link_out_pageable);
}

status measure_integers(int blocks, std::uint32_t* sums, device_limits& limits) {
  const double operations = 2.0 * chains * chain_steps * threads * blocks;
  const auto rate = rate_of(operations, [&](cudaStream_t stream) {
    return cuda::launch_kernel(&integer_kernel, {static_cast<std::uint32_t>(blocks), threads}, stream, sums, 1);
  });
  if (!rate) return rate.error();
  limits.integer_operations = *rate;
  return {};
}

}  // namespace

result<device_limits> measure_limits(const device_bytes& data) {
  int device = 0;
  int multiprocessors = 0;
  CUTPOINT_RETURN_IF_FAILED(check(cudaGetDevice(&device), "asking for the current device"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                                  "counting multiprocessors"));
  const int blocks = 8 * multiprocessors;
  const auto sums = cuda::device_array<std::uint32_t>::allocate(static_cast<std::size_t>(blocks) * threads);
  if (!sums) return sums.error();
  device_limits limits;
  CUTPOINT_RETURN_IF_FAILED(measure_memory(data, blocks, sums->data(), limits));
  CUTPOINT_RETURN_IF_FAILED(measure_links(data.size, limits));
  const auto link = cuda::measure_link(device);
  if (!link) return link.error();
  limits.link_in_duplex = link->in_duplex;
  limits.link_out_duplex = link->out_duplex;
  limits.launch_seconds = link->launch_seconds;
  CUTPOINT_RETURN_IF_FAILED(measure_integers(blocks, sums->data(), limits));
  return limits;
}

}  // namespace cutpoint::bench
