#include "store/restore/content_comparison.h"

#include <algorithm>

#include "host/core/parallel.h"
#include "store/restore/restored_file.h"

namespace cutpoint::store {

namespace {

/// Places that a thread compares at a time.
constexpr std::size_t places_at_once = 64;

}  // namespace

result<content_comparison> content_comparison::make(const store_reading& store, std::uint64_t threads) {
  std::vector<worker> workers;
  const std::size_t count = thread_count(threads);
  for (std::size_t i = 0; i < count; ++i) {
    auto check = store.make_fingerprinter();
    if (!check) return check.error();
    workers.push_back({.check = std::move(*check)});
  }
  return content_comparison(std::move(workers));
}

std::vector<content_place> content_comparison::find_differences(std::span<const content_place> places) {
  std::vector<std::vector<content_place>> differences_of_groups((places.size() + places_at_once - 1) / places_at_once);
  run_parallel(workers_.size(), differences_of_groups.size(), [&](std::size_t number, std::size_t group) {
    const std::size_t begin = group * places_at_once;
    for (const content_place& each : places.subspan(begin, std::min(places_at_once, places.size() - begin))) {
      compare(workers_[number], each, differences_of_groups[group]);
    }
  });
  std::vector<content_place> differences;
  for (const auto& each : differences_of_groups) differences.insert(differences.end(), each.begin(), each.end());
  return differences;
}

void content_comparison::compare(worker& own, const content_place& place, std::vector<content_place>& differences) {
  const std::uint64_t length = place.record.raw_bytes;
  own.bytes.resize(length);
  const bool is_read = place.file->read(place.offset, own.bytes);
  const auto read_digest = is_read ? own.check(own.bytes) : result<digest>(digest());
  if (!is_read || !read_digest || *read_digest != place.record.content) {
    differences.push_back(place);
    return;
  }
  own.repetition.resize(length);
  for (std::uint64_t i = 1; i < place.count; ++i) {
    const std::uint64_t offset = place.offset + i * length;
    if (place.file->read(offset, own.repetition) && own.repetition == own.bytes) continue;
    const bool continues = !differences.empty() && differences.back().file == place.file &&
                           differences.back().offset + differences.back().count * length == offset &&
                           differences.back().record == place.record;
    if (continues) {
      ++differences.back().count;
    } else {
      differences.push_back({place.record, place.file, offset, 1});
    }
  }
}

}  // namespace cutpoint::store
