#include "cli/costs/costs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <cutpoint/fingerprint.h>
#include <cutpoint/version.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include "cli/common/files.h"

namespace cutpoint::cli {

// --- JSON: each struct lists its fields once; the writer and the reader visit them -----------------------------------

namespace {

/// The numbers that a field may have, the ends included.
struct number_bounds {
  double least = 0;
  double most = 1e18;  ///< more than any rate, time or count
};
constexpr number_bounds share_bounds = {.least = 1e-6, .most = 1};
constexpr number_bounds device_bounds = {.least = 0, .most = 4095};
constexpr number_bounds count_bounds = {.least = 1};
constexpr number_bounds seconds_bounds = {.least = 0, .most = 3600};

/// The format of costs. A change of the fields or of their meaning needs a new number, but a field that costs may lack does not.
constexpr int format_version = 3;
/// Much more than the costs of many devices take.
constexpr std::size_t most_bytes = 16 * MiB;

template <class Costs, class Each>
concept fields_of = std::is_same_v<std::remove_const_t<Costs>, Each>;

template <fields_of<cut_rate> Costs>
void visit(Costs& rate, auto& field) {
  field("name", rate.name);
  field("cuts", rate.cuts);
  field("mean_bytes", rate.mean_bytes);
  field("bytes_per_second", rate.bytes_per_second);
  field("back_end", rate.where);
}

template <fields_of<fingerprint_rate> Costs>
void visit(Costs& rate, auto& field) {
  field("name", rate.kind);
  field("chunk_bytes", rate.chunk_bytes);
  field("in_flight", rate.in_flight);
  field("bytes_per_second", rate.bytes_per_second);
  field("back_end", rate.where);
}

template <fields_of<lane_rates> Costs>
void visit(Costs& rates, auto& field) {
  field("cuts", rates.cuts);
  field("fingerprints", rates.fingerprints);
}

template <fields_of<memory_rates> Costs>
void visit(Costs& memory, auto& field) {
  field("read_by_one", memory.read_by_one);
  field("read_by_all", memory.read_by_all);
  field("copy", memory.copy);
  field("page_cache", memory.page_cache);
}

template <fields_of<device_costs> Costs>
void visit(Costs& device, auto& field) {
  field("index", device.index, device_bounds);
  field("name", device.name);
  field.optional("batch_bytes", device.batch_bytes);
  field("link_in", device.link_in);
  field("link_out", device.link_out);
  field.optional("pinning", device.pinning);
  field("latency_seconds", device.latency_seconds, seconds_bounds);
  field("rates", device.rates);
  field.optional("problem", device.problem);
}

template <fields_of<cost_model> Costs>
void visit(Costs& costs, auto& field) {
  field("machine", costs.machine);
  field("processors", costs.processor_count, count_bounds);
  field.optional("seconds", costs.seconds, seconds_bounds);
  field("memory", costs.memory);
  field("together", costs.together, share_bounds);
  field("seconds_of_a_chunk", costs.seconds_of_a_chunk, seconds_bounds);
  field("processor", costs.processor);
  field("devices", costs.devices);
}

class field_writer {
 public:
  json object = json::object();

  template <class Value>
  void operator()(const char* name, const Value& value, const number_bounds& = {}) {
    object[name] = json_of(value);
  }
  template <class Value>
  void optional(const char* name, const Value& value, const number_bounds& = {}) {
    object[name] = json_of(value);
  }

 private:
  static json json_of(backend value) { return to_string(value); }
  static json json_of(fingerprint_kind value) { return name_of(value); }
  template <class Value>
  static json json_of(const std::vector<Value>& values) {
    return json_list(values, [](const Value& value) { return json_of(value); });
  }
  template <class Value>
  static json json_of(const Value& value) {
    if constexpr (std::is_constructible_v<json, Value>) {
      return value;
    } else {
      field_writer writer;
      visit(value, writer);
      return writer.object;
    }
  }
};

/// Those that measure, also of other builds and machines.
constexpr std::array all_back_ends = {backend::scalar, backend::sha_ni, backend::sse4,      backend::avx2,
                                      backend::avx512, backend::neon,   backend::avx512_dl, backend::cuda};

/// Reads the fields of one object. `problem` becomes the first one: the path of a field, and what is wrong with it.
class field_reader {
 public:
  field_reader(const json& object, std::string path, std::string& problem)
      : object_(object), path_(std::move(path)), problem_(problem) {}

