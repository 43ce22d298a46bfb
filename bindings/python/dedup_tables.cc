// The parts of a deduplication over many machines, cutpoint.ray: pages of what a walk finds, tables of the chunks of files and of
// segments, and the report of what was counted.
//
//     list_files ──► map_files, map_segment ──► sorted and counted in Python ──► dedup_of_counts
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <tuple>
#include <unordered_map>

#include <cutpoint/context_file.h>
#include <cutpoint/dedup_report.h>
#include <cutpoint/input_tally.h>
#include <cutpoint/repeated_file_filter.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/stat.h>

#include "bindings/python/dedup.h"
#include "bindings/python/errors.h"
#include "bindings/python/input.h"
#include "bindings/python/module.h"
#include "bindings/python/process.h"
#include "bindings/python/views.h"

namespace cutpoint::python {

namespace {

/// How files are cut: settings, and the rules of a context.
struct dedup_job {
  settings how;
  chunking_context context;

  /// `context_text` is a name or TOML; empty for no context. `are_cuts_named` is whether the caller chose those of the settings.
  dedup_job(const settings& chosen, const std::string& context_text, bool are_cuts_named) : how(chosen) {
    if (how.feed.fingerprint.kind == fingerprint_kind::none) {
      raise(PyExc_ValueError, "fingerprint = 'none': duplicates are found by their fingerprints");
    }
    if (context_text.empty()) return;
    context_file read = value_or_raise(parse_context(context_text));
    if (read.others && are_cuts_named) {
      raise(PyExc_ValueError, "the context says how its other files are cut, and so does the argument 'cuts'");
    }
    if (read.others) how.feed.cuts = *read.others;
    context = std::move(read.rules);
    how.feed.rule_cuts = context.cuts();
  }
};

std::uint64_t nanoseconds(const std::timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// --- Pages of files --------------------------------------------------------------------------------------------------

/// The numbers of a listed file, in this order: its kind, whether it can be read in segments, and what changes with its content.
constexpr std::size_t fact_count = 6;

/// Files in the order of the walk.
struct page {
  std::vector<std::string> paths;
  std::vector<std::uint64_t> facts;  ///< `fact_count` for each
  std::uint64_t bytes = 0;
  std::vector<failed_input> failures;
  std::uint64_t repeated_count = 0;
  std::uint64_t other_kind_count = 0;                          ///< files without bytes, such as links
  std::vector<std::pair<std::size_t, std::string>> new_kinds;  ///< rule and name, in the order of their numbers

  [[nodiscard]] bool is_empty() const {
    return paths.empty() && failures.empty() && repeated_count + other_kind_count == 0;
  }
};

nb::tuple tuple_of(page&& listed) {
  nb::list paths;
  for (const std::string& path : listed.paths) paths.append(nb::bytes(path.data(), path.size()));
  nb::list new_kinds;
  for (const auto& [rule, name] : listed.new_kinds) new_kinds.append(nb::make_tuple(rule, sentence_text(name)));
  return nb::make_tuple(paths, view_of(std::move(listed.facts), {listed.paths.size(), fact_count}), listed.bytes,
                        failure_list(listed.failures), listed.repeated_count, listed.other_kind_count, new_kinds);
}

/// Collects the entries that `dedup` reads, by its own rules, into pages.
class page_maker {
 public:
  page_maker(const dedup_job& job, const std::vector<std::string>& paths, symlinks links, std::uint64_t most_bytes,
             std::uint64_t most_files, nb::object receive, const cancellation& cancel)
      : job_(job),
        most_bytes_(most_bytes),
        most_files_(most_files),
        receiver_(std::move(receive)),
        repeats_(paths, links, &cancel) {}

  status list(const std::string& path, const walk_options& options, const cancellation& cancel) {
    const walk_callbacks callbacks = {.entry = [this](const tree_entry& entry) { return add(entry); },
                                      .problem =
                                          [this](const std::string& failed, const status& why) {
                                            page_.failures.push_back({failed, why});
                                            return pass_on(page_.failures.size() >= most_files_);
                                          }};
    return walk(path, options, callbacks, &cancel);
  }
  status finish() { return pass_on(!page_.is_empty()); }
  void raise_failure() { receiver_.raise_failure(); }

 private:
  status add(const tree_entry& entry) {
    const bool is_repeated = repeats_.is_repeated(entry);
    if (!entry.is_readable_stream()) {
      page_.other_kind_count += entry.kind != file_kind::directory ? 1 : 0;
      return {};
    }
    if (is_repeated) {
      ++page_.repeated_count;
      return {};
    }
    const bool is_regular = entry.kind == file_kind::regular_file;
    const bool is_large = is_regular && entry.size > most_bytes_;  // which has a page of its own
    CUTPOINT_RETURN_IF_FAILED(pass_on(is_large && !page_.paths.empty()));
    const std::pair<std::size_t, std::string> kind(job_.context.rule_of(entry.path), kind_of_file(entry.path));
    const auto [known, is_new] = kinds_.try_emplace(kind, kinds_.size());
    if (is_new) page_.new_kinds.push_back(kind);
    page_.paths.push_back(entry.path);
    for (const std::uint64_t fact : {known->second, std::uint64_t{is_large}, entry.size, nanoseconds(entry.modified),
                                     nanoseconds(entry.changed), entry.inode}) {
      page_.facts.push_back(fact);
    }
    page_.bytes += is_regular ? entry.size : 0;
    return pass_on(is_large || page_.bytes >= most_bytes_ || page_.paths.size() >= most_files_);
  }

  status pass_on(bool is_due) {
    if (!is_due) return {};
    page full = std::exchange(page_, page());
    return receiver_.call(true, [&] { return tuple_of(std::move(full)); }) ? status() : stopped_as_asked();
  }

  const dedup_job& job_;
  std::uint64_t most_bytes_;
  std::uint64_t most_files_;
  progress_caller receiver_;
  repeated_file_filter repeats_;
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> kinds_;
  page page_;
};

/// Options of the walk: follow_links, exclude, exclude in any case, include, tags with headers, largest_file_bytes, one_file_system,
/// exclude_caches.
using walk_fields =
    std::tuple<bool, std::vector<nb::object>, std::vector<nb::object>, std::vector<nb::object>,
               std::vector<std::pair<std::string, std::string>>, std::optional<std::uint64_t>, bool, bool>;

walk_options make_walk(const walk_fields& fields) {
  const auto& [follows, exclude, in_any_case, include, tags, largest, one_file_system, exclude_caches] = fields;
  walk_options options{.links = follows ? symlinks::follow : symlinks::skip,
                       .exclude = make_patterns(exclude),
                       .include = make_patterns(include),
                       .largest_file_bytes = largest.value_or(UINT64_MAX),
                       .one_file_system = one_file_system,
                       .exclude_caches = exclude_caches};
  for (const nb::object& each : in_any_case) {
    options.exclude.push_back(value_or_raise(path_pattern::make(path_of(each), letter_case::ignored)));
  }
  for (const auto& [name, header] : tags) options.exclude_tagged.push_back({.name = name, .header = header});
  return options;
}

/// Walks the paths and calls `receive` with pages of at most so many files, and of so many bytes unless a file is larger. A page is a
/// tuple: paths as bytes, a view of their facts, bytes, failures, names of files that were found before, and kinds that are new.
void list_files(const dedup_job& job, const std::vector<nb::object>& path_objects, const walk_fields& walking,
                std::uint64_t most_bytes, std::uint64_t most_files, nb::object receive) {
  std::vector<std::string> paths;
  for (const nb::object& path : path_objects) paths.push_back(path_of(path));
  const walk_options options = make_walk(walking);
  process_cancellation cancel;
  page_maker pages(job, paths, options.links, most_bytes, most_files, std::move(receive), cancel);
  const status outcome = interruptibly(cancel, duration::any, [&]() -> status {
    for (const std::string& path : paths) CUTPOINT_RETURN_IF_FAILED(pages.list(path, options, cancel));
    return pages.finish();
  });
  pages.raise_failure();
  check(outcome);
}

// --- Tables of chunks ------------------------------------------------------------------------------------------------

/// The chunks of files. A run of equal chunks has one entry; `lengths_of_all` counts each of its chunks.
struct chunk_table {
  std::vector<std::uint64_t> fingerprints;  ///< the first 8 bytes of each digest
  std::vector<std::uint32_t> lengths;  ///< of chunks below 4 GiB; longer ones are cut short here, not in the counts
  std::vector<std::uint32_t> files;    ///< index of the file
  std::unordered_map<std::uint64_t, std::uint64_t> lengths_of_all;

  void add(std::uint64_t length, std::uint64_t count, const digest& fingerprint, std::size_t file) {
    std::uint64_t value = 0;
    std::memcpy(&value, fingerprint.bytes.data(), sizeof(value));
    fingerprints.push_back(value);
    lengths.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(length, UINT32_MAX)));
    files.push_back(static_cast<std::uint32_t>(file));
    lengths_of_all[length] += count;
  }
  /// Returns views of the columns, and one of rows of a length and its number of chunks.
  [[nodiscard]] nb::tuple views() && {
    std::vector<std::uint64_t> rows;
    for (const auto& [length, count] : lengths_of_all) rows.insert(rows.end(), {length, count});
    const std::size_t row_count = lengths_of_all.size();
    return nb::make_tuple(view_of(std::move(fingerprints)), view_of(std::move(lengths)), view_of(std::move(files)),
                          view_of(std::move(rows), {row_count, 2}));
  }
};

/// The work of a feed as numbers that can be added, and the names of its back ends.
nb::tuple tuple_of(const feed_statistics& work, const stage_work& reading) {
  std::vector<double> sums = {reading.seconds, static_cast<double>(reading.bytes)};
  for (std::size_t i = 0; i < stage_count; ++i) {
    stage_work sum;
    for (const lane_record& lane : work.lanes) {
      sum.seconds += lane.work[i].seconds;
      sum.bytes += lane.work[i].bytes;
    }
    sums.insert(sums.end(), {sum.seconds, static_cast<double>(sum.bytes)});
  }
  for (const std::uint64_t count : {work.run_bytes, work.twice_cut_bytes, work.twice_hashed_bytes, work.segment_count,
                                    work.speculated_count, work.missed_count, work.ring_bytes, work.segment_bytes}) {
    sums.push_back(static_cast<double>(count));
  }
  return nb::make_tuple(sums, to_string(work.chunked_on), to_string(work.fingerprinted_on));
}

/// Takes whole files. A file that cannot be opened has no row of counts but zeros.
class file_table final : public input_receiver {
 public:
  explicit file_table(const std::vector<std::string>& paths) : paths_(paths), counts_(paths.size() * 3) {}

