// Makes engines and opens feeds.
#include <set>

#include <cutpoint/engine.h>
#include <fmt/format.h>

#include "pipeline/engine/engine_factory.h"
#include "pipeline/engine/feed_implementation.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t most_threads = 4096;

/// Bytes of a fingerprint task on a vector back end: more than usual, because some vector lanes are idle at its end.
constexpr std::uint64_t vector_task_bytes = 2 * MiB;

/// Whether runs that the intake can shorten are a considerable part of the bytes. Reads few bytes outside runs.
bool has_many_runs(byte_span bytes) {
  std::uint64_t run_bytes = 0;
  auto run = find_run(bytes, 0, long_run_bytes);
  for (; run; run = find_run(bytes, run->last, long_run_bytes)) {
    run_bytes += run->last - run->first;
    if (run_bytes > bytes.size() / 16) return true;
  }
  return false;
}

status check_devices(const std::vector<int>& devices) {
  const std::set<int> different(devices.begin(), devices.end());
  if (!devices.empty() && different.size() == devices.size()) return {};
  return {status_code::invalid_argument, devices.empty() ? "no device is named" : "a device is named twice"};
}

/// Opens the lanes of all devices. If one cannot be used, opens none, and leaves the work to the processor with a
/// warning.
result<std::vector<device_lanes>> open_devices(const device_provider& provider, const feed_options& options,
                                               feed_configuration& configuration, std::string& warning) {
  std::vector<device_lanes> devices;
  for (std::size_t i = 0; i < configuration.devices.size(); ++i) {
    auto opened = device_lanes::open(provider, options.devices[i], options, configuration.devices[i]);
    if (!opened) return opened.error();
    if (opened->size() == 0) {
      warning = opened->warning();
      configuration.remove_devices();
      return std::vector<device_lanes>();
    }
    devices.push_back(*std::move(opened));
  }
  return devices;
}

/// Opens the devices and makes the ring.
result<std::unique_ptr<feed_memory>> make_memory(const device_provider& provider,
                                                 const std::optional<processor_places>& places,
                                                 const feed_options& options, feed_configuration& configuration,
                                                 std::string& warning) {
  auto devices = open_devices(provider, options, configuration, warning);
  if (!devices) return devices.error();
  auto held = ring::make(configuration.ring_bytes);
  if (!held) return held.error();
  if (places && !devices->empty() && devices->front().node() >= 0) {  // else it lies where it is first written
    static_cast<void>(places->bind_memory(held->at(0), held->size(), devices->front().node()));
  }
  return std::make_unique<feed_memory>(*std::move(held), *std::move(devices));
}

}  // namespace

std::string_view to_string(stage which) noexcept {
  switch (which) {
    case stage::intake:
      return "intake";
    case stage::chunking:
      return "chunking";
    case stage::joining:
      return "joining";
    case stage::fingerprinting:
      return "fingerprinting";
    case stage::delivery:
      return "delivery";
  }
  return "unknown";
}

std::string_view to_string(device_step which) noexcept {
  switch (which) {
    case device_step::copy_in:
      return "copy in";
    case device_step::cutting:
      return "cutting";
    case device_step::fingerprinting:
      return "fingerprinting";
    case device_step::copy_out:
      return "copy out";
  }
  return "unknown";
}

engine::engine(std::unique_ptr<pool> held) noexcept : pool_(std::move(held)) {}
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;
engine::~engine() = default;

result<engine> engine::make(const engine_options& options) {
  return engine_factory::make(options, std::make_shared<const device_provider>());
}

result<engine> engine_factory::make(const engine_options& options, std::shared_ptr<const device_provider> devices) {
  if (options.threads > most_threads) {
    return status{status_code::invalid_argument,
                  fmt::format("threads = {} must be at most {}", options.threads, most_threads)};
  }
  auto threads = std::make_unique<engine::pool>(options, std::move(devices));
  if (status started = threads->start(); !started.ok()) return started;
  return engine(std::move(threads));
}

std::uint64_t engine::thread_count() const noexcept { return pool_->thread_count(); }

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver) { return open(options, receiver, {}); }

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver, byte_span bytes) {
  const bool is_mixed = options.where == backend::cuda || options.where == backend::hybrid;
  const backend on_processor = is_mixed ? backend::automatic : options.where;
  const auto cuts = pool_->choices.place(options.cuts, on_processor);
  if (!cuts) return cuts.error();
  feed_options placed = options;
  placed.cuts = *cuts;
  const bool may_stay = !bytes.empty() && !has_many_runs(bytes);
  if (may_stay && placed.segment_bytes == 0) placed.segment_bytes = usual_segment_bytes(*cuts);
  if (status devices = check_devices(options.devices); !devices.ok()) return devices;
  auto configuration = make_feed_configuration(placed, thread_count(), receiver);
  if (!configuration) return configuration.error();
  feed_memory_key key{.cuts = cuts->canonical(),
                      .fingerprint = options.fingerprint,
                      .devices = options.devices,
                      .configurations = configuration->devices,
                      .device_memory_bytes = options.device_memory_bytes,
                      .ring_bytes = configuration->ring_bytes};
  std::string warning;
  std::unique_ptr<feed_memory> memory;
  if (may_stay && configuration->devices.empty()) {
    configuration->intake.shortens_runs = false;
    memory = std::make_unique<feed_memory>(ring::over(bytes), std::vector<device_lanes>());
  } else {
    memory = pool_->take_kept(key);
  }
  if (!memory) {
    auto made = make_memory(*pool_->devices, pool_->places, placed, *configuration, warning);
    if (!made) return made.error();
    memory = *std::move(made);
  }
  for (std::size_t i = 0; i < memory->devices.size(); ++i) {
    configuration->devices[i].fingerprints = memory->devices[i].fingerprints();
  }
  std::vector<lane> lanes;
  while (lanes.size() < configuration->all_lanes()) {
    auto made = pool_->choices.place(options.fingerprint, on_processor);
    if (!made) return made.error();
    configuration->fingerprinted_on = made->where;
    lanes.push_back({.fingerprints = std::move(made->batch)});
  }
  configuration->chunked_on = backend_of(*cuts);
  if (configuration->fingerprinted_on != backend::scalar) configuration->fingerprint_task_bytes = vector_task_bytes;
  auto for_runs = fingerprinter::make(options.fingerprint);
  if (!for_runs) return for_runs.error();
  auto made = std::make_unique<feed::implementation>(*pool_, *configuration, *cuts, std::move(key), std::move(memory),
                                                     std::move(lanes), std::move(warning),
                                                     run_periods(*cuts, *std::move(for_runs)), receiver);
  if (options.trace != nullptr) made->trace(*options.trace);
  if (status started = made->start(); !started.ok()) return started;
  return feed(std::move(made));
}

}  // namespace cutpoint
