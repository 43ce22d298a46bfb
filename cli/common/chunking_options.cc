// Options to a chunker: names and text go to the catalog, which knows every bound.
#include "cli/common/chunking_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <cutpoint/backends.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/choice.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view default_algorithm = "fastcdc";
constexpr std::uint64_t most_threads = 4096;
constexpr std::uint64_t most_devices = 4096;
constexpr std::uint64_t least_device_memory = 16 * MiB;
constexpr std::uint64_t least_segment = 4 * KiB;

constexpr choice<join_kind, 3> joins = {
    {{"exact", join_kind::exact}, {"pdedupe", join_kind::pdedupe}, {"none", join_kind::none}}};
constexpr choice<std::optional<thread_placement>, 4> placements = {{{"auto", std::nullopt},
                                                                    {"none", thread_placement::none},
                                                                    {"devices", thread_placement::devices},
                                                                    {"cores", thread_placement::cores}}};

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

choice<work_plan, 5> plans() {
  constexpr std::array all = {work_plan::automatic, work_plan::processor, work_plan::device,
                              work_plan::fingerprints_on_device, work_plan::shared};
  choice<work_plan, all.size()> by_name;
  std::transform(all.begin(), all.end(), by_name.begin(),
                 [](work_plan each) { return std::pair(to_string(each), each); });
  return by_name;
}

bool may_use_device(backend where) {
  return where == backend::automatic || where == backend::cuda || where == backend::hybrid;
}

/// An option's value that was read, with the option's name before what is wrong with it.
result<std::uint64_t> named(std::string_view option, const result<std::uint64_t>& read) {
  return read ? read : wrong(fmt::format("{}: {}", option, read.error().message()));
}

}  // namespace

void chunking_options::add_to(CLI::App& command) {
  auto* algorithm = command.add_option("--algorithm", algorithm_, "Algorithm of the literature (default: fastcdc)")
                        ->type_name("NAME");
  auto* profile = command.add_option("--profile", profile_, "Exact cuts of a chunker that real systems use")
                      ->type_name("NAME")
                      ->excludes(algorithm);
  command.add_option("--cuts", cuts_, "Canonical string of a set of cuts, as printed by every output")
      ->type_name("STRING")
      ->excludes(algorithm)
      ->excludes(profile);
  command.add_option("--size", size_, "Chunk sizes, with suffixes K, M, G; a part may be empty")
      ->type_name("MIN:AVG:MAX");
  command.add_option("--param", parameters_, "Parameter of the algorithm (repeatable); see 'cutpoint list NAME'")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--hash", fingerprint_, "Fingerprint of each chunk, or none (default: sha256)")->type_name("NAME");
  command.add_option("--hash-key", key_, "Secret key of blake3's keyed mode: 64 hexadecimal digits")->type_name("HEX");
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
      .add_option("--plan", plan_, "Who cuts and fingerprints: auto, processor, device, fingerprints-on-device, shared")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option(
          "--placement", placement_,
          "Where threads run: auto, none (where the system puts them), devices (those of a GPU near to it), cores")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--batch", batch_, "Most bytes that a GPU takes at a time (default: by what it was measured at)")
      ->type_name("SIZE");
  command.add_option("--memory", memory_, "Most bytes of the streams that are held at a time (default: 256M)")
      ->type_name("SIZE");
  command.add_option("--threads", threads_, "Threads that work (default: one for each processor)")->type_name("N");
  command
      .add_option("--segment", segment_, "Bytes that a thread takes at a time (default: 2M or 4 maxima; 512K alone)")
      ->type_name("SIZE");
  command.add_option("--join", join_, "How segments are joined: exact, or pdedupe or none, which change the cuts")
      ->type_name("NAME")
      ->capture_default_str();
}

result<std::vector<parameter_setting>> chunking_options::settings() const {
  std::vector<parameter_setting> settings;
  if (size_) {
    auto sizes = checked_sizes(*size_);
    if (!sizes) return sizes.error();
    settings = *std::move(sizes);
  }
  for (const std::string& parameter : parameters_) {
    const std::size_t equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0)
      return wrong(fmt::format("--param {}: must be KEY=VALUE", parameter));
    settings.push_back({parameter.substr(0, equals), parameter.substr(equals + 1)});
  }
  return settings;
}