  template <class Value>
  void operator()(const char* name, Value& output, const number_bounds& bounds = {}) {
    const std::string path = path_.empty() ? name : fmt::format("{}.{}", path_, name);
    const json* const entry = object_.find(name);
    if (entry == nullptr) return refuse(path, "is missing");
    read(*entry, output, path, bounds);
  }
  /// Leaves the output as it is if the field is missing: a rate unknown, or what only says how costs were measured.
  template <class Value>
  void optional(const char* name, Value& output, const number_bounds& bounds = {}) {
    if (object_.find(name) != nullptr) (*this)(name, output, bounds);
  }

 private:
  void refuse(const std::string& path, std::string_view why) {
    if (problem_.empty()) problem_ = fmt::format("{} {}", path, why);
  }

  void read(const json& value, double& output, const std::string& path, const number_bounds& bounds) {
    const auto number = value.number();
    if (number && *number >= bounds.least && *number <= bounds.most) {
      output = *number;
    } else {
      refuse(path, fmt::format("must be a number from {} to {}", bounds.least, bounds.most));
    }
  }
  template <std::integral Number>
  void read(const json& value, Number& output, const std::string& path, const number_bounds& bounds) {
    double number = 0;
    read(value, number, path, bounds);
    if (number != std::floor(number)) return refuse(path, "must be a whole number");
    output = static_cast<Number>(number);
  }
  void read(const json& value, std::string& output, const std::string& path, const number_bounds&) {
    if (value.text() == nullptr) return refuse(path, "must be a text");
    output = *value.text();
  }
  void read(const json& value, backend& output, const std::string& path, const number_bounds&) {
    const auto* const kind = std::find_if(all_back_ends.begin(), all_back_ends.end(), [&](backend each) {
      return value.text() != nullptr && to_string(each) == *value.text();
    });
    if (kind == all_back_ends.end()) return refuse(path, "must be the name of a back end");
    output = *kind;
  }
  void read(const json& value, fingerprint_kind& output, const std::string& path, const number_bounds&) {
    const auto kind = parse_fingerprint(value.text() != nullptr ? *value.text() : "");
    if (!kind) return refuse(path, "must be the name of a fingerprint");
    output = *kind;
  }
  template <class Value>
  void read(const json& value, std::vector<Value>& output, const std::string& path, const number_bounds& bounds) {
    if (!value.is_array()) return refuse(path, "must be a list");
    for (const json& each : value.elements()) {
      const std::string element = fmt::format("{}[{}]", path, output.size());
      read(each, output.emplace_back(), element, bounds);
    }
  }
  template <class Value>
  void read(const json& value, Value& output, const std::string& path, const number_bounds&) {
    if (!value.is_object()) return refuse(path, "must be an object");
    field_reader reader(value, path, problem_);
    visit(output, reader);
  }

  const json& object_;
  std::string path_;
  std::string& problem_;
};

}  // namespace

json costs_json(const cost_model& costs) {
  field_writer writer;
  writer("format", format_version);
  visit(costs, writer);
  return writer.object;
}

result<cost_model> parse_costs(const json& object) {
  const json* const format = object.find("format");
  if (format == nullptr || format->number() != format_version) {
    return status(status_code::invalid_argument,
                  fmt::format("costs are of another format: `format` must be {}", format_version));
  }
  cost_model costs;
  std::string problem;
  field_reader reader(object, "", problem);
  visit(costs, reader);
  if (problem.empty()) return costs;
  return status(status_code::invalid_argument, std::move(problem));
}

result<cost_model> read_costs(const std::string& file) {
  CUTPOINT_TRY(const auto text, read_input(file, most_bytes));
  const auto refuse = [&file](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("{}: {}", file, why));
  };
  const json whole = parse_json(text).value_or(json());
  if (!whole.is_object()) return refuse("is no JSON object");
  const json* const member = whole.find("costs");
  const json& costs = member != nullptr ? *member : whole;
  if (!costs.is_object()) return refuse("has no costs: they are of 'cutpoint info --calibrate --json'");
  auto model = parse_costs(costs);
  return model ? std::move(model) : refuse(model.error().message());
}

