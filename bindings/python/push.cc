// Push sessions for Python.
#include <mutex>
#include <utility>

#include "bindings/python/input.h"
#include "bindings/python/store.h"

namespace cutpoint::python {

namespace {

/// Writes of at most this many bytes are done on the calling thread.
constexpr std::size_t short_write_bytes = 64 * KiB;

pushed_file file_of(nb::handle path, file_kind kind, const call_options& metadata) {
  constexpr std::int64_t second = 1'000'000'000;
  pushed_file file = describe_pushed_file(path_of(path), kind);
  metadata.read("permissions", file.permissions);
  metadata.read("user_id", file.user_id);
  metadata.read("group_id", file.group_id);
  if (const auto modified = metadata.get<std::optional<std::int64_t>>("modified")) {
    file.modified.tv_nsec = static_cast<long>((*modified % second + second) % second);
    file.modified.tv_sec = (*modified - file.modified.tv_nsec) / second;
  }
  for (const auto& [name, value] : metadata.get<nb::dict>("attributes")) {
    const held_buffer bytes(value);
    file.attributes.push_back({path_of(name), {bytes.bytes().begin(), bytes.bytes().end()}});
  }
  return file;
}

}  // namespace

status pushed_session::begin(backup_store& store, const thread_choice& threads, store_push_options options) {
  work& mine = work_.get();
  const auto engine = find_engine(threads);
  if (!engine) return engine.error();
  mine.threads = *engine;
  options.problem = note_in(mine.problems);
  options.work = note_warning_in(mine.device_warning);
  options.cancel = &mine.cancel;
  auto begun = push_session::begin(store, *mine.threads, options);
  if (!begun) return begun.error();
  mine.session.emplace(*std::move(begun));
  return {};
}

std::unique_ptr<pushed_stream> pushed_session::begin_stream(nb::handle path, const call_options& metadata) {
  const pushed_file file = file_of(path, file_kind::regular_file, metadata);
  auto begun = use(duration::shorter_than_signal_period,
                   [&](push_session& session) -> result<push_stream> { return session.begin_stream(file); });
  if (!begun) raise(begun.error(), folder_);
  return std::make_unique<pushed_stream>(shared_from_this(), *std::move(begun));
}

void pushed_session::add(nb::handle path, nb::handle target, const call_options& metadata) {
  const bool is_link = !target.is_none();
  pushed_file file = file_of(path, is_link ? file_kind::symbolic_link : file_kind::directory, metadata);
  if (is_link) file.target = path_of(target);
  check(use(duration::shorter_than_signal_period, [&](push_session& session) { return session.add(file); }), folder_);
}

result<store_snapshot> pushed_session::commit() {
  work& mine = work_.get();
  const std::unique_lock lock(mine.ending);
  if (!mine.session) return status(status_code::invalid_argument, "the push session has ended");
  return mine.session->commit();
}

nb::list pushed_session::problems() { return records_of(work_.get().problems); }

void pushed_session::close() {
  if (!work_.is_in_its_process()) return;
  work& mine = work_.get();
  mine.cancel.request();
  const released_gil released;
  const std::unique_lock lock(mine.ending);
  mine.session.reset();
}

template <class Body>
void pushed_stream::use(duration expected, Body&& body) {
  const exclusive_use admitted(busy_);
  push_stream& stream = stream_.get();
  check(session_->use(expected, [&](push_session&) -> status { return body(stream); }), session_->folder_);
}

std::size_t pushed_stream::write(nb::handle data) {
  const held_buffer buffer(data);
  const bool is_short = buffer.bytes().size() <= short_write_bytes && !session_->is_held_back_;
  use(is_short ? duration::shorter_than_signal_period : duration::any,
      [&](push_stream& stream) { return stream.write(buffer.bytes()); });
  return buffer.bytes().size();
}

void pushed_stream::write_hole(std::uint64_t bytes) {
  use(duration::shorter_than_signal_period, [&](push_stream& stream) { return stream.write_hole(bytes); });
}

void pushed_stream::end() {
  use(duration::any, [](push_stream& stream) { return stream.end(); });
}

void pushed_stream::fail(const std::string& reason) {
  use(duration::any, [&](push_stream& stream) {
    stream.fail({status_code::io_error, reason});
    return status();
  });
}

}  // namespace cutpoint::python
