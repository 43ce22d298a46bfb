// The public class of a push session.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <cutpoint/store_push.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <unistd.h>

#include "store/api/backup_store.h"
#include "store/backup/content_feed.h"
#include "store/backup/file_description.h"
#include "store/backup/tree_builder.h"
#include "store/format/clock.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint {

namespace {

/// What is kept of a file besides its texts and extents, with its place in the tree.
constexpr std::uint64_t bytes_of_entry = sizeof(store::pending_entry) + 256;
/// About as many bytes have one extent at least.
constexpr std::uint64_t usual_extent_bytes = 16 * KiB;

status no_memory() { return {status_code::memory_limit, "out of memory", ENOMEM}; }
status refused(std::string message) { return {status_code::invalid_argument, std::move(message)}; }
status stream_has_ended() { return refused("the stream has ended"); }

std::uint64_t text_bytes(const store::folder_entry& entry) {
  std::uint64_t bytes = entry.name.size() + entry.target.size();
  for (const extended_attribute& each : entry.attributes) {
    bytes += sizeof each + each.name.size() + each.value.size();
  }
  return bytes;
}

}  // namespace

pushed_file describe_pushed_file(std::string path, file_kind kind) {
  pushed_file file;
  file.path = std::move(path);
  file.kind = kind;
  file.permissions = kind == file_kind::directory ? 0700 : kind == file_kind::symbolic_link ? 0777 : 0600;
  file.user_id = ::geteuid();
  file.group_id = ::getegid();
  ::clock_gettime(CLOCK_REALTIME, &file.modified);
  return file;
}

struct push_stream::state {
  std::shared_ptr<push_session::pushed_snapshot> session;
  std::string path;
  std::shared_ptr<store::pending_entry> entry;
  store::content_feed* contents = nullptr;  ///< belongs to the session
  std::uint64_t bytes = 0;
  std::uint64_t holes = 0;
};

class push_session::pushed_snapshot {
 public:
  pushed_snapshot(backup_store::named_store& backups, engine& threads, const store_push_options& options)
      : backups_(backups),
        threads_(threads),
        options_(options),
        throttle_(options.most_bytes_per_second, options.cancel),
        tree_(*store::entry_of(describe_pushed_file({}, file_kind::directory))) {}

  [[nodiscard]] status begin();
  [[nodiscard]] result<std::unique_ptr<push_stream::state>> begin_stream(const pushed_file& file);
  [[nodiscard]] status add(const pushed_file& file);
  [[nodiscard]] status write(push_stream::state& stream, byte_span bytes);
  [[nodiscard]] status write_hole(push_stream::state& stream, std::uint64_t bytes);
  /// Ends a stream, which has failed unless `why` is ok.
  [[nodiscard]] status end(push_stream::state& stream, const status& why);
  [[nodiscard]] result<store_snapshot> commit();
  /// Gives up what the session has, while the store is still there.
  void close() noexcept;

  /// Runs `body` and returns its result. If memory runs out, nothing of the session can go on, because nobody knows what was done.
  template <class Body>
  auto guarded(Body&& body) -> decltype(body()) {
    try {
      return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
      is_out_of_memory_ = true;
      return no_memory();
    }
  }

 private:
  [[nodiscard]] status check_memory(const feed_options& feed) const;
  store::content_feed& add_feed();
  [[nodiscard]] status add(const pushed_file& file, std::shared_ptr<store::pending_entry> entry);
  [[nodiscard]] static status lengthen(push_stream::state& stream, std::uint64_t bytes);
  [[nodiscard]] status charge(std::uint64_t bytes);
  [[nodiscard]] status failure();
  [[nodiscard]] status note(status outcome);
  [[nodiscard]] result<store_snapshot> commit_streams();

  backup_store::named_store& backups_;
  engine& threads_;
  store_push_options options_;
  store::throttle throttle_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<feed_options> feed_;
  std::unique_ptr<store::leased_session> session_;
  std::unique_ptr<store::store_writer> writer_;
  store::snapshot facts_;

  std::atomic<bool> is_out_of_memory_ = false;

