// Tests that the chunks after a change are those of the new stream, that kept chunks have their old bytes, and that
// little is read.
#include <cerrno>

#include <cutpoint/rechunk.h>
#include <gmock/gmock.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using bytes = std::vector<std::uint8_t>;

/// Bytes in memory that are read in chosen sizes. It records how it was read.
class watched_access final : public random_access {
 public:
  explicit watched_access(byte_span stream, read_sizes sizes = whole()) : stream_(stream), sizes_(std::move(sizes)) {}

  /// Makes the read after `count` others fail, and all later ones.
  void fail_after(std::uint64_t count, status failure) {
    fails_after_ = count;
    failure_ = std::move(failure);
  }

  result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) override {
    if (read_count_++ >= fails_after_) return failure_;
    const auto address = reinterpret_cast<std::uintptr_t>(destination.data());
    if (destination.size() > 1) {
      lowest_address_ = std::min(lowest_address_, address);
      highest_address_ = std::max(highest_address_, address + destination.size());
      first_ = std::min(first_, offset);
      last_ = std::max(last_, offset + destination.size());
    }
    if (offset >= stream_.size()) return 0;
    const std::uint64_t count = std::min<std::uint64_t>({sizes_(), destination.size(), stream_.size() - offset});
    std::copy_n(stream_.begin() + static_cast<std::ptrdiff_t>(offset), count, destination.begin());
    delivered_bytes_ += count;
    return count;
  }

  [[nodiscard]] std::uint64_t read_count() const { return read_count_; }
  [[nodiscard]] std::uint64_t delivered_bytes() const { return delivered_bytes_; }
  /// The following exclude reads of one byte, which may only check the size.
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t last() const { return last_; }
  [[nodiscard]] std::uint64_t address_range() const { return highest_address_ - lowest_address_; }

 private:
  byte_span stream_;
  read_sizes sizes_;
  std::uint64_t fails_after_ = std::numeric_limits<std::uint64_t>::max();
  status failure_;
  std::uint64_t read_count_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t first_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_ = 0;
  std::uintptr_t lowest_address_ = std::numeric_limits<std::uintptr_t>::max();
  std::uintptr_t highest_address_ = 0;
};

std::uint64_t end_of(const chunk& c) { return c.offset + c.length; }

std::ptrdiff_t signed_of(std::uint64_t value) { return static_cast<std::ptrdiff_t>(value); }

/// Replaces `removed_bytes` of `stream` at `offset` by `added`.
bytes changed(bytes stream, std::uint64_t offset, std::uint64_t removed_bytes, byte_span added) {
  const auto position =
      stream.erase(stream.begin() + signed_of(offset), stream.begin() + signed_of(offset + removed_bytes));
  stream.insert(position, added.begin(), added.end());
  return stream;
}

/// A stream, its chunks, and both after a change.
struct edit {
  edit(const chunker& chunker, const bytes& before, std::uint64_t offset, std::uint64_t removed_bytes, byte_span added)
      : edit(chunker, before, chunker.find_cuts(before), offset, removed_bytes, added) {}
  edit(const chunker& chunker, const bytes& before, std::vector<chunk> cuts_before, std::uint64_t offset,
       std::uint64_t removed_bytes, byte_span added)
      : cuts(chunker),
        old_stream(before),
        old_chunks(std::move(cuts_before)),
        change{offset, removed_bytes, added.size()},
        new_stream(changed(before, offset, removed_bytes, added)),
        new_chunks(chunker.find_cuts(new_stream)) {}

  [[nodiscard]] result<rechunked> rechunk(random_access& stream, const stream_limits& limits = {}) const {
    return cutpoint::rechunk(cuts, old_chunks, change, stream, limits);
  }

  chunker cuts;
  bytes old_stream;
  std::vector<chunk> old_chunks;
  stream_change change;
  bytes new_stream;
  std::vector<chunk> new_chunks;
};

