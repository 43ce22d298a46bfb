// One fault run: it performs a drawn job and checks the result.
#include "tests/pipeline/faults/fault_run.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <thread>

#include <cutpoint/trace.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda/host_double/host_executor.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/held_resources.h"
#include "tests/simd/support/short_memory.h"

namespace cutpoint::tests {

/// Is called before each call of the device, by any thread, and fails as the job says. The job must outlive it.
class failing_machine {
 public:
  explicit failing_machine(const drawn_job& job) : job_(job) {}

  status operator()(cuda::executor_call call) {
    const bool is_once = job_.has(trouble::device_once);
    if (call != job_.device_call || (!is_once && !job_.has(trouble::device_for_ever))) return {};
    const std::uint64_t number = calls_++;
    if (number < job_.good_device_calls || (is_once && number != job_.good_device_calls)) return {};
    has_failed_ = true;
    const bool is_memory = call == cuda::executor_call::allocate;
    return {is_memory ? status_code::memory_limit : status_code::backend_failure, "the device is lost"};
  }

  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  const drawn_job& job_;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<bool> has_failed_ = false;
};

namespace {

class no_trace final : public trace_receiver {
 public:
  void begin(std::chrono::steady_clock::time_point, std::span<const lane_record>) noexcept override {}
  void take(const trace_span&) noexcept override {}
  void take(const trace_levels&) noexcept override {}
};

class one_run {
 public:
  explicit one_run(const drawn_job& job)
      : job_(job),
        machine_(job),
        calls_(job.seed, job.calls),
        out_(job.files, job.receiver_call, job.stopping_call, stop_, job.selects),
        errors_(job.files.size()),
        is_fed_(job.files.size()) {
    if (job.reads == reading::by_reader_with_faulty_queue) {
      queue_ = std::make_shared<simulated_reads>(job.seed, job.requests);
    }
    for (std::size_t i = 0; i < job.files.size(); ++i) {
      if (job.broken_from[i] != checking_receiver::never) calls_.break_from(job.files[i].path, job.broken_from[i]);
    }
  }

  void perform() {
    std::thread stopping;
    if (job_.stop_after_us != 0) {
      stopping = std::thread([this] {
        std::this_thread::sleep_for(std::chrono::microseconds(job_.stop_after_us));
        stop_.request();
      });
    }
    if (job_.refused_allocations == 0) {
      perform_catching();
    } else {
      const short_memory memory(job_.granted_allocations, job_.refused_allocations);
      perform_catching();
      was_refused_ = short_memory::has_refused();
    }
    if (stopping.joinable()) stopping.join();
  }

  void judge(run_report& report) const {
    note_troubles(report);
    if (out_.fault() != nullptr) {
      report.fault = out_.fault();
    } else if (has_thrown_ || !ended_.ok()) {
      judge_end(report);
    } else {
      judge_files(report);
    }
    report.has_device = job_.has_devices();
    report.has_device_warning = has_device_warning_;
  }

 private:
  void perform_catching() {
    try {
      ended_ = feed_all();
    } catch (const std::bad_alloc&) {
      has_thrown_ = true;
    }
  }

  status feed_all() {
    auto engine = engine_factory::make(
        job_.threads, std::make_shared<host_device>([this](cuda::executor_call call) { return machine_(call); }));
    if (!engine) return engine.error();
    feed_options work = job_.work;
    work.cancel = &stop_;
    if (job_.is_traced) work.trace = &trace_;
    auto feed = engine->open(work, out_);
    if (!feed) return feed.error();
    std::optional<file_reader> reader;
    if (job_.reads != reading::by_source) {
      auto new_reader =
          file_reader::make({.access = job_.access, .budget_bytes = 1 * MiB, .cancel = &stop_, .reads = queue_});
      if (!new_reader) return new_reader.error();
      reader.emplace(*std::move(new_reader));
    }
    for (std::size_t i = 0; i < job_.files.size() && !stop_.is_requested() && feed->failure().ok(); ++i) {
      const auto stream = reader ? next_of(*reader) : open_stream(job_.files[i].path);
      if (!stream) {
        errors_[i] = stream.error();
        continue;
      }
      is_fed_[i] = true;
      errors_[i] = feed_source(*feed, i, **stream);
    }
    status finished = feed->finish();
    has_device_warning_ = !feed->statistics().device_warning.empty();
    return finished;
  }

