#include "bench/tablets/tablet_index.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

/// A table that is never full. The room is addresses alone.
constexpr std::uint64_t most_single_bytes = std::uint64_t{1} << 40;

/// How large the file of a tablet can become: transactions copy the pages that they change before the old ones are free.
std::uint64_t most_file_bytes(const tablet_options& options) {
  return options.order == tablet_order::single ? most_single_bytes
                                               : 8 * options.tablet_bytes + (std::uint64_t{16} << 20);
}

constexpr std::array<std::string_view, tablet_orders> order_names = {"single", "linear", "lru", "lru-list",
                                                                     "lru-creation"};

}  // namespace

std::string_view name_of(tablet_order order) noexcept { return order_names[static_cast<std::size_t>(order)]; }

tablet_index::tablet_index(tablet_options options)
    : options_(std::move(options)), filter_(options_.filter_bits, options_.filter_functions) {}

std::string tablet_index::path_of(std::size_t number) const {
  return fmt::format("{}/tablet-{:06}", options_.folder, number);
}

std::string tablet_index::filter_path() const {
  return fmt::format("{}/filter-{}-{}", options_.folder, filter_.bits(), filter_.functions());
}

/// Returns false if there is no such filter.
bool tablet_index::read_filter() {
  const std::span<char> bytes(reinterpret_cast<char*>(filter_.words().data()), filter_.words().size_bytes());
  std::ifstream file(filter_path(), std::ios::binary);
  return file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) && file.peek() == EOF;
}

status tablet_index::write_filter() {
  if (size_of_file_ == size_) return {};
  const auto bytes = std::as_bytes(filter_.words());
  std::ofstream file(filter_path(), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return {status_code::io_error, filter_path() + " cannot be written", errno};
  size_of_file_ = size_;
  return {};
}

void tablet_index::add_tablet() {
  const std::size_t number = by_creation_.size();
  const bool is_at_end = options_.order == tablet_order::linear;
  by_creation_.push_back(list_.insert(is_at_end ? list_.end() : list_.begin(),
                                      entry{tablet(path_of(number), most_file_bytes(options_)), number}));
}

status tablet_index::load() {
  const bool has_filter = read_filter();
  while (std::filesystem::exists(path_of(by_creation_.size()))) {
    add_tablet();
    tablet& last = by_creation_.back()->table;
    CUTPOINT_RETURN_IF_FAILED(has_filter ? last.open() : last.visit([this](const digest& each) { filter_.add(each); }));
    size_ += last.size();
    CUTPOINT_RETURN_IF_FAILED(last.close());
  }
  if (has_filter) size_of_file_ = size_;
  return {};
}

/// Closes the tablet that was used longest ago, if a file must be opened and too many are.
status tablet_index::use(entry& each) {
  each.last_used = ++uses_;
  if (each.table.is_open()) return {};
  ++counts_.openings;
  if (options_.most_open == 0 || open_count_ < options_.most_open) {
    ++open_count_;
    return {};
  }
  entry* oldest = nullptr;
  for (entry& other : list_) {
    if (other.table.is_open() && (oldest == nullptr || other.last_used < oldest->last_used)) oldest = &other;
  }
  return oldest->table.close();
}

void tablet_index::move_to_head(position hit) {
  if (hit == list_.begin() || options_.order == tablet_order::linear || options_.order == tablet_order::single) return;
  position successor = list_.end();
  if (options_.order == tablet_order::lru_list) successor = std::next(hit);
  if (options_.order == tablet_order::lru_creation && hit->number + 1 < by_creation_.size())
    successor = by_creation_[hit->number + 1];
  list_.splice(list_.begin(), list_, hit);
  if (successor != list_.end()) list_.splice(std::next(hit), list_, successor);
}

result<bool> tablet_index::find(const digest& content) {
  ++counts_.lookups;
  if (!filter_.may_have(content)) {
    ++counts_.filtered;
    return false;
  }
  for (position each = list_.begin(); each != list_.end(); ++each) {
    CUTPOINT_RETURN_IF_FAILED(use(*each));
    const auto has = each->table.has(content);
    if (!has) return has;
    ++counts_.examined;
    counts_.pages += each->table.depth();
    if (!*has) continue;
    ++counts_.hits;
    move_to_head(each);
    return true;
  }
  ++counts_.false_positives;
  return false;
}

status tablet_index::insert_new(const digest& content) {
  const bool is_full = by_creation_.empty() || (options_.order != tablet_order::single &&
                                                by_creation_.back()->table.used_bytes() >= options_.tablet_bytes);
  if (is_full) {
    if (!by_creation_.empty()) {
      tablet& full = by_creation_.back()->table;
      if (full.is_open()) --open_count_;
      // What is not open leaves the page cache where that is bounded.
      CUTPOINT_RETURN_IF_FAILED(options_.most_open == 0 ? full.finish() : full.close());
    }
    add_tablet();
  }
  entry& last = *by_creation_.back();
  CUTPOINT_RETURN_IF_FAILED(use(last));
  CUTPOINT_RETURN_IF_FAILED(last.table.insert(content));
  filter_.add(content);
  ++size_;
  return {};
}

status tablet_index::look_up(std::span<const digest> digests, std::span<index_answer> answers) {
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const auto is_present = find(digests[i]);
    if (!is_present) return is_present.error();
    answers[i] = *is_present ? index_answer::present : index_answer::absent;
  }
  return {};
}

status tablet_index::insert(std::span<const digest> digests, std::span<index_answer> answers) {
  for (std::size_t i = 0; i < digests.size(); ++i) {
    CUTPOINT_RETURN_IF_FAILED(look_up(digests.subspan(i, 1), answers.subspan(i, 1)));
    if (answers[i] == index_answer::present) continue;
    CUTPOINT_RETURN_IF_FAILED(insert_new(digests[i]));
  }
  return by_creation_.empty() ? status() : by_creation_.back()->table.commit();
}

status tablet_index::close() {
  for (entry& each : list_) {
    CUTPOINT_RETURN_IF_FAILED(each.table.close());
  }
  open_count_ = 0;
  return write_filter();
}

std::uint64_t tablet_index::memory_bytes() const noexcept {
  return filter_.bits() / 8 + list_.size() * (sizeof(entry) + 2 * sizeof(void*)) +
         by_creation_.size() * sizeof(position);
}

std::uint64_t tablet_index::used_bytes() const noexcept {
  return std::accumulate(list_.begin(), list_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const entry& each) { return sum + each.table.used_bytes(); });
}

std::uint64_t tablet_index::file_bytes() const noexcept {
  return std::accumulate(list_.begin(), list_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const entry& each) { return sum + each.table.file_bytes(); });
}

std::vector<std::size_t> tablet_index::order() const {
  std::vector<std::size_t> numbers;
  for (const entry& each : list_) numbers.push_back(each.number);
  return numbers;
}

}  // namespace cutpoint::bench
