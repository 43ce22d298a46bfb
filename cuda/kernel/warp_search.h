// Reads a range of positions by a warp, in steps that the lanes share, and searches it.
//
//     step     [ vector 0 of lanes 0, 1, … 31 | vector 1 of lanes 0, 1, … 31 | … ]     16 bytes each
//
// A whole warp calls the functions, and they return the same value in every lane.
#pragma once

#include "cuda/kernel/packed_bytes.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// Bytes of a warp's load of 16 bytes a lane.
inline constexpr std::uint32_t lane_load_bytes = sizeof(bytes16);
inline constexpr std::uint32_t warp_load_bytes = warp_size * lane_load_bytes;

/// The values that `walk_steps` has loaded for a lane.
template <class Loaded, std::uint32_t Vectors>
struct step_of {
  Loaded vector[Vectors];
};

/// Visits [first, last) in steps of `Vectors` warp loads, from the aligned position at or below `first` on. `load(position)`
/// returns a lane's value for the 16 bytes at an aligned position. In `visit(base, loaded)`, loaded[l].vector[u] is the value
/// of lane l at position base + u * warp_load_bytes + 16 * l. `visit` returns the position at which to continue; the walk ends
/// if that is `last` or more.
///
/// The first step is not overlapped, since many walks end there. From the second step on, loads of a step run while the
/// previous step is visited.
template <std::uint32_t Vectors, class Warp, class Load, class Visit>
CUTPOINT_DEVICE void walk_steps(const Warp& warp, std::uint64_t first, std::uint64_t last, Load load, Visit visit) {
  constexpr std::uint64_t step_bytes = Vectors * warp_load_bytes;
  using step = step_of<decltype(load(std::uint64_t{})), Vectors>;
  auto now = warp.template per_lane<step>({});
  auto next = warp.template per_lane<step>({});
  const auto fetch = [&](auto& destination, std::uint64_t base) {
    warp.for_each_lane([&](std::uint32_t lane) {
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < Vectors; ++u) {
        destination[lane].vector[u] = load(base + u * warp_load_bytes + lane * lane_load_bytes);
      }
    });
  };
  if (first >= last) return;
  std::uint64_t base = first / lane_load_bytes * lane_load_bytes;
  std::uint32_t in_a_row = 0;  // consecutive steps before this one
  for (;;) {
    if (in_a_row < 2) {
      fetch(now, base);
    } else {
      warp.for_each_lane([&](std::uint32_t lane) { now[lane] = next[lane]; });
    }
    if (in_a_row != 0) fetch(next, base + step_bytes);
    const std::uint64_t wanted = visit(base, now);
    if (wanted >= last) return;
    if (wanted < base + 2 * step_bytes) {
      base += step_bytes;
      in_a_row = least<std::uint32_t>(in_a_row + 1, 2);
    } else {
      base = wanted / lane_load_bytes * lane_load_bytes;
      in_a_row = 0;
    }
    if (base >= last) return;
  }
}

/// Returns the first position in [first, last) whose byte, after an exclusive or with `flip`, is at least `byte`, or `last`
/// without one.
template <class Warp>
[[nodiscard]] CUTPOINT_DEVICE std::uint64_t find_reaching(const Warp& warp, const packed_bytes& in, std::uint32_t flip,
                                                          std::uint32_t byte, std::uint64_t first, std::uint64_t last) {
  constexpr std::uint32_t vectors = 4;
  std::uint64_t match = last;
  const auto load = [&](std::uint64_t position) { return load_vector(in, position, last); };
  walk_steps<vectors>(warp, first, last, load, [&](std::uint64_t base, auto& loaded) {
    const offsets sought = offsets::of(base, vectors * warp_load_bytes, first, last);
    auto hits = warp.template per_lane<step_of<std::uint32_t, vectors>>({});
    const bool is_any = warp.any([&](std::uint32_t lane) {
      std::uint32_t any = 0;
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < vectors; ++u) {
        hits[lane].vector[u] = reaching(flipped(loaded[lane].vector[u], flip), four_of(byte)) &
                               sought.among_sixteen(u * warp_load_bytes + lane * lane_load_bytes);
        any |= hits[lane].vector[u];
      }
      return any != 0;
    });
    if (!is_any) return base + vectors * warp_load_bytes;
    CUTPOINT_UNROLL
    for (std::uint32_t u = 0; u < vectors; ++u) {
      const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return hits[lane].vector[u] != 0; });
      if (lanes == 0 || match != last) continue;
      const std::uint32_t lane = lowest_bit(lanes);
      const std::uint32_t bits = warp.broadcast(lane, [&](std::uint32_t l) { return hits[l].vector[u]; });
      match = base + u * warp_load_bytes + lane * lane_load_bytes + lowest_bit(bits);
    }
    return last;
  });
  return match;
}

