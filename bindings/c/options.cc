#include "bindings/c/options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <cutpoint/catalog.h>
#include <cutpoint/cost_model.h>

#include "bindings/c/structures.h"

namespace cutpoint::embed {

namespace {

/// The last field of the first release was `waiting_chunks`.
constexpr std::uint64_t first_options_bytes = offsetof(cutpoint_feed_options, waiting_chunks) + sizeof(std::uint64_t);
constexpr std::uint64_t most_devices = 1024;

template <std::size_t Size>
void copy_text(std::string_view text, char (&destination)[Size]) {
  destination[text.copy(destination, Size - 1)] = 0;
}

}  // namespace

result<chunker> parse_cuts(std::string_view text, const std::uint8_t* key_bytes) {
  std::optional<secret_key> key;
  if (key_bytes != nullptr)
    key.emplace(std::span<const std::uint8_t, secret_key::byte_count>(key_bytes, secret_key::byte_count));
  if (text.find('(') != std::string_view::npos) return parse_canonical(text, key);
  auto named = make_chunker(text, {}, key);
  if (!named) return named.error();
  return named->chunker;
}

outcome read_fingerprint(const char* name, const std::uint8_t* key, fingerprint_recipe& recipe) {
  if (name != nullptr) {
    const auto kind = parse_fingerprint(name);
    if (!kind) return kind.error();
    recipe.kind = *kind;
  }
  if (key != nullptr) std::copy_n(key, recipe.key.emplace().size(), recipe.key->begin());
  return {};
}

outcome read_back_end(const char* name, backend& where) {
  if (name == nullptr) return {};
  const auto named = parse_backend(name);
  if (!named) return named.error();
  where = *named;
  return {};
}

outcome read_devices(const std::int32_t* user_devices, std::uint64_t count, std::vector<int>& devices) {
  if (user_devices == nullptr && count == 0) return {};
  if (user_devices == nullptr || count == 0 || count > most_devices) {
    return {CUTPOINT_INVALID_ARGUMENT, "devices is " + std::string(user_devices == nullptr ? "null" : "given") +
                                           " with device_count = " + std::to_string(count) +
                                           ", which must be from 1 to " + std::to_string(most_devices)};
  }
  devices.assign(user_devices, user_devices + count);
  return {};
}

namespace {

/// By `CUTPOINT_JOIN_` numbers.
constexpr std::array joins = {join_kind::exact, join_kind::pdedupe, join_kind::none};

/// A rate in C, and the same in C++.
template <class InC, class Rates>
struct rate_field {
  double InC::*in_c;
  double Rates::*rate;
};
constexpr std::array<rate_field<cutpoint_rates, processor_rates>, 3> processor_fields = {
    {{&cutpoint_rates::chunking, &processor_rates::chunking},
     {&cutpoint_rates::fingerprinting, &processor_rates::fingerprinting},
     {&cutpoint_rates::memory, &processor_rates::memory}}};
constexpr std::array<rate_field<cutpoint_rates, job_rates>, 3> job_fields = {
    {{&cutpoint_rates::reading, &job_rates::reading},
     {&cutpoint_rates::joining, &job_rates::joining},
     {&cutpoint_rates::delivery, &job_rates::delivery}}};
constexpr std::array<rate_field<cutpoint_device_rates, device_rates>, 7> device_fields = {
    {{&cutpoint_device_rates::link_in, &device_rates::link_in},
     {&cutpoint_device_rates::link_out, &device_rates::link_out},
     {&cutpoint_device_rates::pinning, &device_rates::pinning},
     {&cutpoint_device_rates::latency_seconds, &device_rates::latency_seconds},
     {&cutpoint_device_rates::chunking, &device_rates::chunking},
     {&cutpoint_device_rates::fingerprinting, &device_rates::fingerprinting},
     {&cutpoint_device_rates::out_share, &device_rates::out_share}}};

/// Returns whether all rates are numbers of at least 0.
template <class InC, class Rates>
bool copy_rates(const auto& fields, const InC& raw, Rates& rates) {
  bool are_rates = true;
  for (const auto& each : fields) {
    rates.*each.rate = raw.*each.in_c;
    are_rates = are_rates && rates.*each.rate >= 0 && std::isfinite(rates.*each.rate);
  }
  return are_rates;
}

template <class Rates, class InC>
void write_rates(const auto& fields, const Rates& rates, InC& converted) {
  for (const auto& each : fields) converted.*each.in_c = rates.*each.rate;
}

outcome read_rates(const cutpoint_rates* user_rates, std::shared_ptr<const job_rates>& output) {
  if (user_rates == nullptr) return {};
  cutpoint_rates raw = {};
  if (outcome done = read_structure(user_rates, "rates", sizeof raw, raw); !done.ok()) return done;
  if (raw.device_count > std::size(raw.devices)) {
    return {CUTPOINT_INVALID_ARGUMENT, "rates have device_count = " + std::to_string(raw.device_count) +
                                           ", which must be at most " + std::to_string(std::size(raw.devices))};
  }
  auto rates = std::make_shared<job_rates>();
  rates->reader_count = unlimited;  // as many as there are lanes
  bool are_rates = copy_rates(processor_fields, raw, rates->processor);
  are_rates = copy_rates(job_fields, raw, *rates) && are_rates;
  for (const cutpoint_device_rates& each : std::span(raw.devices, raw.device_count)) {
    if (each.device > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      return {CUTPOINT_INVALID_ARGUMENT,
              "rates are of a GPU " + std::to_string(each.device) + ", which no machine has"};
    device_rates device{.device = static_cast<int>(each.device), .batch_bytes = each.batch_bytes};
    are_rates = copy_rates(device_fields, each, device) && are_rates;
    rates->devices_can_cut = rates->devices_can_cut && device.chunking > 0;
    rates->devices.push_back(device);
  }
  if (!are_rates) return {CUTPOINT_INVALID_ARGUMENT, "rates have a number that is negative, infinite or none"};
  output = std::move(rates);
  return {};
}

}  // namespace

result<std::shared_ptr<const job_rates>> measured_rates::measure(const feed_options& job, std::uint64_t thread_count) {
  CUTPOINT_TRY(auto rates, measure_rates(job, thread_count));
  const std::lock_guard lock(mutex_);
  known_[{job.cuts.canonical(), job.fingerprint.kind}] = rates;
  return rates;
}

void measured_rates::complete(feed_options& job) const {
  if (job.rates != nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto known = known_.find({job.cuts.canonical(), job.fingerprint.kind});
  if (known != known_.end()) job.rates = known->second;
}

cutpoint_rates rates_of(const job_rates* rates) noexcept {
  cutpoint_rates converted = {};
  converted.struct_bytes = sizeof converted;
  if (rates == nullptr) return converted;
  write_rates(processor_fields, rates->processor, converted);
  write_rates(job_fields, *rates, converted);
  for (const device_rates& each : rates->devices) {
    if (converted.device_count == std::size(converted.devices)) break;
    cutpoint_device_rates& device = converted.devices[converted.device_count++];
    device.device = static_cast<std::uint64_t>(each.device);
    device.batch_bytes = each.batch_bytes;
    write_rates(device_fields, each, device);
    if (!rates->devices_can_cut) device.chunking = 0;
  }
  return converted;
}

outcome read(const cutpoint_feed_options* user_options, std::optional<read_options>& output) {
  cutpoint_feed_options raw = {};
  if (outcome done = read_structure(user_options, "feed_options", first_options_bytes, raw); !done.ok()) return done;
  const auto cuts = parse_cuts(raw.cuts != nullptr ? raw.cuts : "fastcdc", raw.cut_key);
  if (!cuts) return cuts.error();
  read_options options = {.feed = {.cuts = *cuts}};
  feed_options& feed = options.feed;
  if (outcome done = read_fingerprint(raw.fingerprint, raw.key, feed.fingerprint); !done.ok()) return done;
  if (outcome done = read_devices(raw.devices, raw.device_count, feed.devices); !done.ok()) return done;
  if (outcome done = read_back_end(raw.back_end, feed.where); !done.ok()) return done;
  if (outcome done = read_choice(raw.join, "join", joins, feed.join); !done.ok()) return done;
  if (outcome done = read_rates(raw.rates, feed.rates); !done.ok()) return done;
  feed.segment_bytes = raw.segment_bytes;
  feed.batch_bytes = raw.batch_bytes;
  if (raw.memory_bytes != 0) feed.memory_bytes = raw.memory_bytes;
  if (raw.device_memory_bytes != 0) feed.device_memory_bytes = raw.device_memory_bytes;
  if (raw.waiting_chunks != 0) options.waiting_chunks = raw.waiting_chunks;
  output = std::move(options);
  return {};
}

cutpoint_statistics statistics_of(const feed_statistics& measured, std::uint64_t chunk_count) noexcept {
  cutpoint_statistics statistics = {};
  statistics.struct_bytes = sizeof statistics;
  statistics.fed_bytes = measured.fed_bytes;
  statistics.chunk_count = chunk_count;
  statistics.run_bytes = measured.run_bytes;
  statistics.twice_cut_bytes = measured.twice_cut_bytes;
  statistics.twice_hashed_bytes = measured.twice_hashed_bytes;
  statistics.segment_count = measured.segment_count;
  statistics.ring_bytes = measured.ring_bytes;
  statistics.device_bytes = measured.device_bytes;
  copy_text(to_string(measured.chunked_on), statistics.chunked_on);
  copy_text(to_string(measured.fingerprinted_on), statistics.fingerprinted_on);
  copy_text(measured.device_warning, statistics.device_warning);
  return statistics;
}

cutpoint_chunk to_c(const chunk_record& record) noexcept {
  cutpoint_chunk converted = {.stream = record.stream,
                              .offset = record.offset,
                              .length = record.length,
                              .count = record.count,
                              .digest_bytes = record.fingerprint.size,
                              .digest = {}};
  std::copy(record.fingerprint.bytes.begin(), record.fingerprint.bytes.end(), converted.digest);
  return converted;
}

}  // namespace cutpoint::embed
