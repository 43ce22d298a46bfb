#include "cli/options/chunking_options.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/dedup_report.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/files.h"

namespace cutpoint::cli {

// --- Cuts ------------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view algorithm_meaning = "Chunking algorithm; 'cutpoint list' shows all (default: fastcdc)";
constexpr std::string_view profile_meaning = "Reproduce the cuts of a real system; 'cutpoint list' shows all";
constexpr std::string_view cuts_meaning =
    "Canonical string of an algorithm with all its parameters, as the output shows it";
constexpr std::string_view hash_meaning = "Fingerprint of each chunk, or none (default: sha256)";

std::string repeatable(std::string_view meaning) { return fmt::format("{} (repeatable)", meaning); }

}  // namespace

void cut_options::add_to(option_list& options) {
  option& algorithm = options.add_value("--algorithm", algorithm_, "NAME", algorithm_meaning);
  option& profile = options.add_value("--profile", profile_, "NAME", profile_meaning).excludes(algorithm);
  options.add_value("--cuts", cuts_, "STRING", cuts_meaning).excludes(algorithm).excludes(profile);
  add_sizes_to(options);
}

void cut_options::add_repeatable_to(option_list& options) {
  options.add_value("--algorithm", algorithms_, "NAME", repeatable(algorithm_meaning));
  options.add_value("--profile", profiles_, "NAME", repeatable(profile_meaning));
  options.add_value("--cuts", all_cuts_, "STRING", repeatable(cuts_meaning));
  add_sizes_to(options);
}

void cut_options::add_sizes_to(option_list& options) {
  options.add_value("--size", size_, "MIN:AVG:MAX",
                    "Chunk sizes, with suffixes K, M, G; a part may be empty, and AVG may stand alone");
  options.add_value("--param", parameters_, "KEY=VALUE",
                    "Parameter of the algorithm; 'cutpoint list NAME' shows them (repeatable)");
}

void cut_options::add_key_to(option_list& options) {
  options.add_value("--key-file", key_file_, "FILE",
                    "File with the secret key of toeplitz-aes and its like: 32 bytes or 64 hexadecimal digits");
}

result<std::vector<parameter_setting>> cut_options::settings() const {
  std::vector<parameter_setting> settings;
  if (size_) {
    CUTPOINT_TRY(settings, checked_sizes(*size_));
  }
  for (const std::string& parameter : parameters_) {
    const std::size_t equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error(fmt::format("--param {}: must be KEY=VALUE", parameter));
    settings.push_back({parameter.substr(0, equals), parameter.substr(equals + 1)});
  }
  return settings;
}

status cut_options::use(const std::string& canonical) {
  if (is_given()) {
    return usage_error("cuts cannot be chosen here: the listing names them");
  }
  if (canonical.find(' ') != std::string::npos) {
    return usage_error("the listing was made with another join than exact, whose cuts cannot be checked");
  }
  cuts_ = canonical;
  return {};
}

result<std::optional<secret_key>> cut_options::key() const {
  if (!key_file_) return std::optional<secret_key>();
  CUTPOINT_TRY(auto content, read_secret_key(*key_file_));
  return std::optional(std::move(content));
}

result<named_chunker> cut_options::checked(std::string_view default_algorithm) const {
  CUTPOINT_TRY(const auto content, key());
  return checked(content, false, default_algorithm);
}

result<named_chunker> cut_options::checked(const std::optional<secret_key>& key, bool is_for_rules,
                                           std::string_view default_algorithm) const {
  if (key && is_for_rules) {
    auto without_key = checked(std::nullopt, false, default_algorithm);
    if (without_key && !takes_secret_key(without_key->chunker)) return without_key;
  }
  CUTPOINT_TRY(const auto sizes_and_parameters, settings());
  if (cuts_) {
    if (!sizes_and_parameters.empty())
      return usage_error("--cuts names every parameter: --size and --param cannot be given with it");
    CUTPOINT_TRY(auto named, parse_canonical(*cuts_, key));
    std::vector<std::string> warnings;
    if (takes_secret_key(named) && !key) warnings.push_back(named.canonical() + " has no key: its cuts hide nothing");
    return named_chunker{std::move(named), std::move(warnings)};
  }
  const std::string name = profile_ ? *profile_ : algorithm_.value_or(std::string(default_algorithm));
  CUTPOINT_RETURN_IF_FAILED(check_kind(name, profile_ ? entry_kind::profile : entry_kind::algorithm));
  return make_chunker(name, sizes_and_parameters, key);
}

