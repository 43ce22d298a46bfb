#include "store/index/shard_merge.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>

#include <fmt/format.h>

#include "store/index/shard_writer.h"

namespace cutpoint::store {

namespace {

constexpr std::uint32_t dropped_container = ~std::uint32_t{0};

/// The entries of one shard, in order, with the containers of the merged shard.
class merge_input {
 public:
  merge_input(const shard& input, std::vector<std::uint32_t> containers)
      : input_(&input), containers_(std::move(containers)) {}

  /// Reads the next entry whose container is kept. Returns false at the end. Errors: those of the shard.
  [[nodiscard]] result<bool> next(shard_entry& entry) {
    for (;;) {
      while (at_ == entries_.size()) {
        if (next_partition_ == input_->partition_count()) return false;
        entries_.clear();
        at_ = 0;
        if (status read = input_->read_partition(next_partition_++, entries_); !read.ok()) return read;
      }
      entry = entries_[at_++];
      entry.container = containers_[entry.container];
      if (entry.container != dropped_container) return true;
    }
  }

 private:
  const shard* input_;
  std::vector<std::uint32_t> containers_;  ///< the index in the merged shard, for each container of the input
  std::vector<shard_entry> entries_;       ///< of one partition
  std::size_t at_ = 0;
  std::size_t next_partition_ = 0;
};

std::vector<shard_container> union_of_containers(std::span<const shard* const> inputs,
                                                 const std::function<bool(const container_name&)>& keeps) {
  std::vector<shard_container> containers;
  for (const shard* each : inputs) {
    for (std::uint32_t i = 0; i < each->container_count(); ++i) containers.push_back(each->container_at(i));
  }
  std::sort(containers.begin(), containers.end());
  containers.erase(std::unique(containers.begin(), containers.end()), containers.end());
  std::erase_if(containers, [&](const shard_container& each) { return !keeps(each.name); });
  return containers;
}

std::vector<std::uint32_t> indices_in(const std::vector<shard_container>& containers, const shard& input) {
  std::vector<std::uint32_t> indices(input.container_count());
  for (std::uint32_t i = 0; i < indices.size(); ++i) {
    const shard_container container = input.container_at(i);
    const auto position = std::lower_bound(containers.begin(), containers.end(), container);
    const bool is_kept = position != containers.end() && *position == container;
    indices[i] = is_kept ? static_cast<std::uint32_t>(position - containers.begin()) : dropped_container;
  }
  return indices;
}

/// The next entry of an input. A damaged input may not be sorted; then an entry may come too late, and is left out.
struct next_entry {
  shard_entry entry;
  std::size_t input;

  bool operator>(const next_entry& other) const { return entry > other.entry; }
};

}  // namespace

result<std::string> merge_shards(storage& objects, seal_kind seal, std::span<const shard* const> inputs,
                                 const std::function<bool(const container_name&)>& keeps) {
  const std::vector<shard_container> containers = union_of_containers(inputs, keeps);
  if (containers.size() > most_shard_containers) {
    return status(status_code::memory_limit, fmt::format("a shard cannot have {} containers", containers.size()));
  }
  std::vector<merge_input> sources;
  std::uint64_t most_entries = 0;
  for (const shard* each : inputs) {
    sources.emplace_back(*each, indices_in(containers, *each));
    most_entries += each->entry_count();
  }
  std::string id = new_shard_id();
  auto object = objects.create({object_kind::shard, id});
  if (!object) return object.error();
  object_salt salt;
  fill_random(salt);
  shard_writer writer(**object, salt, seal, containers, most_entries);

  std::priority_queue<next_entry, std::vector<next_entry>, std::greater<>> queue;
  const auto advance = [&](std::size_t input) -> status {
    next_entry next{{}, input};
    const auto has_next = sources[input].next(next.entry);
    if (!has_next) return has_next.error();
    if (*has_next) queue.push(next);
    return {};
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (status advanced = advance(i); !advanced.ok()) return advanced;
  }
  std::optional<shard_entry> last;
  while (!queue.empty()) {
    const next_entry next = queue.top();
    queue.pop();
    if (status advanced = advance(next.input); !advanced.ok()) return advanced;
    if (last && next.entry <= *last) continue;
    if (status appended = writer.append(next.entry); !appended.ok()) return appended;
    last = next.entry;
  }
  if (status finished = writer.finish(); !finished.ok()) return finished;
  return id;
}

std::vector<std::size_t> shards_to_merge(std::span<const std::uint64_t> entry_counts) {
  std::vector<std::size_t> order(entry_counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return entry_counts[a] < entry_counts[b]; });
  std::uint64_t smaller = 0;
  std::size_t merged = 0;  // the smallest shards, up to the last one that the smaller ones outweigh
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && entry_counts[order[i]] < smaller) merged = i + 1;
    smaller += entry_counts[order[i]];
  }
  order.resize(merged);
  return order;
}

}  // namespace cutpoint::store
