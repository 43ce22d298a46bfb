// Draws random valid parameters of each algorithm, with one overload of `draw` for each aggregate.
#include "tests/host/support/tiny_parameters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace cutpoint::tests {

namespace {

/// Returns a maximum up to 136 bytes above `lowest`, or 0.
std::uint64_t draw_max(std::uint64_t lowest, choices& random) {
  return random.once_in(4) ? 0 : random.between(lowest, lowest + 136);
}

/// Draws an average that is a power of two and not less than the window, a minimum from the window on, which is above
/// the average once in four, and a maximum.
template <class Parameters>
void draw_sizes(Parameters& p, std::uint64_t window, choices& random) {
  const auto lowest_bits = static_cast<std::uint64_t>(std::bit_width(window - 1));
  p.avg_bytes = std::uint64_t{1} << random.between(lowest_bits, std::max<std::uint64_t>(6, lowest_bits + 1));
  p.min_bytes = random.between(window, random.once_in(4) ? 2 * p.avg_bytes : p.avg_bytes);
  p.max_bytes = draw_max(std::max(p.avg_bytes, *p.min_bytes), random);
}

template <class Parameters>
void draw_rolling(Parameters& p, choices& random) {
  p.window_bytes = random.once_in(5) ? 48 : random.between(1, 20);
  draw_sizes(p, p.window_bytes, random);
}

template <class Parameters>
void draw_polynomial(Parameters& p, choices& random) {
  constexpr std::array<std::uint64_t, 4> irreducible = {default_rabin_polynomial, 0x3423a82f978d87, 0x37280cfe175331,
                                                        0x2c965a815a47c5};
  p.polynomial = irreducible[random.between(0, irreducible.size() - 1)];
}

void draw(gear_parameters& p, choices& random) {
  draw_sizes(p, 64, random);
  p.table = random.one_of(gear_table::xet);
}

void draw(rabin_parameters& p, choices& random) {
  draw_rolling(p, random);
  draw_polynomial(p, random);
  p.test = random.one_of(rabin_test::zeros);
}

void draw(tttd_parameters& p, choices& random) {
  draw_rolling(p, random);
  p.avg_bytes = std::max<std::uint64_t>(2, p.avg_bytes);
  if (*p.max_bytes == 1) p.max_bytes = 2;
  draw_polynomial(p, random);
}

void draw(rabin_inck_parameters& p, choices& random) { draw_rolling(p, random); }
void draw(adler_parameters& p, choices& random) { draw_rolling(p, random); }
void draw(crc32_parameters& p, choices& random) { draw_rolling(p, random); }

void draw(buzhash_parameters& p, choices& random) {
  draw_rolling(p, random);
  if (random.once_in(3)) p.window_bytes = random.between(1, *p.min_bytes);  // more than 32, at which rotations repeat
  p.table = random.one_of(buzhash_table::ipfs);
  p.test = random.one_of(buzhash_test::pbs);
  if (p.test == buzhash_test::casync || p.test == buzhash_test::desync_legacy) {
    p.avg_bytes = random.between(std::max<std::uint64_t>(2, *p.min_bytes), *p.min_bytes + 60);
  } else if (p.test == buzhash_test::pbs) {
    p.avg_bytes = std::max<std::uint64_t>(2, p.avg_bytes);  // otherwise 2D - 3 is not a residue
  }
  p.max_bytes = draw_max(std::max(p.avg_bytes, *p.min_bytes), random);
}

/// Draws even sizes from the lowest that the crate accepts, or no maximum.
void draw(fastcdc_parameters& p, choices& random) {
  p.avg_bytes = 2 * random.between(128, 200);
  p.min_bytes = 2 * random.between(32, random.once_in(3) ? p.avg_bytes / 2 : 50);
  p.max_bytes = random.once_in(4) ? 0 : 2 * random.between(512, 550);
  p.normalization = random.between(0, 3);
  p.seed = random.once_in(3) ? random.word() : 0;
}

template <class Parameters>
void draw_exponents(Parameters& p, choices& random) {
  p.min_exp = random.between(0, 4);
  p.mask_bits = random.between(std::max<std::uint64_t>(2, p.min_exp), 6);
  p.max_exp = random.between(p.mask_bits, 8);
}

void draw(borg2_fastcdc_parameters& p, choices& random) {
  draw_exponents(p, random);
  p.normalization = random.between(0, p.mask_bits - 1);
  if (random.once_in(2)) p.key.fill(static_cast<std::uint8_t>(random.between(0, 255)));
}

template <phte_hash Hash>
void draw(phte_parameters<Hash>& p, choices& random) {
  p.min_exp = 6;
  p.mask_bits = random.between(6, 7);
  p.max_exp = random.between(7, 8);
  p.normalization = random.between(0, p.mask_bits - 1);
  if (random.once_in(3)) p.normal_size = random.between(1, 300);
  if (random.once_in(2)) {
    std::array<std::uint8_t, secret_key::byte_count> key;
    key.fill(static_cast<std::uint8_t>(random.between(0, 255)));
    p.key = secret_key(key);
  }
}

void draw(ronomon_parameters& p, choices& random) {
  p.avg_bytes = random.between(256, 400);
  p.min_bytes = random.between(64, random.once_in(3) ? p.avg_bytes : 100);
  p.max_bytes = random.between(1024, 1100);
}

void draw(borg1_parameters& p, choices& random) {
  draw_exponents(p, random);
  p.window_bytes = random.between(1, 40);
  const std::uint64_t longest_needed = (std::uint64_t{1} << p.min_exp) + p.window_bytes + 1;
  p.max_exp = std::max(p.max_exp, static_cast<std::uint64_t>(std::bit_width(longest_needed - 1)));
  p.seed = random.once_in(2) ? random.word() & 0xffffffff : 0;
}

void draw(repmaxcdc_parameters& p, choices& random) {
  p.min_bytes = random.between(64, 90);
  p.horizon_bytes = random.once_in(4) ? random.between(0, 5) : random.between(0, 300);
}

void draw(maxp_parameters& p, choices& random) {
  p.half_window = random.between(1, 20);
  p.avg_bytes = random.between(*p.half_window, 64);
  if (random.once_in(2)) p.min_bytes = random.between(0, p.avg_bytes);
  p.max_bytes = draw_max(p.avg_bytes, random);
}

void draw(ae_parameters& p, choices& random) {
  p.window_bytes = random.between(1, 40);
  p.avg_bytes = random.between(1, 64);
  p.max_bytes = draw_max(p.avg_bytes, random);
  p.value_bytes = random.once_in(2) ? 8 : 1;
  if (*p.window_bytes >= 2 && random.once_in(3)) p.lest = random.between(2, *p.window_bytes);
  p.extreme = random.one_of(ae_extreme::minimum);
}

void draw(ram_parameters& p, choices& random) {
  p.window_bytes = random.between(1, 40);
  p.avg_bytes = random.between(1, 64);
  p.max_bytes = draw_max(p.avg_bytes, random);
}

void draw(seqcdc_parameters& p, choices& random) {
  p.seq_length = random.between(1, 6);
  p.min_bytes = random.between(*p.seq_length + 1, 30);
  p.avg_bytes = random.between(*p.min_bytes, 64);
  p.max_bytes = draw_max(p.avg_bytes, random);
  p.skip_trigger = random.between(0, 5);
  p.skip_size = random.between(0, 20);
  p.order = random.one_of(seqcdc_order::decreasing);
}

void draw(mincdc_parameters& p, choices& random) {
  p.min_bytes = random.between(0, random.once_in(2) ? 6 : 60);
  p.max_bytes = std::max<std::uint64_t>(1, *p.min_bytes + random.between(0, 136));
  p.avg_bytes = (*p.min_bytes + *p.max_bytes + 1) / 2;
  if (random.once_in(3)) {
    p.multiplier = 1;
    p.addend = 0;
  } else if (random.once_in(2)) {
    p.multiplier = (random.word() & 0xffffffff) | 1;
    p.addend = random.word() & 0xffffffff;
  }
}

void draw(fixed_parameters& p, choices& random) { p.avg_bytes = random.between(1, 100); }

template <class Parameters>
algorithm_parameters drawn(choices& random) {
  Parameters p;
  draw(p, random);
  return p;
}

template <std::size_t... Index>
algorithm_parameters drawn_of(std::size_t which, choices& random, std::index_sequence<Index...>) {
  using maker = algorithm_parameters (*)(choices&);
  constexpr std::array<maker, sizeof...(Index)> makers = {
      drawn<std::variant_alternative_t<Index, algorithm_parameters>>...};
  return makers[which](random);
}

}  // namespace

algorithm_parameters tiny_parameters(std::size_t which, choices& random) {
  return drawn_of(which, random, std::make_index_sequence<algorithm_count>());
}

}  // namespace cutpoint::tests
