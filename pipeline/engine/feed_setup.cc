// Sets a feed up: chooses its configuration, opens its devices, and finds the memory for its bytes.
#include "pipeline/engine/engine_pool.h"
#include "pipeline/sequence/intake.h"

namespace cutpoint {

namespace {

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

/// Opens the lanes of the configuration's devices. If one cannot be used, stops, erases it from `options` and says why.
result<std::vector<device_lanes>> open_devices(const device_provider& provider, feed_options& options,
                                               const feed_configuration& configuration, std::string& warning) {
  std::vector<device_lanes> devices;
  for (const device_configuration& each : configuration.devices) {
    auto opened = device_lanes::open(provider, each.device, options, each);
    if (!opened) return opened.error();
    if (opened->size() == 0) {
      warning = opened->warning();
      std::erase(options.devices, each.device);
      break;
    }
    devices.push_back(*std::move(opened));
  }
  return devices;
}

}  // namespace

result<feed_setup> engine::pool::set_up(feed_options options, const chunk_receiver& receiver, byte_span bytes) {
  const bool may_stay = !bytes.empty() && !has_many_runs(bytes);
  if (may_stay && options.segment_bytes == 0) options.segment_bytes = usual_segment_bytes(options.cuts);
  feed_setup made;
  for (std::string warning; made.memory == nullptr;) {
    auto configuration = make_feed_configuration(options, thread_count_, receiver);
    if (!configuration) return configuration.error();
    made.configuration = *std::move(configuration);
    if (!warning.empty()) made.configuration.device_warning = warning;
    if (may_stay && made.configuration.devices.empty()) {
      made.configuration.intake.shortens_runs = false;
      made.memory = std::make_unique<feed_memory>(ring::over(bytes), std::vector<device_lanes>());
      break;
    }
    made.key = {.cuts = options.cuts.canonical(),
                .fingerprint = options.fingerprint,
                .devices = options.devices,
                .configurations = made.configuration.devices,
                .device_memory_bytes = options.device_memory_bytes,
                .ring_bytes = made.configuration.ring_bytes};
    made.memory = take_kept(made.key);
    if (made.memory != nullptr) break;
    auto opened = open_devices(*devices, options, made.configuration, warning);
    if (!opened) return opened.error();
    if (opened->size() != made.configuration.devices.size()) continue;
    auto held = ring::make(made.configuration.ring_bytes);
    if (!held) return held.error();
    if (places && !opened->empty() && opened->front().node() >= 0) {  // else it lies where it is first written
      static_cast<void>(places->bind_memory(held->at(0), held->size(), opened->front().node()));
    }
    made.memory = std::make_unique<feed_memory>(*std::move(held), *std::move(opened));
  }
  for (std::size_t i = 0; i < made.memory->devices.size(); ++i) {
    made.configuration.devices[i].fingerprints = made.memory->devices[i].fingerprints();
  }
  return made;
}

}  // namespace cutpoint