/// Returns one past the last position in [first, last) whose byte is at least `byte`, or `first` without one. It loads one
/// warp load at a time, which suits short ranges.
template <class Warp>
[[nodiscard]] CUTPOINT_DEVICE std::uint64_t past_last_reaching(const Warp& warp, const packed_bytes& in,
                                                               std::uint32_t byte, std::uint64_t first,
                                                               std::uint64_t last) {
  const std::uint64_t lowest = first / lane_load_bytes * lane_load_bytes;
  for (std::uint64_t above = last; above > lowest;) {
    const std::uint64_t base =
        above - lowest > warp_load_bytes - lane_load_bytes
            ? (above - 1) / lane_load_bytes * lane_load_bytes - (warp_load_bytes - lane_load_bytes)
            : lowest;
    const offsets sought = offsets::of(base, warp_load_bytes, first, above);
    const auto bits_of = [&](std::uint32_t lane) {
      const std::uint32_t offset = lane * lane_load_bytes;
      return reaching(load_vector(in, base + offset, last), four_of(byte)) & sought.among_sixteen(offset);
    };
    const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return bits_of(lane) != 0; });
    if (lanes != 0) {
      const std::uint32_t lane = highest_bit(lanes);
      return base + lane * lane_load_bytes + highest_bit(warp.broadcast(lane, bits_of)) + 1;
    }
    above = base;
  }
  return first;
}

/// Returns the largest f(l) of all lanes l.
template <class Warp, class LaneFunction>
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t warp_max(const Warp& warp, LaneFunction f) {
  auto largest = warp.template per_lane<std::uint32_t>(0);
  warp.for_each_lane([&](std::uint32_t lane) { largest[lane] = f(lane); });
  CUTPOINT_UNROLL
  for (std::uint32_t distance = warp_size / 2; distance != 0; distance /= 2) {
    warp.shuffle([&](std::uint32_t lane) { return largest[lane]; }, [&](std::uint32_t lane) { return lane ^ distance; },
                 [&](std::uint32_t lane, std::uint32_t other) { largest[lane] = greatest(largest[lane], other); });
  }
  return warp.broadcast(0, [&](std::uint32_t lane) { return largest[lane]; });
}

template <class Value>
struct ranked {
  Value value;
  std::uint64_t position;
};

/// Returns the largest value of all lanes, with the first position among equal values. It overwrites `lanes`.
template <class Value, class Warp, class Lanes>
[[nodiscard]] CUTPOINT_DEVICE ranked<Value> warp_first_max(const Warp& warp, Lanes& lanes) {
  auto other = warp.template per_lane<Value>(0);
  CUTPOINT_UNROLL
  for (std::uint32_t distance = warp_size / 2; distance != 0; distance /= 2) {
    const auto partner = [&](std::uint32_t lane) { return lane ^ distance; };
    warp.shuffle([&](std::uint32_t lane) { return lanes[lane].value; }, partner,
                 [&](std::uint32_t lane, Value value) { other[lane] = value; });
    warp.shuffle([&](std::uint32_t lane) { return lanes[lane].position; }, partner,
                 [&](std::uint32_t lane, std::uint64_t position) {
                   ranked<Value>& mine = lanes[lane];
                   if (other[lane] < mine.value || (other[lane] == mine.value && mine.position < position)) return;
                   mine = {other[lane], position};
                 });
  }
  return {warp.broadcast(0, [&](std::uint32_t lane) { return lanes[lane].value; }),
          warp.broadcast(0, [&](std::uint32_t lane) { return lanes[lane].position; })};
}

/// Returns the largest byte of [first, last), or 0 if the range is empty. It stops at the first 255.
template <class Warp>
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t largest_in(const Warp& warp, const packed_bytes& in, std::uint64_t first,
                                                       std::uint64_t last) {
  constexpr std::uint32_t vectors = 4;
  auto largest = warp.template per_lane<largest_byte>({});
  const auto load = [&](std::uint64_t position) { return load_vector(in, position, last); };
  walk_steps<vectors>(warp, first, last, load, [&](std::uint64_t base, auto& loaded) {
    const offsets sought = offsets::of(base, vectors * warp_load_bytes, first, last);
    const bool is_unbeatable = warp.any([&](std::uint32_t lane) {
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < vectors; ++u) {
        const std::uint32_t bits = sought.among_sixteen(u * warp_load_bytes + lane * lane_load_bytes);
        largest[lane].add(only(loaded[lane].vector[u], bits));
      }
      return largest[lane].value() == 255;
    });
    return is_unbeatable ? last : base + vectors * warp_load_bytes;
  });
  return warp_max(warp, [&](std::uint32_t lane) { return largest[lane].value(); });
}

}  // namespace cutpoint::cuda
