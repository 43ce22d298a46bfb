#include "python/stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>

#include "python/interruptible.h"

namespace cutpoint::python {

namespace {

/// Fed at a time, and then looked whether chunks are there.
constexpr std::uint64_t piece_bytes = 4 * MiB;
/// Of a hole, which costs nothing but its chunks.
constexpr std::uint64_t hole_piece_bytes = 64 * MiB;

duration duration_of(const input& from) {
  return from.known_bytes() != 0 && from.known_bytes() <= few_bytes ? duration::short_of_signals : duration::any;
}

/// A stream and the feed that it goes into.
struct fed_input {
  fed_input(const settings& how, nb::handle data) : options(how.feed), thread_count(how.threads), from(data) {}

  feed_options options;
  std::uint64_t thread_count;
  input from;
  cancellation cancel;
  std::shared_ptr<engine> threads;
  std::optional<feed> into;
  source* opened = nullptr;

  [[nodiscard]] status open(chunk_receiver& to) {
    options.cancel = &cancel;
    if (status prepared = from.prepare(options, cancel); !prepared.ok()) return prepared;
    auto held = engine_of(thread_count);
    if (!held) return held.error();
    threads = *std::move(held);
    auto made = threads->open(options, to);
    if (!made) return made.error();
    into.emplace(*std::move(made));
    const auto found = from.open();
    if (!found) return found.error();
    opened = *found;
    return {};
  }

  /// After the last byte.
  [[nodiscard]] status finish() {
    const status unchanged = from.check_unchanged();
    const status finished = into->finish();
    return finished.ok() ? unchanged : finished;
  }
};

/// Lists of what bulk work gives.
struct chunk_lists final : chunk_receiver {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint8_t> digests;

  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const fed_chunk& c) override {
    const byte_span digest = c.fingerprint.view();
    for (std::uint64_t i = 0; i < c.count; ++i) {
      offsets.push_back(c.offset + i * c.length);
      lengths.push_back(c.length);
      digests.insert(digests.end(), digest.begin(), digest.end());
    }
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

  chunk_queue found;
  fed_input stream;
  std::uint64_t hole_left = 0;
  status failure;
  enum class phase { opened, begun, ended } now = phase::opened;

  /// Feeds until chunks are there, or the end.
  void advance() {
    status outcome;
    while (outcome.ok() && now != phase::ended && found.is_empty()) outcome = step();
    if (outcome.ok()) return;
    // What the bytes so far have decided comes first.
    now = phase::ended;
    if (stream.into->failure().ok()) static_cast<void>(stream.into->finish());
    failure = std::move(outcome);
  }

  status step() {
    if (now == phase::opened) {
      now = phase::begun;
      return stream.into->begin(0);
    }
    if (hole_left == 0) {
      const auto hole = stream.opened->skip_hole();
      if (!hole) return ended_by(hole.error());
      hole_left = *hole;
    }
    if (hole_left != 0) {
      const std::uint64_t piece = std::min(hole_left, hole_piece_bytes);
      hole_left -= piece;
      return stream.into->write_zeros(piece);
    }
    const auto room = stream.into->space();
    if (!room) return room.error();
    const auto count = stream.opened->read(room->first(std::min<std::size_t>(room->size(), piece_bytes)));
    if (!count) return ended_by(count.error());
    if (*count != 0) return stream.into->commit(*count);
    now = phase::ended;
    if (status ended = stream.into->end(); !ended.ok()) return ended;
    return stream.finish();
  }

  /// The stream ends with the source's failure.
  status ended_by(const status& why) {
    const status ended = stream.into->end(why);
    return ended.ok() ? why : ended;
  }
};

chunk_iterator::chunk_iterator(const settings& how, nb::handle data, nb::object chunk_type)
    : out_(std::move(chunk_type)), work_(std::make_unique<work>(how, data)) {
  work& w = work_.get();
  check(interruptibly(w.stream.cancel, duration_of(w.stream.from), [&] { return w.stream.open(w.found); }),
        w.stream.from.path());
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
    if (w.now != work::phase::ended) {
      interruptibly(w.stream.cancel, duration_of(w.stream.from), [&] {
        w.advance();
        return true;
      });
    }
  } catch (...) {
    work_.reset();
    throw;
  }
  out_.begin(w.found.take_all());
  if (!out_.is_at_end()) return;
  const status failure = w.failure;
  const std::string path = w.stream.from.path();
  work_.reset();
  check(failure, path);
}

nb::tuple chunk_arrays(const settings& how, nb::handle data) {
  chunk_lists lists;
  fed_input w(how, data);
  const status outcome = interruptibly(w.cancel, duration_of(w.from), [&] {
    if (status opened = w.open(lists); !opened.ok()) return opened;
    if (status fed = feed_source(*w.into, 0, *w.opened); !fed.ok()) return fed;
    return w.finish();
  });
  check(outcome, w.from.path());
  const std::size_t count = lists.offsets.size();
  return nb::make_tuple(
      array_of<std::uint64_t, nb::ndim<1>>(std::move(lists.offsets), {count}),
      array_of<std::uint64_t, nb::ndim<1>>(std::move(lists.lengths), {count}),
      array_of<std::uint8_t, nb::ndim<2>>(std::move(lists.digests), {count, digest_bytes(how.feed.fingerprint.kind)}));
}

}  // namespace cutpoint::python
