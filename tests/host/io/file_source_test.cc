// Tests files, pipes and FIFOs as sources: what they give, what they refuse, and how they handle signals.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cutpoint/rechunk.h>
#include <cutpoint/source.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/io/reading.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {

/// Installs a handler of SIGUSR1 without SA_RESTART, and restores the previous one when it is destroyed.
class interrupting_signals {
 public:
  interrupting_signals();
  interrupting_signals(const interrupting_signals&) = delete;
  interrupting_signals& operator=(const interrupting_signals&) = delete;
  ~interrupting_signals();

  /// Signals a thread repeatedly until it has been interrupted `times` times.
  void interrupt(std::thread& thread, int times) const;
  /// Signals a thread repeatedly until `is_done`, because a single signal may arrive before the call that it should
  /// interrupt.
  void interrupt_until(std::thread& thread, const std::atomic<bool>& is_done) const;
};

namespace {

void expect_refused(const std::string& path, int error, std::string_view reason) {
  const std::size_t before = open_descriptor_count();
  const auto source = file_source::open(path);
  ASSERT_FALSE(source.ok()) << path;
  EXPECT_EQ(source.error().code(), status_code::io_error);
  EXPECT_EQ(source.error().system_error(), error);
  EXPECT_THAT(source.error().message(), testing::StartsWith(path + ": cannot be "));
  EXPECT_THAT(source.error().message(), testing::EndsWith(std::string(reason)));
  EXPECT_EQ(open_descriptor_count(), before);
}

TEST(file_source, gives_what_the_file_holds) {
  const temporary_folder folder;
  const std::string content(12'345, 'x');
  EXPECT_EQ(content_of(folder.make_file("a", content)), content);
  EXPECT_EQ(content_of(folder.make_file("empty", "")), "");
  EXPECT_EQ(content_of(folder.make_link("a", "link")), content);
}

TEST(file_source, refuses_what_is_not_there) {
  const temporary_folder folder;
  folder.make_file("a");
  expect_refused(folder / "missing", ENOENT, "No such file or directory");
  expect_refused(folder / "a/b", ENOTDIR, "Not a directory");
  expect_refused("", ENOENT, "No such file or directory");
}

TEST(file_source, refuses_a_folder_and_a_socket) {
  const temporary_folder folder;
  expect_refused(folder.path(), EISDIR, "Is a directory");
  expect_refused(folder.make_socket("socket"), ENXIO, "No such device or address");
}

TEST(file_source, refuses_what_may_not_be_read) {
  const temporary_folder folder;
  const std::string path = folder.make_file("a");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const without_privileges now;
  if (!now.holds()) GTEST_SKIP() << "root cannot become another user here";
  expect_refused(path, EACCES, "Permission denied");
}

TEST(file_source, tells_a_read_that_fails) {
  auto source = file_source::open("/proc/self/mem");  // address 0 is never mapped
  ASSERT_TRUE(source.ok());
  std::array<std::uint8_t, 4> room = {};
  const auto count = source->read(room);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().code(), status_code::io_error);
  EXPECT_EQ(count.error().system_error(), EIO);
  EXPECT_EQ(count.error().message(), "/proc/self/mem: cannot be read: Input/output error");
}

TEST(file_source, closes_its_file_once) {
  const temporary_folder folder;
  const std::string path = folder.make_file("a", "abc");
  const std::size_t before = open_descriptor_count();
  {
    auto source = file_source::open(path);
    ASSERT_TRUE(source.ok());
    EXPECT_EQ(open_descriptor_count(), before + 1);
    file_source moved = *std::move(source);
    EXPECT_EQ(open_descriptor_count(), before + 1);
    EXPECT_EQ(read_all(moved), "abc");
  }
  EXPECT_EQ(open_descriptor_count(), before);
}

TEST(file_source, leaves_standard_input_open) {
  const std::size_t before = open_descriptor_count();
  { const file_source stream = file_source::standard_input(); }
  EXPECT_EQ(open_descriptor_count(), before);
}

TEST(file_source, is_not_handed_to_programs_that_are_started) {
  const temporary_folder folder;
  const int next = ::dup(STDERR_FILENO);  // the next file gets this number
  ::close(next);
  const auto source = file_source::open(folder.make_file("a"));
  ASSERT_TRUE(source.ok());
  EXPECT_NE(::fcntl(next, F_GETFD) & FD_CLOEXEC, 0);
}

TEST(file_source, waits_for_the_writer_of_a_fifo_and_reads_to_its_end) {
  const temporary_folder folder;
  const std::string path = folder.make_fifo("fifo");
  std::string got;
  std::thread reader([&] { got = content_of(path); });
  const int writer = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  for (const std::string_view block : {"one ", "two ", "three"}) {
    EXPECT_EQ(::write(writer, block.data(), block.size()), static_cast<ssize_t>(block.size()));
  }
  ::close(writer);
  reader.join();
  EXPECT_EQ(got, "one two three");
}

TEST(file_source, takes_an_interrupted_opening_and_reading_up_again) {
  const temporary_folder folder;
  const interrupting_signals signals;
  const std::string path = folder.make_fifo("fifo");
  const cancellation never;
  for (const cancellation* cancel : {static_cast<const cancellation*>(nullptr), &never}) {
    std::string got;
    std::thread reader([&] {
      auto source = file_source::open(path, cancel);
      got = source ? read_all(*source) : source.error().message();
    });
    signals.interrupt(reader, 10);  // while it waits for the writer
    const int writer = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    signals.interrupt(reader, 10);  // while it waits for bytes
    EXPECT_EQ(::write(writer, "abc", 3), 3);
    signals.interrupt(reader, 10);
    ::close(writer);
    reader.join();
    EXPECT_EQ(got, "abc");
  }
}

/// Works with a FIFO in a thread, and requests a stop while the thread waits.
class cancelled_source : public testing::Test {
 protected:
  template <class Work>
  status stopped(
      Work work, const std::function<void()>& meanwhile = [] {}) {
    status outcome;
    std::atomic<bool> is_done = false;
    std::thread worker([&] {
      outcome = work();
      is_done = true;
    });
    meanwhile();
    signals_.interrupt(worker, 3);
    EXPECT_FALSE(is_done) << "it did not wait: " << outcome.message();
    cancel_.request();
    signals_.interrupt_until(worker, is_done);
    worker.join();
    return outcome;
  }

