// Tests that lengths of chunks give the table of keyed gear away, and that the same attack learns nothing from cuts that AES
// decides. "Breaking and Fixing Content-Defined Chunking" (eprint 2025/558) and "Chunking Attacks on File Backup Services"
// (eprint 2025/532) describe attacks by lengths of chosen data; this one has small parameters.
#include <gtest/gtest.h>

#include "host/algorithms/fastcdc.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using word = std::uint64_t;
__extension__ using wide_word = unsigned __int128;
using byte_vector = std::vector<std::uint8_t>;

constexpr std::size_t min_bytes = 64;
constexpr std::size_t window_bytes = 64;
constexpr std::size_t max_bytes = 4096;
constexpr std::size_t strict_end = 256 - 64;
constexpr int strict_bits = 10;
constexpr int loose_bits = 6;
constexpr std::string_view small_parameters = "min_exp=6,max_exp=12,mask_bits=8,normalization=2";
/// While the strict mask decides, a chunk ends where the hash is below this.
constexpr word limit = word{1} << (64 - strict_bits);

/// Returns the lengths of the chunks of a file that the adversary has chosen. An attack knows nothing else.
using observation = std::function<std::vector<std::uint64_t>(const byte_vector& file)>;

/// Returns the lengths of chunks that gear with this table gives.
std::vector<std::uint64_t> predicted_lengths(const gear64_table& table, byte_span stream) {
  std::vector<std::uint64_t> lengths;
  for (std::size_t start = 0; start < stream.size(); start += lengths.back()) {
    const std::size_t end = std::min(max_bytes, stream.size() - start);
    std::size_t length = std::min(min_bytes, end);
    bool is_cut = length == end;
    for (word hash = 0; !is_cut; ++length) {
      hash = (hash << 1) + table[stream[start + length]];
      is_cut = hash >> (64 - (length < strict_end ? strict_bits : loose_bits)) == 0 || length + 1 == end;
    }
    lengths.push_back(length);
  }
  return lengths;
}

/// Recovers the table of gear. Its hash begins anew after `min_bytes`, so that the 64 bytes that follow decide alone whether a chunk
/// ends with them. If they are symbols a and b, they are a number x, whose one bits are the places of b, and their hash is
/// x * D - T[a], where D = T[b] - T[a]. All arithmetic is modulo 2^64.
class gear_attack {
 public:
  explicit gear_attack(observation observe) : observe_(std::move(observe)) {}