result<named_chunker> chunking_options::checked_chunker() const {
  const auto given = settings();
  if (!given) return given.error();
  if (cuts_) {
    if (!given->empty()) return wrong("--cuts names every parameter: --size and --param cannot be given with it");
    auto made = parse_canonical(*cuts_);
    if (!made) return made.error();
    return named_chunker{*std::move(made), {}};
  }
  const std::string name = profile_ ? *profile_ : algorithm_.value_or(std::string(default_algorithm));
  if (status kind = check_kind(name, profile_ ? entry_kind::profile : entry_kind::algorithm); !kind.ok()) return kind;
  return make_chunker(name, *given);
}

result<std::uint64_t> chunking_options::checked_memory() const {
  return memory_ ? named("--memory", parse_size(*memory_)) : stream_limits().memory_bytes;
}

result<std::optional<fingerprint_key>> chunking_options::checked_key() const {
  if (!key_) return std::optional<fingerprint_key>();
  fingerprint_key key;
  bool is_right = key_->size() == 2 * key.size();
  for (std::size_t i = 0; is_right && i < key.size(); ++i) {
    const char* digits = key_->data() + 2 * i;
    is_right = std::from_chars(digits, digits + 2, key[i], 16).ptr == digits + 2;
  }
  if (!is_right) return wrong(fmt::format("--hash-key must be {} hexadecimal digits", 2 * key.size()));
  return std::optional(key);
}

/// What may be spent on the cuts, and how.
status chunking_options::check_work(chunking& made) const {
  const auto memory = checked_memory();
  if (!memory) return memory.error();
  made.feed.memory_bytes = *memory;
  if (threads_) {
    const auto threads = named("--threads", parse_number(*threads_));
    if (!threads) return threads.error();
    if (*threads < 1 || *threads > most_threads) {
      return wrong(fmt::format("--threads {}: must be between 1 and {}", *threads, most_threads));
    }
    made.engine.threads = *threads;
  }
  if (status device = check_device(made); !device.ok()) return device;
  if (status placed = check_placement(made); !placed.ok()) return placed;
  if (segment_) {
    const auto segment = named("--segment", parse_size(*segment_));
    if (!segment) return segment.error();
    if (*segment < least_segment) {
      return wrong(fmt::format("--segment {}: must be at least {}", *segment, format_size(least_segment)));
    }
    made.feed.segment_bytes = *segment;
  }
  const auto join = chosen("join", join_, joins);
  if (!join) return join.error();
  made.feed.join = *join;
  if (*join != join_kind::exact && !segment_) made.feed.segment_bytes = usual_segment_bytes(made.feed.cuts);
  const status memory_suffices = check_memory(made.feed.cuts, {.memory_bytes = made.feed.memory_bytes});
  if (memory_suffices.ok()) return {};
  return wrong(fmt::format("{}: a larger --memory, or smaller chunks, are needed", memory_suffices.message()));
}

result<std::vector<int>> chunking_options::checked_devices() const {
  std::vector<int> devices;
  for (std::size_t at = 0; at <= devices_->size();) {
    const std::size_t end = std::min(devices_->find(',', at), devices_->size());
    const auto device = named("--device", parse_number(devices_->substr(at, end - at)));
    if (!device) return device.error();
    if (*device >= most_devices) return wrong(fmt::format("--device {}: must be less than {}", *device, most_devices));
    const int number = static_cast<int>(*device);
    if (std::find(devices.begin(), devices.end(), number) != devices.end()) {
      return wrong(fmt::format("--device {}: GPU {} is named twice", *devices_, number));
    }
    devices.push_back(number);
    at = end + 1;
  }
  return devices;
}

status chunking_options::check_device(chunking& made) const {
  const bool may_use = may_use_device(made.feed.where);
  for (const auto& [option, value] : {std::pair("--device", &devices_), std::pair("--device-memory", &device_memory_),
                                      std::pair("--batch", &batch_)}) {
    if (*value && !may_use) {
      return wrong(fmt::format("{} {}: --backend {} uses no device", option, **value, backend_));
    }
  }
  if (devices_) {
    auto devices = checked_devices();
    if (!devices) return devices.error();
    made.feed.devices = *std::move(devices);
  }
  for (const auto& [option, value, least, into] :
       {std::tuple("--device-memory", &device_memory_, least_device_memory, &made.feed.device_memory_bytes),
        std::tuple("--batch", &batch_, least_segment, &made.feed.batch_bytes)}) {
    if (!*value) continue;
    const auto size = named(option, parse_size(**value));
    if (!size) return size.error();
    if (*size < least) return wrong(fmt::format("{} {}: must be at least {}", option, *size, format_size(least)));
    *into = *size;
  }
  return check_plan(made);
}

