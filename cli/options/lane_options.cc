// Checks the options of back ends, GPUs and threads, alone and together.
#include "cli/options/lane_options.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <cutpoint/backends.h>
#include <fmt/format.h>

#include "cli/common/choice.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t most_devices = 4096;
constexpr std::uint64_t least_device_memory = 16 * MiB;
constexpr std::uint64_t least_batch = 4 * KiB;

constexpr choice<thread_placement, 3> placements = {
    {{"none", thread_placement::none}, {"devices", thread_placement::devices}, {"cores", thread_placement::cores}}};

bool may_use_device(backend where) {
  return where == backend::automatic || where == backend::cuda || where == backend::hybrid;
}

}  // namespace

void thread_options::add_to(option_list& options) {
  options.add_value("--threads", threads_, "N", "Worker threads, 1 to 4096 (default: one for each processor)");
  options.add_value(
      "--placement", placement_, "NAME",
      "Where threads run and memory lies: none (as the system decides); devices (near to the GPUs in use); "
      "cores (also each thread on a core of its own) (default: devices if GPUs are asked for, else none)");
}

std::string_view thread_options::first_option() const {
  return threads_ ? "--threads" : placement_ ? "--placement" : "";
}

status thread_options::set(engine_options& engine) const {
  if (threads_) {
    const auto threads = checked_number("--threads", *threads_, 1, most_threads);
    if (!threads) return threads.error();
    engine.threads = *threads;
  }
  if (placement_) {
    const auto placement = chosen("placement", *placement_, placements);
    if (!placement) return placement.error();
    engine.placement = *placement;
  }
  return {};
}

void lane_options::add_to(option_list& options) {
  options
      .add_value("--backend", backend_, "NAME",
                 "Back end that cuts and fingerprints: auto (the fastest), or a name that 'cutpoint list' shows")
      .or_variable("CUTPOINT_BACKEND");
  options.add_value("--device", devices_, "N,...",
                    "GPUs to use, by their numbers in 'cutpoint info', separated by commas (default: 0)");
  options.add_value("--device-memory", device_memory_, "SIZE",
                    "Most bytes of memory to use on each GPU, at least 16M (default: 1G)");
  options.add_value("--batch", batch_, "SIZE",
                    "Most bytes that a GPU takes at a time, at least 4K (default: chosen by measured costs)");
  threads_.add_to(options);
}

status lane_options::set(feed_options& feed, engine_options& engine) const {
  const auto where = parse_backend(backend_);
  if (!where) return where.error();
  feed.where = *where;
  const bool has_device = *where == backend::cuda || *where == backend::hybrid;
  // `cores` made runs beside other processes slower by 4 and by 7 % (docs/gpu.md).
  engine.placement = has_device ? thread_placement::devices : thread_placement::none;
  if (const status threads = threads_.set(engine); !threads.ok()) return threads;
  return check_devices(feed);
}

result<std::vector<int>> lane_options::checked_devices() const {
  std::vector<int> devices;
  for (std::size_t begin = 0; begin <= devices_->size();) {
    const std::size_t end = std::min(devices_->find(',', begin), devices_->size());
    const auto device = checked_number("--device", devices_->substr(begin, end - begin), 0, most_devices - 1);
    if (!device) return device.error();
    const int number = static_cast<int>(*device);
    if (std::find(devices.begin(), devices.end(), number) != devices.end()) {
      return usage_error(fmt::format("--device {}: GPU {} is named twice", *devices_, number));
    }
    devices.push_back(number);
    begin = end + 1;
  }
  return devices;
}

status lane_options::check_devices(feed_options& feed) const {
  const bool may_use = may_use_device(feed.where);
  for (const auto& [option, value] : {std::pair("--device", &devices_), std::pair("--device-memory", &device_memory_),
                                      std::pair("--batch", &batch_)}) {
    if (*value && !may_use) {
      return usage_error(fmt::format("{} {}: --backend {} uses no device", option, **value, backend_));
    }
  }
  if (devices_) {
    auto devices = checked_devices();
    if (!devices) return devices.error();
    feed.devices = *std::move(devices);
  }
  for (const auto& [option, value, least, target] :
       {std::tuple("--device-memory", &device_memory_, least_device_memory, &feed.device_memory_bytes),
        std::tuple("--batch", &batch_, least_batch, &feed.batch_bytes)}) {
    if (!*value) continue;
    const auto size = checked_size(option, **value, least);
    if (!size) return size.error();
    *target = *size;
  }
  return {};
}

std::vector<std::string_view> placement_names() { return names_in(placements); }

}  // namespace cutpoint::cli
