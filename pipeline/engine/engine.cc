// Makes engines and opens feeds.
#include <set>

#include <cutpoint/engine.h>
#include <fmt/format.h>

#include "pipeline/engine/engine_factory.h"
#include "pipeline/engine/threaded_feed.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t most_threads = 4096;

/// Bytes of a fingerprint task on a vector back end: more than usual, because some vector lanes are idle at its end.
constexpr std::uint64_t vector_task_bytes = 2 * MiB;

bool needs_device(backend where) { return where == backend::cuda || where == backend::hybrid; }

status check_names(const std::vector<int>& devices) {
  const std::set<int> different(devices.begin(), devices.end());
  if (!devices.empty() && different.size() == devices.size()) return {};
  return {status_code::invalid_argument, devices.empty() ? "no device is named" : "a device is named twice"};
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

engine::engine(std::unique_ptr<pool> owned) noexcept : pool_(std::move(owned)) {}
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
  if (options.thread_limit > most_threads) {
    return status{status_code::invalid_argument,
                  fmt::format("thread_limit = {} must be at most {}", options.thread_limit, most_threads)};
  }
  auto pool = std::make_unique<engine::pool>(options, std::move(devices));
  if (status started = pool->start(); !started.ok()) return started;
  return engine(std::move(pool));
}

std::uint64_t engine::thread_count() const noexcept { return pool_->thread_count(); }

status engine::check_devices(const feed_options& options) const {
  status outcome = check_names(options.devices);
  if (outcome.ok()) outcome = check_rules(options);
  if (!needs_device(options.where)) return outcome;
  for (std::size_t i = 0; outcome.ok() && i < options.devices.size(); ++i) {
    outcome = pool_->devices->check(options.devices[i]);
  }
  return outcome;
}

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver) { return open(options, receiver, {}); }

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver, byte_span bytes) {
  const backend on_processor = needs_device(options.where) ? backend::automatic : options.where;
  feed_options placed = options;
  const auto place = [&](chunker& cuts) -> status {
    auto fastest = pool_->choices.place(cuts, on_processor);
    if (!fastest) return fastest.error();
    cuts = *std::move(fastest);
    return {};
  };
  if (status outcome = place(placed.cuts); !outcome.ok()) return outcome;
  for (chunker& cuts : placed.rule_cuts) {
    if (status outcome = place(cuts); !outcome.ok()) return outcome;
  }
  const stream_chunkers cuts(placed);
  if (status named = check_names(options.devices); !named.ok()) return named;
  auto setup = pool_->set_up(std::move(placed), receiver, bytes);
  if (!setup) return setup.error();
  feed_configuration& configuration = setup->configuration;
  std::vector<lane> lanes;
  while (lanes.size() < configuration.all_lanes()) {
    auto fingerprinter = pool_->choices.place(options.fingerprint, on_processor);
    if (!fingerprinter) return fingerprinter.error();
    configuration.fingerprinted_on = fingerprinter->where;
    lanes.push_back({.fingerprints = std::move(fingerprinter->batch)});
  }
  configuration.chunked_on = backend_of(cuts[0]);
  if (configuration.fingerprinted_on != backend::scalar) configuration.fingerprint_task_bytes = vector_task_bytes;
  auto for_runs = fingerprinter::make(options.fingerprint);
  if (!for_runs) return for_runs.error();
  auto opened_feed = std::make_unique<feed::threaded_feed>(*pool_, configuration, cuts, std::move(setup->key),
                                                           std::move(setup->memory), std::move(lanes),
                                                           run_periods(cuts, *std::move(for_runs)), receiver);
  if (options.trace != nullptr) opened_feed->trace(*options.trace);
  if (status started = opened_feed->start(); !started.ok()) return started;
  return feed(std::move(opened_feed));
}

}  // namespace cutpoint