json prediction_json(const plan_prediction& predicted) {
  return {{"plan", to_string(predicted.plan)},
          {"bytes_per_second", predicted.bytes_per_second},
          {"device_cut_share", predicted.device_cut_share},
          {"device_fingerprint_share", predicted.device_fingerprint_share},
          {"limits", json_list(predicted.limits, [](const rate_limit& limit) {
             return json{{"name", limit.name}, {"bytes_per_second", limit.bytes_per_second}};
           })}};
}

// --- Cache -----------------------------------------------------------------------------------------------------------

namespace {

result<std::string> read_whole(const std::string& path) {
  std::error_code failed;
  const bool is_file = std::filesystem::is_regular_file(path, failed);
  const std::uintmax_t size = is_file ? std::filesystem::file_size(path, failed) : 0;
  if (failed) return system_failure(path, "read", failed.value());
  std::string text(size <= most_bytes ? size : 0, '\0');
  if (text.empty()) return status(status_code::invalid_argument, path + ": has no costs");
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return system_failure(path, "read", errno);
  return text;
}

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string build_key() {
  std::error_code unknown;
  const char* program = "/proc/self/exe";
  // Without /proc there is the path that the program was started by.
  if (!std::filesystem::exists(program, unknown)) program = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return fmt::format("{} {} {}", version(), std::filesystem::file_size(program, unknown),
                     std::filesystem::last_write_time(program, unknown).time_since_epoch().count());
}

result<std::string> costs_file(const std::string& machine, const feed_options& job) {
  const auto folder = user_folder("CUTPOINT_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
  if (!folder) return status(folder.error().code(), "no folder to store costs in: " + folder.error().message());
  return fmt::format("{}/costs-{:016x}.json", *folder,
                     hash_of(fmt::format("{}\n{}\n{}", machine, job.cuts.canonical(), name_of(job.fingerprint.kind))));
}

result<cost_model> load_costs(const std::string& path, const std::string& machine, const std::string& build) {
  CUTPOINT_TRY(const auto text, read_whole(path));
  const auto refuse = [&path](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("{}: {}", path, why));
  };
  const json read = parse_json(text).value_or(json());
  if (!read.is_object()) return refuse("is no JSON object");
  const json* const measured_by = read.find("build");
  if (measured_by == nullptr || measured_by->text() == nullptr || *measured_by->text() != build) {
    return refuse("was measured by another build");
  }
  const json* const costs = read.find("costs");
  if (costs == nullptr) return refuse("has no costs");
  auto model = parse_costs(*costs);
  if (!model) return refuse(model.error().message());
  if (model->machine != machine) return refuse("was measured on another machine");
  return model;
}

status save_costs(const std::string& path, const cost_model& costs, const std::string& build) {
  return replace_file(path, json_text({{"build", build}, {"costs", costs_json(costs)}}));
}

// --- Costs -----------------------------------------------------------------------------------------------------------

result<known_costs> machine_costs(const std::vector<gpu_info>& gpus, const feed_options& job, measurement_policy when,
                                  const console& say) {
  const topology machine = discover_topology();
  const std::string key = machine_key(machine, gpus);
  const std::string build = build_key();
  const auto file = costs_file(key, job);
  known_costs known;
  if (file && when != measurement_policy::always) {
    auto stored = load_costs(*file, key, build);
    if (stored) return known_costs{.costs = *std::move(stored), .file = *file, .problem = {}};
    if (stored.error().system_error() != ENOENT) say.note(stored.error().message());
  }
  if (when == measurement_policy::never) return known;
  CUTPOINT_TRY(auto model, calibrate(machine, gpus, job));
  known.problem = file ? save_costs(*file, model, build) : file.error();
  if (known.problem.ok()) known.file = *file;
  say.note(fmt::format("costs measured in {:.2f} s; {}", model.seconds,
                       known.problem.ok() ? "stored in " + known.file : known.problem.message()));
  known.costs = std::move(model);
  return known;
}

std::shared_ptr<const job_rates> expected_rates(const feed_options& job, std::uint64_t thread_count,
                                                const console& say) {
  const std::vector<gpu_info> devices = gpus_to_measure(job);
  if (devices.empty()) return nullptr;
  const auto known = machine_costs(devices, job, measurement_policy::when_missing, say);
  if (known) return std::make_shared<const job_rates>(rates_for(*known->costs, job, thread_count));
  say.note(fmt::format("costs are not known: {}", known.error().message()));
  return nullptr;
}

}  // namespace cutpoint::cli
