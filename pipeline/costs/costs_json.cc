// The JSON of the cost model: every field is written once and read once.
#include <algorithm>
#include <array>
#include <utility>

#include <cutpoint/costs_json.h>
#include <cutpoint/fingerprint.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cutpoint {

namespace {

using nlohmann::ordered_json;

/// Beyond all rates, times and counts that there are: not even what is not done at all is so fast.
constexpr double most_number = 1e18;
constexpr std::size_t most_entries = 10'000;
constexpr std::size_t most_letters = 100'000;

constexpr std::array every_backend = {backend::scalar, backend::sha_ni,    backend::sse4, backend::avx2,
                                      backend::avx512, backend::avx512_dl, backend::neon, backend::cuda};

ordered_json json_of(const lane_rates& rates) {
  ordered_json out = {{"cuts", ordered_json::array()}, {"fingerprints", ordered_json::array()}};
  for (const cut_rate& each : rates.cuts) {
    out["cuts"].push_back({{"name", each.name},
                           {"cuts", each.cuts},
                           {"mean_bytes", each.mean_bytes},
                           {"bytes_per_second", each.bytes_per_second},
                           {"back_end", to_string(each.where)}});
  }
  for (const fingerprint_rate& each : rates.fingerprints) {
    out["fingerprints"].push_back({{"name", name_of(each.kind)},
                                   {"chunk_bytes", each.chunk_bytes},
                                   {"in_flight", each.in_flight},
                                   {"bytes_per_second", each.bytes_per_second},
                                   {"back_end", to_string(each.where)}});
  }
  return out;
}

/// Reads fields of one object; the first that is wrong is remembered, and those after it are nothing.
class fields {
 public:
  fields(const ordered_json& object, std::string where, status& problem)
      : object_(object), where_(std::move(where)), problem_(problem) {
    if (!object_.is_object()) fail("", "is no object");
  }

  void read(const char* name, double& output) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) return fail(name, "is no number");
    const auto number = value->get<double>();
    if (!(number >= 0 && number <= most_number)) return fail(name, "is out of all bounds");
    output = number;
  }
  void read(const char* name, std::uint64_t& output) {
    double number = 0;
    read(name, number);
    output = static_cast<std::uint64_t>(number);
  }
  /// One or more.
  void read_count(const char* name, std::uint64_t& output) {
    read(name, output);
    if (output == 0) fail(name, "is none");
  }
  void read(const char* name, int& output) {
    double number = 0;
    read(name, number);
    if (number > 1e6) return fail(name, "is out of all bounds");
    output = static_cast<int>(number);
  }
  void read(const char* name, std::string& output) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return fail(name, "is no text");
    if (value->get_ref<const std::string&>().size() > most_letters) return fail(name, "is too long");
    output = value->get<std::string>();
  }
  void read(const char* name, backend& output) {
    std::string text;
    read(name, text);
    const auto named =
        std::find_if(every_backend.begin(), every_backend.end(), [&](backend each) { return to_string(each) == text; });
    if (named == every_backend.end()) return fail(name, "is no back end");
    output = *named;
  }
  void read(const char* name, fingerprint_kind& output) {
    std::string text;
    read(name, text);
    const auto kind = parse_fingerprint(text);
    if (!kind) return fail(name, "is no fingerprint");
    output = *kind;
  }
  /// Calls `each(fields of an element, a new element of `output`)`.
  template <class Element, class Each>
  void read_list(const char* name, std::vector<Element>& output, Each&& each) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > most_entries) return fail(name, "is no list, or has no end");
    for (const ordered_json& element : *value) {
      fields element_fields(element, fmt::format("{}{}[{}].", where_, name, output.size()), problem_);
      each(element_fields, output.emplace_back());
      if (!problem_.ok()) return;
    }
  }
  /// Calls `each(fields of the object of this name)`.
  template <class Each>
  void read_object(const char* name, Each&& each) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    fields object_fields(*value, fmt::format("{}{}.", where_, name), problem_);
    each(object_fields);
  }

 private:
  const ordered_json* find(const char* name) {
    if (!problem_.ok()) return nullptr;
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    fail(name, "is missing");
    return nullptr;
  }

  void fail(const char* name, const char* why) {
    if (problem_.ok()) problem_ = {status_code::invalid_argument, fmt::format("{}{} {}", where_, name, why)};
  }

  const ordered_json& object_;
  std::string where_;
  status& problem_;
};

void read_rates(fields& object, lane_rates& rates) {
  object.read_list("cuts", rates.cuts, [](fields& entry, cut_rate& each) {
    entry.read("name", each.name);
    entry.read("cuts", each.cuts);
    entry.read("mean_bytes", each.mean_bytes);
    entry.read("bytes_per_second", each.bytes_per_second);
    entry.read("back_end", each.where);
  });
  object.read_list("fingerprints", rates.fingerprints, [](fields& entry, fingerprint_rate& each) {
    entry.read("name", each.kind);
    entry.read_count("chunk_bytes", each.chunk_bytes);
    entry.read_count("in_flight", each.in_flight);
    entry.read("bytes_per_second", each.bytes_per_second);
    entry.read("back_end", each.where);
  });
}

}  // namespace

std::string costs_json(const cost_model& costs) {
  ordered_json out = {{"machine", costs.machine},
                      {"processors", costs.processor_count},
                      {"seconds", costs.seconds},
                      {"memory",
                       {{"read_by_one", costs.memory.read_by_one},
                        {"read_by_all", costs.memory.read_by_all},
                        {"copy", costs.memory.copy},
                        {"page_cache", costs.memory.page_cache}}},
                      {"together", costs.together},
                      {"seconds_of_a_chunk", costs.seconds_of_a_chunk},
                      {"processor", json_of(costs.processor)},
                      {"devices", ordered_json::array()}};
  for (const device_costs& each : costs.devices) {
    out["devices"].push_back({{"index", each.index},
                              {"name", each.name},
                              {"batch_bytes", each.batch_bytes},
                              {"link_in", each.link_in},
                              {"link_out", each.link_out},
                              {"latency_seconds", each.latency_seconds},
                              {"rates", json_of(each.rates)},
                              {"problem", each.problem}});
  }
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

result<cost_model> parse_costs(std::string_view json) {
  const ordered_json parsed = ordered_json::parse(json, nullptr, false);
  cost_model made;
  status problem;
  fields object(parsed, "", problem);
  object.read("machine", made.machine);
  object.read_count("processors", made.processor_count);
  object.read("seconds", made.seconds);
  object.read_object("memory", [&](fields& memory) {
    memory.read("read_by_one", made.memory.read_by_one);
    memory.read("read_by_all", made.memory.read_by_all);
    memory.read("copy", made.memory.copy);
    memory.read("page_cache", made.memory.page_cache);
  });
  object.read("together", made.together);
  object.read("seconds_of_a_chunk", made.seconds_of_a_chunk);
  object.read_object("processor", [&](fields& rates) { read_rates(rates, made.processor); });
  object.read_list("devices", made.devices, [](fields& device, device_costs& each) {
    device.read("index", each.index);
    device.read("name", each.name);
    device.read("batch_bytes", each.batch_bytes);
    device.read("link_in", each.link_in);
    device.read("link_out", each.link_out);
    device.read("latency_seconds", each.latency_seconds);
    device.read_object("rates", [&](fields& rates) { read_rates(rates, each.rates); });
    device.read("problem", each.problem);
  });
  if (!problem.ok()) return problem;
  return made;
}

}  // namespace cutpoint