bool are_equal(byte_span a, byte_span b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

byte_span bytes_of(const bytes& stream, const chunk& c) { return byte_span(stream).subspan(c.offset, c.length); }

/// Returns how many chunks at the beginning are unchanged and end at or before the change.
std::size_t unchanged_count(const edit& e) {
  const auto [old, now] = std::ranges::mismatch(e.old_chunks, e.new_chunks);
  const auto is_before = [&](const chunk& c) { return end_of(c) <= e.change.offset; };
  return static_cast<std::size_t>(std::find_if_not(e.old_chunks.begin(), old, is_before) - e.old_chunks.begin());
}

/// Returns the number of old chunks from the first one on that begins where a new chunk does and whose look-behind
/// contains no changed byte.
std::size_t met_count(const edit& e) {
  for (const chunk& c : e.new_chunks) {
    if (c.offset < e.change.offset + e.change.added_bytes + e.cuts.behind()) continue;
    const std::uint64_t old_offset = c.offset - e.change.added_bytes + e.change.removed_bytes;
    const auto is_here = [&](const chunk& old) { return old.offset == old_offset; };
    const auto met = std::find_if(e.old_chunks.begin(), e.old_chunks.end(), is_here);
    if (met != e.old_chunks.end()) return static_cast<std::size_t>(e.old_chunks.end() - met);
  }
  return 0;
}

/// Returns a description of what is wrong with the result, or an empty string.
std::string fault_of(const edit& e, const rechunked& differences) {
  const std::vector<chunk> chunks = chunks_after(e.old_chunks, differences);
  if (chunks != e.new_chunks) return "other chunks";
  for (std::size_t i = 0; i < differences.kept_before; ++i) {
    if (!are_equal(bytes_of(e.old_stream, e.old_chunks[i]), bytes_of(e.new_stream, chunks[i]))) {
      return "a chunk kept before the change has other bytes";
    }
  }
  for (std::size_t i = 1; i <= differences.kept_after; ++i) {
    if (!are_equal(bytes_of(e.old_stream, e.old_chunks.end()[-signed_of(i)]),
                   bytes_of(e.new_stream, chunks.end()[-signed_of(i)]))) {
      return "a chunk kept after the change has other bytes";
    }
  }
  if (e.change.removed_bytes == 0 && e.change.added_bytes == 0) {
    return differences.kept_before == chunks.size() ? "" : "no change, and not all are kept";
  }
  if (differences.kept_before != unchanged_count(e))
    return "not all that the change left before it are kept, or others";
  if (differences.kept_after != met_count(e)) return "did not meet the old chunks as soon as it could";
  return {};
}

std::string described(const edit& e) {
  return e.cuts.canonical() + ": " + std::to_string(e.old_stream.size()) + " bytes, at " +
         std::to_string(e.change.offset) + " " + std::to_string(e.change.removed_bytes) + " removed and " +
         std::to_string(e.change.added_bytes) + " added";
}

/// Expects the right chunks, and returns the result.
rechunked expect_rechunked(const edit& e, watched_access& stream, const stream_limits& limits = {}) {
  const auto differences = e.rechunk(stream, limits);
  if (!differences) {
    ADD_FAILURE() << described(e) << ": " << differences.error().message();
    return {};
  }
  EXPECT_EQ(fault_of(e, *differences), "") << described(e);
  EXPECT_EQ(differences->read_bytes, stream.delivered_bytes());
  return *differences;
}

rechunked expect_rechunked(const edit& e, const stream_limits& limits = {}) {
  watched_access stream(e.new_stream);
  return expect_rechunked(e, stream, limits);
}

/// Draws an offset at which a change begins or ends: any offset, an end of the stream, or one at or near a cut.
std::uint64_t draw_place(const std::vector<chunk>& chunks, std::uint64_t size, choices& random) {
  if (size == 0 || random.once_in(12)) return 0;
  if (random.once_in(12)) return size;
  if (random.once_in(2)) return random.between(0, size);
  const std::uint64_t cut = end_of(chunks[random.between(0, chunks.size() - 1)]);
  const std::uint64_t near = random.between(0, 6);
  return std::min(size, cut + near - std::min(cut + near, std::uint64_t{3}));
}

/// Draws a change: none, an insertion, a removal or a replacement, of a few bytes or of many.
edit draw_edit(const chunker& chunker, const bytes& old_stream, content what, choices& random) {
  const auto chunks = chunker.find_cuts(old_stream);
  const std::uint64_t size = old_stream.size();
  std::uint64_t first = draw_place(chunks, size, random);
  std::uint64_t last = first;
  if (random.once_in(3)) {
    last = draw_place(chunks, size, random);
  } else if (!random.once_in(3)) {
    last = std::min(size, first + random.between(1, 30));
  }
  if (random.once_in(40)) std::tie(first, last) = std::pair{std::uint64_t{0}, size};
  if (first > last) std::swap(first, last);
  std::uint64_t added = last - first;  // a replacement
  if (random.once_in(3)) {
    added = 0;
  } else if (!random.once_in(3)) {
    added = random.between(0, random.once_in(3) ? 400 : 20);
  }
  return {chunker, old_stream, first, last - first,
          make_stream(random.once_in(2) ? what : content::random, added, random)};
}

class rechunk_of_every_algorithm : public testing::TestWithParam<algorithm_case> {
 protected:
  template <class Check>
  void for_each_edit(int edits, Check check) {
    seeded_choices random(GetParam().which + 7501);
    for (int round = 0; round < GetParam().rounds; ++round) {
      for (const content what : all_contents) {
        const chunker chunker = tiny_chunker(GetParam().which, random);
        const auto old_stream = make_stream(what, random.between(0, 2500), random);
        for (int i = 0; i < edits; ++i) check(draw_edit(chunker, old_stream, what, random), random);
        if (HasFailure()) return;
      }
    }
  }
};

TEST_P(rechunk_of_every_algorithm, gives_the_cuts_of_the_whole_and_reads_nothing_that_cannot_see_the_change) {
  for_each_edit(16, [](const edit& e, choices&) {
    watched_access stream(e.new_stream);
    expect_rechunked(e, stream);
    for (const chunk& c : e.old_chunks) {
      const bool is_out_of_reach = e.change.offset - std::min(e.change.offset, c.offset) >= e.cuts.reach();
      const bool is_passed = e.cuts.is_decided_by_lookahead() && end_of(c) + e.cuts.lookahead() < e.change.offset;
      if (!is_out_of_reach && !is_passed) break;
      EXPECT_GE(stream.first(), end_of(c) - std::min(end_of(c), e.cuts.behind())) << described(e);
    }
  });
}

TEST_P(rechunk_of_every_algorithm, gives_the_same_in_pieces_of_any_size_and_little_memory) {
  for_each_edit(3, [](const edit& e, choices& random) {
    const std::uint64_t least = least_memory(e.cuts) + (e.cuts.reach() == unlimited ? e.new_stream.size() : 0);
    for (const read_sizes& sizes : {always(1), primes(), random_sizes(random.word()), whole()}) {
      watched_access stream(e.new_stream, sizes);
      expect_rechunked(e, stream, {.memory_bytes = least + random.between(0, 5)});
    }
  });
}

TEST_P(rechunk_of_every_algorithm, outgrows_memory_only_where_cut_stream_does) {
  for_each_edit(3, [](const edit& e, choices& random) {
    const stream_limits limits = {.memory_bytes = least_memory(e.cuts) + random.between(0, 400)};
    watched_access stream(e.new_stream);
    const auto differences = e.rechunk(stream, limits);
    if (differences) {
      EXPECT_EQ(fault_of(e, *differences), "") << described(e);
      return;
    }
    EXPECT_EQ(differences.error().code(), status_code::memory_limit);
    memory_source source(e.new_stream);
    EXPECT_EQ(cut_all(source, e.cuts, e.new_stream, limits).outcome.code(), status_code::memory_limit) << described(e);
  });
}

INSTANTIATE_TEST_SUITE_P(many_edits, rechunk_of_every_algorithm, testing::ValuesIn(algorithm_cases(8)), case_name);

class rechunk_of_every_name : public testing::TestWithParam<std::string> {};

TEST_P(rechunk_of_every_name, cuts_a_few_mebibytes) {
  const chunker chunker = affordable_chunker(GetParam());
  seeded_choices random(7601);
  const auto stream =
      make_stream(content::mixed, (is_sanitized ? 512 * KiB : 2 * MiB) + chunker.reach() / 2 + 777, random);
  const auto chunks = chunker.find_cuts(stream);
  const auto added = make_stream(content::random, 5000, random);
  const std::uint64_t place = random.between(stream.size() / 4, stream.size() / 2);
  const byte_span one = byte_span(added).first(1);
  const std::array edits = {
      edit(chunker, stream, chunks, place, 0, one), edit(chunker, stream, chunks, place, 5000, added),
      edit(chunker, stream, chunks, place, 100'000, {}), edit(chunker, stream, chunks, stream.size() - 1, 1, {})};
  for (const edit& e : edits) {
    expect_rechunked(e);
    watched_access access(e.new_stream, random_sizes(random.word()));
    expect_rechunked(e, access, {.memory_bytes = least_memory(chunker) + 4099});
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, rechunk_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

class rechunk_gear : public testing::Test {
 protected:
  seeded_choices random_{7701};
  chunker chunker_ = chunker_of("gear");
  bytes stream_ = make_stream(content::random, 8 * MiB, random_);
};

TEST_F(rechunk_gear, reads_only_what_is_near_the_change) {
  const bytes added = {1, 2, 3};
  const std::uint64_t middle = 4 * MiB;
  for (const edit& e :
       {edit(chunker_, stream_, middle, 1, byte_span(added).first(1)), edit(chunker_, stream_, middle, 0, added),
        edit(chunker_, stream_, middle, 1, {}), edit(chunker_, stream_, middle, 1 * MiB, added)}) {
    watched_access stream(e.new_stream);
    const rechunked differences = expect_rechunked(e, stream);
    EXPECT_LT(differences.read_bytes, 600'000u);
    EXPECT_GE(stream.first() + chunker_.reach(), middle);
    EXPECT_LE(stream.last(), middle + 600'000);
    EXPECT_LT(differences.cut_anew.size(), 20u);
    EXPECT_GT(differences.kept_before, 300u);
    EXPECT_GT(differences.kept_after, 200u);
  }
}

TEST_F(rechunk_gear, reads_little_at_the_ends_too) {
  const bytes added(10, 7);
  const std::uint64_t size = stream_.size();
  for (const edit& e : {edit(chunker_, stream_, 0, 0, added), edit(chunker_, stream_, 0, 10, {}),
                        edit(chunker_, stream_, size, 0, added), edit(chunker_, stream_, size - 10, 10, {}),
                        edit(chunker_, stream_, size / 2, size - size / 2, {})}) {
    EXPECT_LT(expect_rechunked(e).read_bytes, 600'000u) << described(e);
  }
}

TEST_F(rechunk_gear, holds_no_more_than_is_allowed) {
  const auto added = make_stream(content::mixed, 2 * MiB, random_);
  const edit e(chunker_, stream_, 3 * MiB, 1000, added);
  const std::uint64_t least = chunker_.reach();
  for (const std::uint64_t memory : {least, least + 1, least + 100'000}) {
    watched_access stream(e.new_stream);
    expect_rechunked(e, stream, {.memory_bytes = memory});
    EXPECT_LE(stream.address_range(), memory);
    EXPECT_GE(stream.address_range(), least);
  }
}

TEST_F(rechunk_gear, without_a_change_sees_only_where_the_stream_ends) {
  for (const std::uint64_t offset : {std::uint64_t{0}, 4 * MiB, 8 * MiB}) {
    const edit e(chunker_, stream_, offset, 0, {});
    const rechunked differences = expect_rechunked(e);
    EXPECT_EQ(differences.kept_before, e.old_chunks.size());
    EXPECT_EQ(differences.read_bytes, 1u);
  }
}

TEST(rechunk, starts_from_nothing_and_comes_to_nothing) {
  const bytes some(100'000, 1);
  for (const std::string& name : catalog_names()) {
    const chunker chunker = chunker_of(name);
    EXPECT_EQ(expect_rechunked(edit(chunker, {}, 0, 0, some)).kept_before, 0u);
    EXPECT_EQ(expect_rechunked(edit(chunker, some, 0, some.size(), {})).read_bytes, 0u);
    EXPECT_EQ(expect_rechunked(edit(chunker, {}, 0, 0, {})).read_bytes, 0u);
  }
}

TEST(rechunk, cuts_anew_a_chunk_whose_bytes_changed_and_whose_cuts_did_not) {
  const chunker chunker = chunker_of("fixed", "avg_bytes=1000");
  const bytes stream(10'000, 1);
  const rechunked differences = expect_rechunked(edit(chunker, stream, 4500, 1, bytes{2}));
  EXPECT_EQ(differences.kept_before, 4u);
  EXPECT_EQ(differences.cut_anew, (std::vector<chunk>{{4000, 1000}}));
  EXPECT_EQ(differences.kept_after, 5u);
  EXPECT_EQ(differences.shift, 0);
}

TEST(rechunk, takes_whole_chunks_out_without_a_look_at_the_stream) {
  const chunker chunker = chunker_of("fixed", "avg_bytes=1000");
  const rechunked differences = expect_rechunked(edit(chunker, bytes(9500, 1), 4000, 2000, {}));
  EXPECT_EQ(differences.kept_before, 4u);
  EXPECT_TRUE(differences.cut_anew.empty());
  EXPECT_EQ(differences.kept_after, 4u);
  EXPECT_EQ(differences.shift, -2000);
  EXPECT_EQ(differences.read_bytes, 1u);
}

TEST(rechunk, cuts_anew_what_the_end_had_cut) {
  const chunker chunker = chunker_of("crc32", "min_bytes=48,avg_bytes=64,max_bytes=1000");  // zeros are no candidates
  const bytes stream(2500, 0);
  const rechunked appended = expect_rechunked(edit(chunker, stream, 2500, 0, bytes(700, 0)));
  EXPECT_EQ(appended.kept_before, 2u);
  EXPECT_EQ(appended.cut_anew, (std::vector<chunk>{{2000, 1000}, {3000, 200}}));
  const rechunked truncated = expect_rechunked(edit(chunker, stream, 1500, 1000, {}));
  EXPECT_EQ(truncated.kept_before, 1u);
  EXPECT_EQ(truncated.cut_anew, (std::vector<chunk>{{1000, 500}}));
}

TEST(rechunk, does_not_meet_where_it_looks_back_at_the_change) {
  const chunker chunker = chunker_of("maxp", "half_window=5,min_bytes=1,avg_bytes=8,max_bytes=8");
  ASSERT_EQ(chunker.behind(), 5u);
  seeded_choices random(7801);
  int misleading_count = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto stream = make_stream(content::few_symbols, 60, random);
    const auto added = make_stream(content::random, 1, random);
    const edit e(chunker, stream, random.between(0, 50), 1, added);
    expect_rechunked(e);
    for (const chunk& c : e.new_chunks) {
      const auto begins_here = [&](const chunk& old) { return old.offset == c.offset && old.length != c.length; };
      if (c.offset > e.change.offset && std::ranges::any_of(e.old_chunks, begins_here)) ++misleading_count;
    }
  }
  EXPECT_GT(misleading_count, 0) << "no round would have been wrong";
}

/// A chunk without a maximum that grows: zeros are no candidates of `crc32`.
class rechunk_endless : public testing::Test {
 protected:
  /// Makes a stream of random chunks, one chunk of zeros, and random chunks, and adds more zeros to it.
  edit longer(std::uint64_t zeros, std::uint64_t more) {
    bytes stream = make_stream(content::random, 200'000, random_);
    stream.resize(chunker_.find_cuts(stream).back().offset + zeros);
    const auto rest = make_stream(content::random, 200'000, random_);
    stream.insert(stream.end(), rest.begin(), rest.end());
    return {chunker_, stream, stream.size() - rest.size() - zeros / 2, 0, bytes(more, 0)};
  }
  static std::uint64_t longest(const edit& e) {
    std::uint64_t longest = 0;
    for (const chunk& c : e.new_chunks) longest = std::max(longest, c.length);
    return longest;
  }

  seeded_choices random_{7901};
  chunker chunker_ = chunker_of("crc32", "min_bytes=48,avg_bytes=64,max_bytes=0");
};

TEST_F(rechunk_endless, is_found_up_to_the_limit) {
  for (const std::uint64_t more : {1000u, 300'000u, 3'000'000u}) {
    const edit e = longer(500'000, more);
    ASSERT_GT(longest(e), more + 400'000);
    expect_rechunked(e, {.memory_bytes = longest(e)});
  }
}

TEST_F(rechunk_endless, past_the_limit_is_told_with_its_offset_and_the_limit) {
  const edit e = longer(500'000, 2 * MiB);
  const stream_limits limits = {.memory_bytes = longest(e) - 1};
  watched_access stream(e.new_stream);
  const auto differences = e.rechunk(stream, limits);
  ASSERT_FALSE(differences.ok());
  EXPECT_EQ(differences.error().code(), status_code::memory_limit);
  const auto is_longest = [&](const chunk& c) { return c.length == longest(e); };
  const auto outgrown = std::find_if(e.new_chunks.begin(), e.new_chunks.end(), is_longest);
  EXPECT_THAT(differences.error().message(), testing::HasSubstr("offset " + std::to_string(outgrown->offset) + " "));
  EXPECT_THAT(differences.error().message(), testing::HasSubstr(std::to_string(limits.memory_bytes)));
}

TEST_F(rechunk_endless, of_tttd_starts_at_the_change) {
  const chunker chunker = chunker_of("tttd", "max_bytes=0");
  const auto stream = make_stream(content::random, 4 * MiB, random_);
  EXPECT_LT(expect_rechunked(edit(chunker, stream, 2 * MiB, 0, bytes{1})).read_bytes, 600'000u);
}

TEST_F(rechunk_endless, is_not_looked_at_again_for_every_block) {
  const bytes stream(96 * MiB, 0);
  const edit e(chunker_, stream, 1000, 0, {});
  watched_access whole_stream(stream);
  const stream_change change = {.offset = 0, .removed_bytes = 1, .added_bytes = 1};
  const auto differences = rechunk(chunker_, e.old_chunks, change, whole_stream, {});
  ASSERT_TRUE(differences.ok());
  EXPECT_EQ(differences->cut_anew, e.old_chunks);
  EXPECT_LT(whole_stream.read_count(), 16u) << "one look for each";
}

/// Zeros that are never written; `fixed` does not read them. After a read of the last byte the size is `later`.
class blank_access final : public random_access {
 public:
  explicit blank_access(std::uint64_t size) : blank_access(size, size) {}
  blank_access(std::uint64_t size, std::uint64_t later) : size_(size), later_(later) {}
  result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) override {
    const std::uint64_t count = std::min<std::uint64_t>(destination.size(), size_ - std::min(size_, offset));
    if (offset == size_ - 1) size_ = later_;
    return count;
  }

 private:
  std::uint64_t size_;
  std::uint64_t later_;
};

class rechunk_failure : public testing::Test {
 protected:
  /// Expects that a stream is refused, with a message that has these words.
  static void expect_failure(const result<rechunked>& differences, status_code code, const std::string& told = {}) {
    ASSERT_FALSE(differences.ok());
    EXPECT_EQ(differences.error().code(), code);
    EXPECT_THAT(differences.error().message(), testing::HasSubstr(told));
  }

  seeded_choices random_{8001};
  edit e_{chunker_of("gear", "min_bytes=64,avg_bytes=256,max_bytes=1024"),
          make_stream(content::random, 700'000, random_), 300'000, 10, make_stream(content::random, 300'000, random_)};
};

TEST_F(rechunk_failure, of_wrong_arguments_is_told_before_anything_is_read) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::vector<chunk> chunks = {{0, 100}, {100, 50}};
  struct refused_case {
    std::vector<chunk> old_chunks;
    stream_change change;
    std::string told;
  };
  const refused_case cases[] = {
      // Chunks that do not cover a stream, or are longer than any.
      {{{1, 100}}, {}, "at offset 1 with 100 bytes does not go on from offset 0"},
      {{{0, 100}, {101, 100}}, {}, "at offset 101"},
      {{{0, 100}, {99, 100}}, {}, "at offset 99"},
      {{{0, 100}, {100, 0}}, {}, "at offset 100 with 0 bytes"},
      {{{100, 100}, {0, 100}}, {}, "at offset 100"},
      {{{0, 1025}}, {}, "1025 bytes; none of gear("},
      {{{0, 1024}, {1024, most - 1023}}, {}, "none of gear("},
      // Changes outside the stream.
      {chunks, {151, 0, 0}, "0 bytes at offset 151 of a stream of 150 bytes"},
      {chunks, {150, 1, 0}, "1 bytes at offset 150"},
      {chunks, {149, 2, 0}, "2 bytes at offset 149"},
      {chunks, {149, most, 0}, "at offset 149"},
      {chunks, {most, 1, 0}, "of a stream of 150 bytes"},
      {chunks, {0, 0, most}, "adds"},
      {chunks, {0, 0, most / 2 - 149}, "which makes more than 9223372036854775807"},
      {{}, {1, 0, 0}, "of a stream of 0 bytes"},
  };
  watched_access stream(e_.new_stream);
  for (const auto& [old_chunks, change, told] : cases) {
    expect_failure(rechunk(e_.cuts, old_chunks, change, stream, {}), status_code::invalid_argument, told);
  }
  expect_failure(e_.rechunk(stream, {.memory_bytes = 1023}), status_code::memory_limit, "1024");
  EXPECT_EQ(stream.read_count(), 0u);
}

TEST_F(rechunk_failure, of_streams_past_any_offset) {
  const chunker chunker = chunker_of("crc32", "min_bytes=48,avg_bytes=64,max_bytes=0");
  const std::uint64_t half = std::uint64_t{1} << 62;
  watched_access stream({});
  const std::vector<chunk> chunks = {{0, half}, {half, half}};
  expect_failure(rechunk(chunker, chunks, {.offset = 0, .removed_bytes = 1, .added_bytes = 0}, stream, {}),
                 status_code::invalid_argument);
}

TEST_F(rechunk_failure, of_another_size_names_both) {
  const std::uint64_t expected = e_.new_stream.size();
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, e_.change.offset, expected - 2, expected - 1,
                                   expected + 1, expected + 2, 2 * expected, 2 * expected + 3, 40 * expected}) {
    bytes resized = e_.new_stream;
    resized.resize(size);
    watched_access stream(resized);
    expect_failure(e_.rechunk(stream), status_code::io_error,
                   "the stream has " + std::to_string(size) + " bytes, not the " + std::to_string(expected) +
                       " that the change implies");
    EXPECT_LT(stream.delivered_bytes(), 100u);
  }
}

TEST_F(rechunk_failure, of_another_size_comes_before_no_change) {
  for (const std::uint64_t size : {699'999u, 700'001u, 0u}) {
    watched_access stream(byte_span(e_.new_stream).first(size));
    expect_failure(rechunk(e_.cuts, e_.old_chunks, {.offset = 5}, stream, {}), status_code::io_error);
  }
  watched_access stream(byte_span(e_.new_stream).first(1));
  expect_failure(rechunk(e_.cuts, {}, {}, stream, {}), status_code::io_error,
                 "the stream has 1 bytes, not the 0 that the change implies");
}

TEST_F(rechunk_failure, of_a_stream_without_an_end_is_found_soon) {
  blank_access stream(std::numeric_limits<std::uint64_t>::max());
  expect_failure(e_.rechunk(stream), status_code::io_error);
}

TEST_F(rechunk_failure, of_a_stream_that_shrinks_meanwhile_names_both_sizes) {
  blank_access stream(e_.new_stream.size(), 350'000);
  expect_failure(e_.rechunk(stream), status_code::io_error,
                 "the stream has 350000 bytes, not the 999990 that the change implies");
}

TEST_F(rechunk_failure, of_any_read_comes_back_at_once) {
  watched_access counted(e_.new_stream, always(10'000));
  expect_rechunked(e_, counted);
  ASSERT_GT(counted.read_count(), 10u);
  for (std::uint64_t count = 0; count < counted.read_count(); ++count) {
    watched_access stream(e_.new_stream, always(10'000));
    stream.fail_after(count, system_failure("disk", "read", EIO));
    expect_failure(e_.rechunk(stream), status_code::io_error, "disk: cannot be read: Input/output error");
    EXPECT_EQ(stream.read_count(), count + 1);
  }
}

TEST(rechunk, counts_offsets_past_four_gibibytes) {
  const chunker chunker = chunker_of("fixed", "avg_bytes=1M");
  const std::uint64_t length = 1 * MiB;
  std::vector<chunk> old_chunks;
  for (std::uint64_t i = 0; i < 6000; ++i) old_chunks.push_back({i * length, length});
  const stream_change change = {.offset = 5 * GiB + 5, .removed_bytes = length, .added_bytes = 5 * GiB + 3 * length};
  blank_access stream(6002 * length + 5 * GiB);
  const auto differences = rechunk(chunker, old_chunks, change, stream, {});
  ASSERT_TRUE(differences.ok()) << differences.error().message();
  EXPECT_EQ(differences->kept_before, 5120u);
  EXPECT_EQ(differences->shift, static_cast<std::int64_t>(5 * GiB + 2 * length));
  EXPECT_EQ(differences->kept_after, 6000u - 5122);
  const auto chunks = chunks_after(old_chunks, *differences);
  ASSERT_EQ(chunks.size(), 6002u + 5120);
  for (std::size_t i = 0; i < chunks.size(); ++i) ASSERT_EQ(chunks[i], (chunk{i * length, length}));
}

}  // namespace
}  // namespace cutpoint::tests