result<std::vector<chosen_cuts>> cut_options::all_checked(std::string_view default_algorithm) const {
  CUTPOINT_TRY(const auto content, key());
  std::vector<chosen_cuts> all;
  for (const auto& [names, one] :
       {std::pair(&algorithms_, &cut_options::algorithm_), std::pair(&profiles_, &cut_options::profile_),
        std::pair(&all_cuts_, &cut_options::cuts_)}) {
    for (const std::string& name : *names) {
      cut_options options = *this;
      options.*one = name;
      CUTPOINT_TRY(auto cuts, options.checked(content, false));
      all.push_back({name.substr(0, name.find('(')), std::move(cuts)});
    }
  }
  if (!all.empty()) return all;
  CUTPOINT_TRY(auto cuts, checked(content, false, default_algorithm));
  all.push_back({std::string(default_algorithm), std::move(cuts)});
  return all;
}

result<std::vector<parameter_setting>> checked_sizes(const std::string& size) {
  auto settings = size_settings(size);
  if (!settings) return usage_error("--size " + settings.error().message());
  for (const parameter_setting& each : *settings) {
    if (const auto bytes = checked_size("--size", each.value, 0); !bytes) return bytes.error();
  }
  return settings;
}

status check_kind(const std::string& name, entry_kind kind) {
  CUTPOINT_TRY(const auto entry, find_entry(name));
  if (entry->kind == kind) return {};
  return usage_error(kind == entry_kind::algorithm ? fmt::format("'{0}' is a profile: say --profile {0}", name)
                                                   : fmt::format("'{0}' is an algorithm: say --algorithm {0}", name));
}

// --- Fingerprints ----------------------------------------------------------------------------------------------------

void hash_options::add_to(option_list& options) {
  options.add_value("--hash", fingerprint_, "NAME", hash_meaning);
  add_key_to(options);
}

void hash_options::add_repeatable_to(option_list& options) {
  options.add_value("--hash", all_fingerprints_, "NAME", repeatable(hash_meaning));
  add_key_to(options);
}

void hash_options::add_key_to(option_list& options) {
  options.add_value("--hash-key", key_, "HEX",
                    "Secret key, 64 hexadecimal digits, for the keyed mode of --hash blake3");
}

status hash_options::use(const std::string& name) {
  if (fingerprint_) return usage_error("--hash cannot be given here: the listing names the fingerprint");
  if (name == name_of(fingerprint_kind::none)) return usage_error("the listing has no digests to compare");
  const bool is_keyed = name == keyed_name;
  if (is_keyed && !key_) return usage_error("the fingerprints were made with a key: give it by --hash-key");
  if (!is_keyed && key_) return usage_error(fmt::format("the fingerprints are {}, made without --hash-key", name));
  fingerprint_ = is_keyed ? name_of(fingerprint_kind::blake3) : name;
  return {};
}

result<std::optional<fingerprint_key>> hash_options::checked_key() const {
  if (!key_) return std::optional<fingerprint_key>();
  fingerprint_key key;
  if (read_hex(*key_, key)) return std::optional(key);
  return usage_error(fmt::format("--hash-key must be {} hexadecimal digits", 2 * key.size()));
}

result<fingerprint_recipe> hash_options::checked(std::string_view default_fingerprint) const {
  CUTPOINT_TRY(const auto fingerprint, parse_fingerprint(fingerprint_ ? *fingerprint_ : default_fingerprint));
  CUTPOINT_TRY(const auto key, checked_key());
  if (key && !fingerprints()[static_cast<std::size_t>(fingerprint)].takes_key) {
    return usage_error(fmt::format("--hash-key is for --hash blake3: {} takes no key", name_of(fingerprint)));
  }
  return fingerprint_recipe(fingerprint, key);
}

result<std::vector<fingerprint_recipe>> hash_options::all_checked(std::string_view default_fingerprint) const {
  std::vector<fingerprint_recipe> all;
  for (const std::string& name :
       all_fingerprints_.empty() ? std::vector{std::string(default_fingerprint)} : all_fingerprints_) {
    CUTPOINT_TRY(const auto recipe, checked(name));
    all.push_back(recipe);
  }
  return all;
}

// --- Contexts --------------------------------------------------------------------------------------------------------

option& context_option::add_to(option_list& options, std::string_view meaning) {
  return options.add_value("--context", context_, "NAME|FILE", meaning);
}

