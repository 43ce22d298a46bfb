// Tests that files are read whole when requests complete in any order and are short, empty, interrupted, refused or
// broken.
#include <deque>

#include <cutpoint/file_reader.h>
#include <gtest/gtest.h>

#include "tests/host/io/simulated_reads.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

class reads_that_fail : public testing::Test {
 protected:
  struct file {
    std::string path;
    std::string content;
  };

  void SetUp() override {
    for (const std::uint64_t size :
         {0u, 1u, 100u, 4095u, 4096u, 4097u, 20'000u, 65'535u, 65'536u, 65'537u, 300'000u, 1'500'001u}) {
      const std::string content = letters(size, size);
      files_.push_back({folder_.make_file(std::to_string(size), content), content});
    }
    for (const std::string drawing : {"a..b", "..", ".a.bc.."}) {
      const std::string path = folder_ / ("holes" + drawing);
      files_.push_back({path, write_sparse(path, drawing, drawing.size() % 2 * 1000)});
    }
  }

  /// Reads some of the files with one reader, and abandons some of them early.
  void read_some(seeded_choices& random) {
    read_faults faults;
    for (std::uint64_t* fault : {&faults.is_short, &faults.is_empty, &faults.is_interrupted, &faults.is_refused,
                                 &faults.is_broken, &faults.queue_ends}) {
      if (random.once_in(3)) *fault = random.between(1, 30);
    }
    const std::uint64_t budget = random.between(1 * MiB, 3 * MiB);
    const auto reads = std::make_shared<simulated_reads>(random.word(), faults, random.between(1, 64));
    auto reader = *file_reader::make({.access = random.once_in(2) ? file_access::uring : file_access::direct,
                                      .budget_bytes = budget,
                                      .most_files = random.between(1, 20),
                                      .reads = reads});
    std::deque<const file*> added;
    for (std::uint64_t left = random.between(1, 20); left > 0 || !added.empty();) {
      for (; left > 0 && !reader.is_full(); --left) {
        added.push_back(&files_[random.between(0, files_.size() - 1)]);
        reader.add(added.back()->path);
      }
      const file& expected = *added.front();
      added.pop_front();
      const auto next = reader.next();
      ASSERT_TRUE(next.ok()) << next.error().message();
      if (random.once_in(8)) {
        read_beginning(**next, expected, random);
        continue;
      }
      const std::uint64_t seldom = random.between(1, 4);
      const stream_read got =
          read_skipping(**next, random.between(1'000, 200'000), [&] { return random.once_in(seldom); });
      ASSERT_TRUE(got.outcome.ok()) << got.outcome.message();
      ASSERT_TRUE(got.content == expected.content) << expected.path;
      ASSERT_TRUE((*next)->check_unchanged().ok());
    }
    EXPECT_LE(reader.statistics().most_held_bytes, budget);
  }

  static void read_beginning(source& stream, const file& expected, seeded_choices& random) {
    std::vector<std::uint8_t> room(random.between(1, 100'000));
    const auto count = stream.read(room);
    ASSERT_TRUE(count.ok());
    ASSERT_TRUE(
        expected.content.starts_with(std::string(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count))));
  }

  temporary_folder folder_;
  std::vector<file> files_;
};

/// CUTPOINT_READING_CASES sets the number of cases, and CUTPOINT_READING_SEED their seed.
TEST_F(reads_that_fail, change_no_byte) {
  const std::uint64_t count = from_environment("CUTPOINT_READING_CASES", case_count(300u));
  const std::uint64_t first = from_environment("CUTPOINT_READING_SEED", 1) * 1'000'000'007;
  for (std::uint64_t i = 0; i < count && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    seeded_choices random(first + i);
    read_some(random);
  }
}

/// All requests fail, so each file is read in its turn.
TEST_F(reads_that_fail, always_cost_speed_alone) {
  for (const read_faults& faults :
       {read_faults{.is_empty = 1}, read_faults{.is_interrupted = 1}, read_faults{.is_refused = 1},
        read_faults{.is_broken = 1}, read_faults{.queue_ends = 1}}) {
    auto reader =
        *file_reader::make({.access = file_access::uring, .reads = std::make_shared<simulated_reads>(1, faults)});
    for (const file& next : files_) reader.add(next.path);
    for (const file& expected : files_) EXPECT_TRUE(take(reader).content == expected.content) << expected.path;
  }
}

}  // namespace
}  // namespace cutpoint::tests
