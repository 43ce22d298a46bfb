// The profiles that have rules of their own, each written like the program that it comes from.
#include <cmath>

#include "host/tables/borg1_buzhash32.h"
#include "tests/host/naive/naive.h"

namespace cutpoint::naive {

namespace {

/// Returns a mask from the crate's table, by its number of bits, which is 5 to 25.
std::uint64_t crate_mask(std::uint64_t bits) {
  constexpr std::array<std::uint64_t, 21> masks = {
      0x1804110,      0x1803110,      0x18035100,     0x1800035300,   0x19000353000,  0x590003530000, 0xd90003530000,
      0xd90103530000, 0xd90303530000, 0xd90313530000, 0xd90f03530000, 0xd90303537000, 0xd90703537000, 0xd90707537000,
      0xd91707537000, 0xd91747537000, 0xd91767537000, 0xd93767537000, 0xd93777537000, 0xd93777577000, 0xdb3777577000};
  return masks.at(bits - 5);
}

std::uint64_t bits_of(std::uint64_t avg_bytes) {
  return static_cast<std::uint64_t>(std::round(std::log2(static_cast<double>(avg_bytes))));
}

bool has_top_zeros(std::uint64_t hash, std::uint64_t bits) { return bits == 0 || hash >> (64 - bits) == 0; }
bool has_low_zeros(std::uint64_t hash, std::uint64_t bits) { return hash % (std::uint64_t{1} << bits) == 0; }

}  // namespace

/// Processes two bytes in each step, the first with doubled table and mask, as the crate does.
std::uint64_t cut(const fastcdc_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const auto entry = [&](std::uint64_t i) { return derived_gear_table()[b[i]] ^ p.seed; };
  const std::uint64_t strict = crate_mask(bits_of(p.avg_bytes) + p.normalization);
  const std::uint64_t loose = crate_mask(bits_of(p.avg_bytes) - p.normalization);
  std::uint64_t remaining = b.size();
  if (remaining <= *p.min_bytes) return remaining;
  std::uint64_t center = p.avg_bytes;
  if (*p.max_bytes != 0 && remaining > *p.max_bytes) {
    remaining = *p.max_bytes;
  } else if (remaining < center) {
    center = remaining;
  }
  std::uint64_t hash = 0;
  for (std::uint64_t pair = *p.min_bytes / 2; pair < remaining / 2; ++pair) {
    const std::uint64_t mask = pair < center / 2 ? strict : loose;
    hash = (hash << 2) + (entry(2 * pair) << 1);
    if ((hash & mask << 1) == 0) return 2 * pair;
    hash += entry(2 * pair + 1);
    if ((hash & mask) == 0) return 2 * pair + 1;
  }
  return remaining;
}

std::uint64_t cut(const borg2_fastcdc_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t min = std::uint64_t{1} << p.min_exp;
  const std::uint64_t average = std::uint64_t{1} << p.mask_bits;
  const std::uint64_t strict_end = average - (average >> p.normalization);
  if (b.size() < min + 1) return b.size();
  const auto& table = derived_borg2_table(p.key);
  const std::uint64_t end = longest_chunk(std::uint64_t{1} << p.max_exp, b.size());
  for (std::uint64_t i = min; i < end; ++i) {
    const std::uint64_t bits = i < strict_end ? p.mask_bits + p.normalization : p.mask_bits - p.normalization;
    if (has_top_zeros(gear(table, b.subspan(min, i + 1 - min)), bits)) return i + 1;
  }
  return end;
}

std::uint64_t cut(const ronomon_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  if (b.size() <= *p.min_bytes) return b.size();
  const std::uint64_t end = longest_chunk(*p.max_bytes, b.size());
  const std::uint64_t before_center = *p.min_bytes + *p.min_bytes / 2 + *p.min_bytes % 2;
  const std::uint64_t center = p.avg_bytes < before_center ? 0 : p.avg_bytes - before_center;
  const std::uint64_t bits = bits_of(p.avg_bytes);
  std::uint64_t hash = 0;
  for (std::uint64_t i = *p.min_bytes; i < end; ++i) {
    hash = (hash / 2 + derived_ronomon_table()[b[i]]) % (std::uint64_t{1} << 32);
    if (has_low_zeros(hash, i < center ? bits + 1 : bits - 1)) return i + 1;
  }
  return end;
}

std::uint64_t cut(const borg1_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t min = std::uint64_t{1} << p.min_exp;
  if (b.size() < min + p.window_bytes + 1) return b.size();
  auto table = tables::borg1_buzhash32;
  for (std::uint32_t& entry : table) entry ^= static_cast<std::uint32_t>(p.seed);
  const std::uint64_t end = longest_chunk(std::uint64_t{1} << p.max_exp, b.size());
  for (std::uint64_t length = min; length + p.window_bytes < end; ++length) {
    if (has_low_zeros(buzhash(table, b.subspan(length, p.window_bytes)), p.mask_bits)) return length;
  }
  return end;
}

std::uint64_t cut(const repmaxcdc_parameters& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const std::uint64_t n = std::min<std::uint64_t>(b.size(), 2 * p.min_bytes + *p.horizon_bytes);
  if (n < 2 * p.min_bytes) return n;
  const auto hash_at = [&](std::uint64_t length) { return gear(derived_gear_table(), b.subspan(length - 64, 64)); };
  std::uint64_t last = n - p.min_bytes;
  for (;;) {
    std::uint64_t chosen = p.min_bytes;
    std::uint64_t largest_hash = hash_at(chosen);
    for (std::uint64_t length = p.min_bytes + 1; length <= last; ++length) {
      if (hash_at(length) <= largest_hash) continue;
      chosen = length;
      largest_hash = hash_at(length);
    }
    if (chosen < 2 * p.min_bytes) return chosen;
    last = chosen - p.min_bytes;
  }
}

}  // namespace cutpoint::naive