  result<std::unique_ptr<file_stream>> next_of(file_reader& reader) {
    for (; added_ < job_.files.size() && !reader.is_full(); ++added_) reader.add(job_.files[added_].path);
    return reader.next();
  }

  result<std::unique_ptr<file_stream>> open_stream(const std::string& path) {
    auto source = file_source::open(path, &stop_);
    if (!source) return source.error();
    return std::unique_ptr<file_stream>(std::make_unique<file_source>(*std::move(source)));
  }

  void note_troubles(run_report& report) const {
    const auto note = [&](trouble which, bool has_happened) {
      report.happened[static_cast<std::size_t>(which)] = has_happened && job_.has(which);
    };
    const read_faults none;
    const read_faults& of_calls = calls_.happened();
    const read_faults& of_queue = queue_ ? queue_->happened() : none;
    note(trouble::device_once, machine_.has_failed() && job_.has(trouble::device_once));
    note(trouble::device_for_ever, machine_.has_failed() && !job_.has(trouble::device_once));
    note(trouble::short_read, of_calls.is_short + of_queue.is_short != 0);
    note(trouble::interrupted_read, of_calls.is_interrupted + of_queue.is_interrupted != 0);
    note(trouble::refused_read, of_calls.is_refused + of_queue.is_refused != 0);
    note(trouble::broken_read, of_calls.is_broken + of_queue.is_broken + calls_.past_break_count() != 0);
    note(trouble::queue_end, of_queue.queue_ends != 0);
    bool has_met_unreadable = false;
    for (std::size_t i = 0; i < errors_.size(); ++i) has_met_unreadable |= job_.is_unreadable[i] && !errors_[i].ok();
    note(trouble::unreadable_file, has_met_unreadable);
    note(trouble::receiver, out_.has_failed());
    note(trouble::stop, stop_.is_requested());
    note(trouble::memory_for_a_while, was_refused_);
    note(trouble::memory_once, was_refused_ && !job_.has(trouble::memory_for_a_while));
  }

  /// Checks a run that ended early: its status must name a failure that was injected.
  void judge_end(run_report& report) const {
    if (has_thrown_ || ended_.code() == status_code::memory_limit) {
      report.outcome = fate::no_memory;
      if (!was_refused_) report.fault = "wants memory, of which there is enough: " + ended_.message();
    } else if (ended_.code() == status_code::cancelled) {
      report.outcome = fate::stopped;
      if (!stop_.is_requested()) report.fault = "stopped, and nobody asked for it: " + ended_.message();
    } else {
      report.outcome = fate::receiver_failed;
      const bool is_so = out_.has_failed() && ended_.message() == checking_receiver::failure;
      if (!is_so) report.fault = "ended with: " + ended_.message();
    }
  }

  /// Checks a run that reached its end: each file must be delivered completely or named as failed.
  void judge_files(run_report& report) const {
    const bool is_stopped = stop_.is_requested();
    for (std::size_t i = 0; i < job_.files.size() && report.fault.empty(); ++i) {
      const checking_receiver::seen_stream& seen = out_.seen()[i];
      if (!errors_[i].ok()) {
        ++report.failed_file_count;
        report.outcome = fate::some_named;
        if (const char* why = why_no_reason(i); why != nullptr) {
          report.fault = fmt::format("file {} {}: {}", i, why, errors_[i].message());
        }
      }
      if (seen.has_begun != is_fed_[i] || seen.has_ended != is_fed_[i]) {
        report.fault = fmt::format("file {} did not come out", i);
      } else if (seen.outcome.message() != (is_fed_[i] ? errors_[i].message() : "")) {
        report.fault = fmt::format("file {} came out as if: {}", i, seen.outcome.message());
      } else if (!is_fed_[i] && errors_[i].ok() && !is_stopped) {
        report.fault = fmt::format("file {} was forgotten", i);
      }
    }
    if (is_stopped && std::find(is_fed_.begin(), is_fed_.end(), false) != is_fed_.end()) report.outcome = fate::stopped;
  }

  /// Returns null if the error of a file names the file and was injected; otherwise what is wrong with the error.
  const char* why_no_reason(std::size_t i) const {
    const status& error = errors_[i];
    const bool is_unbounded = job_.work.cuts.reach() == unlimited;
    if (error.code() == status_code::memory_limit && is_unbounded) return nullptr;  // a chunk without a maximum
    if (error.message().rfind(job_.files[i].path + ": ", 0) != 0) return "is not named";
    if (error.code() == status_code::cancelled) return stop_.is_requested() ? nullptr : "was stopped by nobody";
    const int why = error.system_error();
    if (job_.is_unreadable[i]) return why == ENOENT || why == EISDIR || why == ELOOP ? nullptr : "failed otherwise";
    return why == EIO && calls_.happened().is_broken + calls_.past_break_count() != 0 ? nullptr
                                                                                      : "failed without a reason";
  }

