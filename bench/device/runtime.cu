// Definitions of bench/device/runtime.h, except the limits.
#include "bench/device/runtime.h"

#include <string>
#include <utility>

#include <cutpoint/timing.h>

#include "bench/device/random_words.cuh"
#include "cuda/device/runtime.cuh"
#include "cuda/kernel/block.h"

namespace cutpoint::bench {
namespace {

using cuda::check;

/// The whole words that random bytes have, also after the last byte.
std::uint64_t words_of(std::uint64_t byte_count) {
  constexpr std::uint64_t unit = sizeof(cuda::bytes16);
  return (byte_count + unit - 1) / unit * (unit / sizeof(std::uint64_t));
}

}  // namespace

struct device_stopwatch::objects {
  cuda::device_stream stream;
  cuda::device_event begin;
  cuda::device_event end;
};

result<device_stopwatch> device_stopwatch::make() {
  auto stream = cuda::device_stream::create();
  if (!stream) return stream.error();
  auto begin = cuda::device_event::create();
  if (!begin) return begin.error();
  auto end = cuda::device_event::create();
  if (!end) return end.error();
  return device_stopwatch(
      std::shared_ptr<const objects>(new objects{std::move(*stream), std::move(*begin), std::move(*end)}));
}

result<double> device_stopwatch::seconds(const std::function<status(CUstream_st*)>& enqueue, int calls) const {
  const auto& [stream, begin, end] = *objects_;
  CUTPOINT_RETURN_IF_FAILED(check(cudaEventRecord(begin.get(), stream.get()), "recording an event"));
  for (int i = 0; i < calls; ++i) CUTPOINT_RETURN_IF_FAILED(enqueue(stream.get()));
  CUTPOINT_RETURN_IF_FAILED(check(cudaEventRecord(end.get(), stream.get()), "recording an event"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaEventSynchronize(end.get()), "waiting for what is measured"));
  const auto seconds = cuda::seconds_between(begin, end);
  return seconds ? result<double>(*seconds / calls) : seconds;
}

status use_device(int device) { return check(cudaSetDevice(device), "choosing device " + std::to_string(device)); }

result<device_bytes> random_device_bytes(std::uint64_t size) {
  auto memory = cuda::device_array<std::uint64_t>::allocate(words_of(size));
  if (!memory) return memory.error();
  const auto owner = std::make_shared<cuda::device_array<std::uint64_t>>(std::move(*memory));
  CUTPOINT_RETURN_IF_FAILED(make_random_words(owner->data(), owner->size()));
  return device_bytes{{owner, reinterpret_cast<std::uint8_t*>(owner->data())}, size};
}

status check_random_bytes(const device_bytes& bytes) {
  CUTPOINT_RETURN_IF_FAILED(check(cudaDeviceSynchronize(), "waiting for the device"));
  const auto are_whole = are_random_words(reinterpret_cast<const std::uint64_t*>(bytes.data()), words_of(bytes.size));
  if (!are_whole) return are_whole.error();
  return *are_whole ? status() : status(status_code::backend_failure, "the device has changed the bytes that it reads");
}

result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t* source, std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  CUTPOINT_RETURN_IF_FAILED(check(cudaDeviceSynchronize(), "waiting for the device"));
  CUTPOINT_RETURN_IF_FAILED(check(cudaMemcpy(bytes.data(), source, size, cudaMemcpyDeviceToHost), "copying out"));
  return bytes;
}

result<double> median_device_seconds(const std::function<status(CUstream_st*)>& enqueue, int samples) {
  const auto clock = device_stopwatch::make();
  if (!clock) return clock.error();
  const auto first = clock->seconds(enqueue, 1);  // loads code, partitions the batch
  if (!first) return first.error();
  const auto second = clock->seconds(enqueue, 1);
  if (!second) return second.error();
  const int calls = calls_per_sample(*second);
  std::vector<double> all;
  for (int sample = 0; sample < samples; ++sample) {
    const auto seconds = clock->seconds(enqueue, calls);
    if (!seconds) return seconds.error();
    all.push_back(*seconds);
  }
  return median(std::move(all));
}

std::vector<named_fact> reported_clocks(int device) {
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int bus_bits = 0;
  int has_ecc = 0;
  const auto ask = [&](int& value, cudaDeviceAttr which) {
    return check(cudaDeviceGetAttribute(&value, which, device), "asking for an attribute of the device");
  };
  for (const status& asked : {ask(clock_khz, cudaDevAttrClockRate), ask(memory_clock_khz, cudaDevAttrMemoryClockRate),
                              ask(bus_bits, cudaDevAttrGlobalMemoryBusWidth), ask(has_ecc, cudaDevAttrEccEnabled)}) {
    if (!asked.ok()) return {{"highest clocks as reported", asked.message()}};
  }
  return {{"highest clocks as reported",
           std::to_string(clock_khz / 1000) + " MHz, memory " + std::to_string(memory_clock_khz / 1000) + " MHz"},
          {"memory bus", std::to_string(bus_bits) + " bits, error correction " + (has_ecc != 0 ? "on" : "off")}};
}

}  // namespace cutpoint::bench