  chunk_table chunks;
  std::vector<failed_input> failures;

  /// Returns for each file whether it was opened, its bytes and its number of chunks.
  [[nodiscard]] std::vector<std::uint64_t> take_counts() { return std::move(counts_); }

 private:
  status begin_input(std::uint64_t, const std::string& path) override {
    while (paths_[next_] != path) ++next_;  // inputs begin in the order of the paths
    file_ = next_++;
    counts_[3 * file_] = 1;
    return {};
  }
  status take_chunk(const delivered_chunk& c) override {
    chunks.add(c.length, c.count, c.fingerprint, file_);
    counts_[3 * file_ + 1] += c.length * c.count;
    counts_[3 * file_ + 2] += c.count;
    return {};
  }
  status end_input(std::uint64_t, const status&) override { return {}; }
  status input_failed(const std::string& path, const status& why) override {
    failures.push_back({path, why});
    return {};
  }

  const std::vector<std::string>& paths_;
  std::vector<std::uint64_t> counts_;
  std::size_t next_ = 0;
  std::size_t file_ = 0;
};

/// Waits so that at most so many bytes a second are read; 0 is no limit.
class read_limit final : public input_observer {
 public:
  read_limit(std::uint64_t bytes_per_second, const cancellation& cancel)
      : bytes_per_second_(bytes_per_second), cancel_(cancel) {}

