// The algorithms with a windowed hash: the window of every position is hashed completely.
#include <bit>
#include <cmath>

#include "host/tables/casync_buzhash32.h"
#include "host/tables/ipfs_buzhash32.h"
#include "host/tables/kopia_buzhash32.h"
#include "host/tables/xet_gear64.h"
#include "tests/host/naive/naive.h"

namespace cutpoint::naive {

namespace {

/// Returns the first length from `min` on for which the window that ends with the chunk is accepted.
template <class Parameters, class IsCutPoint>
std::uint64_t first_cut(const Parameters& p, byte_span stream, std::uint64_t start, std::uint64_t window,
                        IsCutPoint&& is_cut_point) {
  const std::uint64_t end = longest_chunk(*p.max_bytes, stream.size() - start);
  for (std::uint64_t length = *p.min_bytes; length < end; ++length) {
    if (is_cut_point(stream.subspan(start + length - window, window), length)) return length;
  }
  return end;
}

bool matches(std::uint64_t hash, std::uint64_t pattern, std::uint64_t divisor) {
  return hash % divisor == pattern % divisor;
}

const std::array<std::uint32_t, 256>& table_of(buzhash_table table) {
  if (table == buzhash_table::kopia) return tables::kopia_buzhash32;
  if (table == buzhash_table::ipfs) return tables::ipfs_buzhash32;
  return tables::casync_buzhash32;
}

/// casync clamps its divisor to the limits, and takes the maximum for a negative one; desync takes it modulo 2^32.
std::uint64_t casync_divisor(const buzhash_parameters& p) {
  const auto avg = static_cast<double>(p.avg_bytes);
  const double modulus = std::exp2(32);
  const double quotient = std::trunc(avg / (-1.42888852e-7 * avg + 1.33237515));
  if (p.test == buzhash_test::desync_legacy) {
    return static_cast<std::uint64_t>(quotient - std::floor(quotient / modulus) * modulus);
  }
  const double largest = *p.max_bytes == 0 ? modulus - 1 : std::min(static_cast<double>(*p.max_bytes), modulus - 1);
  if (quotient < 0 || quotient > largest) return static_cast<std::uint64_t>(largest);
  return std::max(static_cast<std::uint64_t>(quotient), *p.min_bytes);
}

bool passes(const buzhash_parameters& p, std::uint32_t hash, std::uint64_t length) {
  switch (p.test) {
    case buzhash_test::ones:
      return hash % p.avg_bytes == p.avg_bytes - 1;
    case buzhash_test::zeros:
      return hash % p.avg_bytes == 0;
    case buzhash_test::casync:
      return matches(hash, casync_divisor(p) - 1, casync_divisor(p));
    case buzhash_test::desync_legacy:
      return length != *p.min_bytes && matches(hash, casync_divisor(p) - 1, casync_divisor(p));
    case buzhash_test::pbs:
      return hash % (2 * p.avg_bytes) >= 2 * p.avg_bytes - 3;
  }
  return false;
}

}  // namespace

std::uint64_t cut(const gear_parameters& p, byte_span stream, std::uint64_t start) {
  const auto& table = p.table == gear_table::xet ? tables::xet_gear64 : derived_gear_table();
  return first_cut(p, stream, start, 64, [&](byte_span window, std::uint64_t) {
    return std::countl_zero(gear(table, window)) >= std::countr_zero(p.avg_bytes);
  });
}

std::uint64_t cut(const rabin_parameters& p, byte_span stream, std::uint64_t start) {
  return first_cut(p, stream, start, p.window_bytes, [&](byte_span window, std::uint64_t) {
    return matches(rabin(p.polynomial, window), p.test == rabin_test::pattern ? 0x78 : 0, p.avg_bytes);
  });
}

std::uint64_t cut(const rabin_inck_parameters& p, byte_span stream, std::uint64_t start) {
  return first_cut(p, stream, start, p.window_bytes,
                   [&](byte_span window, std::uint64_t) { return matches(rabin_inck(window), 0x78, p.avg_bytes); });
}

std::uint64_t cut(const adler_parameters& p, byte_span stream, std::uint64_t start) {
  return first_cut(p, stream, start, p.window_bytes, [&](byte_span window, std::uint64_t) {
    return matches(adler(window), p.avg_bytes - 1, p.avg_bytes);
  });
}

std::uint64_t cut(const crc32_parameters& p, byte_span stream, std::uint64_t start) {
  return first_cut(p, stream, start, p.window_bytes,
                   [&](byte_span window, std::uint64_t) { return matches(crc32c(window), 0x78, p.avg_bytes); });
}

std::uint64_t cut(const buzhash_parameters& p, byte_span stream, std::uint64_t start) {
  return first_cut(p, stream, start, p.window_bytes, [&](byte_span window, std::uint64_t length) {
    return passes(p, buzhash(table_of(p.table), window), length);
  });
}

std::uint64_t cut(const tttd_parameters& p, byte_span stream, std::uint64_t start) {
  const std::uint64_t remaining = stream.size() - start;
  const auto hash_at = [&](std::uint64_t length) {
    return rabin(p.polynomial, stream.subspan(start + length - p.window_bytes, p.window_bytes));
  };
  const std::uint64_t end = longest_chunk(*p.max_bytes, remaining);
  for (std::uint64_t length = *p.min_bytes; length <= end; ++length) {
    if (matches(hash_at(length), 0x78, p.avg_bytes)) return length;
  }
  if (*p.max_bytes == 0 || remaining < *p.max_bytes) return remaining;
  for (std::uint64_t length = *p.max_bytes; length >= *p.min_bytes; --length) {
    if (matches(hash_at(length), 0x78, p.avg_bytes / 2)) return length;
  }
  return *p.max_bytes;
}

}  // namespace cutpoint::naive
