// Tests that files that are read ahead equal those of file_source, in order and within the budget.
#include <future>

#include <cutpoint/file_reader.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/host/io/simulated_reads.h"

namespace cutpoint::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::array<file_access, 4> accesses = {file_access::automatic, file_access::pread, file_access::uring,
                                                 file_access::direct};

std::string name_of(const testing::TestParamInfo<file_access>& access) {
  static const std::array<std::string, 4> names = {"automatic", "pread", "uring", "direct"};
  return names[static_cast<std::size_t>(access.param)];
}

bool has_uring() {
  static const bool has = file_reader::make({.access = file_access::uring}).ok();
  return has;
}

/// Uses io_uring if the kernel has it, else a simulated queue.
file_reader_options options(file_access access, std::uint64_t budget_bytes = least_budget_bytes) {
  file_reader_options options{.access = access, .budget_bytes = budget_bytes};
  if (!has_uring()) options.reads = std::make_shared<simulated_reads>(1, read_faults());
  return options;
}

class file_readers : public testing::TestWithParam<file_access> {
 protected:
  file_reader make_reader(std::uint64_t budget_bytes = least_budget_bytes) const {
    return *file_reader::make(options(GetParam(), budget_bytes));
  }

  /// Removes a file from the page cache as far as the kernel allows.
  static void evict(const std::string& path) {
    const held_open file(path, O_RDONLY);
    ::fsync(file.get());
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }

  /// Adds paths while the reader has room, takes each in its turn, and calls `check(number, content)`.
  template <class Check>
  static void take_all(file_reader& reader, const std::vector<std::string>& paths, Check check) {
    std::size_t added = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      while (added < paths.size() && !reader.is_full()) reader.add(paths[added++]);
      const stream_read got = take(reader, i % 3 == 0 ? 7'777 : 300'000);
      ASSERT_TRUE(got.outcome.ok()) << got.outcome.message();
      check(i, got.content);
    }
  }

  temporary_folder folder_;
};

INSTANTIATE_TEST_SUITE_P(with, file_readers, testing::ValuesIn(accesses), name_of);

TEST_P(file_readers, give_files_of_every_size_around_blocks_and_pages) {
  std::vector<std::string> contents;
  std::vector<std::string> paths;
  for (const std::uint64_t near : {0u, 512u, 4096u, 65'536u, 131'072u, 262'144u, 524'288u, 1'048'576u, 1'572'864u}) {
    for (const std::int64_t difference : {-4097, -4096, -513, -1, 0, 1, 511, 4095, 4096}) {
      if (difference < 0 && near < static_cast<std::uint64_t>(-difference)) continue;
      contents.push_back(letters(near + static_cast<std::uint64_t>(difference), contents.size()));
      paths.push_back(folder_.make_file(std::to_string(contents.size()), contents.back()));
    }
  }
  for (const std::uint64_t budget : {1 * MiB, 16 * MiB}) {
    for (const bool is_cached : {true, budget != 1 * MiB}) {
      file_reader reader = make_reader(budget);
      if (!is_cached) std::for_each(paths.begin(), paths.end(), evict);
      take_all(reader, paths, [&](std::size_t i, const std::string& content) {
        EXPECT_TRUE(content == contents[i]) << contents[i].size() << " bytes";
      });
      EXPECT_LE(reader.statistics().most_held_bytes, budget);
    }
  }
}

TEST_P(file_readers, give_thousands_of_small_files_in_order) {
  constexpr std::size_t count = 500;
  const auto content_of_file = [](std::size_t i) { return std::string(i % 300, 'x') + std::to_string(i); };
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < count; ++i) paths.push_back(folder_.make_file(std::to_string(i), content_of_file(i)));
  file_reader reader = make_reader();
  take_all(reader, paths, [&](std::size_t i, const std::string& content) { EXPECT_EQ(content, content_of_file(i)); });
  if (GetParam() == file_access::uring || GetParam() == file_access::direct) {
    EXPECT_EQ(reader.statistics().read_count, count);
    EXPECT_GT(reader.statistics().most_in_flight, 10u);
  }
}