  void progressed(const reading_record& record) override { wait(record.work.bytes); }
  void wait(std::uint64_t read_bytes) const {
    if (bytes_per_second_ == 0) return;
    const std::chrono::duration<double> due(static_cast<double>(read_bytes) / static_cast<double>(bytes_per_second_));
    while (std::chrono::steady_clock::now() - begun_ < due && !cancel_.is_requested()) {
      std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(due, signal_period));
    }
  }

 private:
  std::uint64_t bytes_per_second_;
  const cancellation& cancel_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// Returns the views of the chunks of whole files, a view of what is counted for each file, the numbers of inputs that were read and
/// that failed, the failures, and the work.
nb::tuple map_files(const dedup_job& job, const std::vector<nb::bytes>& names, std::uint64_t most_bytes_per_second) {
  std::vector<std::string> paths;
  for (const nb::bytes& name : names) paths.emplace_back(name.c_str(), name.size());
  process_cancellation cancel;
  feed_options options = job.how.feed;
  options.cancel = &cancel;
  file_table table(paths);
  read_limit limit(most_bytes_per_second, cancel);
  feed_statistics work;
  stage_work reading;
  const walk_options walked{
      .exclude = {value_or_raise(path_pattern::make("*"))}};  // what has become a folder is not entered
  check(interruptibly(cancel, duration::any, [&]() -> status {
    CUTPOINT_TRY(auto reader, make_input_reader(options, file_access::automatic, &cancel));
    CUTPOINT_TRY(const auto threads, find_engine(job.how.threads));
    CUTPOINT_TRY(auto destination, threads->open(options, table));
    input_feeder feeder({.destination = destination,
                         .reader = reader,
                         .receiver = table,
                         .cancel = cancel,
                         .observer = &limit,
                         .context = &job.context});
    for (const std::string& path : paths) CUTPOINT_RETURN_IF_FAILED(feeder.feed_tree(path, walked));
    CUTPOINT_RETURN_IF_FAILED(feeder.finish());
    work = destination.statistics();
    reading = feeder.record().work;
    return {};
  }));
  return nb::make_tuple(std::move(table.chunks).views(), view_of(table.take_counts(), {paths.size(), 3}),
                        table.done_count(), table.failed_count(), failure_list(table.failures),
                        tuple_of(work, reading));
}

// --- Segments of a large file ----------------------------------------------------------------------------------------

/// A segment that is cut as if a stream began at `warm_up`. It has the chunks that begin in [first cut at or after `begin`, `end`).
/// The cut that follows a start depends only on the bytes from the look-behind on, so if the first cut here is where the chunks of
/// the segment before end, both have met, and all cuts from there on are those of the file.
struct segment_bounds {
  std::uint64_t warm_up = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class segment_table final : public chunk_receiver {
 public:
  segment_table(const segment_bounds& bounds, std::uint64_t behind)
      : bounds_(bounds), last_resumable_(bounds.end - std::min(bounds.end, behind)) {
    if (bounds.warm_up == bounds.begin) first_ = end_ = bounds.begin;
  }

  chunk_table chunks;

  /// Whether all chunks of the segment were taken. May be called from any thread.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_.load(std::memory_order_acquire); }
  /// Returns where its chunks begin, where they end, their number, and the last cut from which a stream has the look-behind of
  /// the next segment, or None; valid when `is_complete`, or when the feed has finished.
  [[nodiscard]] nb::tuple counts() const {
    return nb::make_tuple(first_.value_or(bounds_.end), end_, chunk_count_, resume_ ? nb::cast(*resume_) : nb::none());
  }

  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const delivered_chunk& c) override {
    const std::uint64_t start = bounds_.warm_up + c.offset;
    // Of the equal chunks of a run, those that begin in the segment.
    const auto index_of = [&](std::uint64_t offset) {
      return offset <= start ? 0 : std::min(c.count, (offset - start + c.length - 1) / c.length);
    };
    const std::uint64_t before = index_of(bounds_.begin);
    const std::uint64_t until = index_of(bounds_.end);
    const std::uint64_t stop = start + c.count * c.length;
    if (!first_ && stop >= bounds_.begin) first_ = end_ = start + before * c.length;
    if (first_ && std::max(start, *first_) <= last_resumable_) {
      resume_ = std::max(*first_, start + std::min(c.count, (last_resumable_ - start) / c.length) * c.length);
    }
    if (before < until) {
      chunks.add(c.length, until - before, c.fingerprint, 0);
      chunk_count_ += until - before;
      end_ = start + until * c.length;
    }
    if (first_ && std::max(stop, end_) >= bounds_.end) is_complete_.store(true, std::memory_order_release);
    return {};
  }

