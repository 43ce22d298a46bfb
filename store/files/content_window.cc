#include "store/files/content_window.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/core/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_located_places = 1024;
/// Bytes of a container that are read at once, and unwanted bytes between two records that are read with them.
constexpr std::uint64_t most_range_bytes = 4 * MiB;
constexpr std::uint64_t most_gap_bytes = 128 * KiB;

}  // namespace

result<content_window> content_window::make(const store_reading& store, std::uint64_t threads) {
  std::vector<worker> workers;
  const std::size_t count = thread_count(threads);
  for (std::size_t i = 0; i < count; ++i) {
    auto check = store.make_fingerprinter();
    if (!check) return check.error();
    workers.push_back({.check = std::move(*check)});
  }
  auto check = store.make_fingerprinter();
  if (!check) return check.error();
  return content_window(store, std::move(*check), std::move(workers));
}

/// Plans reads of the records of some places. Those that are not found are left to the reader that looks again.
void content_window::locate(std::size_t begin, std::size_t end) {
  std::vector<digest> digests;
  std::vector<std::uint64_t> hints;
  for (std::size_t i = begin; i < end; ++i) {
    digests.push_back(places_[i].record.content);
    hints.push_back(places_[i].record.hint);
  }
  std::vector<std::optional<found_record>> located(digests.size());
  const bool is_located = store_.shards.locate(record_kind::chunk, digests, located, hints).ok();
  for (std::size_t i = begin; i < end; ++i) {
    const auto& record = located[i - begin];
    if (!is_located || !record) {
      workers_.front().unread.push_back(i);
      continue;
    }
    // Tables are not kept, because those of all containers of a window may not fit into memory.
    if (containers_.empty() || containers_.back().id != record->container->id) {
      containers_.push_back({record->container->id, record->container->salt});
    }
    reads_.push_back({i, containers_.size() - 1, record->place});
  }
}

std::uint64_t content_window::plan(std::span<content_place> places) {
  places_ = places;
  reads_.clear();
  containers_.clear();
  // Hints bring the chunks of a container together, so that its table is read once.
  std::ranges::stable_sort(places_, {}, [](const content_place& each) { return each.record.hint; });
  for (std::size_t begin = 0; begin < places_.size(); begin += most_located_places) {
    locate(begin, std::min(begin + most_located_places, places_.size()));
  }
  std::ranges::stable_sort(reads_, [&](const planned_read& a, const planned_read& b) {
    return std::tie(containers_[a.container].id, a.record.position) <
           std::tie(containers_[b.container].id, b.record.position);
  });
  ranges_.clear();
  std::uint64_t read_containers = 0;
  std::uint64_t begin_position = 0;
  std::uint64_t end_position = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const std::uint64_t position = reads_[i].record.position;
    const std::uint64_t end = position + record_bytes(reads_[i].record.description.stored_bytes);
    const bool is_of_next_container =
        i == 0 || containers_[reads_[i].container].id != containers_[reads_[i - 1].container].id;
    if (is_of_next_container) ++read_containers;
    const bool continues =
        !is_of_next_container && position <= end_position + most_gap_bytes && end - begin_position <= most_range_bytes;
    if (!continues) {
      begin = i;
      begin_position = position;
      ranges_.emplace_back();
    }
    ranges_.back() = std::span(reads_).subspan(begin, i + 1 - begin);
    end_position = end;
  }
  return read_containers;
}

void content_window::read(const content_function& take) {
  run_parallel(workers_.size(), ranges_.size(),
               [&](std::size_t index, std::size_t range) { read_range(workers_[index], ranges_[range], take); });
}

void content_window::read_rest(const content_function& take) {
  for (worker& each : workers_) {
    for (const std::size_t unread : std::exchange(each.unread, {})) {
      const auto content = again_.read_chunk(places_[unread].record);
      take(places_[unread], content ? result<byte_span>(*content) : content.error());
    }
  }
}

/// Returns the content of a record of a range that was read. Errors: the reader that looks again will say more.
result<byte_span> content_window::open_record(worker& own, record_opener& opener, const planned_read& read,
                                              std::span<std::uint8_t> record) {
  own.content.clear();
  if (status outcome = opener.append_content(read.record, record, own.content); !outcome.ok()) return outcome;
  const auto digest_of_content = own.check(own.content);
  if (!digest_of_content) return digest_of_content.error();
  const record_reference& wanted = places_[read.place].record;
  if (*digest_of_content == wanted.content) return byte_span(own.content);
  return damage(to_hex(wanted.content), "its content does not have its digest");
}

void content_window::read_range(worker& own, std::span<const planned_read> range, const content_function& take) {
  const container_source& source = containers_[range.front().container];
  const std::uint64_t begin = range.front().record.position;
  const placed_record& last = range.back().record;
  own.bytes.resize(last.position + record_bytes(last.description.stored_bytes) - begin);
  if (!store_.objects.read({object_kind::container, source.id}, begin, own.bytes).ok()) {
    for (const planned_read& each : range) own.unread.push_back(each.place);
    return;
  }
  record_opener opener(source.salt, store_.key);
  result<byte_span> content = byte_span();
  for (std::size_t i = 0; i < range.size(); ++i) {
    const placed_record& record = range[i].record;
    if (i == 0 || range[i - 1].record.position != record.position) {  // places of one record follow each other
      content = open_record(
          own, opener, range[i],
          std::span(own.bytes).subspan(record.position - begin, record_bytes(record.description.stored_bytes)));
    }
    const content_place& place = places_[range[i].place];
    if (content && content->size() == place.record.raw_bytes) {
      take(place, content);
    } else {
      own.unread.push_back(range[i].place);
    }
  }
}

}  // namespace cutpoint::store
