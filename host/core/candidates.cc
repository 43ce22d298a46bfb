// Clears and searches the candidate map one word at a time.
#include <algorithm>
#include <bit>
#include <cassert>

#include <cutpoint/candidates.h>

namespace cutpoint {

namespace {

/// Returns the bits of a word from position `first` on.
std::uint64_t bits_from(std::uint64_t first) { return ~std::uint64_t{0} << (first % 64); }

/// Returns the bits of a word before position `last`, which follows a position of this word.
std::uint64_t until(std::uint64_t last) { return ~std::uint64_t{0} >> ((64 - last % 64) % 64); }

/// Returns the number of zeros before the first other word, or `count`. Most words are zeros.
std::uint64_t leading_zeros(const std::uint64_t* words, std::uint64_t count) {
  std::uint64_t zeros = 0;
  while (zeros + 4 <= count && (words[zeros] | words[zeros + 1] | words[zeros + 2] | words[zeros + 3]) == 0) zeros += 4;
  while (zeros < count && words[zeros] == 0) ++zeros;
  return zeros;
}

}  // namespace

candidate_bits::candidate_bits(std::uint64_t capacity, std::uint64_t levels)
    : word_count_(capacity / 64), words_(levels * word_count_) {
  assert(capacity != 0 && capacity % 64 == 0 && levels != 0);
}

void candidate_bits::clear(std::uint64_t first, std::uint64_t last) {
  assert(first <= last && last - first <= capacity());
  if (first == last) return;
  const std::uint64_t first_word = first / 64;
  const std::uint64_t last_word = (last - 1) / 64;
  for (std::uint64_t level = 0; level < words_.size(); level += word_count_) {
    std::uint64_t* words = &words_[level];
    if (first_word == last_word) {
      words[slot_of(first_word)] &= ~(bits_from(first) & until(last));
      continue;
    }
    words[slot_of(first_word)] &= ~bits_from(first);
    words[slot_of(last_word)] &= ~until(last);
    for (std::uint64_t word = first_word + 1; word < last_word;) {
      const std::uint64_t count = std::min(last_word - word, word_count_ - slot_of(word));  // to the end of the ring
      std::fill_n(words + slot_of(word), count, 0);
      word += count;
    }
  }
}

std::uint64_t candidate_bits::next(std::uint64_t first, std::uint64_t last, std::uint64_t level) const {
  assert(first <= last && last - first <= capacity());
  if (first == last) return last;
  const std::uint64_t* words = &words_[level * word_count_];
  const std::uint64_t last_word = (last - 1) / 64;
  std::uint64_t word = first / 64;
  std::uint64_t bits = words[slot_of(word)] & bits_from(first);
  while (bits == 0 && word != last_word) {
    const std::uint64_t slot = slot_of(++word);
    const std::uint64_t count = std::min(last_word + 1 - word, word_count_ - slot);  // to the end of the ring
    const std::uint64_t zeros = std::min(leading_zeros(words + slot, count), count - 1);
    word += zeros;
    bits = words[slot + zeros];
  }
  if (bits == 0) return last;
  return std::min(last, 64 * word + static_cast<std::uint64_t>(std::countr_zero(bits)));
}

std::optional<std::uint64_t> candidate_bits::previous(std::uint64_t first, std::uint64_t last,
                                                      std::uint64_t level) const {
  assert(first <= last && last - first <= capacity());
  if (first == last) return std::nullopt;
  const std::uint64_t* words = &words_[level * word_count_];
  const std::uint64_t first_word = first / 64;
  std::uint64_t word = (last - 1) / 64;
  std::uint64_t slot = slot_of(word);
  std::uint64_t bits = words[slot] & until(last);
  while (bits == 0 && word != first_word) {
    --word;
    slot = slot == 0 ? word_count_ - 1 : slot - 1;
    bits = words[slot];
  }
  if (bits == 0) return std::nullopt;
  const std::uint64_t last_marked = 64 * word + 63 - static_cast<std::uint64_t>(std::countl_zero(bits));
  if (last_marked < first) return std::nullopt;
  return last_marked;
}

}  // namespace cutpoint