 private:
  segment_bounds bounds_;
  std::uint64_t last_resumable_;
  std::optional<std::uint64_t> first_;
  std::optional<std::uint64_t> resume_;
  std::uint64_t end_ = 0;
  std::uint64_t chunk_count_ = 0;
  std::atomic<bool> is_complete_ = false;
};

/// Feeds a file from the warm-up on, until the chunks of the segment are decided. Returns the offset that was reached.
result<std::uint64_t> feed_segment(feed& destination, file_source& file, const chunker& cuts, std::size_t rule,
                                   const segment_bounds& bounds, const segment_table& table, const read_limit& limit) {
  constexpr std::uint64_t step = 1 * MiB;  // past the end, for chunks without a maximum
  const std::uint64_t reach = cuts.reach();
  std::uint64_t position = bounds.warm_up;
  std::uint64_t until = bounds.end;
  if (reach != unlimited) until += std::min(reach, UINT64_MAX - until);
  file.pass(position);
  CUTPOINT_RETURN_IF_FAILED(destination.begin(0, rule));
  for (;;) {
    if (position == until && (reach != unlimited || table.is_complete())) break;
    if (position == until) until += step;
    CUTPOINT_TRY(const auto hole, file.skip_hole());
    if (hole != 0) {
      const std::uint64_t skipped = std::min(hole, until - position);
      CUTPOINT_RETURN_IF_FAILED(destination.write_zeros(skipped));
      position += skipped;
      for (std::uint64_t rest = hole - skipped; rest != 0 && reach == unlimited && !table.is_complete();) {
        const std::uint64_t more = std::min(rest, step);
        CUTPOINT_RETURN_IF_FAILED(destination.write_zeros(more));
        position += more;
        until = position;
        rest -= more;
      }
      if (position >= until && reach != unlimited) break;
      continue;
    }
    CUTPOINT_TRY(auto room, destination.space());
    CUTPOINT_TRY(const auto count, file.read(room.first(std::min<std::uint64_t>(room.size(), until - position))));
    if (count == 0) break;
    CUTPOINT_RETURN_IF_FAILED(destination.commit(count));
    position += count;
    limit.wait(position - bounds.warm_up);
  }
  return position;
}

/// Cuts a segment of a regular file. Returns `segment_table::counts`, the views of its chunks, the bytes that were read outside of
/// the segment, and the work. Raises OSError if the file is not the one that was listed, with `facts`, at the
/// beginning and at the end.
nb::tuple map_segment(const dedup_job& job, const nb::bytes& name, const std::vector<std::uint64_t>& facts,
                      std::uint64_t warm_up, std::uint64_t begin, std::uint64_t end,
                      std::uint64_t most_bytes_per_second) {
  const std::string path(name.c_str(), name.size());
  const std::size_t rule = job.context.rule_of(path);
  const segment_bounds bounds{warm_up, begin, end};
  process_cancellation cancel;
  feed_options options = job.how.feed;
  options.cancel = &cancel;
  segment_table table(bounds, options.cuts_of(rule).behind());
  const read_limit limit(most_bytes_per_second, cancel);
  feed_statistics work;
  std::uint64_t reached = 0;
  check(interruptibly(
            cancel, duration::any,
            [&]() -> status {
              CUTPOINT_TRY(auto file, file_source::open(path, &cancel));
              struct stat facts_now = {};
              const bool is_known = ::fstat(file.descriptor(), &facts_now) == 0 && S_ISREG(facts_now.st_mode) &&
                                    static_cast<std::uint64_t>(facts_now.st_size) == facts[2] &&
                                    nanoseconds(facts_now.st_mtim) == facts[3] &&
                                    nanoseconds(facts_now.st_ctim) == facts[4] && facts_now.st_ino == facts[5];
              if (!is_known) return {status_code::io_error, path + ": has changed since it was listed", ESTALE};
              CUTPOINT_TRY(const auto threads, find_engine(job.how.threads));
              CUTPOINT_TRY(auto destination, threads->open(options, table));
              CUTPOINT_TRY(reached, feed_segment(destination, file, options.cuts_of(rule), rule, bounds, table, limit));
              if (!table.is_complete()) {
                CUTPOINT_RETURN_IF_FAILED(destination.end());
                CUTPOINT_RETURN_IF_FAILED(destination.finish());
              }
              work = destination.statistics();
              return file.check_unchanged();
            }),
        path);
  const std::uint64_t outside_bytes = (begin - warm_up) + (reached - std::min(reached, end));
  return nb::make_tuple(table.counts(), std::move(table.chunks).views(), outside_bytes, tuple_of(work, {}));
}

/// Returns of the chunker of a file the look-behind, the reach or None without a maximum, the length of all chunks or None, and whether
/// candidates depend on where chunks begin, so that chunks from another start meet late.
nb::tuple cut_bounds(const dedup_job& job, const nb::bytes& name) {
  const chunker& cuts = job.how.feed.cuts_of(job.context.rule_of({name.c_str(), name.size()}));
  const auto fixed = cuts.fixed_chunk_bytes();
  return nb::make_tuple(cuts.behind(), cuts.reach() == unlimited ? nb::none() : nb::cast(cuts.reach()),
                        fixed ? nb::cast(*fixed) : nb::none(), cuts.candidates() == candidate_kind::walking);
}

// --- The report ------------------------------------------------------------------------------------------------------

/// Stands for an index whose digests other machines have counted.
class counted_index final : public fingerprint_index {
 public:
  counted_index(std::uint64_t size, std::uint64_t memory_bytes) : size_(size), memory_bytes_(memory_bytes) {}

