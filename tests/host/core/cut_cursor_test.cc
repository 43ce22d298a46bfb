// Tests the cut cursor with a scanner that uses the reference, so that it is tested on every machine.
#include <cutpoint/cut_cursor.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

/// A kernel that finds cuts and candidates with the reference, counts its work, and can call candidates dense.
class counting_kernel final : public cut_kernel, public candidate_scanner {
 public:
  counting_kernel(chunker reference, std::uint64_t least_count)
      : reference_(std::move(reference)), least_count_(least_count) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint64_t length = *reference_.next_cut({.bytes = bytes, .start = start, .at_end = true});
    looped_bytes += length;
    return length;
  }
  const candidate_scanner* scanner() const noexcept override { return this; }
  std::string_view backend() const noexcept override { return "counting"; }

  std::uint64_t least_count() const noexcept override { return least_count_; }
  double speedup() const noexcept override { return speed; }
  std::optional<std::uint64_t> scan(byte_span bytes, std::uint64_t first, std::uint64_t last, std::uint64_t position,
                                    candidate_bits& map) const noexcept override {
    const candidate_map_needs needs = *reference_.candidate_map();
    EXPECT_GE(first, needs.behind);
    EXPECT_LE(last + needs.ahead, bytes.size());
    EXPECT_GE(last - first, least_count_);
    ++scan_count;
    scanned_bytes += last - first;
    if (finds_dense) return std::nullopt;
    reference_.find_candidates({.bytes = bytes, .start = first, .at_end = false}, last - first, position, map);
    return work_factor * (last - first);
  }

  double speed = 3;
  bool finds_dense = false;
  std::uint64_t work_factor = 1;
  mutable std::uint64_t looped_bytes = 0;
  mutable std::uint64_t scanned_bytes = 0;
  mutable std::uint64_t scan_count = 0;

 private:
  chunker reference_;
  std::uint64_t least_count_;
};

struct counted_cuts {
  counted_cuts(std::string_view name, std::string_view settings = {}, std::uint64_t least_count = 4096)
      : reference(chunker_of(name, settings)), kernel(std::make_shared<counting_kernel>(reference, least_count)) {}

  [[nodiscard]] chunker cuts() const { return reference.by(kernel); }

  chunker reference;
  std::shared_ptr<counting_kernel> kernel;
};

std::vector<std::uint8_t> random_stream(std::uint64_t size) {
  seeded_choices random(size);
  return make_stream(content::random, size, random);
}