TEST_P(file_readers, pass_over_the_holes_that_a_source_passes_over) {
  for (const std::string drawing : {".", "...", "a", ".a", "a.", "a.b", ".a.", "..ab...c.", "a....................b"}) {
    for (const std::uint64_t tail : {0u, 1u, 5'000u}) {
      const std::string path = folder_ / "sparse";
      const std::string content = write_sparse(path, drawing, tail);
      evict(path);
      auto plain = file_source::open(path);
      const stream_read expected = read_skipping(*plain, 100'000, [] { return true; });
      for (const bool asks : {true, false}) {
        file_reader reader = make_reader();
        reader.add(path);
        const stream_read got = take(reader, 100'000, asks);
        EXPECT_TRUE(got.outcome.ok()) << got.outcome.message();
        EXPECT_TRUE(got.content == content) << drawing;
        EXPECT_TRUE(got.holes == (asks ? expected.holes : std::vector<byte_extent>())) << drawing;
      }
    }
  }
}

TEST_P(file_readers, say_what_cannot_be_read_in_its_place) {
  const std::string first = folder_.make_file("a", "before");
  const std::string last = folder_.make_file("z", "after");
  const std::string missing = folder_ / "gone";
  file_reader reader = make_reader();
  for (const std::string& path : {first, missing, folder_.path(), first + "/b", last}) reader.add(path);
  EXPECT_EQ(take(reader).content, "before");
  EXPECT_EQ(take(reader).outcome.message(), missing + ": cannot be opened: No such file or directory");
  EXPECT_EQ(take(reader).outcome.message(), folder_.path() + ": cannot be read: Is a directory");
  EXPECT_EQ(take(reader).outcome.message(), first + "/b: cannot be opened: Not a directory");
  EXPECT_EQ(take(reader).content, "after");
}

TEST_P(file_readers, keep_what_was_removed_after_it_was_opened_and_leave_fifos_to_their_turn) {
  const std::string file = folder_.make_file("file", letters(3'000'000, 5));
  const std::string fifo = folder_.make_fifo("fifo");
  file_reader reader = make_reader();
  reader.add(file);
  reader.add(fifo);
  EXPECT_TRUE(reader.is_full()) << "a FIFO may take any time";
  EXPECT_EQ(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1) << "it is open for reading already";
  {
    const auto next = reader.next();
    ::unlink(file.c_str());
    EXPECT_TRUE(read_all(**next) == letters(3'000'000, 5));
    EXPECT_TRUE((*next)->check_unchanged().ok());
  }
  auto written = std::async(std::launch::async, [&] { held_open(fifo, O_WRONLY).write("through the FIFO"); });
  EXPECT_EQ(take(reader).content, "through the FIFO");
  EXPECT_FALSE(reader.is_full());
}

/// The file is longer than the budget, so its end is read after the change.
TEST_P(file_readers, tell_of_a_file_that_changes_while_it_is_read) {
  const std::string content = letters(4 * MiB + 100, 3);
  const auto read_while = [&](const std::function<void(const std::string&)>& change) {
    const std::string path = folder_.make_file("file", content);
    evict(path);
    file_reader reader = make_reader();
    reader.add(path);
    const auto next = reader.next();
    std::vector<std::uint8_t> room(1000);
    EXPECT_EQ(*(*next)->read(room), room.size());
    change(path);
    const std::string rest = read_all(**next);
    return std::pair(rest.size() + room.size(), (*next)->check_unchanged().message());
  };
  const std::string name = folder_ / "file";
  const auto shortened = read_while([](const std::string& path) { EXPECT_EQ(::truncate(path.c_str(), 3 * MiB), 0); });
  EXPECT_EQ(shortened.first, 3 * MiB);
  EXPECT_EQ(shortened.second, name + ": changed while it was read: 4194404 bytes when opened, 3145728 now");
  const auto grown = read_while([](const std::string& path) { held_open(path, O_WRONLY | O_APPEND).write("more"); });
  EXPECT_EQ(grown.first, content.size() + 4);
  EXPECT_EQ(grown.second, name + ": changed while it was read: 4194404 bytes when opened, 4194408 now");
  const auto written = read_while([](const std::string& path) {
    const std::timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = 1'000'000'000, .tv_nsec = 5}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  });
  EXPECT_EQ(written.first, content.size());
  EXPECT_EQ(written.second, name + ": was written to while it was read");
}

TEST_P(file_readers, read_a_file_once_more_whose_ctime_alone_has_changed) {
  const std::string path = folder_.make_file("file", letters(4 * MiB + 100, 3));
  ASSERT_EQ(::truncate(path.c_str(), 5 * MiB), 0);
  evict(path);
  file_reader reader = make_reader();
  reader.add(path);
  reader.add(folder_.make_file("next", "the next"));
  {
    const auto next = reader.next();
    std::vector<std::uint8_t> room(1000);
    EXPECT_EQ(*(*next)->read(room), room.size());
    await_next_tick(path);
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    EXPECT_EQ(read_all(**next).size(), 5 * MiB - room.size());
    EXPECT_FALSE((*next)->check_unchanged().ok());
    ASSERT_TRUE((*next)->restart_unmodified());
    EXPECT_TRUE(read_all(**next) == letters(4 * MiB + 100, 3) + std::string(MiB - 100, '\0'));
    EXPECT_TRUE((*next)->check_unchanged().ok());
  }
  EXPECT_EQ(take(reader).content, "the next");
}

TEST_P(file_readers, give_way_to_the_next_file_wherever_one_is_left) {
  const std::string large = folder_.make_file("large", letters(3 * MiB, 1));
  const std::string small = folder_.make_file("small", "small");
  for (const std::size_t read_bytes : {0u, 1u, 70'000u, 1'000'000u}) {
    evict(large);
    file_reader reader = make_reader();
    for (const std::string& path : {large, small, large}) reader.add(path);
    {
      const auto next = reader.next();
      std::vector<std::uint8_t> room(read_bytes);
      for (std::size_t got = 0; got < read_bytes;) got += *(*next)->read(std::span(room).subspan(got));
    }
    EXPECT_EQ(take(reader).content, "small");
    EXPECT_TRUE(take(reader).content == letters(3 * MiB, 1));
  }
}

TEST_P(file_readers, read_the_kernels_own_files) {
  file_reader reader = make_reader();
  for (const std::string path : {"/proc/filesystems", "/sys/devices/system/cpu/online", "/dev/null"}) {
    if (::access(path.c_str(), R_OK) != 0) continue;
    reader.add(path);
    EXPECT_EQ(take(reader).content, content_of(path));
  }
}

TEST_P(file_readers, do_with_the_descriptors_that_there_are) {
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) paths.push_back(folder_.make_file(std::to_string(i), std::to_string(i)));
  file_reader reader = make_reader();
  const few_descriptors limit(5);
  take_all(reader, paths, [](std::size_t i, const std::string& content) { EXPECT_EQ(content, std::to_string(i)); });
}

TEST(file_reader, reads_past_the_page_cache_what_is_large_and_not_in_it) {
  const temporary_folder folder;
  const std::string content = letters(8 * MiB, 9);
  const std::string path = folder.make_file("large", content);
  {
    file_reader reader = *file_reader::make(options(file_access::automatic));
    reader.add(path);
    EXPECT_TRUE(take(reader).content == content);
    EXPECT_EQ(reader.statistics().read_count, 0u) << "it was in the page cache";
  }
  file_reader reader = *file_reader::make(options(file_access::direct));
  reader.add(path);
  EXPECT_TRUE(take(reader).content == content);
  EXPECT_EQ(reader.statistics().read_bytes, content.size());
  if (reader.statistics().direct_bytes == 0) GTEST_SKIP() << "no direct I/O in " << folder.path();
  EXPECT_EQ(reader.statistics().direct_bytes, content.size());
  EXPECT_GT(reader.statistics().most_in_flight, 10u);
}

TEST(file_reader, reads_small_files_in_their_turn_if_they_are_in_the_page_cache) {
  const temporary_folder folder;
  file_reader reader = *file_reader::make(options(file_access::automatic));
  constexpr std::uint64_t count = 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string content = letters(i * 3'000, i);
    reader.add(folder.make_file(std::to_string(i), content));
    EXPECT_EQ(take(reader).content, content);
  }
  EXPECT_EQ(reader.statistics().read_count, 0u);
}

TEST(file_reader, stops_at_once_with_reads_under_way) {
  const temporary_folder folder;
  const std::string path = folder.make_file("large", letters(4 * MiB, 9));
  cancellation cancel;
  const auto reads = std::make_shared<simulated_reads>(1, read_faults());
  reads->get_stuck();
  {
    file_reader reader =
        *file_reader::make({.access = file_access::uring, .budget_bytes = 1 * MiB, .cancel = &cancel, .reads = reads});
    reader.add(path);
    const auto next = reader.next();
    auto outcome = std::async(std::launch::async, [&] {
      std::vector<std::uint8_t> room(1000);
      return (*next)->read(room);
    });
    EXPECT_EQ(outcome.wait_for(100ms), std::future_status::timeout) << "it did not wait";
    EXPECT_GT(reads->pushed(), 10u);
    EXPECT_EQ(reads->cancelled(), 0u);
    cancel.request();
    const auto got = outcome.get();
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().code(), status_code::cancelled);
    EXPECT_EQ(got.error().message(), path + ": stopped before it was read");
  }
  EXPECT_EQ(reads->cancelled(), reads->pushed());
  EXPECT_EQ(reads->in_flight(), 0u);
}

TEST(file_reader, may_go_at_any_time) {
  const temporary_folder folder;
  const std::string path = folder.make_file("large", letters(4 * MiB, 9));
  for (int round = 0; round < 50; ++round) {
    file_reader reader = *file_reader::make(options(file_access::direct));
    reader.add(path);
    if (round % 2 == 0) static_cast<void>(reader.next());
  }
}

TEST(file_reader, says_why_it_cannot_read_ahead_or_does_without) {
  for (const auto access : {file_access::uring, file_access::direct}) {
    const auto refused = file_reader::make({.access = access, .budget_bytes = least_budget_bytes - 1});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("1048576"));
  }
  const auto without = file_reader::make({.budget_bytes = least_budget_bytes - 1});
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->reads_ahead());
  EXPECT_NE(without->fallback_reason(), "");
  EXPECT_EQ(file_reader::make({.access = file_access::pread})->fallback_reason(), "");
}

TEST(file_reader, falls_back_where_the_system_grants_no_ring) {
  const temporary_folder folder;
  const std::string path = folder.make_file("file", "content");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto refused = file_reader::make({.access = file_access::uring});
  auto reader = file_reader::make();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), status_code::unavailable);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->fallback_reason(), refused.error().message());
  reader->add(path);
  EXPECT_TRUE(reader->is_full());
  EXPECT_EQ(take(*reader).content, "content");
}

TEST(file_reader, shares_nothing_with_others) {
  const temporary_folder folder;
  const std::string content = letters(5 * MiB, 4);
  std::vector<std::string> paths;
  for (int i = 0; i < 4; ++i) paths.push_back(folder.make_file(std::to_string(i), content));
  std::vector<std::future<bool>> readers;
  for (const std::string& path : paths) {
    readers.push_back(std::async(std::launch::async, [&content, path] {
      file_reader reader = *file_reader::make(options(file_access::direct));
      reader.add(path);
      return take(reader).content == content;
    }));
  }
  for (auto& reader : readers) EXPECT_TRUE(reader.get());
}

}  // namespace
}  // namespace cutpoint::tests
