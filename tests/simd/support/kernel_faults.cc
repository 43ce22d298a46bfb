// Compares kernels with their references.
#include "tests/simd/support/kernel_faults.h"

#include <algorithm>
#include <bit>
#include <variant>

#include <cutpoint/cut_cursor.h>
#include <fmt/format.h>

#include "simd/cuts/kernels.h"

namespace cutpoint::tests {

namespace {

/// Returns the reference's length of the chunk at `start`. Sets `fault` if the length by the kernel's loop or by its
/// scanner is different.
std::uint64_t compare_at(std::uint64_t start, cut_cursor& by_kernel, const chunker& by_reference, byte_span stream,
                         std::string& fault) {
  const stream_window window{.bytes = stream, .start = start, .at_end = true};
  const std::uint64_t expected = *by_reference.next_cut(window);
  std::uint64_t cut = *by_kernel.next_cut(window, start);
  // Without a scanner, the cursor has called the loop.
  if (cut == expected && by_kernel.cuts().scanner() != nullptr) cut = *by_kernel.cuts().next_cut(window);
  if (cut != expected) {
    fault = fmt::format("{} by {}: the chunk at {} of {} bytes has length {} instead of {}", by_reference.canonical(),
                        by_kernel.cuts().backend(), start, stream.size(), cut, expected);
  }
  return expected;
}

}  // namespace

bool has_kernels(std::string_view name) { return name != "fixed" && name != "repmaxcdc"; }

std::string why_not_here(simd::instruction_set set) {
  if (!simd::is_compiled(set)) return fmt::format("this build has no kernels for {}", to_string(set));
  if (!simd::runs_here(set)) return fmt::format("this machine does not run {}", to_string(set));
  return {};
}

chunker on_set(const chunker& cuts, simd::instruction_set set) {
  return cuts.by(simd::kernel_for(cuts.parameters(), set));
}

std::vector<chunker> on_set_by_positions(const chunker& cuts, simd::instruction_set set) {
  std::vector<chunker> all;
  std::visit(
      [&](const auto& p) {
        if constexpr (requires { simd::make_kernel(p, set, simd::gear_positions[0]); }) {
          for (const std::size_t positions : simd::gear_positions)
            all.push_back(cuts.by(simd::make_kernel(p, set, positions)));
        }
      },
      cuts.parameters());
  return all;
}

std::string cuts_fault(const chunker& by_kernel, byte_span stream) { return starts_fault(by_kernel, stream, 0); }

std::string starts_fault(const chunker& by_kernel, byte_span stream, std::uint64_t step) {
  const chunker by_reference = by_kernel.by(nullptr);
  cut_cursor cursor(by_kernel);
  std::string fault;
  for (std::uint64_t start = 0; start < stream.size() && fault.empty();) {
    const std::uint64_t length = compare_at(start, cursor, by_reference, stream, fault);
    start += step == 0 ? length : step;
  }
  return fault;
}

// Makes larger parameters from tiny ones, with one overload of `grow` for each aggregate. Those of algorithms without
// kernels are not changed.

namespace {

/// Draws a number that differs from a power of two by at most 2, clamped to [lowest, highest].
std::uint64_t near_a_power(std::uint64_t lowest, std::uint64_t highest, choices& random) {
  const std::uint64_t power = std::uint64_t{1} << random.between(0, 9);
  return std::clamp(std::max<std::uint64_t>(2, power + random.between(0, 4)) - 2, lowest, highest);
}

/// Draws a window of the algorithms that search for extremes. Kernels search far in other steps than near.
std::uint64_t draw_search_window(choices& random) {
  return random.once_in(4) ? random.between(1000, 3000) : near_a_power(1, 520, random);
}

/// Draws a maximum of at least `lowest`, or 0.
std::uint64_t draw_max(std::uint64_t lowest, choices& random) {
  switch (random.between(0, 4)) {
    case 0:
      return 0;
    case 1:
      return lowest;
    case 2:
      return 8 * GiB;
    case 3:
      return lowest + random.between(0, 3000);
    default:
      return lowest + near_a_power(0, 600, random);
  }
}

template <class Parameters>
void grow_sizes(Parameters& p, std::uint64_t window, choices& random) {
  p.avg_bytes = std::uint64_t{1} << random.between(static_cast<std::uint64_t>(std::bit_width(window - 1)), 12);
  p.min_bytes = near_a_power(window, random.once_in(4) ? 2 * p.avg_bytes : p.avg_bytes, random);
  p.max_bytes = draw_max(std::max(p.avg_bytes, *p.min_bytes), random);
}

template <class Parameters>
void grow_rolling(Parameters& p, choices& random) {
  p.window_bytes = near_a_power(1, random.once_in(4) ? 300 : 20, random);
  grow_sizes(p, p.window_bytes, random);
}

void grow(gear_parameters& p, choices& random) { grow_sizes(p, 64, random); }
void grow(rabin_parameters& p, choices& random) { grow_rolling(p, random); }
void grow(rabin_inck_parameters& p, choices& random) { grow_rolling(p, random); }
void grow(adler_parameters& p, choices& random) { grow_rolling(p, random); }
void grow(crc32_parameters& p, choices& random) { grow_rolling(p, random); }

void grow(tttd_parameters& p, choices& random) {
  grow_rolling(p, random);
  if (p.avg_bytes < 2) p.avg_bytes = p.max_bytes.emplace(2);
}

void grow(buzhash_parameters& p, choices& random) {
  grow_rolling(p, random);
  p.avg_bytes = std::max<std::uint64_t>(2, p.avg_bytes);
  if (p.test == buzhash_test::casync || p.test == buzhash_test::desync_legacy) {
    p.avg_bytes = std::max(p.avg_bytes, *p.min_bytes) + random.between(0, random.once_in(2) ? 4 : 3000);  // any divisor
  }
  p.max_bytes = draw_max(std::max(p.avg_bytes, *p.min_bytes), random);
}

void grow(fastcdc_parameters& p, choices& random) {
  p.avg_bytes = 2 * near_a_power(128, 600, random);
  p.min_bytes = 2 * near_a_power(32, p.avg_bytes / 2, random);
  p.max_bytes = 2 * draw_max(std::max<std::uint64_t>(512, p.avg_bytes / 2), random);
  if (*p.max_bytes > 16 * MiB) p.max_bytes = 16 * MiB;
}

void grow(borg2_fastcdc_parameters& p, choices& random) {
  p.min_exp = random.between(0, 9);
  p.mask_bits = random.between(std::max<std::uint64_t>(2, p.min_exp), 10);
  p.max_exp = random.between(p.mask_bits, random.once_in(4) ? 30 : 11);
  p.normalization = random.between(0, p.mask_bits - 1);
}

template <phte_hash Hash>
void grow(phte_parameters<Hash>& p, choices& random) {
  p.min_exp = random.between(6, 9);
  p.mask_bits = random.between(p.min_exp, 10);
  p.max_exp = random.between(p.mask_bits + 1, random.once_in(2) ? 30 : 11);
  p.normalization = random.between(0, p.mask_bits - 1);
  p.normal_size = random.once_in(2) ? 0 : random.between(1, 20'000);
}

void grow(ronomon_parameters& p, choices& random) {
  p.avg_bytes = 256 + near_a_power(0, 600, random);
  p.min_bytes = 64 + near_a_power(0, 192, random);
  p.max_bytes = 1 * KiB + draw_max(0, random) % (1 * GiB);
}

void grow(borg1_parameters& p, choices& random) {
  p.window_bytes = near_a_power(1, 300, random);
  p.min_exp = random.between(0, 9);
  p.mask_bits = random.between(std::max<std::uint64_t>(2, p.min_exp), 10);
  const std::uint64_t longest_needed = (std::uint64_t{1} << p.min_exp) + p.window_bytes + 1;
  p.max_exp = std::max(p.mask_bits, static_cast<std::uint64_t>(std::bit_width(longest_needed - 1)));
  p.max_exp += random.between(0, 2);
}

void grow(maxp_parameters& p, choices& random) {
  p.half_window = draw_search_window(random);
  p.avg_bytes = near_a_power(1, 600, random);
  p.min_bytes = near_a_power(0, p.avg_bytes, random);
  p.max_bytes = draw_max(p.avg_bytes, random);
}

void grow(ae_parameters& p, choices& random) {
  p.window_bytes = draw_search_window(random);
  p.avg_bytes = near_a_power(1, 600, random);
  p.max_bytes = draw_max(p.avg_bytes, random);
  p.lest = *p.window_bytes >= 2 && random.once_in(3) ? near_a_power(2, *p.window_bytes, random) : 0;
}

void grow(ram_parameters& p, choices& random) {
  p.window_bytes = draw_search_window(random);
  p.avg_bytes = near_a_power(1, 600, random);
  p.max_bytes = draw_max(p.avg_bytes, random);
}

void grow(seqcdc_parameters& p, choices& random) {
  p.seq_length = random.once_in(2) ? random.between(1, 4) : near_a_power(1, 255, random);
  p.min_bytes = *p.seq_length + near_a_power(1, 300, random);
  p.avg_bytes = *p.min_bytes + near_a_power(0, 300, random);
  p.max_bytes = draw_max(p.avg_bytes, random);
  p.skip_trigger = random.once_in(8) ? 1 * GiB : near_a_power(0, random.once_in(2) ? 3 : 300, random);
  p.skip_size = random.once_in(8) ? 1 * GiB : near_a_power(0, 300, random);
}

void grow(mincdc_parameters& p, choices& random) {
  p.min_bytes = near_a_power(0, 600, random);
  p.max_bytes = *p.min_bytes + draw_search_window(random);
  p.avg_bytes = (*p.min_bytes + *p.max_bytes + 1) / 2;
}

void grow(const auto&, choices&) {}

}  // namespace

algorithm_parameters kernel_parameters(std::size_t which, choices& random) {
  algorithm_parameters parameters = tiny_parameters(which, random);
  if (!random.once_in(3)) std::visit([&random](auto& p) { grow(p, random); }, parameters);
  return parameters;
}

}  // namespace cutpoint::tests