  std::mutex mutex_;  ///< for everything below
  store::pushed_tree tree_;
  std::uint64_t entry_bytes_ = 0;
  std::uint64_t open_streams_ = 0;
  std::map<std::string, status> failed_streams_;  ///< by path
  status first_failure_;                          ///< of the store or the engine, after which nothing goes on
  bool is_over_ = false;
  std::vector<std::unique_ptr<store::content_feed>> feeds_;  // destroyed before the writer, which their threads use
  std::vector<store::content_feed*> idle_feeds_;

  std::mutex reporting_;  ///< calls of the caller's function do not overlap
};

status push_session::pushed_snapshot::begin() {
  if (options_.most_streams == 0) return refused("most_streams = 0 must be at least 1");
  if (options_.paths.empty()) return refused("a push session needs a path that its snapshot is of");
  CUTPOINT_RETURN_IF_FAILED(store::check_tags(options_.tags));
  std::vector<store::named_path> paths;
  for (const std::string& each : options_.paths) {
    const auto names = store::names_in_path(each);
    if (each != "/" && !names) return names.error();
    paths.push_back({.path = each});
  }
  std::ranges::sort(paths, store::is_before, &store::named_path::path);
  facts_.time = options_.time != 0 ? options_.time : store::nanoseconds_now();
  facts_.host = options_.host;
  facts_.tags = options_.tags;
  facts_.paths = store::outermost_paths(paths);
  CUTPOINT_RETURN_IF_FAILED(store::check_texts(facts_));
  const std::uint64_t memory_bytes = options_.memory_bytes / 2 / options_.most_streams;
  CUTPOINT_TRY(auto feed, backups_.feed_of(threads_, options_.lanes, memory_bytes, options_.cancel));
  CUTPOINT_RETURN_IF_FAILED(check_memory(feed));
  feed.device_memory_bytes /= options_.most_streams;
  feed_ = std::move(feed);
  CUTPOINT_TRY(session_, backups_.named(store::leased_session::begin(*backups_.opened_store)));
  CUTPOINT_TRY(writer_, backups_.named(session_->open_writer()));
  tree_.confine(facts_.paths);
  facts_.session = session_->id();
  while (threads_.is_memory_limited() &&
         feeds_.size() < options_.most_streams) {  // now, for later others may have the memory
    CUTPOINT_RETURN_IF_FAILED(add_feed().open());
  }
  return {};
}

/// Checks that all streams can be open at once.
status push_session::pushed_snapshot::check_memory(const feed_options& feed) const {
  const status share = backups_.opened_store->check_memory(feed.memory_bytes);
  if (!share.ok()) {
    feed_options unbounded = feed;
    unbounded.memory_bytes = unlimited;
    return {share.code(),
            fmt::format("{}, half of memory_bytes = {} for each of most_streams = {}: memory_bytes = {} would do",
                        share.message(), format_size(options_.memory_bytes), options_.most_streams,
                        format_size(2 * options_.most_streams * least_memory_bytes(unbounded)))};
  }
  if (options_.most_streams == 1) return {};  // which may have more of the engine
  const status together = threads_.check_memory(options_.most_streams * least_memory_bytes(feed));
  return together.ok()
             ? together
             : status(together.code(), fmt::format("most_streams = {}: {}", options_.most_streams, together.message()));
}

/// Makes a feed that has no stream yet. The caller holds the mutex, or nobody else has the session.
store::content_feed& push_session::pushed_snapshot::add_feed() {
  feeds_.push_back(std::make_unique<store::content_feed>(threads_, *feed_, writer_->records));
  idle_feeds_.push_back(feeds_.back().get());
  return *feeds_.back();
}

