// Programs that embed the library under a limit of file sizes: calls fail, and the program's own treatment of SIGXFSZ stays as it is.
#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include <sys/resource.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

std::atomic<int> handled_signals = 0;

void count_signal(int) { ++handled_signals; }

sigset_t only_size_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

bool is_pending() {
  sigset_t pending;
  sigemptyset(&pending);
  return ::sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

/// Returns the signals that the calling thread blocks.
std::set<int> blocked_signals() {
  sigset_t mask;
  sigemptyset(&mask);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::set<int> signals;
  for (int i = 1; i <= SIGRTMAX; ++i) {
    if (sigismember(&mask, i) == 1) signals.insert(i);
  }
  return signals;
}

class size_limit {
 public:
  explicit size_limit(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit now = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
  }
  ~size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;

 private:
  rlimit before_ = {};
};

/// The program has a handler of its own.
class c_size_limit : public testing::Test {
 protected:
  c_size_limit() {
    struct sigaction own = {};
    own.sa_handler = &count_signal;
    ::sigaction(SIGXFSZ, &own, &before_);
    handled_signals = 0;
    seeded_choices random(1);
    const auto bytes = make_stream(content::random, 1'000'000, random);
    folder_.make_file("tree/large", std::string(bytes.begin(), bytes.end()));
    folder_.make_file("tree/small", "small");
  }
  ~c_size_limit() override {
    struct sigaction now = {};
    ::sigaction(SIGXFSZ, &before_, &now);
    EXPECT_EQ(now.sa_handler, &count_signal);
    EXPECT_EQ(handled_signals, 0);
  }

  cutpoint_status try_backup(cutpoint_store* store, cutpoint_error& error) {
    const cutpoint_store_backup_options options = backup_of(path_);
    const cutpoint_store_snapshot* snapshot = nullptr;
    return cutpoint_store_back_up(store, engine_.get(), &options, &snapshot, &error);
  }
  void expect_refused_backup(cutpoint_store* store) {
    cutpoint_error error = {};
    EXPECT_EQ(try_backup(store, error), CUTPOINT_IO_ERROR);
    EXPECT_THAT(error.message,
                HasSubstr("cannot be written: File too large (the limit of file sizes, ulimit -f, is 65536 bytes)"));
  }

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  const char* const path_ = tree_.c_str();
  const engine_handle engine_ = make_engine(2);

 private:
  struct sigaction before_ = {};
};

TEST_F(c_size_limit, backups_fail_in_several_threads_and_signal_nothing) {
  std::vector<store_handle> stores;
  for (const char* each : {"a", "b", "c"}) stores.push_back(make_store(folder_ / each));
  {
    const size_limit limit(65'536);
    std::vector<std::thread> threads;
    for (const store_handle& each : stores) {
      threads.emplace_back([&] {
        const auto before = blocked_signals();
        expect_refused_backup(each.get());
        EXPECT_EQ(blocked_signals(), before);
        EXPECT_FALSE(is_pending());
      });
    }
    for (std::thread& each : threads) each.join();
  }
  stores.clear();
  for (const char* each : {"a", "b", "c"}) {  // what was written counts for nothing, and disturbs nothing
    const store_handle store = open_store(folder_ / each);
    cutpoint_error error = {};
    EXPECT_EQ(try_backup(store.get(), error), CUTPOINT_OK) << error.message;
  }
}

TEST_F(c_size_limit, a_signal_that_was_pending_stays_pending) {
  const store_handle store = make_store(folder_ / "store");
  const sigset_t signals = only_size_signal();
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals, nullptr), 0);
  ::raise(SIGXFSZ);
  {
    const size_limit limit(65'536);
    expect_refused_backup(store.get());
  }
  EXPECT_TRUE(is_pending());
  EXPECT_TRUE(blocked_signals().contains(SIGXFSZ));
  const timespec no_time = {};
  EXPECT_EQ(::sigtimedwait(&signals, nullptr, &no_time), SIGXFSZ);
  EXPECT_FALSE(is_pending());
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

TEST_F(c_size_limit, a_restore_leaves_out_the_file_alone) {
  const store_handle store = make_store(folder_ / "store");
  const std::string id = back_up(store.get(), engine_.get(), tree_);
  cutpoint_error error = {};
  const std::string target = folder_ / "target";
  std::vector<std::string> problems;
  auto note = [&](const char* path, cutpoint_status, const char* message) {
    problems.push_back(std::string(path) + " " + message);
    return 0;
  };
  auto options = sized<cutpoint_store_restore_options>();
  options.target = target.c_str();
  options.problem = forward_to(note);
  options.context = &note;
  auto summary = sized<cutpoint_store_restore_summary>();
  {
    const size_limit limit(65'536);
    EXPECT_EQ(cutpoint_store_restore(store.get(), id.c_str(), &options, &summary, &error), CUTPOINT_OK)
        << error.message;
  }
  EXPECT_EQ(summary.problems, 1u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0], HasSubstr("large"));
  EXPECT_THAT(problems[0], HasSubstr("File too large (the limit of file sizes, ulimit -f, is 65536 bytes)"));
}

TEST_F(c_size_limit, feeds_need_no_file) {
  const size_limit limit(4096);
  const engine_handle engine = make_engine(2);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"));
  EXPECT_EQ(feed_one(feed.get(), std::vector<std::uint8_t>(1'000'000, 'x')), CUTPOINT_OK);
}

}  // namespace
}  // namespace cutpoint::tests
