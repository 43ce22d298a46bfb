// Fault runs: the engine processes files while failures, drawn from a seed, are injected.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace cutpoint::tests
