#include "cli/inputs/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common/files.h"

namespace cutpoint::cli {

// --- Inputs ----------------------------------------------------------------------------------------------------------

namespace {

/// How long an interrupted run may take to finish the chunks of what it has read.
constexpr std::chrono::milliseconds time_to_finish(200);

constexpr choice<file_access, 4> accesses = {{{"auto", file_access::automatic},
                                              {"pread", file_access::pread},
                                              {"uring", file_access::uring},
                                              {"direct", file_access::direct}}};

bool is_input(const std::string& path, const output& out) {
  return path == standard_input_path ? out.is_same_file(STDIN_FILENO) : out.is_same_file(path);
}

/// Returns whether a file begins as a listing of `cutpoint chunk` or a trace does.
bool is_written_by_us(const std::string& path) {
  constexpr std::array<std::string_view, 4> beginnings = {"# cuts ", "{\"cuts\":", "path,offset,length,digest,",
                                                          "[\n{\"ph\":\"M\",\"name\":\"process_"};
  std::array<std::uint8_t, 32> head = {};
  auto file = file_source::open(path, &interruption());
  const auto count = file ? file->read(head) : result<std::size_t>(0);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), count ? *count : 0);
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return text.starts_with(each); });
}

/// Checks that `what`, which is written to `out`, does not overwrite a file inside the given folders. The folders are walked
/// only if the output has contents that are neither a listing nor a trace. Errors: invalid_argument.
status check_overwrite(const output& out, std::string_view what, const std::vector<std::string>& paths,
                       const walk_options& options) {
  if (!out.has_content() || is_written_by_us(out.name())) return {};
  const auto entry = [&](const tree_entry& each) {
    if (!out.is_same_file(each)) return status();
    return usage_error(fmt::format("{}: is an input, and the {} would be written over it", each.path, what));
  };
  const walk_callbacks visit = {.entry = entry, .problem = [](const std::string&, const status&) { return status(); }};
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!std::filesystem::is_directory(path, unknown)) continue;
    CUTPOINT_RETURN_IF_FAILED(walk(path, options, visit, &interruption()));
  }
  return {};
}

}  // namespace

// --- Options ---------------------------------------------------------------------------------------------------------

void input_options::add_to(option_list& options) {
  paths_.add_to(options, "Files or folders to read; '-' is standard input");
  options.add_flag("-L,--follow", follows_links_, "Follow symbolic links inside folders");
  filter_.add_to(options);
  options.add_value("--input", access_, "NAME", "How regular files are read: auto, pread, uring or direct");
}

void input_options::set_files(std::vector<std::string> paths) {
  paths_.set(std::move(paths));
  reads_folders_ = false;
}

std::vector<std::string_view> input_names() { return names_in(accesses); }

result<walk_options> input_options::walk() const {
  CUTPOINT_TRY(auto options, filter_.checked());
  options.links = links();
  if (!reads_folders_) options.exclude = {*path_pattern::make("*")};  // which the given paths need not obey
  return options;
}

status input_options::check(const output& out, const trace_file* trace) const {
  CUTPOINT_TRY(const auto walked, walk());
  for (const std::string& path : paths()) {
    if (is_input(path, out))
      return usage_error(fmt::format("{}: is an input, and the results would be written to it", path));
    if (trace != nullptr && is_input(path, trace->file())) {
      return usage_error(fmt::format("{}: is an input, and the trace would be written to it", path));
    }
  }
  CUTPOINT_RETURN_IF_FAILED(check_different_files(trace, out));
  CUTPOINT_RETURN_IF_FAILED(check_overwrite(out, "results", paths(), walked));
  return trace != nullptr ? check_overwrite(trace->file(), "trace", paths(), walked) : status();
}

result<file_reader> input_options::make_reader(chunking& job) const {
  CUTPOINT_TRY(const auto access, chosen("input", access_, accesses));
  const std::uint64_t memory_bytes = job.feed.memory_bytes;
  auto reader = make_input_reader(job.feed, access, &interruption());
  job.feed.cancel = &interruption();
  job.feed.cancel_grace = time_to_finish;
  job.reading_bytes = memory_bytes - job.feed.memory_bytes;
  if (reader) return reader;
  if (reader.error().code() != status_code::invalid_argument) {
    return status(reader.error().code(), fmt::format("--input {}: {}", access_, reader.error().message()));
  }
  return usage_error(fmt::format(
      "--input {}: reading ahead needs a --memory of at least 16M and at least four times the maximum chunk", access_));
}

// --- Feeding ---------------------------------------------------------------------------------------------------------

