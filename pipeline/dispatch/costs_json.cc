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

constexpr std::array<backend, 6> every_backend = {backend::scalar, backend::sse4, backend::avx2,
                                                  backend::avx512, backend::neon, backend::cuda};

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
  fields(const ordered_json& from, std::string where, status& problem)
      : from_(from), where_(std::move(where)), problem_(problem) {
    if (!from_.is_object()) fail("", "is no object");
  }

  void read(const char* name, double& into) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) return fail(name, "is no number");
    const auto number = value->get<double>();
    if (!(number >= 0 && number <= most_number)) return fail(name, "is out of all bounds");
    into = number;
  }
  void read(const char* name, std::uint64_t& into) {
    double number = 0;
    read(name, number);
    into = static_cast<std::uint64_t>(number);
  }
  /// One or more.
  void read_count(const char* name, std::uint64_t& into) {
    read(name, into);
    if (into == 0) fail(name, "is none");
  }
  void read(const char* name, int& into) {
    double number = 0;
    read(name, number);
    if (number > 1e6) return fail(name, "is out of all bounds");
    into = static_cast<int>(number);
  }
  void read(const char* name, std::string& into) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return fail(name, "is no text");
    if (value->get_ref<const std::string&>().size() > most_letters) return fail(name, "is too long");
    into = value->get<std::string>();
  }
  void read(const char* name, backend& into) {
    std::string text;
    read(name, text);
    const auto named =
        std::find_if(every_backend.begin(), every_backend.end(), [&](backend each) { return to_string(each) == text; });
    if (named == every_backend.end()) return fail(name, "is no back end");
    into = *named;
  }
  void read(const char* name, fingerprint_kind& into) {
    std::string text;
    read(name, text);
    const auto kind = parse_fingerprint(text);
    if (!kind) return fail(name, "is no fingerprint");
    into = *kind;
  }
  /// Calls `each(fields of an element, a new element of `into`)`.
  template <class Element, class Each>
  void read_list(const char* name, std::vector<Element>& into, Each&& each) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > most_entries) return fail(name, "is no list, or has no end");
    for (const ordered_json& element : *value) {
      fields of(element, fmt::format("{}{}[{}].", where_, name, into.size()), problem_);
      each(of, into.emplace_back());
      if (!problem_.ok()) return;
    }
  }
  /// Calls `each(fields of the object of this name)`.
  template <class Each>
  void read_object(const char* name, Each&& each) {
    const ordered_json* const value = find(name);
    if (value == nullptr) return;
    fields of(*value, fmt::format("{}{}.", where_, name), problem_);
    each(of);
  }

 private:
  const ordered_json* find(const char* name) {
    if (!problem_.ok()) return nullptr;
    const auto found = from_.find(name);
    if (found != from_.end()) return &*found;
    fail(name, "is missing");
    return nullptr;
  }

  void fail(const char* name, const char* why) {
    if (problem_.ok()) problem_ = {status_code::invalid_argument, fmt::format("{}{} {}", where_, name, why)};
  }

  const ordered_json& from_;
  std::string where_;
  status& problem_;
};

void read_rates(fields& of, lane_rates& into) {
  of.read_list("cuts", into.cuts, [](fields& from, cut_rate& each) {
    from.read("name", each.name);
    from.read("cuts", each.cuts);
    from.read("mean_bytes", each.mean_bytes);
    from.read("bytes_per_second", each.bytes_per_second);
    from.read("back_end", each.where);
  });
  of.read_list("fingerprints", into.fingerprints, [](fields& from, fingerprint_rate& each) {
    from.read("name", each.kind);
    from.read_count("chunk_bytes", each.chunk_bytes);
    from.read_count("in_flight", each.in_flight);
    from.read("bytes_per_second", each.bytes_per_second);
    from.read("back_end", each.where);
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
  const ordered_json from = ordered_json::parse(json, nullptr, false);
  cost_model made;
  status problem;
  fields of(from, "", problem);
  of.read("machine", made.machine);
  of.read_count("processors", made.processor_count);
  of.read("seconds", made.seconds);
  of.read_object("memory", [&](fields& memory) {
    memory.read("read_by_one", made.memory.read_by_one);
    memory.read("read_by_all", made.memory.read_by_all);
    memory.read("copy", made.memory.copy);
    memory.read("page_cache", made.memory.page_cache);
  });
  of.read("together", made.together);
  of.read("seconds_of_a_chunk", made.seconds_of_a_chunk);
  of.read_object("processor", [&](fields& rates) { read_rates(rates, made.processor); });
  of.read_list("devices", made.devices, [](fields& device, device_costs& each) {
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
