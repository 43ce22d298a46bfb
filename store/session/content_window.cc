#include "store/session/content_window.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "host/core/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

constexpr std::size_t most_located_chunks = 1024;

result<content_window> content_window::make(const store_reading& store, std::uint64_t threads) {
  std::vector<worker> workers;
  const std::size_t count = std::max(thread_count(threads), store.objects.parallel_requests());
  for (std::size_t i = 0; i < count; ++i) {
    CUTPOINT_TRY(auto check, store.make_fingerprinter());
    workers.push_back({.check = std::move(check)});
  }
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  return content_window(store, std::move(check), std::move(workers));
}

/// Plans reads of the records of some chunks. Those that are not found are left to the reader that looks again.
void content_window::locate(std::span<const std::size_t> indices) {
  std::vector<digest> digests;
  std::vector<std::uint64_t> hints;
  for (const std::size_t each : indices) {
    digests.push_back(wanted_[each]->content);
    hints.push_back(wanted_[each]->hint);
  }
  std::vector<std::optional<found_record>> located(digests.size());
  const bool is_located = store_.shards.locate(record_kind::chunk, digests, located, hints).ok();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto& record = located[i];
    if (!is_located || !record) {
      workers_.front().unread.push_back(indices[i]);
      continue;
    }
    // Tables are not kept, because those of all containers of a window may not fit into memory.
    if (containers_.empty() || containers_.back().id != record->container->id) {
      containers_.push_back({record->container->id, record->container->salt});
    }
    reads_.push_back({indices[i], containers_.size() - 1, record->place});
  }
}

std::uint64_t content_window::plan(std::vector<const record_reference*> wanted) {
  wanted_ = std::move(wanted);
  reads_.clear();
  containers_.clear();
  std::vector<std::size_t> order(wanted_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Hints bring the chunks of a container together, so that its table is read once.
  std::ranges::stable_sort(order, {}, [&](std::size_t each) { return wanted_[each]->hint; });
  for (std::size_t begin = 0; begin < order.size(); begin += most_located_chunks) {
    locate(std::span(order).subspan(begin, std::min(most_located_chunks, order.size() - begin)));
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
      const auto chunk = again_.read_stored_chunk(*wanted_[unread]);
      take(unread, chunk ? result(chunk_content{chunk->content, chunk->codec, chunk->frame}) : chunk.error());
    }
  }
}

/// Returns the content of a record of a range that was read. Errors: the reader that looks again will say more.
result<chunk_content> content_window::open_record(worker& own, record_opener& opener, const planned_read& read,
                                                  std::span<std::uint8_t> record) {
  CUTPOINT_TRY(const auto stored, opener.open_payload(read.record, record));
  chunk_content chunk{stored, read.record.description.codec, {}};
  if (chunk.codec != record_codec::none) {
    own.content.resize(read.record.description.raw_bytes);
    if (!decompress(stored, own.content))
      return damage(to_hex(wanted_[read.index]->content), "it cannot be decompressed");
    chunk = {own.content, chunk.codec, stored};
  }
  CUTPOINT_TRY(const auto digest_of_content, own.check(chunk.bytes));
  if (digest_of_content == wanted_[read.index]->content) return chunk;
  return damage(to_hex(wanted_[read.index]->content), "its content does not have its digest");
}

void content_window::read_range(worker& own, std::span<const planned_read> range, const content_function& take) {
  const container_source& source = containers_[range.front().container];
  const std::uint64_t begin = range.front().record.position;
  const placed_record& last = range.back().record;
  own.bytes.resize(last.position + record_bytes(last.description.stored_bytes) - begin);
  if (!store_.objects.read({object_kind::container, source.id}, begin, own.bytes).ok()) {
    for (const planned_read& each : range) own.unread.push_back(each.index);
    return;
  }
  record_opener opener(source.salt, store_.key);
  result<chunk_content> chunk = chunk_content();
  for (std::size_t i = 0; i < range.size(); ++i) {
    const placed_record& record = range[i].record;
    if (i == 0 || range[i - 1].record.position != record.position) {  // places of one record follow each other
      chunk = open_record(
          own, opener, range[i],
          std::span(own.bytes).subspan(record.position - begin, record_bytes(record.description.stored_bytes)));
    }
    if (chunk && chunk->bytes.size() == wanted_[range[i].index]->raw_bytes) {
      take(range[i].index, chunk);
    } else {
      own.unread.push_back(range[i].index);
    }
  }
}

std::vector<result<shared_chunk>> read_chunks(const store_reading& store, std::span<const record_reference> chunks) {
  std::vector<result<shared_chunk>> contents(chunks.size(), shared_chunk());
  auto window = content_window::make(store, 1);
  if (!window) return std::vector<result<shared_chunk>>(chunks.size(), window.error());
  std::vector<const record_reference*> wanted;
  for (const record_reference& each : chunks) wanted.push_back(&each);
  window->plan(std::move(wanted));
  const auto take = [&](std::size_t i, const result<chunk_content>& chunk) {
    if (chunk) {
      contents[i] = std::make_shared<const std::vector<std::uint8_t>>(chunk->bytes.begin(), chunk->bytes.end());
    } else {
      contents[i] = chunk.error();
    }
  };
  window->read(take);
  window->read_rest(take);
  return contents;
}

}  // namespace cutpoint::store
