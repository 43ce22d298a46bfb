// A file system in memory whose disk has a volatile cache: what was not synced may survive a crash, or not, or in part.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/storage/directory_storage.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// Models what POSIX promises and no more. Appended bytes are durable after `sync_data`. A new, changed or removed name
/// is durable after `sync_folder` of its folder. After a crash every other change is there or not, whatever its order;
/// bytes that were not synced may be there, be missing from some byte on, or be zeros although the length is there.
///
/// The calls of a file system are thread-safe as long as `meanwhile` is empty; the rest is for the thread of the test.
class volatile_file_system final : public store::file_system {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  volatile_file_system();
  ~volatile_file_system() override;

  /// From the call with this number on (the first is 0), calls that change anything do nothing and fail with EIO.
  void stop_at(std::uint64_t call) noexcept { stop_ = call; }
  /// Returns the number of calls so far that changed anything, or would have.
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
  /// Draws one of the states in which the disk may be if the machine stops now.
  [[nodiscard]] std::shared_ptr<volatile_file_system> crash(choices& random) const;

  /// Planted faults: the calls succeed and do nothing.
  bool ignores_data_syncs = false;
  bool ignores_folder_syncs = false;

  /// What `sync_folder` fails with, having done nothing, as a file system without that call does; 0: it works.
  int folder_sync_error = 0;

  /// There is no room for files whose paths begin with this, unless it is empty.
  std::string full_folder;

  /// Is called before each call with its path (the new one, for a rename): another process may do something then. The calls
  /// that it makes itself are not announced.
  std::function<void(const std::string& path)> meanwhile;

  /// Returns the bytes of a file, to be damaged by a test, or null.
  [[nodiscard]] std::vector<std::uint8_t>* bytes_of(const std::string& path);

  result<std::unique_ptr<store::open_file>> create(const std::string& path) override;
  result<std::unique_ptr<store::open_file>> open(const std::string& path) override;
  status rename(const std::string& old_path, const std::string& new_path) override;
  status remove(const std::string& path) override;
  status make_folder(const std::string& path) override;
  status remove_folder(const std::string& path) override;
  status sync_folder(const std::string& path) override;
  result<std::uint64_t> free_bytes() override { return room; }
  result<std::vector<std::string>> list(const std::string& path) override;

  /// The folders that were listed.
  std::vector<std::string> listed;

  /// What `free_bytes` returns.
  std::uint64_t room = never;

 private:
  struct inode;
  class file;
  using names = std::map<std::string, std::shared_ptr<inode>>;
  struct name_change {
    std::string path;
    std::shared_ptr<inode> now;  ///< null if the name was removed
  };

  void let_others_act(const std::string& path);
  [[nodiscard]] bool is_stopped() noexcept { return calls_++ >= stop_; }
  void change(const std::string& path, std::shared_ptr<inode> now);

  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();  ///< a copy has the same files
  names current_;
  names durable_;
  std::vector<name_change> unsynced_;
  std::uint64_t calls_ = 0;
  std::uint64_t stop_ = never;
};

using disk = std::shared_ptr<volatile_file_system>;

/// Faults that a test plants in a disk.
struct disk_faults {
  bool skips_data_syncs = false;  ///< files get their final names before their bytes are durable
  bool skips_folder_syncs = false;
  int folder_sync_error = 0;  ///< no fault of the store: the disk cannot sync folders
};

/// Returns how many calls `act` makes on a disk that change something, and one more.
template <class Act>
std::uint64_t call_count(const disk& prepared, Act act) {
  seeded_choices random(1);
  const disk copy = prepared->crash(random);
  static_cast<void>(act(copy));
  return copy->calls() + 1;
}

/// Lets `act` work on copies of a disk on which everything is durable, stops it at every call in turn, and draws states of
/// the disk. `judge` gets each state and what `act` has returned, and returns what is wrong. Returns the first fault with
/// its place, or an empty string.
template <class Act, class Judge>
std::string fault_of_stops(const disk& prepared, std::uint64_t states_at_each_call, Act act, Judge judge,
                           disk_faults planted = {}) {
  seeded_choices random(from_environment("CUTPOINT_CRASH_SEED", 1));
  const std::uint64_t calls = call_count(prepared, act);
  for (std::uint64_t stop = 0; stop < calls; ++stop) {
    const disk files = prepared->crash(random);
    files->ignores_data_syncs = planted.skips_data_syncs;
    files->ignores_folder_syncs = planted.skips_folder_syncs;
    files->folder_sync_error = planted.folder_sync_error;
    files->stop_at(stop);
    const auto done = act(files);
    for (std::uint64_t state = 0; state < states_at_each_call; ++state) {
      const std::string fault = judge(files->crash(random), done);
      if (fault.empty()) continue;
      return fault + " (stopped at call " + std::to_string(stop) + ", state " + std::to_string(state) + ")";
    }
  }
  return "";
}

}  // namespace cutpoint::tests