  status look_up(std::span<const digest>, std::span<index_answer>) override { return stopped_as_asked(); }
  status insert(std::span<const digest>, std::span<index_answer>) override { return stopped_as_asked(); }
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override { return memory_bytes_; }

 private:
  std::uint64_t size_;
  std::uint64_t memory_bytes_;
};

/// A kind of files: its rule, its name, and its counts in the order of `dedup_counts`.
using counted_kind = std::pair<std::pair<std::size_t, std::string>, std::vector<std::uint64_t>>;
/// Counts of inputs that were read, that failed, and of further names; threads; entries of the index and its bytes; files without bytes.
using counted_inputs = std::vector<std::uint64_t>;

/// Returns the report that `dedup` makes, and its text.
nb::tuple dedup_of_counts(const dedup_job& job, const std::vector<counted_kind>& kinds,
                          const std::vector<std::pair<std::uint64_t, std::uint64_t>>& lengths,
                          const counted_inputs& inputs, double wall_seconds, const std::vector<double>& sums,
                          const std::string& chunked_on, const std::string& fingerprinted_on) {
  dedup_tally tally(std::make_unique<counted_index>(inputs.at(4), inputs.at(5)));
  dedup_report report{.feed = &job.how.feed,
                      .memory_limit_bytes = job.how.feed.memory_bytes,
                      .thread_count = inputs.at(3),
                      .input_count = inputs.at(0),
                      .failed_count = inputs.at(1),
                      .repeated_count = inputs.at(2),
                      .other_kind_count = inputs.at(6),
                      .wall_seconds = wall_seconds,
                      .tally = &tally,
                      .kind_names = {},
                      .context = job.context,
                      .reading = {},
                      .work = {},
                      .exact = {}};
  for (const auto& [kind, counts] : kinds) {
    tally.add_counts(report.kind_names.size(), {counts.at(0), counts.at(1), counts.at(2), counts.at(3), counts.at(4)});
    report.kind_rules.push_back(kind.first);
    report.kind_names.push_back(kind.second);
  }
  for (const auto& [length, chunk_count] : lengths) tally.add_lengths(length, chunk_count);
  const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(sums.at(i)); };
  report.reading = {sums.at(0), count(1)};
  lane_record all;
  for (std::size_t i = 0; i < stage_count; ++i) all.work[i] = {sums.at(2 * i + 2), count(2 * i + 3)};
  feed_statistics& work = report.work;
  std::size_t next = 2 * stage_count + 2;
  for (std::uint64_t* const each :
       {&work.run_bytes, &work.twice_cut_bytes, &work.twice_hashed_bytes, &work.segment_count, &work.speculated_count,
        &work.missed_count, &work.ring_bytes, &work.segment_bytes}) {
    *each = count(next++);
  }
  work.chunked_on = value_or_raise(parse_backend(chunked_on));
  work.fingerprinted_on = value_or_raise(parse_backend(fingerprinted_on));
  work.lanes = {all};
  return nb::make_tuple(report_dict(report), sentence_text(dedup_summary(report)));
}

}  // namespace

void add_dedup_tables(nb::module_& m) {
  nb::class_<dedup_job>(m, "DedupJob")
      .def(nb::init<const settings&, const std::string&, bool>())
      .def_prop_ro("cuts", [](const dedup_job& job) { return job.how.feed.cuts.canonical(); })
      .def_prop_ro("context", [](const dedup_job& job) { return job.context.canonical(); });
  m.def("list_files", &list_files);
  m.def("map_files", &map_files);
  m.def("map_segment", &map_segment);
  m.def("cut_bounds", &cut_bounds);
  m.def("dedup_of_counts", &dedup_of_counts);
}

}  // namespace cutpoint::python
