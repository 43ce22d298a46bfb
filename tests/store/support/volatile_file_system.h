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

}  // namespace cutpoint::tests