result<context_file> context_option::checked(const std::optional<secret_key>& key) const {
  if (context_.empty()) return context_file{};
  const std::vector<std::string_view> names = context_names();
  if (std::ranges::find(names, context_) != names.end()) return parse_context(context_);
  const auto text = read_input(context_, longest_context_file);
  if (!text) return usage_error(fmt::format("--context: {}", text.error().message()));
  auto content = parse_context_file(*text, key);
  if (content) return content;
  return usage_error(fmt::format("--context {}: {}", context_, content.error().message()));
}

// --- Back ends, GPUs and threads -------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t least_device_memory = 16 * MiB;
constexpr std::uint64_t least_batch = 4 * KiB;

constexpr choice<thread_placement, 3> placements = {
    {{"none", thread_placement::none}, {"devices", thread_placement::devices}, {"cores", thread_placement::cores}}};

bool may_use_device(backend where) {
  return where == backend::automatic || where == backend::cuda || where == backend::hybrid;
}

}  // namespace

void thread_options::add_count_to(option_list& options) {
  options.add_value("--threads", threads_, "N", "Worker threads, 1 to 4096 (default: one for each processor)");
}

void thread_options::add_to(option_list& options) {
  add_count_to(options);
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
    CUTPOINT_TRY(engine.threads, checked_number("--threads", *threads_, 1, most_threads));
  }
  if (placement_) {
    CUTPOINT_TRY(engine.placement, chosen("placement", *placement_, placements));
  }
  return {};
}

void lane_options::add_to(option_list& options) {
  options
      .add_value("--backend", backend_, "NAME",
                 "Back end that cuts and fingerprints: auto (the fastest), or a name that 'cutpoint list' shows")
      .or_variable("CUTPOINT_BACKEND");
  add_devices_to(options);
  options.add_value("--batch", batch_, "SIZE",
                    "Most bytes that a GPU takes at a time, at least 4K (default: chosen by measured costs)");
  threads_.add_to(options);
}

void lane_options::add_predicted_to(option_list& options) {
  is_predicted_ = true;
  add_devices_to(options);
  threads_.add_count_to(options);
}

void lane_options::add_devices_to(option_list& options) {
  options.add_value("--device", devices_, "N,...",
                    "GPUs to use, by their numbers in 'cutpoint info', separated by commas (default: 0)");
  options.add_value("--device-memory", device_memory_, "SIZE",
                    "Most bytes of memory to use on each GPU, at least 16M (default: 1G)");
}

status lane_options::set(feed_options& feed, engine_options& engine) const {
  CUTPOINT_TRY(const auto where, parse_backend(backend_));
  feed.where = where;
  const bool has_device = where == backend::cuda || where == backend::hybrid;
  // `cores` made runs beside other processes slower by 4 and by 7 % (docs/gpu.md).
  engine.placement = has_device ? thread_placement::devices : thread_placement::none;
  CUTPOINT_RETURN_IF_FAILED(threads_.set(engine));
  return check_devices(feed);
}

