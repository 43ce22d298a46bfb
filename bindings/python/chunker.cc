#include "bindings/python/chunker.h"

#include <memory>
#include <optional>
#include <utility>

#include "bindings/python/input.h"

namespace cutpoint::python {

struct stream_chunker::work {
  chunk_queue found;
  cancellation cancel;
  std::shared_ptr<engine> threads;
  std::optional<feed> into;

  [[nodiscard]] status open(settings how) {
    auto held = engine_of(how.threads);
    if (!held) return held.error();
    threads = *std::move(held);
    how.feed.cancel = &cancel;
    auto made = threads->open(how.feed, found);
    if (!made) return made.error();
    into.emplace(*std::move(made));
    return into->begin(0);
  }
};

stream_chunker::stream_chunker(const settings& how, nb::object chunk_type)
    : chunk_type_(std::move(chunk_type)), work_(std::make_unique<work>()) {
  work& w = work_.get();
  check(interruptibly(w.cancel, duration::short_of_signals, [&] { return w.open(how); }));
}

stream_chunker::~stream_chunker() = default;

stream_chunker::work& stream_chunker::open_work() {
  if (!work_) raise(PyExc_ValueError, "the chunker has ended: it was finished or closed, or has failed");
  return work_.get();
}

/// What fails, or is interrupted, ends the stream.
template <class Body>
void stream_chunker::feed_interruptibly(duration takes, Body&& body) {
  work& w = open_work();
  try {
    check(interruptibly(w.cancel, takes, [&] { return body(*w.into); }));
  } catch (...) {
    work_.reset();
    throw;
  }
}

nb::list stream_chunker::taken() {
  chunk_expander walk(chunk_type_);
  walk.begin(work_.get().found.take_all());
  nb::list all;
  while (!walk.is_at_end()) all.append(walk.next());
  return all;
}

nb::list stream_chunker::write(nb::handle bytes) {
  const exclusive_use alone(busy_);
  open_work();
  const held_buffer held(bytes);
  const byte_span all = held.bytes();
  feed_interruptibly(all.size() <= few_bytes ? duration::short_of_signals : duration::any,
                     [&](feed& into) { return into.write(all); });
  return taken();
}

nb::list stream_chunker::finish() {
  const exclusive_use alone(busy_);
  feed_interruptibly(duration::any, [](feed& into) {
    const status ended = into.end();
    return ended.ok() ? into.finish() : ended;
  });
  nb::list rest = taken();
  work_.reset();
  return rest;
}

void stream_chunker::close() {
  const exclusive_use alone(busy_);
  work_.reset();
}

}  // namespace cutpoint::python
