// Fault runs: the engine processes files while failures, drawn from a seed, are injected.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>

#include "cuda/host_double/host_executor.h"
#include "tests/host/io/simulated_reads.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"
#include "tests/pipeline/faults/checking_receiver.h"

namespace cutpoint::tests {

/// The kinds of injected failures.
enum class trouble {
  device_for_ever,    ///< a call of a device, and all later calls of that kind
  device_once,        ///< one call of a device
  short_read,         ///< a read of a file returns fewer bytes than it could
  interrupted_read,   ///< EINTR
  refused_read,       ///< EAGAIN
  broken_read,        ///< EIO, once or from some offset of a file on
  queue_end,          ///< the read queue accepts no more requests
  unreadable_file,    ///< a file that does not exist, is a folder, or is a link to itself
  receiver,           ///< a call of the chunk receiver
  stop,               ///< a request to stop
  memory_once,        ///< one allocation
  memory_for_a_while  ///< several allocations in a row, on all threads
};
inline constexpr std::size_t trouble_count = 12;
[[nodiscard]] std::string_view to_string(trouble which);

/// How a run ended.
enum class fate {
  all_right,   ///< all files were delivered completely
  some_named,  ///< some files were named as failed; all others were delivered completely
  no_memory,   ///< with the error memory_limit
  stopped,     ///< with the error cancelled, or without all files after a request to stop
  receiver_failed
};
inline constexpr std::size_t fate_count = 5;
[[nodiscard]] std::string_view to_string(fate which);

struct run_report {
  std::string fault;    ///< what is wrong; empty if the run is correct
  std::string setting;  ///< a description of the job
  std::array<bool, trouble_count> drawn = {};
  std::array<bool, trouble_count> happened = {};
  fate outcome = fate::all_right;
  std::uint64_t file_count = 0;
  std::uint64_t byte_count = 0;
  std::uint64_t failed_file_count = 0;  ///< files named as failed
  bool has_device = false;              ///< whether a device was used
  bool has_device_warning = false;      ///< whether the statistics say that the processor took over a device's work
};

/// Performs the job of a seed and checks the result. It also checks that all threads and descriptors of the run are
/// gone.
[[nodiscard]] run_report fault_run(std::uint64_t seed);

/// While an object of this class exists, `pread` fails as the object says. There may be one at a time, in programs in
/// which one thread reads at a time. It allocates no memory after its construction.
class faulty_pread {
 public:
  /// Each member of `faults` is the mean number of calls for one such fault; 0 means never. Members that concern only a
  /// queue are ignored.
  faulty_pread(std::uint64_t seed, const read_faults& faults);
  ~faulty_pread();
  faulty_pread(const faulty_pread&) = delete;
  faulty_pread& operator=(const faulty_pread&) = delete;

  /// Makes every read at or after `offset` of the file fail. This can be called for at most eight files.
  void break_from(const std::string& path, std::uint64_t offset);

  /// Returns how often each fault has happened, without the reads past an offset of `break_from`.
  [[nodiscard]] const read_faults& happened() const { return faults_.happened(); }
  /// Returns how many reads began past such an offset.
  [[nodiscard]] std::uint64_t past_break_count() const { return past_break_count_; }

  /// Does the work of `pread`.
  std::int64_t read(int descriptor, void* destination, std::size_t size, std::int64_t offset);

 private:
  struct broken_file {
    std::uint64_t inode;
    std::uint64_t begin;
  };

  [[nodiscard]] std::optional<std::uint64_t> broken_from(int descriptor) const;

  drawn_faults faults_;
  std::array<broken_file, 8> broken_ = {};
  std::size_t broken_count_ = 0;
  std::uint64_t past_break_count_ = 0;
};

/// How files are read.
enum class reading { by_source, by_reader, by_reader_with_faulty_queue };

struct drawn_job {
  engine_options threads = {};
  feed_options work;
  bool is_traced = false;
  selecting selects = selecting::no;
  reading reads = reading::by_source;
  file_access access = file_access::automatic;
  std::vector<expected_file> files = {};
  std::vector<bool> is_unreadable = {};  ///< whether a file cannot be opened, by file

  // The failures. Those whose `drawn` is false do not happen.
  std::array<bool, trouble_count> drawn = {};
  read_faults calls = {};                       ///< failures of `pread`
  read_faults requests = {};                    ///< failures of requests in a read queue
  std::vector<std::uint64_t> broken_from = {};  ///< for each file, the offset from which on it cannot be read
  cuda::executor_call device_call = {};         ///< the kind of call that fails
  std::uint64_t good_device_calls = 0;          ///< number of calls of that kind before the first failure
  std::uint64_t receiver_call = checking_receiver::never;
  std::uint64_t stopping_call = checking_receiver::never;  ///< the call of the receiver that requests to stop
  std::uint64_t stop_after_us = 0;                         ///< time after which a stop is requested; 0 for never
  std::uint64_t granted_allocations = 0;
  std::uint64_t refused_allocations = 0;
  std::uint64_t seed = 0;  ///< seed of the choices during the run

  [[nodiscard]] bool has(trouble which) const { return drawn[static_cast<std::size_t>(which)]; }
  [[nodiscard]] bool has_devices() const { return work.where == backend::hybrid || work.where == backend::cuda; }
};

/// Draws a job. Its files are written to `folder`.
[[nodiscard]] drawn_job draw_job(std::uint64_t seed, const temporary_folder& folder);

[[nodiscard]] std::string description(const drawn_job& job);

}  // namespace cutpoint::tests