status chunking_options::check_plan(chunking& made) const {
  const auto plan = chosen("plan", plan_, plans());
  if (!plan) return plan.error();
  made.feed.plan = *plan;
  if (made.feed.plan == work_plan::automatic || made.feed.plan == work_plan::processor) return {};
  const backend where = made.feed.where;
  if (where == backend::hybrid || (where == backend::cuda && made.feed.plan == work_plan::device)) return {};
  return wrong(fmt::format("--plan {}: needs --backend hybrid, and --backend is {}", plan_, backend_));
}

/// Not `cores` where nothing is said: beside other processes bound threads were slower, by 4 and by 7 % (docs/gpu.md).
status chunking_options::check_placement(chunking& made) const {
  const auto placement = chosen("placement", placement_, placements);
  if (!placement) return placement.error();
  const backend where = made.feed.where;
  if (*placement == thread_placement::devices && !may_use_device(where)) {
    return wrong(fmt::format("--placement {}: --backend {} uses no device", placement_, backend_));
  }
  const bool has_device = where == backend::cuda || where == backend::hybrid;
  made.engine.placement = placement->value_or(has_device ? thread_placement::devices : thread_placement::none);
  return {};
}

result<chunking> chunking_options::checked(std::string_view default_fingerprint) const {
  const auto where = parse_backend(backend_);
  if (!where) return where.error();
  const auto fingerprint = parse_fingerprint(fingerprint_ ? *fingerprint_ : default_fingerprint);
  if (!fingerprint) return fingerprint.error();
  const auto key = checked_key();
  if (!key) return key.error();
  if (*key && *fingerprint != fingerprint_kind::blake3) {
    return wrong(fmt::format("--hash-key is for --hash blake3: {} takes no key", name_of(*fingerprint)));
  }
  auto named_cuts = checked_chunker();
  if (!named_cuts) return named_cuts.error();
  chunking made{.feed = {.cuts = std::move(named_cuts->chunker), .fingerprint = {*fingerprint, *key}, .where = *where},
                .engine = {},
                .warnings = std::move(named_cuts->warnings)};
  if (status work = check_work(made); !work.ok()) return work;
  return made;
}

result<std::vector<parameter_setting>> checked_sizes(const std::string& size) {
  auto settings = size_settings(size);
  return settings ? settings : wrong("--size " + settings.error().message());
}

status check_kind(const std::string& name, entry_kind kind) {
  const result<const catalog_entry*> entry = find_entry(name);
  if (!entry) return entry.error();
  if ((*entry)->kind == kind) return {};
  return kind == entry_kind::algorithm ? wrong(fmt::format("'{0}' is a profile: say --profile {0}", name))
                                       : wrong(fmt::format("'{0}' is an algorithm: say --algorithm {0}", name));
}

std::vector<std::string_view> join_names() { return names_in(joins); }

std::vector<std::string_view> placement_names() { return names_in(placements); }

std::vector<std::string_view> plan_names() { return names_in(plans()); }

std::string_view name_of(join_kind kind) {
  return std::find_if(joins.begin(), joins.end(), [&](const auto& join) { return join.second == kind; })->first;
}

std::string name_of_cuts(const feed_options& options) {
  if (options.join == join_kind::exact) return options.cuts.canonical();
  return fmt::format("{} join={} segment_bytes={}", options.cuts.canonical(), name_of(options.join),
                     options.segment_bytes);
}

void add_verbosity(CLI::App& command, verbosity& level) {
  auto* quiet = command.add_flag_callback(
      "-q,--quiet", [&level] { level = verbosity::quiet; }, "Say errors only");
  command
      .add_flag_callback(
          "-v,--verbose", [&level] { level = verbosity::verbose; }, "Say what is done")
      ->excludes(quiet);
}

}  // namespace cutpoint::cli
