#include "store/files/content_window.h"

#include <algorithm>
#include <tuple>

#include "store/files/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_places = std::size_t{1} << 16;
constexpr std::size_t located_at_once = 1024;
/// Bytes of a container that are read at once, and unwanted bytes between two records that are read with them.
constexpr std::uint64_t most_range_bytes = 4 * MiB;
constexpr std::uint64_t most_gap_bytes = 128 * KiB;

status wrong_content(const record_reference& record) {
  return damage("the record " + to_hex(record.content), "its content does not have its digest or length");
}

}  // namespace

result<content_window> content_window::make(const store_reading& store, std::uint64_t threads) {
  std::vector<worker> workers;
  for (std::size_t i = 0; i < thread_count(threads); ++i) {
    auto check = store.make_fingerprinter();
    if (!check) return check.error();
    workers.push_back({std::move(*check), {}, {}});
  }
  return content_window(store, std::move(workers));
}

bool content_window::is_full() const noexcept { return places_.size() >= most_places; }

/// Finds the records of some places. If that fails for many of them together, each is tried alone.
void content_window::locate(std::size_t begin, std::size_t end, const content_function& take) {
  std::vector<digest> digests;
  for (std::size_t i = begin; i < end; ++i) digests.push_back(places_[i].record.content);
  std::vector<std::optional<found_record>> found(digests.size());
  if (status located = store_.shards.locate(record_kind::chunk, digests, found); !located.ok()) {
    if (end - begin == 1) {
      take(places_[begin], located);
    } else {
      for (std::size_t i = begin; i < end; ++i) locate(i, i + 1, take);
    }
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const auto& record = found[i - begin];
    if (!record) {
      const std::string name = "the record " + to_hex(places_[i].record.content);
      take(places_[i], damage(name, "no container has it"));
      continue;
    }
    // Tables are not kept, because those of all containers of a window may not fit into memory.
    if (containers_.empty() || containers_.back().id != record->container->id) {
      containers_.push_back({record->container->id, record->container->salt});
    }
    reads_.push_back({i, containers_.size() - 1, record->place()});
  }
}

void content_window::read_all(const content_function& take) {
  reads_.clear();
  containers_.clear();
  // Hints bring the chunks of a container together, so that its table is read once.
  std::ranges::stable_sort(places_, {}, [](const content_place& each) { return each.record.hint; });
  for (std::size_t begin = 0; begin < places_.size(); begin += located_at_once) {
    locate(begin, std::min(begin + located_at_once, places_.size()), take);
  }
  std::ranges::stable_sort(reads_, [&](const planned_read& a, const planned_read& b) {
    return std::tie(containers_[a.container].id, a.record.position) <
           std::tie(containers_[b.container].id, b.record.position);
  });
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  std::uint64_t begin_position = 0;
  std::uint64_t end_position = 0;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const std::uint64_t position = reads_[i].record.position;
    const std::uint64_t end = position + record_bytes(reads_[i].record.description.stored_bytes);
    const bool continues = i != 0 && containers_[reads_[i].container].id == containers_[reads_[i - 1].container].id &&
                           position <= end_position + most_gap_bytes && end - begin_position <= most_range_bytes;
    if (!continues) {
      ranges.emplace_back(i, i);
      begin_position = position;
    }
    ranges.back().second = i + 1;
    end_position = end;
  }
  run_parallel(workers_.size(), ranges.size(), [&](std::size_t index, std::size_t range) {
    const auto [begin, end] = ranges[range];
    read_range(workers_[index], std::span(reads_).subspan(begin, end - begin), take);
  });
  places_.clear();
}

result<byte_span> content_window::open_record(worker& own, record_opener& opener, const planned_read& read,
                                              std::span<std::uint8_t> record) {
  const record_reference& wanted = places_[read.place].record;
  own.content.clear();
  if (status opened = opener.append_content(read.record, record, own.content); !opened.ok()) {
    return is_damage(opened)
               ? damage(path_of({object_kind::container, containers_[read.container].id}), opened.message())
               : opened;
  }
  const auto made = own.check(own.content);
  if (!made) return made.error();
  return *made == wanted.content ? result<byte_span>(own.content) : result<byte_span>(wrong_content(wanted));
}

void content_window::read_range(worker& own, std::span<const planned_read> range, const content_function& take) {
  const container_source& source = containers_[range.front().container];
  const std::uint64_t begin = range.front().record.position;
  const placed_record& last = range.back().record;
  own.bytes.resize(last.position + record_bytes(last.description.stored_bytes) - begin);
  const status read = store_.objects.read({object_kind::container, source.id}, begin, own.bytes);
  record_opener opener(source.salt, store_.key);
  for (std::size_t i = 0; i < range.size();) {
    std::size_t next = i;
    while (next < range.size() && range[next].record.position == range[i].record.position) ++next;
    const auto places = range.subspan(i, next - i);  // of one record
    if (!read.ok() && places.size() != range.size()) {
      read_range(own, places, take);  // perhaps only another record of the range cannot be read
    } else {
      const std::size_t length = record_bytes(range[i].record.description.stored_bytes);
      const auto record = std::span(own.bytes).subspan(read.ok() ? range[i].record.position - begin : 0, length);
      const auto content = read.ok() ? open_record(own, opener, range[i], record) : result<byte_span>(read);
      for (const planned_read& each : places) {
        const content_place& place = places_[each.place];
        const bool is_wrong = content && content->size() != place.record.raw_bytes;
        take(place, is_wrong ? result<byte_span>(wrong_content(place.record)) : content);
      }
    }
    i = next;
  }
}

}  // namespace cutpoint::store
