// Streams of chunks for Python, and their records as objects, one for each chunk of a run.
#include <deque>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <nanobind/ndarray.h>

#include "bindings/python/chunk_expander.h"
#include "bindings/python/module.h"
#include "bindings/python/process.h"

namespace cutpoint::python {

/// A stream, and the engine that cuts it.
struct input_stream {
  input_stream(const settings& how, nb::handle data) : options(how.feed), thread_count(how.threads), stream(data) {}

  feed_options options;
  std::uint64_t thread_count;
  input stream;
  process_cancellation cancel;
  std::shared_ptr<engine> shared_engine;
  source* bytes = nullptr;  ///< of the stream; null before `open`

  [[nodiscard]] status open() {
    options.cancel = &cancel;
    if (status prepared = stream.prepare(options, cancel); !prepared.ok()) return prepared;
    auto found_engine = find_engine(thread_count);
    if (!found_engine) return found_engine.error();
    shared_engine = *std::move(found_engine);
    const auto source = stream.open();
    if (!source) return source.error();
    bytes = *source;
    return {};
  }

  /// Returns, after the end of the stream, the failure if the file changed while it was read. If only its ctime did,
  /// `reads_the_same` must read it once more and return whether its chunks are the same.
  template <class Comparison>
  [[nodiscard]] status check_unchanged(Comparison&& reads_the_same) {
    const status unchanged = stream.check_unchanged();
    if (unchanged.ok() || !stream.restart_unmodified()) return unchanged;
    const result<bool> is_same = reads_the_same();
    if (!is_same) return is_same.error();
    return *is_same ? stream.check_unchanged() : unchanged;
  }

  /// Runs `body` so that signals end it, and returns its result.
  template <class Body>
  auto run(Body&& body) {
    const auto memory = stream.bytes_in_memory();
    const duration expected = memory ? expected_duration(options.cuts, memory->size()) : duration::any;
    return interruptibly(cancel, expected, std::forward<Body>(body));
  }
};

namespace {

/// Returns a memoryview that owns the memory of a vector. nanobind's conversion to NumPy arrays would run Python code.
template <class Item>
nb::object view_of(std::vector<Item>&& items, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<Item>>(std::move(items));
  Item* const data = owned->data();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<Item>*>(p); });
  static_cast<void>(owned.release());
  return nb::ndarray<nb::memview, Item>(data, shape, owner).cast();
}

/// Returns views of offsets, lengths and digests.
nb::tuple views_of(chunk_columns&& columns, const settings& how) {
  const std::size_t count = columns.offsets.size();
  return nb::make_tuple(view_of(std::move(columns.offsets), {count}), view_of(std::move(columns.lengths), {count}),
                        view_of(std::move(columns.digests), {count, how.digest_bytes()}));
}

/// Collects the chunks of several streams, and where those of each end.
class column_receiver final : public chunk_receiver {
 public:
  chunk_columns columns;
  std::vector<std::uint64_t> ends;

  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& chunk) override { return columns.take(chunk); }
  status end_stream(std::uint64_t, const status&) override {
    ends.push_back(columns.offsets.size());
    return {};
  }
};

}  // namespace

struct chunk_iterator::work {
  work(const settings& how, nb::handle data) : input(how, data) {}
  /// Without the request the destructor of the feed would wait until every lane has finished its segment.
  ~work() { input.cancel.request(); }

  input_stream input;
  std::optional<chunk_reader> chunks;
  bool is_at_end = false;
  status failure;

  [[nodiscard]] status open() {
    const status done = input.open();
    return done.ok() ? open_reader() : done;
  }

  /// Returns the next records. The result is empty at the end, or after a failure, which is then in `failure`.
  [[nodiscard]] std::vector<chunk_record> next() {
    auto records = read();
    if (!records) {
      failure = records.error();
    } else if (records->empty()) {
      failure = input.check_unchanged([this] { return reads_the_same(); });
    } else {
      add(read_chunks_, *records);
    }
    is_at_end = !records || records->empty();
    return records ? *std::move(records) : std::vector<chunk_record>();
  }

 private:
  static constexpr std::size_t most_at_a_time = 1024;

  static void add(chunk_list_digest& list, const std::vector<chunk_record>& records) {
    for (const chunk_record& each : records) list.add(each.length, each.count, each.fingerprint);
  }

  [[nodiscard]] status open_reader() {
    auto reader = chunk_reader::open(*input.shared_engine, input.options, *input.bytes);
    if (!reader) return reader.error();
    chunks.emplace(*std::move(reader));
    return {};
  }