  status outcome_of_opening() {
    const auto source = file_source::open(path_, &cancel_);
    return source ? status() : source.error();
  }

  temporary_folder folder_;
  std::string path_ = folder_.make_fifo("fifo");
  interrupting_signals signals_;
  cancellation cancel_;
};

TEST_F(cancelled_source, stops_an_opening_that_waits) {
  const status outcome = stopped([&] { return outcome_of_opening(); });
  EXPECT_EQ(outcome.code(), status_code::cancelled);
  EXPECT_THAT(outcome.message(), testing::StartsWith(path_ + ": "));
}

TEST_F(cancelled_source, stops_a_read_that_waits_and_the_cutting_above_it) {
  const int writer = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  std::string stream(200'000, '\0');
  for (std::size_t i = 0; i < stream.size(); ++i) stream[i] = static_cast<char>(i * i >> 3);
  const byte_span bytes(reinterpret_cast<const std::uint8_t*>(stream.data()), stream.size());
  const chunker chunker = chunker_of("gear", "min_bytes=64,avg_bytes=256,max_bytes=1024");
  cut_outcome cut;
  const auto cut_fifo = [&] {
    auto source = file_source::open(path_, &cancel_);
    cut = cut_all(*source, chunker, bytes, {.memory_bytes = 2048});
    return cut.outcome;
  };
  const status outcome = stopped(cut_fifo, [&] {
    EXPECT_EQ(::write(writer, stream.data(), stream.size()), 200'000);
    for (int unread = 1; unread != 0;) ASSERT_EQ(::ioctl(writer, FIONREAD, &unread), 0);
  });
  ::close(writer);
  EXPECT_EQ(outcome.code(), status_code::cancelled);
  EXPECT_TRUE(are_first_of(cut.chunks, chunker.find_cuts(bytes)));
  EXPECT_GT(cut.chunks.size(), 10u);
}

TEST_F(cancelled_source, reads_nothing_after_a_request) {
  cancel_.request();
  auto source = file_source::open(folder_.make_file("a"), &cancel_);
  ASSERT_TRUE(source.ok());
  std::array<std::uint8_t, 4> room = {};
  const auto count = source->read(room);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().code(), status_code::cancelled);
}

}  // namespace
// Tests that a stream in memory is read once from front to back.

namespace {

TEST(memory_source, gives_every_byte_in_order_whatever_is_asked_for) {
  std::vector<std::uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  for (const std::size_t asked :
       {std::size_t{1}, std::size_t{7}, std::size_t{999}, std::size_t{1000}, std::size_t{5000}}) {
    memory_source stream(bytes);
    std::vector<std::uint8_t> got;
    std::vector<std::uint8_t> room(asked);
    for (;;) {
      const auto count = stream.read(room);
      ASSERT_TRUE(count.ok());
      if (*count == 0) break;
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
    }
    EXPECT_EQ(got, bytes) << asked;
  }
}

TEST(memory_source, is_at_its_end_for_good) {
  memory_source stream({});
  std::array<std::uint8_t, 4> room = {};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*stream.read(room), 0u);
}

TEST(memory_source, writes_nothing_past_what_it_gives) {
  const std::array<std::uint8_t, 2> bytes = {1, 2};
  memory_source stream(bytes);
  std::array<std::uint8_t, 4> room = {9, 9, 9, 9};
  EXPECT_EQ(*stream.read(room), 2u);
  EXPECT_EQ(room, (std::array<std::uint8_t, 4>{1, 2, 9, 9}));
}

}  // namespace

