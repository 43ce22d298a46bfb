// One run of the engine over files while things fail, drawn from a seed, and what is wrong with what came of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cutpoint::tests {

/// What is made to fail.
enum class trouble {
  device_for_ever,    ///< a call of a device's machine, and all of its kind after it
  device_once,        ///< one call
  short_read,         ///< a read of a file gives less than it could
  interrupted_read,   ///< EINTR
  refused_read,       ///< EAGAIN
  broken_read,        ///< EIO, once or from some offset of a file on
  queue_end,          ///< the queue of reads takes no more
  unreadable_file,    ///< one that is not there, a folder, a link to itself
  receiver,           ///< what takes the chunks
  stop,               ///< a request to stop
  memory_once,        ///< one allocation
  memory_for_a_while  ///< allocations in a row, of all threads
};
inline constexpr std::size_t trouble_count = 12;
[[nodiscard]] std::string_view to_string(trouble which);

/// What comes of a run.
enum class fate {
  all_right,   ///< every file came out whole
  some_named,  ///< some files were named as failed, all others came out whole
  no_memory,   ///< the run ended for want of memory, and said so
  stopped,     ///< it was stopped
  receiver_failed
};
inline constexpr std::size_t fate_count = 5;
[[nodiscard]] std::string_view to_string(fate which);

struct run_report {
  std::string fault;    ///< empty, or what is wrong
  std::string setting;  ///< what was drawn, for people
  std::array<bool, trouble_count> drawn = {};
  std::array<bool, trouble_count> happened = {};
  fate outcome = fate::all_right;
  std::uint64_t file_count = 0;
  std::uint64_t byte_count = 0;
  std::uint64_t failed_file_count = 0;  ///< named
  bool has_device = false;              ///< was opened with one
  bool has_device_warning = false;      ///< and told that the processor takes its work
};

/// Ends with all threads and descriptors gone that it made.
[[nodiscard]] run_report fault_run(std::uint64_t seed);

}  // namespace cutpoint::tests