TEST(cut_cursor, scans_each_byte_of_a_stream_about_once) {
  const auto stream = random_stream(3'000'001);
  const counted_cuts c("gear");
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_LE(c.kernel->scanned_bytes, stream.size() + c.kernel->least_count());
  EXPECT_LT(c.kernel->looped_bytes, 10'000u);
  EXPECT_LE(c.kernel->scan_count, 22u);  // tiles grow, also if the next chunk's minimum ends after a tile
}

TEST(cut_cursor, goes_on_where_it_stopped_when_a_window_grows) {
  const auto stream = random_stream(2'000'000);
  for (const std::uint64_t read_bytes : {1000u, 70'000u, 300'000u}) {
    const counted_cuts c("fastcdc");
    piecewise_source source(stream, always(read_bytes));
    const cut_outcome cut = cut_all(source, c.cuts(), stream);
    EXPECT_EQ(cut.chunks, c.reference.find_cuts(stream));
    EXPECT_LE(c.kernel->scanned_bytes, stream.size() * 11 / 10) << read_bytes;
    EXPECT_LE(c.kernel->looped_bytes, c.reference.reach()) << read_bytes;
  }
}

TEST(cut_cursor, finds_the_cuts_of_every_mapped_algorithm) {
  seeded_choices random(3);
  for (const char* name : {"gear", "rabin", "tttd", "crc32", "buzhash", "casync", "borg1", "adler", "rabin-inck",
                           "fastcdc", "borg2-fastcdc", "maxp", "ae-max", "toeplitz-aes"}) {
    const counted_cuts c(name);
    for (const content what : {content::random, content::mixed, content::zeros, content::text}) {
      const auto stream = make_stream(what, random.between(1, 900'000), random);
      EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream)) << name << " on " << name_of(what);
      piecewise_source source(stream, random_sizes(5));
      EXPECT_EQ(cut_all(source, c.cuts(), stream).chunks, c.reference.find_cuts(stream)) << name;
    }
  }
}

TEST(cut_cursor, loops_longer_and_longer_while_candidates_are_dense) {
  const auto stream = random_stream(8'000'000);
  const counted_cuts c("gear");
  c.kernel->finds_dense = true;
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_GT(c.kernel->scan_count, 1u);
  EXPECT_LE(c.kernel->scan_count, 8u);
}

TEST(cut_cursor, scans_again_once_candidates_are_sparse) {
  const auto stream = random_stream(3'000'000);
  const counted_cuts c("gear");
  cut_cursor cursor(c.cuts());
  std::uint64_t start = 0;
  while (start < stream.size()) {
    c.kernel->finds_dense = start < 500'000;
    const stream_window window{.bytes = stream, .start = start, .at_end = true};
    const std::uint64_t length = *cursor.next_cut(window, start);
    ASSERT_EQ(length, c.reference.next_cut(window));
    start += length;
  }
  EXPECT_GT(c.kernel->looped_bytes, 500'000u);
  EXPECT_LT(c.kernel->looped_bytes, 1'500'000u);
}

TEST(cut_cursor, follows_a_chunk_of_many_tiles) {
  std::vector<std::uint8_t> stream(9'000'000, 1);  // no candidate
  const auto end = random_stream(100'000);
  std::copy(end.begin(), end.end(), stream.end() - 100'000);
  const counted_cuts c("gear", "min_bytes=64,avg_bytes=1K,max_bytes=0");
  ASSERT_GT(c.reference.find_cuts(stream).front().length, 8'900'000u);
  c.kernel->looped_bytes = 0;
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_LT(c.kernel->looped_bytes, 1000u);
  EXPECT_LE(c.kernel->scanned_bytes, 3 * stream.size());
}

TEST(cut_cursor, skips_the_minimum_of_chunks) {
  const auto stream = random_stream(4'000'000);
  const counted_cuts c("rabin", "min_bytes=400K,avg_bytes=512K,max_bytes=512K");
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_GT(c.kernel->scanned_bytes, stream.size() / 10);
  EXPECT_LT(c.kernel->scanned_bytes, stream.size() / 2);
}

/// Bytes that repeat with a period of `least_period` or more, which contains a candidate.
std::vector<std::uint8_t> dense_stream(const chunker& cuts, std::uint64_t least_period, std::uint64_t size) {
  const std::uint64_t skipped = cuts.candidate_map()->unused;
  for (std::uint64_t period_size = least_period;; ++period_size) {
    const auto period = random_stream(period_size);
    std::vector<std::uint8_t> stream;
    while (stream.size() < size) stream.insert(stream.end(), period.begin(), period.end());
    if (cuts.find_cuts(stream).front().length <= skipped + period_size) return stream;
  }
}

TEST(cut_cursor, does_not_scan_if_a_candidate_follows_each_minimum) {
  const std::vector<std::uint8_t> zeros(9'000'000);
  const counted_cuts c("restic");
  EXPECT_EQ(c.cuts().find_cuts(zeros), c.reference.find_cuts(zeros));
  EXPECT_EQ(c.kernel->scan_count, 0u);

  const counted_cuts small("gear");
  const auto dense = dense_stream(small.reference, 300, 256 * KiB);
  EXPECT_EQ(small.cuts().find_cuts(dense), small.reference.find_cuts(dense));
  EXPECT_EQ(small.kernel->scan_count, 0u);
}

TEST(cut_cursor, scans_after_a_few_chunks_that_end_at_the_minimum) {
  const counted_cuts c("restic");
  auto stream = random_stream(9'000'000);
  std::fill(stream.begin(), stream.begin() + 3 * 512 * KiB, std::uint8_t{});  // three chunks
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_GT(c.kernel->scan_count, 0u);
  EXPECT_LT(c.kernel->looped_bytes, (3 + 1) * 512 * KiB + 32 * KiB);  // one chunk more is tested in vain
}

TEST(cut_cursor, loops_if_chunks_are_hardly_longer_than_the_minimum) {
  const counted_cuts c("rabin", "min_bytes=64K,avg_bytes=64K,max_bytes=1M", 64 * KiB);
  const auto stream = dense_stream(c.reference, 12'000, 6'000'000);
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_GT(c.kernel->scan_count, 0u);
  EXPECT_LT(c.kernel->scanned_bytes, stream.size() / 20);
}

TEST(cut_cursor, loops_if_scans_take_long) {
  const auto stream = random_stream(6'000'000);
  const counted_cuts c("gear");
  c.kernel->work_factor = 4;  // as if candidates were so many that a scan is slower than the loop
  EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
  EXPECT_GT(c.kernel->scan_count, 0u);
  EXPECT_LT(c.kernel->scanned_bytes, stream.size() / 20);
}

TEST(cut_cursor, leaves_short_streams_to_the_loop_and_all_if_it_is_as_fast) {
  for (const auto& [size, least_count, speed] : {std::tuple{5000u, 8192u, 3}, std::tuple{1'000'000u, 4096u, 1}}) {
    const auto stream = random_stream(size);
    const counted_cuts c("gear", "", least_count);
    c.kernel->speed = speed;
    EXPECT_EQ(c.cuts().find_cuts(stream), c.reference.find_cuts(stream));
    EXPECT_EQ(c.kernel->scan_count, 0u);
  }
}

TEST(cut_cursor, is_right_for_starts_in_any_order) {
  const auto stream = random_stream(900'000);
  seeded_choices random(4);
  for (const char* name : {"fastcdc", "borg2-fastcdc", "rabin", "tttd", "borg1", "maxp", "borg2-rabin-aes"}) {
    const bool has_exponents = std::string_view(name).starts_with("borg");
    const counted_cuts c(name, has_exponents ? "min_exp=10,mask_bits=12,max_exp=16" : "");
    cut_cursor cursor(c.cuts());
    for (int round = 0; round < case_count(200); ++round) {
      const std::uint64_t start = random.between(0, stream.size() - 1);
      const std::uint64_t end = random.between(start + 1, stream.size());
      const stream_window window{.bytes = byte_span(stream).first(end), .start = start, .at_end = end == stream.size()};
      ASSERT_EQ(cursor.next_cut(window, start), c.reference.next_cut(window))
          << name << " from " << start << " to " << end;
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
