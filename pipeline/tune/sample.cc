// The sample of the tuner. Its super-chunks lie in one buffer without gaps; when some are dropped, those after them are
// moved down.
#include <algorithm>
#include <cstring>
#include <utility>

#include <cutpoint/algorithms.h>
#include <cutpoint/backends.h>
#include <cutpoint/text.h>
#include <cutpoint/tune/sample.h>
#include <fmt/format.h>

#include "host/core/splitmix.h"

namespace cutpoint {

namespace {

bool is_uniform(byte_span bytes) {
  return bytes.size() < 2 || std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

std::uint64_t first_word(const digest& fingerprint) {
  std::uint64_t word = 0;
  std::memcpy(&word, fingerprint.bytes.data(), sizeof word);
  return word;
}

chunker gear_chunker(const gear_parameters& parameters) {
  const chunker reference = chunker::make(parameters).value();
  auto fastest = chunker_on(reference, backend::automatic);
  return fastest ? *std::move(fastest) : reference;
}

}  // namespace

const chunker& super_chunks() {
  static const chunker cuts = gear_chunker({.avg_bytes = 256 * KiB, .min_bytes = 64 * KiB, .max_bytes = 1 * MiB});
  return cuts;
}

result<content_sample> content_sample::make(const sample_size& size) {
  CUTPOINT_TRY(auto hash, fingerprinter::make(fingerprint_kind::xxh3));
  return content_sample(size, gear_chunker({.avg_bytes = 512, .min_bytes = 128, .max_bytes = 4 * KiB}),
                        std::move(hash));
}

content_sample::content_sample(const sample_size& size, const chunker& small_chunks, fingerprinter hash)
    : size_(size),
      small_chunks_(small_chunks),
      hash_(std::move(hash)),
      bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(size.most_bytes)) {}

result<std::uint64_t> content_sample::key_of(byte_span bytes) {
  if (size_.is_all()) return std::uint64_t{0};
  if (is_uniform(bytes)) return splitmix64::mixed(++uniform_count_ * splitmix64::step);
  std::uint64_t smallest = everything;
  for (std::uint64_t position = 0; position < bytes.size();) {
    const std::uint64_t length = *small_chunks_.next_cut({.bytes = bytes, .start = position, .at_end = true});
    CUTPOINT_TRY(const auto fingerprint, hash_(bytes.subspan(position, length)));
    smallest = std::min(smallest, first_word(fingerprint));
    position += length;
  }
  return splitmix64::mixed(smallest);
}

std::uint64_t content_sample::wanted_bound() const {
  const double least = static_cast<double>(size_.least_bytes) / static_cast<double>(std::max<std::uint64_t>(read_, 1));
  const double share = std::max(size_.share, least);
  return share >= 1 ? everything : static_cast<std::uint64_t>(share * static_cast<double>(everything));
}

void content_sample::drop_from(std::uint64_t bound) {
  bound_ = bound;
  std::uint64_t end = 0;
  std::erase_if(chunks_, [&](sampled_chunk& k) {
    if (k.key >= bound) return true;
    std::memmove(bytes_.get() + end, bytes_.get() + k.begin, k.length);
    k.begin = end;
    end += k.length;
    return false;
  });
  byte_count_ = end;
}

status content_sample::make_room(std::uint64_t count) {
  if (count <= size_.most_bytes - byte_count_) return {};
  if (!size_.may_shrink) {
    return {status_code::memory_limit, fmt::format("the sample is more than the {} of memory that are left for it: a "
                                                   "smaller sample, or more memory, is needed",
                                                   size_with_unit(size_.most_bytes))};
  }
  std::vector<std::uint64_t> keys;
  for (const sampled_chunk& k : chunks_) keys.push_back(k.key);
  std::sort(keys.begin(), keys.end());
  while (count > size_.most_bytes - byte_count_ && !chunks_.empty()) {
    keys.resize(keys.size() - (keys.size() + 7) / 8);  // an eighth at a time, because each drop moves all bytes
    drop_from(keys.empty() ? 0 : keys.back() + 1);
  }
  return {};
}

status content_sample::add(std::uint64_t input, byte_span bytes, std::uint64_t count) {
  for (; count > 0; --count) CUTPOINT_RETURN_IF_FAILED(add_one(input, bytes));
  return {};
}

status content_sample::add_one(std::uint64_t input, byte_span bytes) {
  const std::uint64_t offset = std::exchange(input_bytes_, input_bytes_ + bytes.size());
  read_ += bytes.size();
  CUTPOINT_TRY(const auto key, key_of(bytes));
  if (const std::uint64_t wanted = wanted_bound(); wanted < bound_ - bound_ / 8) drop_from(wanted);
  const auto is_out = [&] { return key >= bound_ && bound_ != everything; };
  if (is_out()) return {};
  CUTPOINT_RETURN_IF_FAILED(make_room(bytes.size()));
  if (is_out() || bytes.size() > size_.most_bytes - byte_count_) return {};
  std::memcpy(bytes_.get() + byte_count_, bytes.data(), bytes.size());
  chunks_.push_back({.key = key, .input = input, .offset = offset, .begin = byte_count_, .length = bytes.size()});
  byte_count_ += bytes.size();
  return {};
}

void content_sample::end_input(std::uint64_t input) {
  if (!chunks_.empty() && chunks_.back().input == input) {
    chunks_.back().is_last = chunks_.back().offset + chunks_.back().length == input_bytes_;
  }
  input_bytes_ = 0;
}

void content_sample::finish() {
  if (const std::uint64_t wanted = wanted_bound(); wanted < bound_) drop_from(wanted);
}

std::vector<sampled_range> content_sample::streams() const {
  std::vector<sampled_range> ranges;
  const sampled_chunk* last = nullptr;
  for (const sampled_chunk& k : chunks_) {
    const bool goes_on = last != nullptr && last->input == k.input && last->offset + last->length == k.offset;
    if (goes_on) {
      ranges.back().length += k.length;
      ranges.back().is_cut_off = !k.is_last;
    } else {
      ranges.push_back(
          {.begin = k.begin, .length = k.length, .offset = k.offset, .input = k.input, .is_cut_off = !k.is_last});
    }
    last = &k;
  }
  return ranges;
}

}  // namespace cutpoint
