// Scans with buzhash for long windows: the look-ups of a block in one loop with the tests of the block before it. The
// lanes are neighbouring lines of a block, which share the sums of the window.
#include <cstring>
#include <optional>
#include <utility>

#include "simd/scans/buzhash_sums.h"
#include "simd/scans/lane_scanner.h"
#include "simd/scans/scanners.h"

#if CUTPOINT_HAS_AVX512_DL
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd {
namespace {

/// What all scans with one hash share.
struct buzhash_scan {
  buzhash_scan(const buzhash32_table& table, std::uint64_t window_bytes, const buzhash_rule& accepted,
               std::uint32_t fixed, std::uint32_t inverted)
      : window(window_bytes), rule(accepted), inversion(inverted), layout(window_bytes), filter(layout, fixed) {
    for (std::size_t turn = 0; turn < 8; ++turn) {
      for (std::size_t byte = 0; byte < 256; ++byte) {
        const std::uint32_t word = std::rotr(table[byte], static_cast<int>(turn));
        for (std::size_t plane = 0; plane < word_planes; ++plane) {
          tables[turn][plane].bytes[byte] = static_cast<std::uint8_t>(word >> (8 * plane));
        }
      }
    }
  }

  /// The planes of the table's words, rotated right by 0 to 7. Rotations by 8 exchange planes.
  std::array<std::array<byte_table, word_planes>, 8> tables;
  std::uint64_t window;
  buzhash_rule rule;
  std::uint32_t inversion;  ///< xored with hashes, so that the filter seeks zeros
  ring_layout layout;
  zeros_filter filter;
};

/// One scan. The bases of a block are known when all its columns have been looked up, so the hashes of a block are
/// tested while the next one is looked up.
class running_scan {
 public:
  static constexpr double loop_speedup = 2;  ///< with the warm-up of a chunk
  static constexpr std::uint64_t candidate_cost = 140;

  running_scan(const buzhash_scan& hash, byte_span bytes, std::uint64_t first, std::uint64_t last,
               std::uint64_t position, candidate_bits& map)
      : hash_(hash), bytes_(bytes), first_(first), last_(last), position_(position), map_(map) {}

  std::optional<std::uint64_t> run() {
    const std::uint64_t before = (hash_.window + block_bytes - 1) / block_bytes;
    const std::uint64_t count = before + (last_ - first_ + block_bytes - 1) / block_bytes;
    for (std::uint64_t block = 0; block <= count; ++block) {
      const auto index = static_cast<std::int64_t>(first_ + block * block_bytes - before * block_bytes);
      const std::uint64_t line = block * column_lines % hash_.layout.lines();
      if (!add_block(index, line, block > before)) return std::nullopt;
      add_bases(line);
    }
    guard_.end_tile(last_ - first_);
    return guard_.work();
  }

 private:
  static constexpr std::uint64_t group_columns = 8;

  /// Returns the block at `index`. Bytes of it that the scan may not read are replaced by zeros.
  const std::uint8_t* block_at(std::int64_t index) {
    const auto size = static_cast<std::int64_t>(bytes_.size());
    const auto readable = static_cast<std::int64_t>(first_ - (hash_.window - 1));
    const auto end = index + static_cast<std::int64_t>(block_bytes);
    if (index >= readable && end <= size) return bytes_.data() + index;
    std::memset(edge_, 0, block_bytes);
    for (std::int64_t i = std::max(index, readable); i < std::min(end, size); ++i)
      edge_[i - index] = bytes_[static_cast<std::size_t>(i)];
    return edge_;
  }

  /// Looks up the block at `index`, whose prefixes begin at `line` of the rings, and tests the block before it. Returns
  /// false if candidates are too dense.
  bool add_block(std::int64_t index, std::uint64_t line, bool is_tested) {
    alignas(64) __m512i bytes[line_bytes];
    const std::uint8_t* const block = block_at(index);
    load_columns(block, line_bytes, bytes);
    load_columns(block + 16, line_bytes, bytes + 16);
    const std::uint64_t stride = hash_.layout.stride();
    const auto next = std::clamp<std::int64_t>(index + static_cast<std::int64_t>(2 * block_bytes), 0,
                                               static_cast<std::int64_t>(bytes_.size() - block_bytes));
    std::uint8_t* prefixes = prefixes_ + line;
    __m512i sums[word_planes] = {};
    for (std::uint64_t group = 0; group < line_bytes; group += group_columns) {
      __m512i hashes = _mm512_set1_epi8(-1);
      HWY_UNROLL(8)
      for (std::uint64_t turn = 0; turn < group_columns; ++turn) {
        const std::uint64_t column = group + turn;
        __builtin_prefetch(bytes_.data() + next + column_lines * column, 0, 2);
        hashes = hash_.filter.merge(hashes, tested_, column);
        const __mmask64 upper = _mm512_movepi8_mask(bytes[column]);
        for (std::size_t plane = 0; plane < word_planes; ++plane, prefixes += stride) {
          sums[plane] =
              _mm512_xor_si512(sums[plane], loaded_byte_table(hash_.tables[turn][plane])(bytes[column], upper));
          _mm512_store_si512(prefixes, sums[plane]);
          if (line == 0) _mm512_store_si512(prefixes + hash_.layout.lines(), sums[plane]);
        }
      }
      if (is_tested && hash_.filter.accepts_any(hashes)) [[unlikely]] {
        if (!mark(static_cast<std::uint64_t>(index) - block_bytes, group)) return false;
      }
      std::rotate(sums, sums + 3, sums + 4);  // a rotation by 8
    }
    for (std::size_t plane = 0; plane < word_planes; ++plane) _mm512_store_si512(line_sums_[plane], sums[plane]);
    return true;
  }

  /// Adds the bases of a block, which becomes the tested one.
  void add_bases(std::uint64_t line) {
    const auto lines_before = [&](std::uint64_t count) {
      return line >= count ? line - count : line + hash_.layout.lines() - count;
    };
    const std::uint64_t oldest[2] = {lines_before(hash_.layout.back_lines()),
                                     lines_before(hash_.layout.back_lines() + 1)};
    tested_.newest = prefixes_ + line;
    for (std::size_t is_back = 0; is_back < 2; ++is_back) tested_.oldest[is_back] = prefixes_ + oldest[is_back];
    for (std::size_t plane = 0; plane < word_planes; ++plane) {
      std::uint8_t* const bases = bases_ + plane * hash_.layout.stride();
      __m512i sums = _mm512_load_si512(line_sums_[plane]);
      for (std::uint64_t count = 1; count < column_lines; count *= 2)
        sums = _mm512_xor_si512(sums, moved_up(sums, count));
      const __m512i all = _mm512_xor_si512(moved_up(sums, 1), _mm512_set1_epi8(static_cast<char>(base_[plane])));
      _mm512_store_si512(bases + line, all);
      if (line == 0) _mm512_store_si512(bases + hash_.layout.lines(), all);
      base_[plane] = static_cast<std::uint8_t>(bases[line + 63] ^ line_sums_[plane][63]);
      for (std::size_t is_back = 0; is_back < 2; ++is_back) {
        const __m512i difference =
            _mm512_ternarylogic_epi32(all, _mm512_loadu_si512(bases + oldest[is_back]),
                                      _mm512_set1_epi32(static_cast<int>(hash_.inversion)), 0x96);
        _mm512_store_si512(tested_.bases[is_back][plane], difference);
      }
    }
  }

  /// Moves bytes to the lines `count` after theirs.
  static HWY_INLINE __m512i moved_up(__m512i bytes, std::uint64_t count) {
    alignas(64) static constexpr auto lines = [] {
      std::array<std::uint8_t, 64> all = {};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
      return all;
    }();
    const __m512i from = _mm512_sub_epi8(_mm512_load_si512(lines.data()), _mm512_set1_epi8(static_cast<char>(count)));
    return _mm512_maskz_permutexvar_epi8(~std::uint64_t{0} << count, from, bytes);
  }

  /// Marks the candidates in a group of columns of the tested block, which begins at `index`. Returns false if they are
  /// too dense.
  HWY_NOINLINE bool mark(std::uint64_t index, std::uint64_t group) {
    const std::uint64_t lines_left = (last_ - index + line_bytes - 1) / line_bytes;
    std::uint64_t marks[group_columns];
    for (std::uint64_t i = 0; i < group_columns; ++i) {
      marks[i] = _bzhi_u64(hash_.filter.accepted(tested_, group + i),
                           static_cast<unsigned int>(std::min(lines_left, column_lines)));
      guard_.add_candidates(static_cast<std::uint64_t>(std::popcount(marks[i])));
    }
    if (guard_.is_exceeded(index - first_ + column_lines * (group + group_columns))) return false;
    for (std::uint64_t i = 0; i < group_columns; ++i) {
      const std::uint64_t column = group + i;
      for (; marks[i] != 0; marks[i] &= marks[i] - 1) {
        const auto line = static_cast<std::uint64_t>(std::countr_zero(marks[i]));
        const std::uint64_t candidate = index + line * line_bytes + column;
        const std::uint32_t word = std::rotl(tested_.hash(hash_.layout.planes(column), line), static_cast<int>(column));
        if (candidate < last_ && hash_.rule(word ^ hash_.inversion)) map_.mark(position_ + (candidate - first_), 0);
      }
    }
    return true;
  }

  const buzhash_scan& hash_;
  byte_span bytes_;
  std::uint64_t first_;
  std::uint64_t last_;
  std::uint64_t position_;
  candidate_bits& map_;
  density_guard guard_ = guard_of<running_scan>();
  hashed_block tested_ = {
      .newest = prefixes_, .oldest = {prefixes_, prefixes_}, .bases = {}};  ///< at first, any memory
  std::array<std::uint8_t, word_planes> base_ = {};
  alignas(64) std::uint8_t line_sums_[word_planes][column_lines];
  alignas(64) std::uint8_t edge_[block_bytes];
  alignas(64) std::uint8_t bases_[word_planes * ring_layout::most_stride];
  alignas(64) std::uint8_t prefixes_[line_bytes * word_planes * ring_layout::most_stride];
};

class line_scanner final : public candidate_scanner {
 public:
  explicit line_scanner(const buzhash_scan& hash) : hash_(hash) {}

  [[nodiscard]] std::uint64_t least_count() const noexcept final { return 4 * block_bytes; }
  [[nodiscard]] double speedup() const noexcept final { return 1.4; }
  [[nodiscard]] std::optional<std::uint64_t> scan(byte_span bytes, std::uint64_t first, std::uint64_t last,
                                                  std::uint64_t position, candidate_bits& map) const noexcept final {
    return running_scan(hash_, bytes, first, last, position, map).run();
  }

 private:
  buzhash_scan hash_;
};

}  // namespace
}  // namespace cutpoint::simd
CUTPOINT_AFTER_AVX512_DL;
#endif

namespace cutpoint::simd {

scanner_pointer make_buzhash_line_scan(const buzhash32_table& table, std::uint64_t window, const buzhash_rule& rule,
                                       std::uint32_t fixed, std::uint32_t inversion) {
#if CUTPOINT_HAS_AVX512_DL
  if (window > ring_layout::most_window || !guard_of<running_scan>().is_worthwhile(rule.mean_distance())) {
    return nullptr;
  }
  return std::make_unique<line_scanner>(buzhash_scan(table, window, rule, fixed, inversion));
#else
  static_cast<void>(table), static_cast<void>(window), static_cast<void>(rule);
  static_cast<void>(fixed), static_cast<void>(inversion);
  return nullptr;
#endif
}

}  // namespace cutpoint::simd
