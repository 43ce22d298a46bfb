#include "bindings/python/settings.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <cutpoint/catalog.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

namespace {

struct engine_table {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<engine>> by_thread_count;
};

/// The table is never destroyed: at exit its threads may be asleep, and after a fork they do not exist.
engine_table*& engines() {
  static engine_table* table = new engine_table;
  return table;
}

named_chunker make_cuts(const std::string& cuts, const std::vector<std::pair<std::string, std::string>>& parameters) {
  if (cuts.find('(') != std::string::npos) {
    if (!parameters.empty()) {
      raise(PyExc_ValueError,
            "cuts = '" + cuts + "' names its parameters: " + parameters.front().first + " cannot be given with it");
    }
    return {value_or_raise(parse_canonical(cuts)), {}};
  }
  std::vector<parameter_setting> all;
  for (const auto& [name, value] : parameters) all.push_back({name, value});
  return value_or_raise(make_chunker(cuts, all));
}

std::optional<fingerprint_key> make_key(const std::optional<nanobind::bytes>& given) {
  if (!given) return std::nullopt;
  fingerprint_key key;
  if (given->size() != key.size()) {
    raise(PyExc_ValueError, "fingerprint_key has " + std::to_string(given->size()) + " bytes, and must have " +
                                std::to_string(key.size()));
  }
  std::memcpy(key.data(), given->data(), key.size());
  return key;
}

}  // namespace

settings make_settings(const std::string& cuts, const std::vector<std::pair<std::string, std::string>>& parameters,
                       const std::string& fingerprint, std::optional<nanobind::bytes> fingerprint_key,
                       const std::string& backend, std::uint64_t threads, std::optional<std::uint64_t> memory_bytes) {
  named_chunker made = make_cuts(cuts, parameters);
  const fingerprint_recipe recipe(value_or_raise(parse_fingerprint(fingerprint)), make_key(fingerprint_key));
  settings out{
      .feed = {.cuts = std::move(made.chunker), .fingerprint = recipe, .where = value_or_raise(parse_backend(backend))},
      .threads = threads,
      .warnings = std::move(made.warnings)};
  if (memory_bytes) out.feed.memory_bytes = *memory_bytes;
  return out;
}

result<std::shared_ptr<engine>> find_engine(std::uint64_t thread_count) {
  engine_table& table = *engines();
  const std::lock_guard lock(table.mutex);
  std::shared_ptr<engine>& held = table.by_thread_count[thread_count];
  if (held == nullptr) {
    auto made = engine::make({.threads = thread_count});
    if (!made) return made.error();
    held = std::make_shared<engine>(*std::move(made));
  }
  return held;
}

void forget_engines() { engines() = new engine_table; }

}  // namespace cutpoint::python