result<std::vector<int>> lane_options::checked_devices() const {
  std::vector<int> devices;
  for (std::size_t begin = 0; begin <= devices_->size();) {
    const std::size_t end = std::min(devices_->find(',', begin), devices_->size());
    CUTPOINT_TRY(const auto device,
                 checked_number("--device", devices_->substr(begin, end - begin), 0, most_devices - 1));
    const int number = static_cast<int>(device);
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
  const std::array device_options = {std::pair("--device", &devices_), std::pair("--device-memory", &device_memory_),
                                     std::pair("--batch", &batch_)};
  for (const auto& [option, value] : device_options) {
    if (*value && !may_use) {
      return usage_error(fmt::format("{} {}: --backend {} uses no device", option, **value, backend_));
    }
  }
  if (devices_) {
    CUTPOINT_TRY(feed.devices, checked_devices());
  }
  for (const auto& [option, value, least, target] :
       {std::tuple("--device-memory", &device_memory_, least_device_memory, &feed.device_memory_bytes),
        std::tuple("--batch", &batch_, least_batch, &feed.batch_bytes)}) {
    if (!*value) continue;
    CUTPOINT_TRY(*target, checked_size(option, **value, least));
  }
  if (is_predicted_) return {};
  for (const auto& [option, value] : device_options) {
    if (*value) return check_gpus(fmt::format("{} {}", option, **value), feed.devices, gpus());
  }
  return {};
}

status check_gpus(std::string_view option, const std::vector<int>& devices,
                  const result<std::vector<gpu_info>>& gpus_here) {
  if (!gpus_here)
    return usage_error(fmt::format("{}: there is no GPU to use: {}", option, gpus_here.error().message()));
  for (const int number : devices) {
    const auto gpu = std::ranges::find(*gpus_here, number, &gpu_info::index);
    if (gpu == gpus_here->end()) {
      return usage_error(fmt::format("{}: there is no GPU {}: this machine has {}, counted from 0", option, number,
                                     gpus_here->size()));
    }
    if (!gpu->problem.empty()) return usage_error(fmt::format("{}: {}", option, gpu->problem));
  }
  return {};
}

std::vector<std::string_view> placement_names() { return names_in(placements); }

// --- Segments --------------------------------------------------------------------------------------------------------

constexpr std::uint64_t least_segment = 4 * KiB;

constexpr choice<join_kind, 3> joins = {
    {{"exact", join_kind::exact}, {"pdedupe", join_kind::pdedupe}, {"none", join_kind::none}}};

void segment_options::add_size_to(option_list& options) {
  options.add_value("--segment", segment_, "SIZE",
                    "Bytes that a thread takes at a time, at least 4K (default: the larger of 2M and four times the "
                    "maximum chunk; of 512K and twice the maximum chunk with one thread)");
}

void segment_options::add_to(option_list& options) {
  add_size_to(options);
  options.add_value("--join", join_, "NAME",
                    "How segments are joined: exact; pdedupe and none cut otherwise than the sequential algorithm");
}

status segment_options::set(feed_options& feed) const {
  if (segment_) {
    CUTPOINT_TRY(feed.segment_bytes, checked_size("--segment", *segment_, least_segment));
  }
  CUTPOINT_TRY(const auto join, chosen("join", join_, joins));
  feed.join = join;
  if (join != join_kind::exact && !segment_) feed.segment_bytes = usual_segment_bytes(feed.cuts);
  return {};
}

std::vector<std::string_view> join_names() { return names_in(joins); }

std::string name_of_cuts(const feed_options& options) {
  if (options.join == join_kind::exact) return options.cuts.canonical();
  return fmt::format("{} join={} segment_bytes={}", options.cuts.canonical(), name_of(options.join),
                     options.segment_bytes);
}

// --- All of them -----------------------------------------------------------------------------------------------------

void chunking_options::add_to(option_list& options) {
  cuts_.add_to(options);
  cuts_.add_key_to(options);
  hash_.add_to(options);
  lanes_.add_to(options);
  options.add_value("--memory", memory_, "SIZE", "Most bytes of the streams to hold in memory (default: 256M)");
  segments_.add_to(options);
}

result<std::uint64_t> chunking_options::checked_memory() const {
  return memory_ ? checked_size("--memory", *memory_, 0) : stream_limits().memory_bytes;
}

status chunking_options::use(const std::string& canonical, const std::string& fingerprint) {
  CUTPOINT_RETURN_IF_FAILED(cuts_.use(canonical));
  return hash_.use(fingerprint);
}

status chunking_options::use(const context_file& context, chunking& job) const {
  if (context.others && cuts_.is_given()) {
    return usage_error("the file of --context says how the other files are cut: no other option can");
  }
  if (context.others) job.feed.cuts = *context.others;
  job.feed.rule_cuts = context.rules.cuts();
  job.warnings.insert(job.warnings.end(), context.warnings.begin(), context.warnings.end());
  return {};
}

result<chunking> chunking_options::checked(std::string_view default_fingerprint) const {
  CUTPOINT_TRY(const auto secret, key());
  return checked(default_fingerprint, secret, {});
}

result<chunking> chunking_options::checked(std::string_view default_fingerprint, const std::optional<secret_key>& key,
                                           const context_file& context) const {
  CUTPOINT_TRY(const auto fingerprint, hash_.checked(default_fingerprint));
  const bool is_for_rules = std::ranges::any_of(context.rules.cuts(), takes_secret_key) ||
                            (context.others && takes_secret_key(*context.others));
  CUTPOINT_TRY(auto cuts, cuts_.checked(key, is_for_rules));
  CUTPOINT_TRY(const auto memory, checked_memory());
  chunking job{.feed = {.cuts = cuts.chunker, .fingerprint = fingerprint, .memory_bytes = memory},
               .engine = {},
               .warnings = std::move(cuts.warnings)};
  CUTPOINT_RETURN_IF_FAILED(lanes_.set(job.feed, job.engine));
  CUTPOINT_RETURN_IF_FAILED(segments_.set(job.feed));
  const status enough_memory = check_memory(job.feed.cuts, {.memory_bytes = memory});
  if (enough_memory.ok()) return job;
  return usage_error(fmt::format("{}: increase --memory or choose smaller chunks", enough_memory.message()));
}

}  // namespace cutpoint::cli
