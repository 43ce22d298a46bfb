// Streams of chunks for Python, and their records as objects, one for each chunk of a run.
#include <deque>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <cutpoint/engine.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/input.h"
#include "bindings/python/module.h"
#include "bindings/python/process.h"
#include "bindings/python/views.h"

namespace cutpoint::python {

namespace {

/// Returns the chunks of records one by one, also those of a run. Every member needs the GIL.
class chunk_expander {
 public:
  /// `chunk_type` is a class of tuples of an offset, a length and a digest.
  explicit chunk_expander(nb::object chunk_type) : chunk_type_(std::move(chunk_type)) {}

  /// Replaces the records, all of whose chunks must have been returned.
  void begin(std::vector<chunk_record> records) {
    records_ = std::move(records);
    next_record_ = 0;
    next_in_run_ = 0;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return next_record_ == records_.size(); }
  /// Returns the next chunk. Must not be called at the end.
  [[nodiscard]] nb::object next() {
    // The slot of `tuple` itself: the class's own __new__ is Python code, which takes longer.
    static const auto new_tuple = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
    const chunk_record& run = records_[next_record_];
    const byte_span digest = run.fingerprint.view();
    const nb::tuple fields = nb::make_tuple(run.offset + next_in_run_ * run.length, run.length,
                                            nb::bytes(reinterpret_cast<const char*>(digest.data()), digest.size()));
    PyObject* const chunk =
        new_tuple(reinterpret_cast<PyTypeObject*>(chunk_type_.ptr()), nb::make_tuple(fields).ptr(), nullptr);
    if (chunk == nullptr) throw nb::python_error();
    if (++next_in_run_ == run.count) {
      next_in_run_ = 0;
      ++next_record_;
    }
    return nb::steal(chunk);
  }

 private:
  nb::object chunk_type_;
  std::vector<chunk_record> records_;
  std::size_t next_record_ = 0;
  std::uint64_t next_in_run_ = 0;
};

/// A stream, and the engine that cuts it.
struct input_stream {
  input_stream(const settings& how, nb::handle data) : options(how.feed), threads(how.threads), stream(data) {}

  feed_options options;
  thread_choice threads;
  input stream;
  process_cancellation cancel;
  std::shared_ptr<engine> shared_engine;
  source* bytes = nullptr;  ///< of the stream; null before `open`

  [[nodiscard]] status open() {
    options.cancel = &cancel;
    if (status prepared = stream.prepare(options, cancel); !prepared.ok()) return prepared;
    auto found_engine = find_engine(threads);
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

/// An iterator over the chunks of a stream. It feeds the stream only as far as chunks are asked for.
class chunk_iterator {
 public:
  /// Opens the stream. Throws the failure to do so.
  chunk_iterator(const settings& how, nb::handle data, nb::object chunk_type)
      : expander_(std::move(chunk_type)), work_(std::make_unique<work>(how, data)) {
    work& w = work_.get();
    check(w.input.run([&] { return w.open(); }), w.input.stream.path());
  }

  /// Returns the next chunk. Throws a failure of the stream once, and nb::stop_iteration after that or after the last chunk.
  [[nodiscard]] nb::object next() {
    const exclusive_use use(busy_);
    if (expander_.is_at_end() && work_) advance();
    if (expander_.is_at_end()) throw nb::stop_iteration();
    return expander_.next();
  }

 private:
  struct work {
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

  void advance() {
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

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  chunk_expander expander_;
  process_local<work> work_;
};

/// The stream behind cutpoint.Chunker, which Python writes in blocks.
class stream_chunker {
 public:
  stream_chunker(const settings& how, nb::object chunk_type)
      : chunk_type_(std::move(chunk_type)), work_(std::make_unique<work>(how)) {
    work& w = work_.get();
    check(interruptibly(w.cancel, expected_duration(how.feed.cuts, 0), [&] { return w.open(); }));
  }

  /// Returns the chunks that were found since the last call. A call that fails or is interrupted ends the stream. Throws
  /// the error of the stream, or ValueError after its end.
  [[nodiscard]] nb::list write(nb::handle bytes) {
    const exclusive_use use(busy_);
    const work& w = open_work();
    const held_buffer buffer(bytes);
    const byte_span block = buffer.bytes();
    return feed_interruptibly(expected_duration(w.options.cuts, block.size()),
                              [&](feed& destination) { return destination.write(block); });
  }
  /// Ends the stream and returns the rest of its chunks. Throws as `write`.
  [[nodiscard]] nb::list finish() {
    const exclusive_use use(busy_);
    nb::list rest = feed_interruptibly(duration::any, [](feed& destination) {
      const status ended = destination.end();
      return ended.ok() ? destination.finish() : ended;
    });
    work_.reset();
    return rest;
  }
  /// Ends the stream and drops the rest of its chunks. May be called any number of times.
  void close() {
    const exclusive_use use(busy_);
    work_.reset();
  }

 private:
  struct work {
    explicit work(const settings& how) : options(how.feed), threads(how.threads) {}
    /// Without the request the destructor of the feed would wait until every lane has finished its segment.
    ~work() { cancel.request(); }

    feed_options options;
    thread_choice threads;
    chunk_queue chunks;
    process_cancellation cancel;
    std::shared_ptr<engine> shared_engine;
    std::optional<feed> destination;

    [[nodiscard]] status open() {
      auto found_engine = find_engine(threads);
      if (!found_engine) return found_engine.error();
      shared_engine = *std::move(found_engine);
      options.cancel = &cancel;
      auto new_feed = shared_engine->open(options, chunks);
      if (!new_feed) return new_feed.error();
      destination.emplace(*std::move(new_feed));
      return destination->begin(0);
    }
  };

  work& open_work() {
    if (!work_) raise(PyExc_ValueError, "the chunker has ended: it was finished or closed, or has failed");
    return work_.get();
  }

  template <class Body>
  nb::list feed_interruptibly(duration expected, Body&& body) {
    work& w = open_work();
    try {
      check(interruptibly(w.cancel, expected, [&] { return body(*w.destination); }));
      chunk_expander expander(chunk_type_);
      expander.begin(w.chunks.take_all());
      nb::list chunks;
      while (!expander.is_at_end()) chunks.append(expander.next());
      return chunks;
    } catch (...) {
      work_.reset();
      throw;
    }
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  nb::object chunk_type_;
  process_local<work> work_;
};

/// Returns all chunks of a stream as memoryviews of offsets, lengths and digests, which own their memory.
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

/// Returns the chunks of many buffers as three memoryviews for all of them, and a fourth that says where those of each
/// buffer end.
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

}  // namespace

void add_streams(nb::module_& m) {
  // `none` lets None through, of which `held_buffer` says that it has no bytes.
  nb::class_<chunk_iterator>(m, "ChunkIterator")
      .def(nb::init<const settings&, nb::handle, nb::object>(), nb::arg(), nb::arg().none(), nb::arg())
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &chunk_iterator::next);
  m.def("chunk_arrays", &chunk_arrays, nb::arg(), nb::arg().none());
  m.def("chunk_buffers", &chunk_buffers);
  nb::class_<stream_chunker>(m, "StreamChunker")
      .def(nb::init<const settings&, nb::object>())
      .def("write", &stream_chunker::write, nb::arg().none())
      .def("finish", &stream_chunker::finish)
      .def("close", &stream_chunker::close);
}

}  // namespace cutpoint::python
