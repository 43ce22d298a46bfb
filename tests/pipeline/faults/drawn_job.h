// The job of a fault run: files, sizes, back ends, ways of reading, and the failures that are injected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>

#include "cuda/host_double/host_executor.h"
#include "tests/host/io/simulated_reads.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"
#include "tests/pipeline/faults/checking_receiver.h"
#include "tests/pipeline/faults/fault_run.h"

namespace cutpoint::tests {

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