  const drawn_job& job_;
  cancellation stop_;
  failing_machine machine_;
  faulty_pread calls_;
  std::shared_ptr<simulated_reads> queue_;
  no_trace trace_;
  checking_receiver out_;
  std::vector<status> errors_;  ///< by file
  std::vector<bool> is_fed_;    ///< by file
  std::size_t added_ = 0;       ///< number of files added to the reader
  status ended_;
  bool has_thrown_ = false;
  bool was_refused_ = false;
  bool has_device_warning_ = false;
};

}  // namespace

std::string_view to_string(trouble which) {
  constexpr std::array<std::string_view, trouble_count> names = {"device fails for ever",
                                                                 "device fails once",
                                                                 "short reads",
                                                                 "EINTR",
                                                                 "EAGAIN",
                                                                 "EIO",
                                                                 "queue ends",
                                                                 "unreadable file",
                                                                 "receiver fails",
                                                                 "stop",
                                                                 "no memory once",
                                                                 "no memory for a while"};
  return names[static_cast<std::size_t>(which)];
}

std::string_view to_string(fate which) {
  constexpr std::array<std::string_view, fate_count> names = {"all files whole", "some files named as failed",
                                                              "ended for want of memory", "stopped",
                                                              "ended with the receiver's failure"};
  return names[static_cast<std::size_t>(which)];
}

run_report fault_run(std::uint64_t seed) {
  const temporary_folder folder;
  const drawn_job job = draw_job(seed, folder);
  run_report report{.fault = {}, .setting = description(job), .drawn = job.drawn, .file_count = job.files.size()};
  for (const expected_file& file : job.files) report.byte_count += file.content.size();
  const held_resources before = held_resources::now();
  {
    one_run run(job);
    run.perform();
    run.judge(report);
  }
  if (report.fault.empty()) report.fault = what_is_left(before);
  return report;
}

// A definition of `pread` that replaces the one of the C library.

namespace {

faulty_pread* in_force = nullptr;

std::int64_t failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

faulty_pread::faulty_pread(std::uint64_t seed, const read_faults& faults) : faults_(seed, faults) { in_force = this; }
faulty_pread::~faulty_pread() { in_force = nullptr; }

void faulty_pread::break_from(const std::string& path, std::uint64_t offset) {
  struct stat facts = {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  broken_.at(broken_count_++) = {facts.st_ino, offset};
}

std::optional<std::uint64_t> faulty_pread::broken_from(int descriptor) const {
  struct stat facts = {};
  if (broken_count_ == 0 || ::fstat(descriptor, &facts) != 0) return std::nullopt;
  const auto last = broken_.begin() + static_cast<std::ptrdiff_t>(broken_count_);
  const auto broken = std::find_if(broken_.begin(), last, [&](const auto& b) { return b.inode == facts.st_ino; });
  return broken == last ? std::nullopt : std::optional(broken->begin);
}

std::int64_t faulty_pread::read(int descriptor, void* destination, std::size_t size, std::int64_t offset) {
  if (faults_.happens(&read_faults::is_interrupted)) return failed(EINTR);
  if (faults_.happens(&read_faults::is_refused)) return failed(EAGAIN);
  std::uint64_t readable = size;
  if (const auto broken_begin = broken_from(descriptor)) {
    const auto begin = static_cast<std::uint64_t>(offset);
    readable = begin < *broken_begin ? std::min<std::uint64_t>(size, *broken_begin - begin) : 0;
  }
  if (readable == 0 || faults_.happens(&read_faults::is_broken)) {
    if (readable == 0) ++past_break_count_;
    return failed(EIO);
  }
  if (readable > 1 && faults_.happens(&read_faults::is_short)) readable = faults_.random().between(1, readable - 1);
  return ::syscall(SYS_pread64, descriptor, destination, readable, offset);
}

}  // namespace cutpoint::tests

extern "C" ssize_t pread(int descriptor, void* destination, std::size_t size, off_t offset) {
  using cutpoint::tests::in_force;
  if (in_force == nullptr) return ::syscall(SYS_pread64, descriptor, destination, size, offset);
  return in_force->read(descriptor, destination, size, offset);
}