/// Returns why nothing can go on. The caller holds the mutex.
status push_session::pushed_snapshot::failure() {
  if (is_over_) return refused("the push session has ended");
  if (is_out_of_memory_) return no_memory();
  if (first_failure_.ok() && options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
  return first_failure_;
}

/// Keeps the first failure of the store or the engine, and returns it.
status push_session::pushed_snapshot::note(status outcome) {
  if (outcome.ok()) return outcome;
  const std::lock_guard lock(mutex_);
  if (first_failure_.ok()) first_failure_ = outcome.code() == status_code::io_error ? backups_.named(outcome) : outcome;
  return first_failure_;
}

/// Counts memory for what is known of the files. The caller holds the mutex.
status push_session::pushed_snapshot::charge(std::uint64_t bytes) {
  entry_bytes_ += bytes;
  if (entry_bytes_ <= options_.memory_bytes / 2) return {};
  first_failure_ = {status_code::memory_limit,
                    fmt::format("the files of the push session need more than half of the memory allowed, {}",
                                format_size(options_.memory_bytes))};
  return first_failure_;
}

/// Adds a file to the tree. The caller holds the mutex.
status push_session::pushed_snapshot::add(const pushed_file& file, std::shared_ptr<store::pending_entry> entry) {
  CUTPOINT_RETURN_IF_FAILED(failure());
  const std::uint64_t bytes = bytes_of_entry + text_bytes(entry->entry) + file.path.size();
  CUTPOINT_RETURN_IF_FAILED(tree_.add(file.path, std::move(entry)));
  failed_streams_.erase(file.path);
  return charge(bytes);
}

status push_session::pushed_snapshot::add(const pushed_file& file) {
  if (file.kind == file_kind::regular_file) return refused(file.path + ": a regular file is pushed as a stream");
  CUTPOINT_TRY(auto known, store::entry_of(file));
  auto entry = std::make_shared<store::pending_entry>(std::move(known));
  CUTPOINT_RETURN_IF_FAILED(entry->complete());
  const std::lock_guard lock(mutex_);
  return add(file, std::move(entry));
}

result<std::unique_ptr<push_stream::state>> push_session::pushed_snapshot::begin_stream(const pushed_file& file) {
  if (file.kind != file_kind::regular_file) return refused(file.path + ": a stream is a regular file");
  CUTPOINT_TRY(auto known, store::entry_of(file));
  auto stream = std::make_unique<push_stream::state>();
  stream->path = file.path;
  stream->entry = std::make_shared<store::pending_entry>(std::move(known));
  const std::lock_guard lock(mutex_);
  CUTPOINT_RETURN_IF_FAILED(failure());
  if (open_streams_ == options_.most_streams) {
    return refused(fmt::format("{}: {} streams are open already (most_streams)", file.path, open_streams_));
  }
  if (idle_feeds_.empty()) add_feed();
  CUTPOINT_RETURN_IF_FAILED(add(file, stream->entry));
  stream->contents = idle_feeds_.back();
  idle_feeds_.pop_back();
  ++open_streams_;
  stream->contents->begin_content(stream->entry);
  return stream;
}

status push_session::pushed_snapshot::lengthen(push_stream::state& stream, std::uint64_t bytes) {
  if (bytes > store::largest_file_bytes - stream.bytes) {
    return refused(stream.path + ": a file is shorter than 2^63 bytes");
  }
  stream.bytes += bytes;
  return {};
}

status push_session::pushed_snapshot::write(push_stream::state& stream, byte_span bytes) {
  {
    const std::lock_guard lock(mutex_);
    CUTPOINT_RETURN_IF_FAILED(failure());
  }
  CUTPOINT_RETURN_IF_FAILED(lengthen(stream, bytes.size()));
  while (!bytes.empty()) {
    const byte_span block = bytes.first(std::min<std::uint64_t>(bytes.size(), throttle_.block_bytes()));
    CUTPOINT_RETURN_IF_FAILED(throttle_.wait(block.size()));
    CUTPOINT_RETURN_IF_FAILED(note(stream.contents->write(block)));
    bytes = bytes.subspan(block.size());
  }
  return {};
}

status push_session::pushed_snapshot::write_hole(push_stream::state& stream, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  CUTPOINT_RETURN_IF_FAILED(failure());
  CUTPOINT_RETURN_IF_FAILED(lengthen(stream, bytes));
  ++stream.holes;
  stream.contents->write_hole(bytes);
  return {};
}

status push_session::pushed_snapshot::end(push_stream::state& stream, const status& why) {
  {
    const std::lock_guard lock(mutex_);
    --open_streams_;
    CUTPOINT_RETURN_IF_FAILED(failure());
  }
  stream.entry->entry.size = stream.bytes;
  status outcome = note(stream.contents->end_content());
  {
    const std::lock_guard lock(mutex_);
    idle_feeds_.push_back(stream.contents);
    stream.entry->is_left_out = !why.ok();
    const std::uint64_t extents = stream.holes + stream.bytes / usual_extent_bytes + 1;
    if (outcome.ok())
      outcome = charge(std::min<std::uint64_t>(extents, store::most_inline_extents) * sizeof(store::stored_extent));
    if (outcome.ok() && !why.ok()) failed_streams_.emplace(stream.path, why);
  }
  if (outcome.ok() && !why.ok() && options_.problem) {
    const std::lock_guard lock(reporting_);
    options_.problem(stream.path, why);
  }
  return outcome;
}

result<store_snapshot> push_session::pushed_snapshot::commit() {
  {
    const std::lock_guard lock(mutex_);
    CUTPOINT_RETURN_IF_FAILED(failure());
    if (open_streams_ != 0) return refused(fmt::format("{} streams of the push session have not ended", open_streams_));
  }
  auto committed = commit_streams();
  close();
  if (committed) backups_.merge_shards();
  return committed;
}

result<store_snapshot> push_session::pushed_snapshot::commit_streams() {
  for (const auto& each : feeds_) CUTPOINT_RETURN_IF_FAILED(note(each->finish()));
  CUTPOINT_TRY(facts_.root, backups_.named(tree_.store(writer_->records, facts_.statistics)));
  if (facts_.statistics.files + facts_.statistics.folders == 0 ||
      (facts_.statistics.files == 0 && !failed_streams_.empty())) {
    return failed_streams_.empty() ? refused("nothing was pushed") : failed_streams_.begin()->second;
  }
  facts_.is_incomplete = !failed_streams_.empty();
  CUTPOINT_TRY(auto committed, backups_.commit(*session_, *writer_, std::move(facts_), begin_, options_.cancel));
  store_work work;
  for (const auto& each : feeds_) each->add_work(work);
  backup_store::named_store::report_session(threads_, begin_, std::move(work), writer_->records, options_.work);
  return committed;
}

void push_session::pushed_snapshot::close() noexcept {
  is_over_ = true;
  feeds_.clear();
  idle_feeds_.clear();
  writer_.reset();
  session_.reset();
}

push_stream::push_stream(std::unique_ptr<state> begun) noexcept : state_(std::move(begun)) {}
push_stream::push_stream(push_stream&&) noexcept = default;

push_stream::~push_stream() {
  if (!state_) return;
  const auto session = state_->session;
  static_cast<void>(session->guarded([&]() -> status {
    fail({status_code::io_error, state_->path + ": the stream was not ended"});
    return {};
  }));
}

status push_stream::write(byte_span bytes) {
  if (!state_) return stream_has_ended();
  return state_->session->guarded([&] { return state_->session->write(*state_, bytes); });
}

status push_stream::write_hole(std::uint64_t bytes) {
  if (!state_) return stream_has_ended();
  return state_->session->guarded([&] { return state_->session->write_hole(*state_, bytes); });
}

status push_stream::end() {
  if (!state_) return stream_has_ended();
  const auto ended = std::move(state_);
  return ended->session->guarded([&] { return ended->session->end(*ended, {}); });
}

void push_stream::fail(const status& why) {
  if (!state_) return;
  const auto ended = std::move(state_);
  // The next call returns the failure of the session.
  static_cast<void>(ended->session->guarded([&] { return ended->session->end(*ended, why); }));
}

push_session::push_session(std::shared_ptr<pushed_snapshot> inside) noexcept : implementation_(std::move(inside)) {}
push_session::push_session(push_session&&) noexcept = default;
push_session::~push_session() {
  if (implementation_) implementation_->close();
}

result<push_session> push_session::begin(backup_store& store, engine& threads, const store_push_options& options) {
  auto inside = std::make_shared<pushed_snapshot>(*store.implementation_, threads, options);
  CUTPOINT_RETURN_IF_FAILED(inside->begin());
  return push_session(std::move(inside));
}

result<push_stream> push_session::begin_stream(const pushed_file& file) {
  CUTPOINT_TRY(auto begun, implementation_->guarded([&] { return implementation_->begin_stream(file); }));
  begun->session = implementation_;
  return push_stream(std::move(begun));
}

result<push_stream> push_session::begin_stream(std::string path) {
  return begin_stream(describe_pushed_file(std::move(path)));
}

status push_session::add(const pushed_file& file) {
  return implementation_->guarded([&] { return implementation_->add(file); });
}

result<store_snapshot> push_session::commit() {
  return implementation_->guarded([&] { return implementation_->commit(); });
}

}  // namespace cutpoint
