// Chunkers as objects of Python.
#include <memory>
#include <optional>
#include <utility>

#include "bindings/python/input.h"
#include "bindings/python/module.h"

namespace cutpoint::python {

struct stream_chunker::work {
  explicit work(const settings& how) : options(how.feed), thread_count(how.threads) {}
  /// Without the request the destructor of the feed would wait until every lane has finished its segment.
  ~work() { cancel.request(); }

  feed_options options;
  std::uint64_t thread_count;
  chunk_queue chunks;
  process_cancellation cancel;
  std::shared_ptr<engine> shared_engine;
  std::optional<feed> destination;

  [[nodiscard]] status open() {
    auto found_engine = find_engine(thread_count);
    if (!found_engine) return found_engine.error();
    shared_engine = *std::move(found_engine);
    options.cancel = &cancel;
    auto new_feed = shared_engine->open(options, chunks);
    if (!new_feed) return new_feed.error();
    destination.emplace(*std::move(new_feed));
    return destination->begin(0);
  }
};

stream_chunker::stream_chunker(const settings& how, nb::object chunk_type)
    : chunk_type_(std::move(chunk_type)), work_(std::make_unique<work>(how)) {
  work& w = work_.get();
  check(interruptibly(w.cancel, expected_duration(how.feed.cuts, 0), [&] { return w.open(); }));
}

stream_chunker::~stream_chunker() = default;

stream_chunker::work& stream_chunker::open_work() {
  if (!work_) raise(PyExc_ValueError, "the chunker has ended: it was finished or closed, or has failed");
  return work_.get();
}

template <class Body>
nb::list stream_chunker::feed_interruptibly(duration expected, Body&& body) {
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

nb::list stream_chunker::write(nb::handle bytes) {
  const exclusive_use use(busy_);
  work& w = open_work();
  const held_buffer buffer(bytes);
  const byte_span block = buffer.bytes();
  return feed_interruptibly(expected_duration(w.options.cuts, block.size()),
                            [&](feed& destination) { return destination.write(block); });
}

nb::list stream_chunker::finish() {
  const exclusive_use use(busy_);
  nb::list rest = feed_interruptibly(duration::any, [](feed& destination) {
    const status ended = destination.end();
    return ended.ok() ? destination.finish() : ended;
  });
  work_.reset();
  return rest;
}

void stream_chunker::close() {
  const exclusive_use use(busy_);
  work_.reset();
}

}  // namespace cutpoint::python
