#include "bindings/python/stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <nanobind/ndarray.h>

#include "bindings/python/interruptible.h"

namespace cutpoint::python {

namespace {

duration duration_of(const input& from) {
  return from.known_bytes() != 0 && from.known_bytes() <= few_bytes ? duration::short_of_signals : duration::any;
}

/// A stream, and the engine that cuts it.
struct opened_input {
  opened_input(const settings& how, nb::handle data) : options(how.feed), thread_count(how.threads), from(data) {}

  feed_options options;
  std::uint64_t thread_count;
  input from;
  cancellation cancel;
  std::shared_ptr<engine> threads;
  source* opened = nullptr;

  [[nodiscard]] status open() {
    options.cancel = &cancel;
    if (status prepared = from.prepare(options, cancel); !prepared.ok()) return prepared;
    auto held = engine_of(thread_count);
    if (!held) return held.error();
    threads = *std::move(held);
    const auto found = from.open();
    if (!found) return found.error();
    opened = *found;
    return {};
  }
};

/// The vector's own memory as an array of NumPy.
template <class Item, class Shape>
nb::ndarray<nb::numpy, Item, Shape> array_of(std::vector<Item>&& items, std::initializer_list<std::size_t> shape) {
  auto held = std::make_unique<std::vector<Item>>(std::move(items));
  Item* const data = held->data();
  nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<std::vector<Item>*>(p); });
  static_cast<void>(held.release());
  return nb::ndarray<nb::numpy, Item, Shape>(data, shape, owner);
}

std::size_t digest_bytes(fingerprint_kind kind) {
  const auto all = fingerprints();
  return std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.kind == kind; })->digest_bytes;
}

}  // namespace

struct chunk_iterator::work {
  work(const settings& how, nb::handle data) : stream(how, data) {}

  opened_input stream;
  std::optional<chunk_reader> chunks;
  bool is_at_end = false;
  status failure;

  [[nodiscard]] status open() {
    if (status opened = stream.open(); !opened.ok()) return opened;
    auto made = chunk_reader::open(*stream.threads, stream.options, *stream.opened);
    if (!made) return made.error();
    chunks.emplace(*std::move(made));
    return {};
  }

  /// Some chunks; none at the end, for which `failure` may have a reason.
  [[nodiscard]] std::vector<chunk_record> next() {
    std::vector<chunk_record> some(most_at_a_time);
    const auto count = chunks->read(some);
    is_at_end = !count || *count == 0;
    if (is_at_end) failure = count ? stream.from.check_unchanged() : count.error();
    some.resize(is_at_end ? 0 : *count);
    return some;
  }

 private:
  static constexpr std::size_t most_at_a_time = 1024;
};

chunk_iterator::chunk_iterator(const settings& how, nb::handle data, nb::object chunk_type)
    : out_(std::move(chunk_type)), work_(std::make_unique<work>(how, data)) {
  work& w = work_.get();
  check(interruptibly(w.stream.cancel, duration_of(w.stream.from), [&] { return w.open(); }), w.stream.from.path());
}

chunk_iterator::~chunk_iterator() = default;

nb::object chunk_iterator::next() {
  const exclusive_use alone(busy_);
  if (out_.is_at_end() && work_) advance();
  if (out_.is_at_end()) throw nb::stop_iteration();
  return out_.next();
}

void chunk_iterator::advance() {
  work& w = work_.get();
  try {
    out_.begin(interruptibly(w.stream.cancel, duration_of(w.stream.from), [&] { return w.next(); }));
  } catch (...) {
    work_.reset();
    throw;
  }
  if (!w.is_at_end) return;
  const status failure = w.failure;
  const std::string path = w.stream.from.path();
  work_.reset();
  check(failure, path);
}

nb::tuple chunk_arrays(const settings& how, nb::handle data) {
  chunk_columns lists;
  opened_input w(how, data);
  const status outcome = interruptibly(w.cancel, duration_of(w.from), [&]() -> status {
    if (status opened = w.open(); !opened.ok()) return opened;
    auto into = w.threads->open(w.options, lists);
    if (!into) return into.error();
    if (status fed = feed_source(*into, 0, *w.opened); !fed.ok()) return fed;
    if (status finished = into->finish(); !finished.ok()) return finished;
    return w.from.check_unchanged();
  });
  check(outcome, w.from.path());
  const std::size_t count = lists.offsets.size();
  return nb::make_tuple(
      array_of<std::uint64_t, nb::ndim<1>>(std::move(lists.offsets), {count}),
      array_of<std::uint64_t, nb::ndim<1>>(std::move(lists.lengths), {count}),
      array_of<std::uint8_t, nb::ndim<2>>(std::move(lists.digests), {count, digest_bytes(how.feed.fingerprint.kind)}));
}

}  // namespace cutpoint::python
