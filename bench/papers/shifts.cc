// Cuts a changed stream from the first chunk that the change may affect, until its chunks are those of the stream again.
#include "bench/papers/shifts.h"

#include <algorithm>
#include <random>
#include <variant>

#include <cutpoint/algorithms.h>

#include "host/algorithms/ae.h"

namespace cutpoint::bench {

namespace {

constexpr std::array<std::uint64_t, 2> horizons = {512 * KiB, 16 * MiB};  // the second if the first is too short
constexpr std::uint64_t attempts_per_shift = 50;

/// What a chunk consists of: `head` bytes that decide nothing, the last ones before `window` bytes decide.
struct anatomy {
  std::uint64_t head = 0;
  std::uint64_t deciding = 0;
  std::uint64_t window = 0;
  std::uint64_t largest = unlimited;
};

template <class Parameters>
std::uint64_t limit(const Parameters& p) {
  return *p.max_bytes == 0 ? unlimited : *p.max_bytes;
}

anatomy anatomy_of(const gear_parameters& p) { return {*p.min_bytes - 64, 64, 0, limit(p)}; }
anatomy anatomy_of(const fastcdc_parameters& p) { return {*p.min_bytes, 64, 0, limit(p)}; }
anatomy anatomy_of(const maxp_parameters& p) { return {std::max<std::uint64_t>(1, *p.min_bytes) - 1, 1, 0, limit(p)}; }
anatomy anatomy_of(const ae_parameters& p) { return {0, 1, *p.window_bytes, limit(p)}; }
anatomy anatomy_of(const ram_parameters& p) { return {*p.window_bytes, 1, 0, limit(p)}; }
anatomy anatomy_of(const seqcdc_parameters& p) {
  return {*p.min_bytes - *p.seq_length - 1, *p.seq_length + 1, 0, limit(p)};
}
template <class Parameters>
requires requires(const Parameters& p) { p.window_bytes + p.avg_bytes, *p.min_bytes; }
anatomy anatomy_of(const Parameters& p) {
  return {*p.min_bytes - std::min<std::uint64_t>(*p.min_bytes, p.window_bytes), p.window_bytes, 0, limit(p)};
}
anatomy anatomy_of(const auto&) { return {}; }  // what has none of these places: everything lies between

anatomy anatomy_of_cuts(const chunker& cuts) {
  return std::visit([](const auto& p) { return anatomy_of(p); }, cuts.parameters());
}

/// The first range in [first, last) of the chunk that SeqCDC skips.
offset_range skipped_in(const seqcdc_parameters& p, byte_span b, std::uint64_t last) {
  const bool is_increasing = p.order == seqcdc_order::increasing;
  std::uint64_t opposing = 0;
  for (std::uint64_t i = *p.min_bytes - *p.seq_length; i < last; ++i) {
    opposing += static_cast<std::uint64_t>(is_increasing ? b[i] < b[i - 1] : b[i] > b[i - 1]);
    if (opposing == *p.skip_trigger && opposing != 0) return {i + 1, std::min(i + 1 + *p.skip_size, last)};
  }
  return {};
}

const chunk* chunk_that_begins(const std::vector<chunk>& chunks, std::uint64_t offset) {
  const auto entry = std::lower_bound(chunks.begin(), chunks.end(), offset,
                                      [](const chunk& each, std::uint64_t value) { return each.offset < value; });
  return entry != chunks.end() && entry->offset == offset ? &*entry : nullptr;
}

/// The first chunk whose cut may depend on a byte from `offset` on.
std::size_t first_affected(const chunker& cuts, const std::vector<chunk>& chunks, std::uint64_t offset) {
  const auto affects = [&](const chunk& each) {
    const std::uint64_t end = each.offset + each.length;
    if (cuts.is_decided_by_lookahead()) return end + cuts.lookahead() > offset;
    return cuts.reach() == unlimited || each.offset + cuts.reach() > offset;
  };
  return static_cast<std::size_t>(std::find_if(chunks.begin(), chunks.end(), affects) - chunks.begin());
}

}  // namespace

shift_outcome changed_chunks(const chunker& cuts, byte_span stream, const std::vector<chunk>& chunks,
                             const shift& change, std::uint64_t horizon) {
  const std::size_t first = first_affected(cuts, chunks, change.offset);
  const std::uint64_t begin =
      first < chunks.size() ? chunks[first].offset : chunks.back().offset + chunks.back().length;
  const std::uint64_t from = begin - std::min(begin, cuts.behind());
  const std::uint64_t resumed = change.offset + change.deleted;
  const std::uint64_t to = std::min<std::uint64_t>(stream.size(), resumed + std::min(horizon, stream.size() - resumed));

  std::vector<std::uint8_t> edited(stream.begin() + static_cast<std::ptrdiff_t>(from),
                                   stream.begin() + static_cast<std::ptrdiff_t>(change.offset));
  const std::uint64_t shifted = edited.size();
  edited.insert(edited.end(), change.inserted.begin(), change.inserted.end());
  const std::uint64_t past = edited.size();
  edited.insert(edited.end(), stream.begin() + static_cast<std::ptrdiff_t>(resumed),
                stream.begin() + static_cast<std::ptrdiff_t>(to));

  shift_outcome outcome;
  for (std::uint64_t start = begin - from; start < edited.size();) {
    const bool is_after = start >= past;
    const std::uint64_t offset = is_after ? resumed + (start - past) : from + start;
    if (is_after && start >= past + cuts.behind() && chunk_that_begins(chunks, offset) != nullptr) {
      outcome.meets = true;
      return outcome;
    }
    const auto length = cuts.next_cut({.bytes = edited, .start = start, .at_end = to == stream.size()});
    if (!length) return outcome;
    const bool is_untouched = is_after || start + *length <= shifted;
    const chunk* const same = is_untouched ? chunk_that_begins(chunks, offset) : nullptr;
    if (same == nullptr || same->length != *length) {
      ++outcome.changed;
      if (is_after) ++outcome.after;
    }
    start += *length;
  }
  outcome.meets = to == stream.size();
  return outcome;
}

offset_range place_in(const chunker& cuts, byte_span stream, const chunk& which, shift_place place) {
  const anatomy all = anatomy_of_cuts(cuts);
  const std::uint64_t length = which.length;
  const auto in_stream = [&](offset_range range) {
    return offset_range{which.offset + range.first, which.offset + std::max(range.first, range.last)};
  };
  if (length == all.largest) return in_stream({0, place == shift_place::maximum ? length : 0});
  if (length < all.head + all.deciding + all.window) return in_stream({});
  const std::uint64_t decides = length - all.window - all.deciding;
  const auto* const seqcdc = std::get_if<seqcdc_parameters>(&cuts.parameters());
  const offset_range skipped =
      seqcdc != nullptr ? skipped_in(*seqcdc, stream.subspan(which.offset, length), decides) : offset_range{};
  switch (place) {
    case shift_place::minimum:
      return in_stream({0, all.head});
    case shift_place::skipped:
      return in_stream(skipped);
    case shift_place::sequence:
      return in_stream({decides, decides + all.deciding});
    case shift_place::between:
      return in_stream({all.head, skipped.is_empty() ? decides : skipped.first});
    case shift_place::window:
      return in_stream({length - all.window, length});
    case shift_place::maximum:
      break;
  }
  return in_stream({});
}

shift_tally tally_shifts(const chunker& cuts, byte_span stream, shift_place place, bool is_insertion,
                         std::uint64_t count, std::uint64_t seed) {
  constexpr std::array<std::uint64_t, 3> sizes = {1, 16, 256};
  const std::vector<chunk> chunks = cuts.find_cuts(stream);
  const auto* const ae = std::get_if<ae_parameters>(&cuts.parameters());
  std::mt19937_64 random(seed);
  shift_tally tally;
  // The last chunk of a stream ends where the stream does.
  for (std::uint64_t i = 0; chunks.size() > 1 && tally.shifts < count && i < count * attempts_per_shift; ++i) {
    const chunk& which = chunks[random() % (chunks.size() - 1)];
    const offset_range range = place_in(cuts, stream, which, place);
    if (range.is_empty()) continue;
    shift change{.offset = range.first + random() % (range.last - range.first), .inserted = {}, .deleted = 0};
    const std::uint64_t size = sizes[random() % sizes.size()];
    if (is_insertion) {
      change.inserted.resize(size);
      const std::uint8_t extreme = ae != nullptr ? stream[which.offset + which.length - 1 - *ae->window_bytes] : 0;
      const std::uint64_t values = ae == nullptr ? 256 : std::max<std::uint64_t>(1, extreme);
      for (std::uint8_t& byte : change.inserted) byte = static_cast<std::uint8_t>(random() % values);
    } else {
      change.deleted = std::min(size, range.last - change.offset);
    }
    shift_outcome outcome;
    for (std::size_t k = 0; k < horizons.size() && !outcome.meets; ++k) {
      outcome = changed_chunks(cuts, stream, chunks, change, horizons[k]);
    }
    ++tally.shifts;
    tally.changed += outcome.changed;
    tally.after += outcome.after;
    tally.most_changed = std::max(tally.most_changed, outcome.changed);
    tally.with_none_after += outcome.after == 0 ? 1 : 0;
    tally.with_one_after += outcome.after <= 1 ? 1 : 0;
    tally.without_meeting += outcome.meets ? 0 : 1;
  }
  return tally;
}

}  // namespace cutpoint::bench