console_feeder::console_feeder(feed& destination, feed* copy, file_reader& reader, input_receiver& receiver,
                               const input_options& inputs, const output& out, const console& say,
                               const chunking_context* context)
    : destination_(destination),
      reader_(reader),
      inputs_(inputs),
      out_(out),
      say_(say),
      repeats_(inputs.repeats() == further_names::skip ? inputs.paths() : std::vector<std::string>(), inputs.links()),
      feeder_({.destination = destination,
               .reader = reader,
               .receiver = receiver,
               .cancel = interruption(),
               .copy = copy,
               .observer = this,
               .repeats = inputs.repeats() == further_names::skip ? &repeats_ : nullptr,
               .context = context}) {}

status console_feeder::feed_all() {
  CUTPOINT_TRY(const auto walked, inputs_.walk());
  exclude_.emplace(walked.exclude);
  if (!reader_.fallback_reason().empty())
    say_.note(fmt::format("files are not read ahead: {}", reader_.fallback_reason()));
  status outcome;
  for (const std::string& path : inputs_.paths()) {
    if (!outcome.ok()) break;
    if (path == standard_input_path) {
      file_source input = file_source::standard_input(&interruption());
      outcome = feeder_.feed_stream(path, input);
    } else {
      outcome = feeder_.feed_tree(path, walked);
    }
  }
  if (!outcome.ok() && outcome.code() != status_code::cancelled) return outcome;
  if (outcome.ok() && inputs_.reads_folders()) {
    exclude_->visit_unmatched(
        [this](const path_pattern&, const status& why) { say_.unmatched_pattern(why.message(), false); });
  }
  outcome = feeder_.finish();
  if (const std::string why = destination_.statistics().device_warning; !why.empty()) say_.warning(why);
  return outcome;
}

bool console_feeder::takes(const tree_entry& entry) {
  return !out_.is_same_file(entry) && (trace_ == nullptr || !trace_->is_same_file(entry));
}

/// The feeder passes over regular files only if results or the trace are written to them.
void console_feeder::passed_over(const std::string& path, file_kind kind) {
  if (kind == file_kind::regular_file) {
    say_.warning(fmt::format("{}: skipped, the results are written to it", path));
  } else {
    ++other_kind_count_;
    say_.note(fmt::format("{}: skipped, it is a {}", path, to_string(kind)));
  }
}

void console_feeder::repeated(const std::string& path) {
  say_.note(fmt::format("{}: skipped, its file was read under another name", path));
}

void console_feeder::left_out(const std::string& path, omission why) {
  constexpr std::string_view reasons[] = {", the patterns leave it out",
                                          ", it is on another file system",
                                          " but for its tag, it is a cache",
                                          " but for its tag",
                                          ", it is too large",
                                          ""};
  say_.note(fmt::format("{}: skipped{}", path, reasons[static_cast<std::size_t>(why)]));
}

void console_feeder::read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
                          std::uint64_t bytes) {
  if (timeline_ != nullptr) timeline_->read(begin, end, bytes);
}

void console_feeder::progressed(const reading_record& record) {
  if (watcher_) watcher_(record);
}

// --- Progress --------------------------------------------------------------------------------------------------------

constexpr std::chrono::milliseconds pause(100);

progress_line::progress_line(const console& say, std::optional<std::uint64_t> total_bytes)
    : say_(say), is_shown_(say.shows_progress()), total_bytes_(total_bytes) {}

void progress_line::update(const reading_record& read, std::optional<double> savings) {
  if (!is_shown_ || read.fed_bytes == 0) return;
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + pause;
  say_.progress(progress_text({.bytes = read.fed_bytes,
                               .total_bytes = total_bytes_,
                               .seconds = std::chrono::duration<double>(now - begin_).count(),
                               .savings = savings}));
}

std::string progress_text(const progress_facts& facts) {
  const double rate = facts.seconds > 0 ? as_double(facts.bytes) / facts.seconds : 0;
  std::string text = human_bytes(as_double(facts.bytes));
  if (facts.total_bytes) {
    const std::uint64_t left = *facts.total_bytes - std::min(*facts.total_bytes, facts.bytes);
    // Rounded down, so that 100 % is shown only at the end.
    text = fmt::format("{:.0f} %", std::floor(100 - 100 * as_double(left) / as_double(*facts.total_bytes)));
    if (rate > 0) text += fmt::format(", {} left", human_seconds(as_double(left) / rate));
  }
  text += ", " + human_rate(rate);
  return facts.savings ? fmt::format("{}, saves {:.0f} %", text, 100 * *facts.savings) : text;
}

std::optional<std::uint64_t> known_total(const input_options& inputs) {
  std::uint64_t total = 0;
  file_set files;
  for (const std::string& path : inputs.paths()) {
    if (path == standard_input_path) return std::nullopt;
    const auto file = describe_file(path, symlinks::follow);
    if (!file || file->kind != file_kind::regular_file) return std::nullopt;
    if (inputs.repeats() == further_names::read || files.insert(*file)) total += file->size;
  }
  return total != 0 ? std::optional(total) : std::nullopt;
}

}  // namespace cutpoint::cli
