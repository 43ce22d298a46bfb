// Checks of the chunks of a stream.
#include "tests/host/support/faults.h"

#include <algorithm>

#include <cutpoint/chunker.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/host/naive/naive.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {

namespace {

/// The bytes that the cut after a start may depend on.
struct neighbourhood {
  std::uint64_t first;
  std::uint64_t start;
  std::uint64_t last;    ///< one past the last of them
  bool is_stream_start;  ///< the stream begins at `first`, so no bytes may be put before it
  bool is_stream_end;    ///< the stream ends within the reach
};

neighbourhood around(const chunker& chunker, std::uint64_t start, std::uint64_t size) {
  const std::uint64_t behind = std::min(chunker.behind(), start);
  const bool is_stream_end = size - start < chunker.reach();
  return {.first = start - behind,
          .start = start,
          .last = is_stream_end ? size : start + chunker.reach(),
          .is_stream_start = behind < chunker.behind(),
          .is_stream_end = is_stream_end};
}

std::optional<std::uint64_t> cut_of_copy(const chunker& chunker, byte_span stream, std::uint64_t first,
                                         std::uint64_t start, std::uint64_t last, bool at_end) {
  const byte_span window = stream.subspan(first, last - first);
  const std::vector<std::uint8_t> copy(window.begin(), window.end());
  return chunker.next_cut({.bytes = copy, .start = start - first, .at_end = at_end});
}

std::string text_of(const std::optional<std::uint64_t>& length) {
  return length ? fmt::format("{}", *length) : std::string("nothing");
}

std::string wrong_cut(const chunker& chunker, std::string_view how, const chunk& true_chunk,
                      const std::optional<std::uint64_t>& got) {
  return fmt::format("{}: {}, next_cut at {} gives {}, not {}", chunker.canonical(), how, true_chunk.offset,
                     text_of(got), true_chunk.length);
}

}  // namespace

std::string cover_fault(const chunker& chunker, std::span<const chunk> chunks, std::uint64_t size) {
  const chunk_limits limits = limits_of(chunker.parameters());
  std::uint64_t covered = 0;
  for (const chunk& c : chunks) {
    const std::uint64_t shortest = c.offset + c.length == size ? 1 : limits.shortest;
    if (c.offset != covered || c.length < shortest || c.length > limits.longest) {
      return fmt::format("{}: chunk [{}, +{}) after {} bytes of {}; allowed are {} to {}", chunker.canonical(),
                         c.offset, c.length, covered, size, shortest, limits.longest);
    }
    covered += c.length;
  }
  if (covered != size) return fmt::format("{}: {} bytes of {} are covered", chunker.canonical(), covered, size);
  return {};
}

std::string restart_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks) {
  for (const chunk& c : chunks) {
    const neighbourhood n = around(chunker, c.offset, stream.size());
    const auto got = cut_of_copy(chunker, stream, n.first, n.start, n.last, n.is_stream_end);
    if (got != c.length) return wrong_cut(chunker, "with just the bytes in reach", c, got);
  }
  return {};
}

std::string context_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks, choices& random) {
  for (const chunk& c : chunks) {
    const neighbourhood n = around(chunker, c.offset, stream.size());
    const auto before = make_stream(content::random, n.is_stream_start ? 0 : random.between(0, 40), random);
    const auto after = make_stream(content::random, n.is_stream_end ? 0 : random.between(0, 40), random);
    const byte_span window = stream.subspan(n.first, n.last - n.first);
    std::vector<std::uint8_t> altered = before;
    altered.insert(altered.end(), window.begin(), window.end());
    altered.insert(altered.end(), after.begin(), after.end());
    for (const bool at_end : {n.is_stream_end, true}) {
      const auto got =
          chunker.next_cut({.bytes = altered, .start = before.size() + n.start - n.first, .at_end = at_end});
      if (got != c.length) return wrong_cut(chunker, "with other bytes out of reach", c, got);
    }
  }
  return {};
}

std::string short_window_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks,
                               std::uint64_t step) {
  for (const chunk& c : chunks) {
    const neighbourhood n = around(chunker, c.offset, stream.size());
    for (std::uint64_t last = n.start + 1; last < n.last; last += step) {
      const auto got = cut_of_copy(chunker, stream, n.first, n.start, last, false);
      if (got && *got != c.length) {
        return wrong_cut(chunker, fmt::format("seeing {} bytes and not the end", last - n.start), c, got);
      }
    }
  }
  return {};
}

std::string undecided_fault(const chunker& chunker, byte_span stream, std::span<const chunk> chunks) {
  for (const chunk& c : chunks) {
    const neighbourhood n = around(chunker, c.offset, stream.size());
    const std::uint64_t last = n.start + c.length + chunker.lookahead() + 1;
    if (last > stream.size()) break;
    const auto got = cut_of_copy(chunker, stream, n.first, n.start, last, false);
    if (got != c.length) return wrong_cut(chunker, "seeing more than the lookahead past the cut", c, got);
  }
  return {};
}

std::string definition_fault(const chunker& chunker, byte_span stream) {
  const auto got = lengths_of(chunker.find_cuts(stream));
  const auto expected = naive::lengths(chunker.parameters(), stream);
  if (got == expected) return {};
  return fmt::format("{}: a stream of {} bytes is cut into {}, not {}", chunker.canonical(), stream.size(),
                     fmt::join(got, " "), fmt::join(expected, " "));
}

std::vector<std::uint64_t> lengths_of(std::span<const chunk> chunks) {
  std::vector<std::uint64_t> lengths;
  for (const chunk& c : chunks) lengths.push_back(c.length);
  return lengths;
}

// The shortest and longest chunks of each algorithm, with one overload of `of` for each rule.

namespace {

std::uint64_t longest_of(std::uint64_t max_bytes) { return max_bytes == 0 ? unlimited : max_bytes; }

/// The rule of most algorithms: a minimum and a maximum.
template <class Parameters>
chunk_limits of(const Parameters& p) {
  return {.shortest = std::max<std::uint64_t>(1, *p.min_bytes), .longest = longest_of(*p.max_bytes)};
}

/// The limits of chunks that only the maximum can make shorter than `length`.
chunk_limits at_least(std::uint64_t length, std::uint64_t max_bytes) {
  return {.shortest = std::min(length, longest_of(max_bytes)), .longest = longest_of(max_bytes)};
}

chunk_limits of(const ae_parameters& p) { return at_least(p.lest != 0 ? p.lest : *p.window_bytes + 1, *p.max_bytes); }
chunk_limits of(const ram_parameters& p) { return at_least(*p.window_bytes + 1, *p.max_bytes); }
chunk_limits of(const fixed_parameters& p) { return {.shortest = p.avg_bytes, .longest = p.avg_bytes}; }

chunk_limits of(const mincdc_parameters& p) { return at_least(std::max<std::uint64_t>(4, *p.min_bytes), *p.max_bytes); }

template <class Parameters>
requires requires(Parameters p) { p.min_exp; }
chunk_limits of(const Parameters& p) {
  return {.shortest = std::uint64_t{1} << p.min_exp, .longest = std::uint64_t{1} << p.max_exp};
}

/// A minimum remains after each cut, but a stream shorter than two minima is one chunk.
chunk_limits of(const repmaxcdc_parameters& p) {
  return {.shortest = p.min_bytes, .longest = p.min_bytes + std::max(*p.horizon_bytes, p.min_bytes - 1)};
}

}  // namespace

chunk_limits limits_of(const algorithm_parameters& parameters) {
  return std::visit([](const auto& p) { return of(p); }, parameters);
}

}  // namespace cutpoint::tests
