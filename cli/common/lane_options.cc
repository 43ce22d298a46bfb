// Names and numbers, and what they ask of each other.
#include "cli/common/lane_options.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/choice.h"
#include "cli/common/number_options.h"
#include "cli/common/usage_error.h"

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t most_threads = 4096;
constexpr std::uint64_t most_devices = 4096;
constexpr std::uint64_t least_device_memory = 16 * MiB;
constexpr std::uint64_t least_batch = 4 * KiB;

constexpr choice<std::optional<thread_placement>, 4> placements = {{{"auto", std::nullopt},
                                                                    {"none", thread_placement::none},
                                                                    {"devices", thread_placement::devices},
                                                                    {"cores", thread_placement::cores}}};

bool may_use_device(backend where) {
  return where == backend::automatic || where == backend::cuda || where == backend::hybrid;
}

}  // namespace

void lane_options::add_to(CLI::App& command) {
  command.add_option("--backend", backend_, "Back end: auto (the fastest), or a name that 'cutpoint list' has")
      ->type_name("NAME")
      ->envname("CUTPOINT_BACKEND")
      ->capture_default_str();
  command
      .add_option("--device", devices_, "GPUs that are used, with commas, as 'cutpoint info' counts them (default: 0)")
      ->type_name("N,...");
  command.add_option("--device-memory", device_memory_, "Most bytes of the GPU's memory that are used (default: 1G)")
      ->type_name("SIZE");
  command
      .add_option(
          "--placement", placement_,
          "Where threads run: auto, none (where the system puts them), devices (those of a GPU near to it), cores")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--batch", batch_, "Most bytes that a GPU takes at a time (default: by what it was measured at)")
      ->type_name("SIZE");
  command.add_option("--threads", threads_, "Threads that work (default: one for each processor)")->type_name("N");
}

std::vector<std::string_view> placement_names() { return names_in(placements); }

status lane_options::set(feed_options& feed, engine_options& engine) const {
  const auto where = parse_backend(backend_);
  if (!where) return where.error();
  feed.where = *where;
  if (threads_) {
    const auto threads = named("--threads", parse_number(*threads_));
    if (!threads) return threads.error();
    if (*threads < 1 || *threads > most_threads) {
      return usage_error(fmt::format("--threads {}: must be between 1 and {}", *threads, most_threads));
    }
    engine.threads = *threads;
  }
  if (status devices = check_devices(feed); !devices.ok()) return devices;
  return check_placement(*where, engine);
}

result<std::vector<int>> lane_options::checked_devices() const {
  std::vector<int> devices;
  for (std::size_t begin = 0; begin <= devices_->size();) {
    const std::size_t end = std::min(devices_->find(',', begin), devices_->size());
    const auto device = named("--device", parse_number(devices_->substr(begin, end - begin)));
    if (!device) return device.error();
    if (*device >= most_devices)
      return usage_error(fmt::format("--device {}: must be less than {}", *device, most_devices));
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
    const auto size = named(option, parse_size(**value));
    if (!size) return size.error();
    if (*size < least) return usage_error(fmt::format("{} {}: must be at least {}", option, *size, format_size(least)));
    *target = *size;
  }
  return {};
}

/// Not `cores` where nothing is said: beside other processes bound threads were slower, by 4 and by 7 % (docs/gpu.md).
status lane_options::check_placement(backend where, engine_options& engine) const {
  const auto placement = chosen("placement", placement_, placements);
  if (!placement) return placement.error();
  if (*placement == thread_placement::devices && !may_use_device(where)) {
    return usage_error(fmt::format("--placement {}: --backend {} uses no device", placement_, backend_));
  }
  const bool has_device = where == backend::cuda || where == backend::hybrid;
  engine.placement = placement->value_or(has_device ? thread_placement::devices : thread_placement::none);
  return {};
}

}  // namespace cutpoint::cli
