// Each struct lists its fields once; the writer and the reader visit them.
#include "cli/costs/costs_json.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <type_traits>

#include <cutpoint/fingerprint.h>

namespace cutpoint::cli {

namespace {

/// More than any rate, time or count.
constexpr double most_number = 1e18;

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
  field("index", device.index);
  field("name", device.name);
  field("batch_bytes", device.batch_bytes);
  field("link_in", device.link_in);
  field("link_out", device.link_out);
  field("latency_seconds", device.latency_seconds);
  field("rates", device.rates);
  field("problem", device.problem);
}

template <fields_of<cost_model> Costs>
void visit(Costs& costs, auto& field) {
  field("machine", costs.machine);
  field("processors", costs.processor_count);
  field("seconds", costs.seconds);
  field("memory", costs.memory);
  field("together", costs.together);
  field("seconds_of_a_chunk", costs.seconds_of_a_chunk);
  field("processor", costs.processor);
  field("devices", costs.devices);
}

class field_writer {
 public:
  json object = json::object();

  template <class Value>
  void operator()(const char* name, const Value& value) {
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

/// Reads the fields of one object. `is_valid` becomes false if one is missing, of another kind or out of all bounds.
class field_reader {
 public:
  field_reader(const json& object, bool& is_valid) : object_(object), is_valid_(is_valid) {}

  template <class Value>
  void operator()(const char* name, Value& output) {
    const json* const entry = object_.find(name);
    require(entry != nullptr);
    if (is_valid_) read(*entry, output);
  }

 private:
  void require(bool condition) { is_valid_ = is_valid_ && condition; }

  void read(const json& value, double& output) {
    output = value.number().value_or(-1);
    require(output >= 0 && output <= most_number);
  }
  template <std::integral Number>
  void read(const json& value, Number& output) {
    double number = 0;
    read(value, number);
    require(number <= std::min(most_number, static_cast<double>(std::numeric_limits<Number>::max())));
    if (is_valid_) output = static_cast<Number>(number);
  }
  void read(const json& value, std::string& output) {
    require(value.text() != nullptr);
    if (is_valid_) output = *value.text();
  }
  void read(const json& value, backend& output) {
    std::string name;
    read(value, name);
    std::vector<backend> known = {backend::cuda};
    for (const backend_info& each : processor_backends()) known.push_back(each.kind);
    const auto entry = std::find_if(known.begin(), known.end(), [&](backend each) { return to_string(each) == name; });
    require(entry != known.end());
    if (is_valid_) output = *entry;
  }
  void read(const json& value, fingerprint_kind& output) {
    std::string name;
    read(value, name);
    const auto kind = parse_fingerprint(name);
    require(kind.ok());
    if (is_valid_) output = *kind;
  }
  template <class Value>
  void read(const json& value, std::vector<Value>& output) {
    require(value.is_array());
    for (const json& each : value.elements()) {
      if (is_valid_) read(each, output.emplace_back());
    }
  }
  template <class Value>
  void read(const json& value, Value& output) {
    field_reader reader(value, is_valid_);
    visit(output, reader);
  }

  const json& object_;
  bool& is_valid_;
};

}  // namespace

json costs_json(const cost_model& costs) {
  field_writer writer;
  visit(costs, writer);
  return writer.object;
}

result<cost_model> parse_costs(const json& object) {
  cost_model costs;
  bool is_valid = true;
  field_reader reader(object, is_valid);
  visit(costs, reader);
  if (is_valid) return costs;
  return status(status_code::invalid_argument, "has a field that is missing, of another kind or out of all bounds");
}

}  // namespace cutpoint::cli