  [[nodiscard]] result<std::vector<chunk_record>> read() {
    std::vector<chunk_record> records(most_at_a_time);
    const auto count = chunks->read(records);
    if (!count) return count.error();
    records.resize(*count);
    return records;
  }

  [[nodiscard]] result<bool> reads_the_same() {
    chunks.reset();  // its memory first
    if (status done = open_reader(); !done.ok()) return done;
    chunk_list_digest second;
    for (;;) {
      const auto records = read();
      if (!records) return records.error();
      if (records->empty()) return second.is_same_content(read_chunks_);
      add(second, *records);
    }
  }

  chunk_list_digest read_chunks_;
};

chunk_iterator::chunk_iterator(const settings& how, nb::handle data, nb::object chunk_type)
    : expander_(std::move(chunk_type)), work_(std::make_unique<work>(how, data)) {
  work& w = work_.get();
  check(w.input.run([&] { return w.open(); }), w.input.stream.path());
}

chunk_iterator::~chunk_iterator() = default;

nb::object chunk_iterator::next() {
  const exclusive_use use(busy_);
  if (expander_.is_at_end() && work_) advance();
  if (expander_.is_at_end()) throw nb::stop_iteration();
  return expander_.next();
}

void chunk_iterator::advance() {
  work& w = work_.get();
  try {
    expander_.begin(w.input.run([&] { return w.next(); }));
  } catch (...) {
    work_.reset();
    throw;
  }
  if (!w.is_at_end) return;
  const status failure = w.failure;
  const std::string path = w.input.stream.path();
  work_.reset();
  check(failure, path);
}

nb::tuple chunk_arrays(const settings& how, nb::handle data) {
  chunk_columns columns;
  input_stream w(how, data);
  const status outcome = w.run([&]() -> status {
    if (status done = w.open(); !done.ok()) return done;
    if (const auto bytes = w.stream.bytes_in_memory()) return feed_buffer(*w.shared_engine, w.options, *bytes, columns);
    const auto read = [&](chunk_columns& destination) -> status {
      auto new_feed = w.shared_engine->open(w.options, destination);
      if (!new_feed) return new_feed.error();
      const status fed = feed_source(*new_feed, 0, *w.bytes);
      return fed.ok() ? new_feed->finish() : fed;
    };
    if (status failure = read(columns); !failure.ok()) return failure;
    return w.check_unchanged([&]() -> result<bool> {
      chunk_columns second;
      if (status failure = read(second); !failure.ok()) return failure;
      return second.lengths == columns.lengths && second.digests == columns.digests &&
             w.options.fingerprint.kind != fingerprint_kind::none;
    });
  });
  check(outcome, w.stream.path());
  return views_of(std::move(columns), how);
}

nb::tuple chunk_buffers(const settings& how, const std::vector<nb::object>& data) {
  std::deque<held_buffer> buffers;
  std::uint64_t byte_count = 0;
  for (const nb::object& each : data) byte_count += buffers.emplace_back(each).bytes().size();
  process_cancellation cancel;
  feed_options options = how.feed;
  options.cancel = &cancel;
  column_receiver receiver;
  check(interruptibly(cancel, expected_duration(options.cuts, byte_count), [&]() -> status {
    const auto shared_engine = find_engine(how.threads);
    if (!shared_engine) return shared_engine.error();
    auto destination = (*shared_engine)->open(options, receiver);
    if (!destination) return destination.error();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (status begun = destination->begin(i); !begun.ok()) return begun;
      if (status written = destination->write(buffers[i].bytes()); !written.ok()) return written;
      if (status ended = destination->end(); !ended.ok()) return ended;
    }
    return destination->finish();
  }));
  const std::size_t count = receiver.ends.size();
  return nb::tuple(views_of(std::move(receiver.columns), how) +
                   nb::make_tuple(view_of(std::move(receiver.ends), {count})));
}

nanobind::object chunk_expander::next() {
  // The slot of `tuple` itself: the class's own __new__ is Python code, which takes longer.
  static const auto new_tuple = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  const chunk_record& run = records_[next_record_];
  const byte_span digest = run.fingerprint.view();
  const nanobind::tuple fields =
      nanobind::make_tuple(run.offset + next_in_run_ * run.length, run.length,
                           nanobind::bytes(reinterpret_cast<const char*>(digest.data()), digest.size()));
  PyObject* const chunk =
      new_tuple(reinterpret_cast<PyTypeObject*>(chunk_type_.ptr()), nanobind::make_tuple(fields).ptr(), nullptr);
  if (chunk == nullptr) throw nanobind::python_error();
  if (++next_in_run_ == run.count) {
    next_in_run_ = 0;
    ++next_record_;
  }
  return nanobind::steal(chunk);
}

}  // namespace cutpoint::python
