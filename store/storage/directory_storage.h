// A storage in a folder, one file for each object, on a small interface to a file system; and a storage that keeps nothing new.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>

namespace cutpoint::store {

// The system calls that a directory storage makes, behind an interface, so that tests can put a disk with a volatile
// cache below it.

/// An open file. Closed when it is destroyed. Not thread-safe for writing; reads may overlap.
class open_file {
 public:
  virtual ~open_file() = default;
  /// Appends all bytes.
  [[nodiscard]] virtual status append(byte_span bytes) = 0;
  /// Makes the bytes durable, but not the name (fdatasync), and ends the writing: some file systems say only when a file is closed
  /// what they could not store. Nothing else is called afterwards.
  [[nodiscard]] virtual status sync_data() = 0;
  [[nodiscard]] virtual result<std::uint64_t> size() = 0;
  /// Fills `destination`. Errors: as `storage::read`.
  [[nodiscard]] virtual status read(std::uint64_t offset, std::span<std::uint8_t> destination) = 0;
  /// Says that reads have no order, so that the system reads nothing ahead. Only a hint.
  virtual void expect_random_reads() noexcept {}
};

/// What is known of a file that is not open.
struct file_facts {
  std::uint64_t bytes = 0;
  /// When it was last changed or got its name (ctime), in nanoseconds since 1970 (UTC); 0 if nobody knows. The owner of a file can set
  /// the time of modification to any other.
  std::int64_t time = 0;
};

/// Files below one root folder. Paths are relative to it, and the root itself is "". Thread-safe. Errors: io_error with
/// the errno of the call.
class file_system {
 public:
  virtual ~file_system() = default;
  /// Creates a file that does not exist yet.
  [[nodiscard]] virtual result<std::unique_ptr<open_file>> create(const std::string& path) = 0;
  [[nodiscard]] virtual result<std::unique_ptr<open_file>> open(const std::string& path) = 0;
  /// Examines a regular file. By default it is opened, and no time is known.
  [[nodiscard]] virtual result<file_facts> examine(const std::string& path);
  /// Gives a file another name, unless that name is taken (EEXIST).
  [[nodiscard]] virtual status rename(const std::string& old_path, const std::string& new_path) = 0;
  [[nodiscard]] virtual status remove(const std::string& path) = 0;
  /// Creates a folder. Succeeds if it exists.
  [[nodiscard]] virtual status make_folder(const std::string& path) = 0;
  /// Removes a folder, if nothing is in it.
  [[nodiscard]] virtual status remove_folder(const std::string& path) = 0;
  /// Makes the names in a folder durable. Fails with EINVAL, ENOTSUP or ENOSYS where the file system has no such call.
  [[nodiscard]] virtual status sync_folder(const std::string& path) = 0;
  /// Returns how many bytes this user can still write.
  [[nodiscard]] virtual result<std::uint64_t> free_bytes() = 0;
  /// Returns the names of the files and folders in a folder.
  [[nodiscard]] virtual result<std::vector<std::string>> list(const std::string& path) = 0;
};

/// Opens a folder of this machine. Errors: io_error, if `root` is not a folder that can be read.
[[nodiscard]] result<std::unique_ptr<file_system>> open_file_system(const std::string& root);

/// Makes the names in a folder durable if the file system can do that, and returns whether it can. Errors: io_error.
[[nodiscard]] result<bool> sync_names(file_system& files, const std::string& path);

struct directory_storage_options {
  /// Names the temporary files: a valid id of at most 64 characters that no other open storage has. A lease's session id
  /// lets others remove the temporary files of a session that has ended.
  std::string writer_id;
  /// The number of objects that may wait for the helper thread. Each keeps its bytes in memory. 0 means that there is no
  /// helper thread: `put` writes the object itself and waits for the disk.
  std::size_t pending_objects = 2;
};

/// Makes the folders of an empty storage, durably. Succeeds if they exist. Errors: io_error.
[[nodiscard]] status make_storage_folders(file_system& files);

/// Opens the storage in `files`. An object is written to a temporary file, made durable, and then renamed to its final
/// name. `sync` waits for that and then makes the names durable, once for each folder that has changed. Where the file system
/// cannot do that, the storage goes on without, and `survives_power_cuts` tells so.
[[nodiscard]] std::unique_ptr<storage> open_directory_storage(std::shared_ptr<file_system> files,
                                                              directory_storage_options options);

/// Has the objects of another storage, and changes nothing of them; or nothing of one kind. Thread-safe.
class discarding_storage final : public storage {
 public:
  /// `objects` must outlive the storage.
  explicit discarding_storage(storage& objects, std::optional<object_kind> kind = std::nullopt) noexcept
      : objects_(objects), kind_(kind) {}

  status put(const object_name& name, std::vector<std::uint8_t> bytes) override {
    return discards(name) ? status() : objects_.put(name, std::move(bytes));
  }
  result<std::unique_ptr<object_writer>> create(const object_name& name) override {
    return discards(name) ? storage::create(name) : objects_.create(name);
  }
  status remove(const object_name& name) override { return discards(name) ? status() : objects_.remove(name); }
  status sync() override { return kind_ ? objects_.sync() : status(); }
  result<bool> survives_power_cuts() override { return objects_.survives_power_cuts(); }

  result<std::uint64_t> size(const object_name& name) override { return objects_.size(name); }
  status read(const object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    return objects_.read(name, offset, destination);
  }
  result<std::vector<std::uint8_t>> read_whole(const object_name& name, std::uint64_t limit) override {
    return objects_.read_whole(name, limit);
  }
  status read_many(std::span<const object_name> names, std::uint64_t limit,
                   const whole_object_function& receive) override {
    return objects_.read_many(names, limit, receive);
  }
  result<std::unique_ptr<object_reader>> open(const object_name& name, std::uint64_t last_bytes) override {
    return objects_.open(name, last_bytes);
  }
  result<std::vector<std::string>> list(object_kind kind, std::string_view prefix) override {
    return objects_.list(kind, prefix);
  }
  result<std::vector<listed_object>> list_details(object_kind kind, std::string_view prefix) override {
    return objects_.list_details(kind, prefix);
  }
  std::size_t parallel_requests() const noexcept override { return objects_.parallel_requests(); }
  std::int64_t now() override { return objects_.now(); }

 private:
  [[nodiscard]] bool discards(const object_name& name) const noexcept { return !kind_ || name.kind == *kind_; }

  storage& objects_;
  std::optional<object_kind> kind_;
};

}  // namespace cutpoint::store
