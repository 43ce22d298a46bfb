// Tests that a wait ends when bytes, a writer or a request to stop arrives, from any thread and without a signal.
#include <cerrno>
#include <future>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/host/io/reading.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto patience = 60s;

/// Replaces standard input while it lives, or closes it if the descriptor is -1.
class replaced_standard_input {
 public:
  explicit replaced_standard_input(int descriptor) : before_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100)) {
    if (descriptor >= 0) ::dup2(descriptor, STDIN_FILENO);
    if (descriptor < 0) ::close(STDIN_FILENO);
  }
  replaced_standard_input(const replaced_standard_input&) = delete;
  replaced_standard_input& operator=(const replaced_standard_input&) = delete;
  ~replaced_standard_input() {
    if (before_ < 0) ::close(STDIN_FILENO);
    if (before_ >= 0) ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

class waiting : public testing::Test {
 protected:
  /// Runs work that waits in a thread of its own, and requests a stop after a while.
  template <class Work>
  status stopped(Work work) {
    return stopped(work, cancel_);
  }
  template <class Work>
  static status stopped(Work work, cancellation& cancel) {
    auto outcome = std::async(std::launch::async, work);
    EXPECT_EQ(outcome.wait_for(250ms), std::future_status::timeout) << "it did not wait";
    cancel.request();
    if (outcome.wait_for(patience) != std::future_status::ready) {
      ADD_FAILURE() << "it waits on";
      std::abort();  // no other way to end the thread
    }
    return outcome.get();
  }

  status outcome_of_opening(const file_options& options = {}) {
    const auto source = file_source::open(fifo_, &cancel_, options);
    return source ? status() : source.error();
  }

  status read_one(source& stream) {
    std::array<std::uint8_t, 100> room = {};
    const auto count = stream.read(room);
    return count ? status() : count.error();
  }

  temporary_folder folder_;
  std::string fifo_ = folder_.make_fifo("fifo");
  cancellation cancel_;
};

TEST_F(waiting, for_a_writer_ends_by_a_request) {
  const status outcome = stopped([&] { return outcome_of_opening(); });
  EXPECT_EQ(outcome.code(), status_code::cancelled);
  EXPECT_EQ(outcome.message(), fifo_ + ": stopped before it was opened");
}

TEST_F(waiting, for_bytes_of_a_fifo_ends_by_a_request) {
  const held_open writer(fifo_, O_RDWR);
  auto stream = file_source::open(fifo_, &cancel_);
  ASSERT_TRUE(stream.ok());
  const status outcome = stopped([&] { return read_one(*stream); });
  EXPECT_EQ(outcome.code(), status_code::cancelled);
  EXPECT_EQ(outcome.message(), fifo_ + ": stopped before it was read");
}

TEST_F(waiting, for_bytes_of_standard_input_ends_by_a_request) {
  for (const int flags : {O_RDWR, O_RDWR | O_NONBLOCK}) {
    const held_open pipe(fifo_, flags);
    const replaced_standard_input now(pipe.get());
    cancellation cancel;
    file_source stream = file_source::standard_input(&cancel);
    EXPECT_EQ(stopped([&] { return read_one(stream); }, cancel).code(), status_code::cancelled);
  }
}

TEST_F(waiting, for_a_terminal_ends_by_a_request) {
  const held_open terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (::grantpt(terminal.get()) != 0 || ::unlockpt(terminal.get()) != 0) GTEST_SKIP() << "no terminals here";
  auto stream = file_source::open(::ptsname(terminal.get()), &cancel_);
  ASSERT_TRUE(stream.ok()) << stream.error().message();
  terminal.write("line\n");
  std::array<std::uint8_t, 100> room = {};
  EXPECT_EQ(*stream->read(room), 5u);
  EXPECT_EQ(stopped([&] { return read_one(*stream); }).code(), status_code::cancelled);
}

TEST_F(waiting, for_a_writer_that_does_not_come_is_an_error) {
  for (const auto& [wait, told] : {std::pair{50ms, "0.05"}, std::pair{0ms, "0"}, std::pair{1000ms, "1"}}) {
    const auto begin = steady_clock::now();
    const status outcome = outcome_of_opening({.writer_wait = wait});
    EXPECT_GE(steady_clock::now() - begin, wait);
    EXPECT_EQ(outcome.code(), status_code::io_error);
    EXPECT_EQ(outcome.system_error(), ETIMEDOUT);
    EXPECT_EQ(outcome.message(), fifo_ + ": FIFO without a writer for " + told + " s");
  }
  EXPECT_EQ(::open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1) << "somebody still holds it for reading";
  EXPECT_EQ(file_options().writer_wait, 10s);
}

TEST_F(waiting, for_a_writer_may_be_for_ever) {
  EXPECT_EQ(stopped([&] { return outcome_of_opening({.writer_wait = std::chrono::milliseconds::max()}); }).code(),
            status_code::cancelled);
}

TEST_F(waiting, for_a_late_writer_gives_all_of_it) {
  auto got = std::async(std::launch::async, [&] { return content_of(fifo_); });
  std::this_thread::sleep_for(250ms);
  held_open writer(fifo_, O_WRONLY);
  std::this_thread::sleep_for(150ms);
  writer.write("late ");
  std::this_thread::sleep_for(150ms);
  writer.write("but whole");
  writer.close();
  EXPECT_EQ(got.get(), "late but whole");
}

TEST_F(waiting, takes_a_silent_writer_for_one) {
  const held_open writer(fifo_, O_RDWR);
  for (const auto wait : {0ms, 50ms, 10'000ms}) EXPECT_TRUE(outcome_of_opening({.writer_wait = wait}).ok());
}

/// The writer has gone before the first poll, at any moment of the opening.
TEST_F(waiting, misses_no_writer_however_short_it_stays) {
  for (const std::string_view content : {"all of it", ""}) {
    for (int round = 0; round < case_count(200); ++round) {
      auto got = std::async(std::launch::async, [&] { return content_of(fifo_); });
      int writer = -1;
      while (writer < 0) writer = ::open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);  // until it has a reader
      held_open(writer).write(content);
      ASSERT_EQ(got.wait_for(patience), std::future_status::ready);
      ASSERT_EQ(got.get(), content) << "in round " << round;
    }
  }
}

/// This includes bytes that come between the two checks that the opening makes for a writer.
TEST_F(waiting, loses_no_byte_that_comes_during_the_opening) {
  const held_open writer(fifo_, O_RDWR);
  seeded_choices random(9201);
  for (int round = 0; round < case_count(5'000); ++round) {
    std::atomic<bool> goes = false;
    const std::uint64_t pause = random.between(0, 2'000);
    auto written = std::async(std::launch::async, [&] {
      while (!goes) std::this_thread::yield();
      for (volatile std::uint64_t i = 0; i < pause;) i = i + 1;
      writer.write("ab");
    });
    goes = true;
    auto stream = file_source::open(fifo_, nullptr, {.writer_wait = 0ms});
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    std::string got;
    std::array<std::uint8_t, 2> room = {};
    while (got.size() < 2) {
      const auto count = stream->read(room);
      ASSERT_TRUE(count.ok());
      got.append(room.begin(), room.begin() + *count);
    }
    written.get();
    ASSERT_EQ(got, "ab") << "in round " << round;
  }
}

TEST_F(waiting, is_not_needed_for_what_a_writer_left) {
  held_open writer(fifo_, O_RDWR);
  writer.write("left");
  const held_open keeper(fifo_, O_RDONLY | O_NONBLOCK);  // a FIFO loses its bytes when both ends are closed
  writer.close();
  EXPECT_EQ(content_of(fifo_, {.writer_wait = 0ms}), "left");
  EXPECT_THAT(content_of(fifo_, {.writer_wait = 0ms}), testing::EndsWith("FIFO without a writer for 0 s"));
}

TEST_F(waiting, in_a_pipe_by_its_path_is_for_its_bytes) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const held_open reading(ends[0]);
  held_open writing(ends[1]);
  const std::string path = "/proc/self/fd/" + std::to_string(reading.get());
  writing.write("before it was opened");
  writing.close();
  EXPECT_EQ(content_of(path, {.writer_wait = 0ms}), "before it was opened");
  EXPECT_EQ(content_of(path, {.writer_wait = 0ms}), "") << "its writer has gone";
}

TEST_F(waiting, is_none_for_standard_input_without_a_writer) {
  const held_open fifo(fifo_, O_RDONLY | O_NONBLOCK);
  const replaced_standard_input now(fifo.get());
  file_source stream = file_source::standard_input();
  EXPECT_EQ(read_all(stream), "");
}

TEST(standard_input, that_is_closed_cannot_be_read) {
  const replaced_standard_input now(-1);
  file_source stream = file_source::standard_input();
  EXPECT_EQ(read_all(stream), "failed: standard input: cannot be read: Bad file descriptor");
  EXPECT_EQ(*stream.skip_hole(), 0u);
}

TEST(standard_input, that_is_a_pipe_is_read_to_its_end) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const held_open reading(ends[0]);
  held_open writing(ends[1]);
  const replaced_standard_input now(reading.get());
  auto got = std::async(std::launch::async, [] {
    file_source stream = file_source::standard_input();
    return read_all(stream);
  });
  writing.write("one ");
  std::this_thread::sleep_for(150ms);
  writing.write("two");
  writing.close();
  EXPECT_EQ(got.get(), "one two");
}

TEST(standard_input, that_is_a_file_is_read_from_where_it_stands) {
  const temporary_folder folder;
  const held_open file(folder.make_file("file", "0123456789"), O_RDONLY);
  ASSERT_EQ(::lseek(file.get(), 4, SEEK_SET), 4);
  const replaced_standard_input now(file.get());
  file_source stream = file_source::standard_input();
  EXPECT_EQ(*stream.skip_hole(), 0u);
  EXPECT_EQ(read_all(stream), "456789");
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 10) << "whoever reads on begins at the end";
}

}  // namespace
}  // namespace cutpoint::tests
