#include "bindings/python/settings.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/text.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

namespace {

/// Removes the secret key of an algorithm or a canonical string from the parameters, where it is "key".
std::optional<secret_key> take_key(const std::string& cuts,
                                   std::vector<std::pair<std::string, std::string>>& parameters) {
  const auto key = std::ranges::find(parameters, "key", [](const auto& each) { return each.first; });
  const auto entry = find_entry(cuts.substr(0, cuts.find('(')));
  if (key == parameters.end() || !entry || !takes_secret_key((*entry)->defaults)) return std::nullopt;
  std::array<std::uint8_t, secret_key::byte_count> bytes;
  if (!read_hex(key->second, bytes)) raise(PyExc_ValueError, cuts + ": key must be 32 bytes");
  parameters.erase(key);
  return secret_key(bytes);
}

named_chunker make_cuts(const std::string& cuts, std::vector<std::pair<std::string, std::string>> parameters) {
  const std::optional<secret_key> key = take_key(cuts, parameters);
  if (cuts.find('(') != std::string::npos) {
    if (!parameters.empty()) {
      raise(PyExc_ValueError,
            "cuts = '" + cuts + "' names its parameters: " + parameters.front().first + " cannot be bytes with it");
    }
    return {value_or_raise(parse_canonical(cuts, key)), {}};
  }
  std::vector<parameter_setting> all;
  for (const auto& [name, value] : parameters) {
    if (name != "size") {
      all.push_back({name, value});
      continue;
    }
    auto sizes = size_settings(value);
    if (!sizes) raise(PyExc_ValueError, "size: " + sizes.error().message());
    all.insert(all.end(), std::make_move_iterator(sizes->begin()), std::make_move_iterator(sizes->end()));
  }
  return value_or_raise(make_chunker(cuts, all, key));
}

std::optional<fingerprint_key> make_key(const std::optional<nanobind::bytes>& bytes) {
  if (!bytes) return std::nullopt;
  fingerprint_key key;
  if (bytes->size() != key.size()) {
    raise(PyExc_ValueError, "fingerprint_key has " + std::to_string(bytes->size()) + " bytes, and must have " +
                                std::to_string(key.size()));
  }
  std::memcpy(key.data(), bytes->data(), key.size());
  return key;
}

}  // namespace

std::size_t settings::digest_bytes() const {
  const auto kinds = fingerprints();
  return std::ranges::find(kinds, feed.fingerprint.kind, &fingerprint_info::kind)->digest_bytes;
}

settings make_settings(const std::string& cuts, const std::vector<std::pair<std::string, std::string>>& parameters,
                       const std::string& fingerprint, std::optional<nanobind::bytes> fingerprint_key,
                       const std::string& backend, nanobind::handle threads,
                       std::optional<std::uint64_t> memory_bytes) {
  named_chunker named = make_cuts(cuts, parameters);
  const fingerprint_recipe recipe(value_or_raise(parse_fingerprint(fingerprint)), make_key(fingerprint_key));
  feed_options feed{
      .cuts = std::move(named.chunker), .fingerprint = recipe, .where = value_or_raise(parse_backend(backend))};
  thread_choice chosen_threads = make_thread_choice(threads);
  // Nothing that throws may follow braces within braces: GCC 12 destroys twice what it has initialized in them.
  settings out{.feed = std::move(feed), .threads = std::move(chosen_threads), .warnings = std::move(named.warnings)};
  if (memory_bytes) out.feed.memory_bytes = *memory_bytes;
  return out;
}

store_lane_options make_lanes(const lane_fields& fields) {
  const auto& [back_end, devices, device_memory_bytes, segment_bytes, measures_rates] = fields;
  store_lane_options lanes{.where = value_or_raise(parse_backend(back_end)),
                           .segment_bytes = segment_bytes,
                           .measures_rates = measures_rates};
  if (!devices.empty()) lanes.devices = devices;
  if (device_memory_bytes) lanes.device_memory_bytes = *device_memory_bytes;
  return lanes;
}

}  // namespace cutpoint::python
