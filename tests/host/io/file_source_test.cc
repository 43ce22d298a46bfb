// Tests files as sources and at any position: what they give, what they refuse, and how they handle signals. Memory is
// a source, too.
#include <cerrno>
#include <csignal>
#include <numeric>

#include <cutpoint/rechunk.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "tests/host/io/reading.h"

namespace cutpoint::tests {
namespace {

result<std::size_t> read_from(file_source& file, std::span<std::uint8_t> room) { return file.read(room); }
result<std::size_t> read_from(file_random_access& file, std::span<std::uint8_t> room) { return file.read_at(0, room); }

/// Expects that a file cannot be opened, and that no descriptor is left open.
template <class File>
void expect_refused(const std::string& path, int error, const std::string& reason) {
  const std::size_t before = open_descriptor_count();
  const auto file = File::open(path);
  ASSERT_FALSE(file.ok()) << path;
  EXPECT_EQ(file.error().code(), status_code::io_error);
  EXPECT_EQ(file.error().system_error(), error);
  EXPECT_EQ(file.error().message(), path + ": cannot be " + reason);
  EXPECT_EQ(open_descriptor_count(), before);
}

template <class File>
class opened_file : public testing::Test {};
using file_types = testing::Types<file_source, file_random_access>;
TYPED_TEST_SUITE(opened_file, file_types);

TYPED_TEST(opened_file, is_something_that_is_there_and_can_be_read) {
  const temporary_folder folder;
  folder.make_file("a");
  expect_refused<TypeParam>(folder / "missing", ENOENT, "opened: No such file or directory");
  expect_refused<TypeParam>("", ENOENT, "opened: No such file or directory");
  expect_refused<TypeParam>(folder / "a/b", ENOTDIR, "opened: Not a directory");
  expect_refused<TypeParam>(folder.path(), EISDIR, "read: Is a directory");
  expect_refused<TypeParam>(folder.make_socket("socket"), ENXIO, "opened: No such device or address");
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0), 0);
  const without_privileges now;
  if (!now.holds()) GTEST_SKIP() << "root cannot become another user here";
  expect_refused<TypeParam>(folder / "a", EACCES, "opened: Permission denied");
}

TYPED_TEST(opened_file, tells_a_read_that_fails) {
  auto file = TypeParam::open("/proc/self/mem");  // address 0 is never mapped
  ASSERT_TRUE(file.ok());
  std::array<std::uint8_t, 4> room = {};
  const auto count = read_from(*file, room);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().code(), status_code::io_error);
  EXPECT_EQ(count.error().system_error(), EIO);
  EXPECT_EQ(count.error().message(), "/proc/self/mem: cannot be read: Input/output error");
}

TYPED_TEST(opened_file, is_closed_once) {
  const temporary_folder folder;
  const std::string path = folder.make_file("a", "abc");
  const std::size_t before = open_descriptor_count();
  {
    auto file = TypeParam::open(path);
    ASSERT_TRUE(file.ok());
    TypeParam moved = *std::move(file);
    EXPECT_EQ(open_descriptor_count(), before + 1);
    std::array<std::uint8_t, 4> room = {};
    EXPECT_EQ(*read_from(moved, room), 3u);
  }
  EXPECT_EQ(open_descriptor_count(), before);
}

TYPED_TEST(opened_file, is_not_read_after_a_request_to_stop) {
  const temporary_folder folder;
  cancellation cancel;
  auto file = TypeParam::open(folder.make_file("a"), &cancel);
  ASSERT_TRUE(file.ok());
  cancel.request();
  std::array<std::uint8_t, 4> room = {};
  const auto count = read_from(*file, room);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().code(), status_code::cancelled);
  EXPECT_EQ(count.error().message(), (folder / "a") + ": stopped before it was read");
}

TEST(file_source, gives_what_the_file_holds) {
  const temporary_folder folder;
  const std::string content(12'345, 'x');
  EXPECT_EQ(content_of(folder.make_file("a", content)), content);
  EXPECT_EQ(content_of(folder.make_file("empty", "")), "");
  EXPECT_EQ(content_of(folder.make_link("a", "link")), content);
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

std::atomic<int> handled_signals = 0;

/// Installs a handler of SIGUSR1 without SA_RESTART, and restores the previous one when it is destroyed.
class interrupting_signals {
 public:
  interrupting_signals() {
    struct sigaction action = {};
    action.sa_handler = [](int) { ++handled_signals; };
    ::sigaction(SIGUSR1, &action, &former_);
  }
  interrupting_signals(const interrupting_signals&) = delete;
  interrupting_signals& operator=(const interrupting_signals&) = delete;
  ~interrupting_signals() { ::sigaction(SIGUSR1, &former_, nullptr); }

  /// Signals a thread repeatedly until it has been interrupted ten times.
  void interrupt(std::thread& thread) const {
    const int last = handled_signals + 10;
    while (handled_signals < last) {
      ::pthread_kill(thread.native_handle(), SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  struct sigaction former_ = {};
};

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
    signals.interrupt(reader);  // while it waits for the writer
    held_open writer(path, O_WRONLY);
    signals.interrupt(reader);  // while it waits for bytes
    writer.write("abc");
    signals.interrupt(reader);
    writer.close();
    reader.join();
    EXPECT_EQ(got, "abc");
  }
}

TEST(memory_source, gives_every_byte_in_order_and_then_nothing) {
  std::vector<std::uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  for (const std::size_t asked : {1u, 7u, 999u, 1000u, 5000u}) {
    memory_source stream(bytes);
    const std::string content = read_skipping(stream, asked, [] { return false; }).content;
    EXPECT_EQ(content, std::string(bytes.begin(), bytes.end())) << asked;
  }
  memory_source stream(byte_span(bytes).first(2));
  std::array<std::uint8_t, 4> room = {9, 9, 9, 9};
  EXPECT_EQ(*stream.read(room), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*stream.read(room), 0u);
  EXPECT_EQ(room, (std::array<std::uint8_t, 4>{0, 1, 9, 9}));
}

TEST(file_random_access, gives_what_the_file_holds_from_anywhere) {
  const temporary_folder folder;
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i);
  auto file = file_random_access::open(folder.make_file("a", content));
  ASSERT_TRUE(file.ok());
  std::vector<std::uint8_t> room(10);
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  for (const std::uint64_t offset : {std::uint64_t{17}, std::uint64_t{0}, content.size() - 3, content.size(),
                                     content.size() + 1, half - 1, half, half + half - 1}) {
    const auto count = file->read_at(offset, room);
    ASSERT_TRUE(count.ok()) << offset << ": " << count.error().message();
    const std::string expected = offset < content.size() ? content.substr(offset, 10) : "";
    EXPECT_EQ(std::string(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count)), expected) << offset;
  }
}

TEST(file_random_access, refuses_what_has_no_positions) {
  const temporary_folder folder;
  expect_refused<file_random_access>(folder.make_fifo("fifo"), ESPIPE, "read: Illegal seek");
}

}  // namespace
}  // namespace cutpoint::tests
