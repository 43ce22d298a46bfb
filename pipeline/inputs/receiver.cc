// The receiver of inputs, which finds the input of each stream that is delivered; what it counts; files with several names.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <cutpoint/input_tally.h>
#include <cutpoint/inputs.h>
#include <cutpoint/repeated_file_filter.h>
#include <fmt/format.h>

namespace cutpoint {

std::uint64_t input_receiver::add(std::string path) { return entries_.add({std::move(path), meaning::input}); }

std::uint64_t input_receiver::add_failure(std::string path, failure_kind kind) {
  return entries_.add({std::move(path), kind == failure_kind::fed ? meaning::failure_of_last : meaning::failure});
}

std::uint64_t input_receiver::add_second_reading(std::string path, status why) {
  has_second_readings_ = true;
  return entries_.add({std::move(path), meaning::second_reading, std::move(why)});
}

status input_receiver::begin_stream(std::uint64_t stream) {
  const entry begun = entries_.find(stream);
  if (begun.means == meaning::second_reading) second_chunks_.emplace();
  if (begun.means != meaning::input) return {};
  last_chunks_ = {};
  return begin_input(stream, begun.path);
}

status input_receiver::take(const delivered_chunk& chunk) {
  (second_chunks_ ? *second_chunks_ : last_chunks_).add(chunk.length, chunk.count, chunk.fingerprint);
  return second_chunks_ ? status() : take_chunk(chunk);
}

status input_receiver::end_stream(std::uint64_t stream, const status& outcome) {
  const entry ended = entries_.remove(stream);
  if (ended.means == meaning::second_reading) return end_second_reading(ended, outcome);
  if (ended.means == meaning::input) CUTPOINT_RETURN_IF_FAILED(end_input(stream, outcome));
  if (outcome.code() == status_code::cancelled) return {};
  if (outcome.ok()) {
    ++done_count_;
    return {};
  }
  if (ended.means == meaning::failure_of_last) --done_count_;
  return fail(ended.path, outcome);
}

status input_receiver::end_second_reading(const entry& ended, const status& outcome) {
  chunk_list_digest chunks = *std::exchange(second_chunks_, std::nullopt);
  if (outcome.code() == status_code::cancelled) return {};
  if (outcome.ok() && chunks.is_same_content(last_chunks_)) return {};
  --done_count_;
  return fail(ended.path, ended.why);
}

status input_receiver::fail(const std::string& path, const status& why) {
  ++failed_count_;
  if (why.code() == status_code::io_error) return input_failed(path, why);  // it names the path
  return input_failed(path, {why.code(), fmt::format("{}: {}", path, why.message())});
}

/// Passes on the chunks between second readings.
status input_receiver::select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work) {
  if (!has_second_readings_) return select_chunks(chunks, work);
  for (std::size_t begin = 0; begin < chunks.size();) {
    const std::uint64_t stream = chunks[begin].stream;
    std::size_t end = begin + 1;
    while (end < chunks.size() && chunks[end].stream == stream) ++end;
    if (entries_.find(stream).means != meaning::second_reading) {
      const std::size_t count = end - begin;
      CUTPOINT_RETURN_IF_FAILED(select_chunks(chunks.subspan(begin, count), work.subspan(begin, count)));
    }
    begin = end;
  }
  return {};
}

status input_receiver::select_chunks(std::span<const delivered_chunk> chunks,
                                     std::span<std::unique_ptr<chunk_work>> work) {
  return chunk_receiver::select(chunks, work);
}

// The tally of inputs. It numbers the kinds of files in the order in which they first occur.

input_tally::input_tally(fingerprint_kind fingerprint, chunking_context context)
    : context_(std::move(context)), tally_(fingerprint, [this](std::uint64_t) { return kind_; }) {}

std::vector<std::string> input_tally::kind_names() const {
  std::vector<std::string> names(kinds_.size());
  for (const auto& [kind, number] : kinds_) names[number] = kind.second;
  return names;
}

std::vector<std::size_t> input_tally::kind_rules() const {
  std::vector<std::size_t> rules(kinds_.size());
  for (const auto& [kind, number] : kinds_) rules[number] = kind.first;
  return rules;
}

std::string input_tally::kind_of(const std::string& path) const { return kind_of_file(path); }

status input_tally::begin_input(std::uint64_t stream, const std::string& path) {
  kind_ = kinds_.try_emplace({context_.rule_of(path), kind_of(path)}, kinds_.size()).first->second;
  return tally_.begin_stream(stream);
}

status input_tally::end_input(std::uint64_t stream, const status& outcome) {
  return tally_.end_stream(stream, outcome);
}

// The filter finds overlapping paths by their canonical names before the first walk.

namespace {

std::string with_slash(std::string path) {
  if (!path.ends_with('/')) path += '/';
  return path;
}

}  // namespace

repeated_file_filter::repeated_file_filter(const std::vector<std::string>& paths, symlinks links,
                                           const cancellation* cancel)
    : remembers_all_(links == symlinks::follow), links_(cancel) {
  if (paths.size() < 2 || remembers_all_) return;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto name = std::filesystem::canonical(path, error);
    if (error == std::errc::no_such_file_or_directory) continue;
    if (error) {
      remembers_all_ = true;  // for example because the canonical name is too long
      return;
    }
    names.push_back(with_slash(name));
  }
  std::sort(names.begin(), names.end());
  const std::string* container = nullptr;  // in this order, whatever a path contains follows it
  for (const std::string& name : names) {
    if (container == nullptr || !name.starts_with(*container)) {
      container = &name;
      continue;
    }
    const auto contained = describe_file(name.substr(0, std::max<std::size_t>(name.size() - 1, 1)), symlinks::skip);
    if (contained) contained_paths_.insert(*contained);
  }
}

bool repeated_file_filter::is_repeated(const tree_entry& entry) {
  if (entry.is_given) contained_folder_.clear();
  const bool is_below = !contained_folder_.empty() && entry.path.starts_with(contained_folder_);
  const bool is_contained = is_below || contained_paths_.contains(entry);
  if (entry.kind == file_kind::directory && is_contained && !is_below) contained_folder_ = with_slash(entry.path);
  if (entry.kind != file_kind::regular_file) return false;
  if (entry.link_count > 1) return !links_.insert(entry).is_first;
  return (remembers_all_ || is_contained) && !known_files_.insert(entry);
}

}  // namespace cutpoint
