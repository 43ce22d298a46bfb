#include "bench/device/resident.h"

#include <utility>

#include "bench/device/answers.h"

namespace cutpoint::bench {

namespace {

/// Describes how the device's answer for the sample differs from the reference's; empty if it does not.
std::string sample_fault(const chunker& cuts, fingerprint_kind fingerprint, const device_data& data) {
  auto device = device_chunker::make(cuts, fingerprint, data.sample.size(), data.device);
  if (!device) return device.error().message();
  const auto outputs = device->enqueue(data.there.data(), data.sample.size(), true, nullptr);
  if (!outputs) return outputs.error().message();
  const auto chunks = device->chunks();
  if (!chunks) return chunks.error().message();
  std::vector<std::uint32_t> lengths;
  for (const chunk& each : *chunks) lengths.push_back(static_cast<std::uint32_t>(each.length));
  std::vector<std::uint8_t> digests;
  if (outputs->digest_bytes != 0) {
    auto copied = copy_from_device(outputs->digests, lengths.size() * outputs->digest_bytes);
    if (!copied) return copied.error().message();
    digests = std::move(*copied);
  }
  const auto expected = reference_answer(cuts, fingerprint, data.sample);
  return expected ? answer_fault(*expected, lengths, digests) : expected.error().message();
}

/// Bytes a second, and the mean length of the chunks.
struct batch_speed {
  double bytes_per_second = 0;
  double mean_chunk_bytes = 0;
};

result<batch_speed> measure_batches(const chunker& cuts, fingerprint_kind fingerprint, const device_data& data,
                                    std::uint64_t batch_bytes) {
  auto device = device_chunker::make(cuts, fingerprint, batch_bytes, data.device);
  if (!device) return device.error();
  std::uint64_t next = 0;
  const auto seconds = median_device_seconds([&](CUstream_st* stream) -> status {
    const std::uint64_t begin = next + batch_bytes <= data.there.size ? next : 0;
    next = begin + batch_bytes;
    const auto outputs = device->enqueue(data.there.data() + begin, batch_bytes, true, stream);
    return outputs ? status() : outputs.error();
  });
  if (!seconds) return seconds.error();
  const auto chunks = device->chunks();
  if (!chunks) return chunks.error();
  return batch_speed{.bytes_per_second = static_cast<double>(batch_bytes) / *seconds,
                     .mean_chunk_bytes = static_cast<double>(batch_bytes) / static_cast<double>(chunks->size())};
}

}  // namespace

resident_row measure_resident(std::string_view name, const chunker& cuts, fingerprint_kind fingerprint,
                              const device_data& data, const std::vector<std::uint64_t>& batch_sizes, deadline end) {
  resident_row row{.name = std::string(name), .canonical = cuts.canonical(), .fingerprint = fingerprint};
  if (is_over(end)) {
    row.problem = out_of_time;
    return row;
  }
  row.problem = sample_fault(cuts, fingerprint, data);
  if (!row.problem.empty()) return row;
  for (const std::uint64_t batch_bytes : batch_sizes) {
    const auto speed = measure_batches(cuts, fingerprint, data, batch_bytes);
    if (!speed) {
      row.problem = speed.error().message();
      return row;
    }
    row.rates.push_back({batch_bytes, speed->bytes_per_second});
    row.mean_chunk_bytes = speed->mean_chunk_bytes;
  }
  return row;
}

}  // namespace cutpoint::bench
