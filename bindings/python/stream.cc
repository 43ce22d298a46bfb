#include "bindings/python/stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <nanobind/ndarray.h>

#include "bindings/python/interruptible.h"

namespace cutpoint::python {

namespace {

/// A stream, and the engine that cuts it.
struct opened_input {
  opened_input(const settings& how, nb::handle data) : options(how.feed), thread_count(how.threads), stream(data) {}

  feed_options options;
  std::uint64_t thread_count;
  input stream;
  process_cancellation cancel;
  std::shared_ptr<engine> threads;
  source* opened = nullptr;

  [[nodiscard]] status open() {
    options.cancel = &cancel;
    if (status prepared = stream.prepare(options, cancel); !prepared.ok()) return prepared;
    auto held = find_engine(thread_count);
    if (!held) return held.error();
    threads = *std::move(held);
    const auto found = stream.open();
    if (!found) return found.error();
    opened = *found;
    return {};
  }

  /// Runs `body` so that signals end it, and returns its result.
  template <class Body>
  auto run(Body&& body) {
    const auto bytes = stream.bytes_in_memory();
    const duration expected = bytes ? expected_duration(options.cuts, bytes->size()) : duration::any;
    return interruptibly(cancel, expected, std::forward<Body>(body));
  }
};

/// Returns a memoryview that owns the memory of a vector. nanobind's conversion to NumPy arrays would run Python code.
template <class Item>
nb::object view_of(std::vector<Item>&& items, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<Item>>(std::move(items));
  Item* const data = owned->data();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<Item>*>(p); });
  static_cast<void>(owned.release());
  return nb::ndarray<nb::memview, Item>(data, shape, owner).cast();
}

std::size_t digest_bytes(fingerprint_kind kind) {
  const auto all = fingerprints();
  return std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.kind == kind; })->digest_bytes;
}

}  // namespace

struct chunk_iterator::work {
  work(const settings& how, nb::handle data) : input(how, data) {}
  /// Without the request the destructor of the feed would wait until every lane has finished its segment.
  ~work() { input.cancel.request(); }

  opened_input input;
  std::optional<chunk_reader> chunks;
  bool is_at_end = false;
  status failure;

  [[nodiscard]] status open() {
    if (status opened = input.open(); !opened.ok()) return opened;
    auto made = chunk_reader::open(*input.threads, input.options, *input.opened);
    if (!made) return made.error();
    chunks.emplace(*std::move(made));
    return {};
  }

  /// Returns the next records. The result is empty at the end, or after a failure, which is then in `failure`.
  [[nodiscard]] std::vector<chunk_record> next() {
    std::vector<chunk_record> some(most_at_a_time);
    const auto count = chunks->read(some);
    is_at_end = !count || *count == 0;
    if (is_at_end) failure = count ? input.stream.check_unchanged() : count.error();
    some.resize(is_at_end ? 0 : *count);
    return some;
  }

 private:
  static constexpr std::size_t most_at_a_time = 1024;
};

chunk_iterator::chunk_iterator(const settings& how, nb::handle data, nb::object chunk_type)
    : expander_(std::move(chunk_type)), work_(std::make_unique<work>(how, data)) {
  work& w = work_.get();
  check(w.input.run([&] { return w.open(); }), w.input.stream.path());
}

chunk_iterator::~chunk_iterator() = default;

nb::object chunk_iterator::next() {
  const exclusive_use alone(busy_);
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
  opened_input w(how, data);
  const status outcome = w.run([&]() -> status {
    if (status opened = w.open(); !opened.ok()) return opened;
    if (const auto bytes = w.stream.bytes_in_memory()) return feed_buffer(*w.threads, w.options, *bytes, columns);
    auto destination = w.threads->open(w.options, columns);
    if (!destination) return destination.error();
    if (status fed = feed_source(*destination, 0, *w.opened); !fed.ok()) return fed;
    if (status finished = destination->finish(); !finished.ok()) return finished;
    return w.stream.check_unchanged();
  });
  check(outcome, w.stream.path());
  const std::size_t count = columns.offsets.size();
  return nb::make_tuple(view_of(std::move(columns.offsets), {count}), view_of(std::move(columns.lengths), {count}),
                        view_of(std::move(columns.digests), {count, digest_bytes(how.feed.fingerprint.kind)}));
}

}  // namespace cutpoint::python