// Sends signals to threads, and counts them in a handler.

namespace {

std::atomic<int> handled = 0;

void count(int) { ++handled; }

struct sigaction former_action = {};

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

interrupting_signals::interrupting_signals() {
  handled = 0;
  struct sigaction action = {};
  action.sa_handler = count;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR1, &action, &former_action);
}

interrupting_signals::~interrupting_signals() { ::sigaction(SIGUSR1, &former_action, nullptr); }

void interrupting_signals::interrupt(std::thread& thread, int times) const {
  const int last = handled + times;
  while (handled < last) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    pause_briefly();
  }
}

void interrupting_signals::interrupt_until(std::thread& thread, const std::atomic<bool>& is_done) const {
  while (!is_done) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    pause_briefly();
  }
}

// Tests that files are read at any position, that others are refused, and that descriptors are closed.

namespace {

std::string read_whole(random_access& file, std::size_t room_bytes) {
  std::string content;
  std::vector<std::uint8_t> room(room_bytes);
  for (;;) {
    const auto count = file.read_at(content.size(), room);
    if (!count) return "failed: " + count.error().message();
    if (*count == 0) return content;
    content.append(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

void expect_no_random_access(const std::string& path, int error, std::string_view message) {
  const std::size_t before = open_descriptor_count();
  const auto file = file_random_access::open(path);
  ASSERT_FALSE(file.ok()) << path;
  EXPECT_EQ(file.error().code(), status_code::io_error);
  EXPECT_EQ(file.error().system_error(), error);
  EXPECT_EQ(file.error().message(), path + ": cannot be " + std::string(message));
  EXPECT_EQ(open_descriptor_count(), before);
}

TEST(file_random_access, gives_what_the_file_holds_from_anywhere) {
  const temporary_folder folder;
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i);
  auto file = file_random_access::open(folder.make_file("a", content));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_whole(*file, 1000), content);
  std::vector<std::uint8_t> room(10);
  for (const std::uint64_t offset : {std::uint64_t{17}, std::uint64_t{0}, content.size() - 3}) {
    const auto count = file->read_at(offset, room);
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(std::string(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count)),
              content.substr(offset, 10));
  }
  const std::uint64_t half = std::uint64_t{1} << 63;
  for (const std::uint64_t past : {content.size(), content.size() + 1, half - 1, half, half + half - 1}) {
    const auto count = file->read_at(past, room);
    ASSERT_TRUE(count.ok()) << past << ": " << count.error().message();
    EXPECT_EQ(*count, 0u) << past;
  }
}

TEST(file_random_access, refuses_what_cannot_be_read_anywhere) {
  const temporary_folder folder;
  folder.make_file("a");
  expect_no_random_access(folder / "missing", ENOENT, "opened: No such file or directory");
  expect_no_random_access(folder / "a/b", ENOTDIR, "opened: Not a directory");
  expect_no_random_access(folder.path(), EISDIR, "read: Is a directory");
  expect_no_random_access(folder.make_socket("socket"), ENXIO, "opened: No such device or address");
  expect_no_random_access(folder.make_fifo("fifo"), ESPIPE, "read: Illegal seek");
}

TEST(file_random_access, tells_a_read_that_fails) {
  auto file = file_random_access::open("/proc/self/mem");  // address 0 is never mapped
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_whole(*file, 4), "failed: /proc/self/mem: cannot be read: Input/output error");
}

TEST(file_random_access, reads_nothing_after_a_request_to_stop) {
  const temporary_folder folder;
  cancellation cancel;
  auto file = file_random_access::open(folder.make_file("a", "abc"), &cancel);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_whole(*file, 2), "abc");
  cancel.request();
  std::vector<std::uint8_t> room(2);
  const auto count = file->read_at(0, room);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().code(), status_code::cancelled);
  EXPECT_EQ(count.error().message(), (folder / "a") + ": stopped before it was read");
}

TEST(file_random_access, closes_its_file_once) {
  const temporary_folder folder;
  const std::string path = folder.make_file("a", "abc");
  const std::size_t before = open_descriptor_count();
  {
    auto file = file_random_access::open(path);
    ASSERT_TRUE(file.ok());
    file_random_access moved = *std::move(file);
    EXPECT_EQ(read_whole(moved, 10), "abc");
  }
  EXPECT_EQ(open_descriptor_count(), before);
}

}  // namespace
}  // namespace cutpoint::tests