  /// Returns the table that predicts lengths, or nullopt: then gear has not cut.
  std::optional<gear64_table> run() {
    for (int pair = 0; pair < 6; ++pair) {
      symbols_ = {static_cast<std::uint8_t>(2 * pair), static_cast<std::uint8_t>(2 * pair + 1)};
      const auto difference = find_difference();
      if (!difference) continue;
      for (const word each : {*difference, -*difference}) {  // ranges of hashes look alike from both sides
        if (const auto table = find_table(each)) return table;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t observations() const { return observations_; }

 private:
  enum class end { here, earlier, later };

  /// Where the first chunk ends whose bytes after `min_bytes` are the window x, with another symbol in the place of bit 0 or 61.
  end observe_window(word x, std::optional<std::uint8_t> other = std::nullopt, int bit = 0) {
    byte_vector file(min_bytes + window_bytes + 1, symbols_[0]);
    for (std::size_t i = 0; i < window_bytes; ++i) file[min_bytes + i] = symbols_[x >> (63 - i) & 1];
    if (other) file[min_bytes + window_bytes - 1 - static_cast<std::size_t>(bit)] = *other;
    ++observations_;
    const std::size_t length = observe_(file).front();
    if (length == min_bytes + window_bytes) return end::here;
    return length < min_bytes + window_bytes ? end::earlier : end::later;
  }
  /// Whether a chunk ends with window number k of a sequence. If it ends earlier, the next windows are asked.
  static bool cuts_at(const std::function<end(word)>& window, word k) {
    end seen = window(k);
    for (word i = 1; i < 8 && seen == end::earlier; ++i) seen = window(k + i);
    return seen == end::here;
  }
  /// Returns the distance from k, where a chunk ends, to the last such number of the range, at most `farthest` away.
  static word distance_to_edge(const std::function<end(word)>& window, word k, bool is_upward, word farthest) {
    const auto cuts = [&](word distance) { return cuts_at(window, is_upward ? k + distance : k - distance); };
    word inside = 0;
    word outside = 1;
    while (outside < farthest && cuts(outside)) {
      inside = outside;
      outside *= 2;
    }
    while (outside - inside > 1) {
      const word middle = inside + (outside - inside) / 2;
      (cuts(middle) ? inside : outside) = middle;
    }
    return inside;
  }

  /// Returns D or -D, if it is odd. If two windows end chunks, the difference of their hashes E is below the limit. So of the windows
  /// x + k * (x' - x) ranges of k end chunks, each 2^64 / E after the last, and a far range tells E exactly.
  std::optional<word> find_difference() {
    std::vector<word> ends;
    for (int tries = 0; tries < 40'000 && ends.size() < 24; ++tries) {
      const word x = random_.word();
      if (observe_window(x) == end::here) ends.push_back(x);
    }
    for (const word x : ends) {
      if (observe_window(x ^ word{1} << 63) == end::here) return std::nullopt;  // D is even
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const word step = ends[i] - ends[j];
        if (step % 2 == 0) continue;
        const auto period = find_period([&](word k) { return observe_window(ends[j] + k * step); });
        if (period) return *period * inverse_of(step);
      }
    }
    return std::nullopt;
  }

  /// Returns E, by the first edges of ranges, each twice as far as the one before.
  static std::optional<word> find_period(const std::function<end(word)>& window) {
    constexpr word least_range = 64;
    const word before = distance_to_edge(window, 0, false, limit);
    const word range = before + distance_to_edge(window, 0, true, limit);
    if (range < least_range || range > limit / 4) return std::nullopt;
    const word first = -before;
    // The second range is about 2^10 lengths of ranges away, with the error of that length.
    const word expected = range << strict_bits;
    std::optional<word> distance;
    for (word offset = expected - expected / 16; !distance && offset < expected + expected / 16; offset += range / 2) {
      if (!cuts_at(window, first + offset)) continue;
      distance = offset - distance_to_edge(window, first + offset, false, range * 2);
    }
    if (!distance) return std::nullopt;
    word ranges = 1;
    while (*distance < word{1} << 62) {
      ranges *= 2;
      const word inside = 2 * *distance + range / 2;
      if (!cuts_at(window, first + inside)) return std::nullopt;
      distance = inside - distance_to_edge(window, first + inside, false, range * 2);
    }
    const auto turns = static_cast<wide_word>(ranges) << 64;
    return static_cast<word>((turns + *distance / 2) / *distance);
  }

  static word inverse_of(word odd) {
    word inverse = odd;
    for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
    return inverse;
  }

  /// Returns the table by D. For x = y / D the hash is y - T[a], and with a symbol c in the place of the last a it is y - T[a] +
  /// T[c] - T[a], which gives this difference but for its last bits.
  std::optional<gear64_table> find_table(word difference) {
    const word inverse = inverse_of(difference);
    const auto first = lowest_end([&](word y) { return observe_window(y * inverse); });
    if (!first) return std::nullopt;
    gear64_table differences;
    for (int symbol = 0; symbol < 256; ++symbol) {
      const auto other = static_cast<std::uint8_t>(symbol);
      const auto edge = lowest_end([&](word y) { return observe_window((y & ~word{1}) * inverse, other); });
      const auto last_bits = edge ? find_last_bits(other, *first, inverse) : std::nullopt;
      if (!last_bits) return std::nullopt;
      const word rough = *first - *edge + 4;
      differences[other] = rough - (rough - *last_bits) % 8;
    }
    const byte_vector file = make_stream(content::random, 100'000, random_);
    const std::vector<std::uint64_t> lengths = observe_(file);
    for (word error = -word{8}; error != 9; ++error) {
      gear64_table table = differences;
      for (word& each : table) each += *first + error;
      if (predicted_lengths(table, file) == lengths) return table;
    }
    return std::nullopt;
  }

  /// Returns the last 3 bits of T[c] - T[a], which decide the highest bits of the hash where c stands in the place of bit 61.
  std::optional<word> find_last_bits(std::uint8_t other, word first, word inverse) {
    constexpr int bit = 61;
    for (word guess = 0; guess < 8; ++guess) {
      end seen = end::earlier;
      for (word y = first + limit / 2 - (guess << bit), tries = 0; tries < 100 && seen == end::earlier; ++y, ++tries) {
        const word x = y * inverse;
        if ((x >> bit & 1) == 0) seen = observe_window(x, other, bit);
      }
      if (seen == end::here) return guess;
    }
    return std::nullopt;
  }

  /// Returns the lowest number of the range, modulo 2^64, whose windows end chunks; it may be a few too high.
  static std::optional<word> lowest_end(const std::function<end(word)>& window) {
    constexpr word step = limit / 2;
    for (word y = step, count = 0; count < word{4} << strict_bits; ++count, y += step) {
      if (cuts_at(window, y)) return y - distance_to_edge(window, y, false, limit);
    }
    return std::nullopt;
  }

  observation observe_;
  std::array<std::uint8_t, 2> symbols_ = {};
  seeded_choices random_ = seeded_choices(558);
  std::size_t observations_ = 0;
};

observation lengths_by(const chunker& cuts) {
  return [&cuts](const byte_vector& file) { return lengths_of(cuts.find_cuts(file)); };
}

TEST(keyed_gear, gives_its_table_away_by_lengths) {
  borg2_fastcdc_parameters secret{.min_exp = 6, .max_exp = 12, .mask_bits = 8, .normalization = 2};
  seeded_choices random(1);
  for (std::uint8_t& byte : secret.key) byte = static_cast<std::uint8_t>(random.word());
  const chunker cuts = chunker_of(secret);
  gear_attack attack(lengths_by(cuts));
  const std::optional<gear64_table> table = attack.run();
  RecordProperty("observations", static_cast<int>(attack.observations()));
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(*table, keyed_table(secret));
  // So whoever sees lengths recognizes contents.
  const byte_vector known = make_stream(content::random, 1 << 20, random);
  const std::vector<std::uint64_t> lengths = lengths_of(cuts.find_cuts(known));
  EXPECT_GT(lengths.size(), 1000u);
  EXPECT_EQ(predicted_lengths(*table, known), lengths);
}

TEST(cuts_that_aes_decides, tell_this_attack_nothing) {
  std::array<std::uint8_t, secret_key::byte_count> key;
  seeded_choices random(2);
  for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random.word());
  for (const std::string_view name : {"toeplitz-aes", "rabin-aes", "toeplitz128-aes"}) {
    const chunker cuts = make_chunker(name, settings_of(small_parameters), secret_key(key))->chunker;
    gear_attack attack(lengths_by(cuts));
    EXPECT_FALSE(attack.run().has_value()) << name;
    EXPECT_GT(attack.observations(), 50'000u) << name << ": it has seen chunks end and learnt nothing from them";
  }
}

}  // namespace
}  // namespace cutpoint::tests
