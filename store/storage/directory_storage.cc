#include "store/storage/directory_storage.h"

#include <atomic>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "store/format/failure.h"
#include "store/format/object_header.h"

namespace cutpoint::store {

namespace {

/// An object whose final name does not exist yet. Removes the temporary file if it is destroyed before `commit`.
class temporary_file {
 public:
  [[nodiscard]] static result<temporary_file> make(file_system& files, std::string path) {
    CUTPOINT_TRY(auto file, files.create(path));
    return temporary_file(files, std::move(path), std::move(file));
  }
  temporary_file(temporary_file&&) = default;
  temporary_file& operator=(temporary_file&&) = delete;
  ~temporary_file() {
    if (!file_) return;
    try {
      static_cast<void>(files_->remove(path_));
    } catch (const std::bad_alloc&) {  // it goes with the session
    }
  }

  [[nodiscard]] status append(byte_span bytes) { return file_->append(bytes); }
  /// The data must be durable before the name is: a crash may otherwise leave a name without data.
  [[nodiscard]] status commit(const std::string& final_path) {
    CUTPOINT_RETURN_IF_FAILED(file_->sync_data());
    CUTPOINT_RETURN_IF_FAILED(files_->rename(path_, final_path));
    file_ = nullptr;
    return {};
  }

 private:
  temporary_file(file_system& files, std::string path, std::unique_ptr<open_file> file) noexcept
      : files_(&files), path_(std::move(path)), file_(std::move(file)) {}

  file_system* files_;
  std::string path_;
  std::unique_ptr<open_file> file_;
};

/// An object that waits for the helper thread: its bytes, or a file that has them already.
struct pending_object {
  object_name name;
  std::vector<std::uint8_t> bytes;
  std::optional<temporary_file> file;
};

status out_of_memory() { return {status_code::memory_limit, "out of memory", ENOMEM}; }

/// Returns the folder that an object's file is in. Those of containers are the folders of their sessions.
std::string folder_of_file(const object_name& name) {
  const std::string path = path_of(name);
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

class directory_object_reader final : public object_reader {
 public:
  directory_object_reader(std::unique_ptr<open_file> file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  status read(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
    return file_->read(offset, destination);
  }

 private:
  std::unique_ptr<open_file> file_;
  std::uint64_t size_;
};

class directory_storage final : public storage {
 public:
  directory_storage(std::shared_ptr<file_system> files, directory_storage_options options)
      : files_(std::move(files)), options_(std::move(options)) {
    if (options_.pending_objects == 0) return;
    try {
      helper_ = std::thread([this] { help(); });
    } catch (const std::system_error&) {  // whoever puts an object writes it
      options_.pending_objects = 0;
    }
  }
  ~directory_storage() override {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    if (helper_.joinable()) helper_.join();
  }
  directory_storage(const directory_storage&) = delete;
  directory_storage& operator=(const directory_storage&) = delete;

  status put(const object_name& name, std::vector<std::uint8_t> bytes) override {
    return submit({name, std::move(bytes), std::nullopt});
  }
  result<std::unique_ptr<object_writer>> create(const object_name& name) override;
  status submit(pending_object object) {
    assert(is_valid(object.name));
    std::unique_lock lock(mutex_);
    if (options_.pending_objects == 0) {
      if (failure_.ok()) record(write(object), object.name);
      return failure_;
    }
    changed_.wait(lock, [this] { return pending_.size() < options_.pending_objects || !failure_.ok(); });
    if (!failure_.ok()) return failure_;
    pending_.push_back(std::move(object));
    changed_.notify_all();
    return {};
  }
  status remove(const object_name& name) override {
    const std::lock_guard lock(mutex_);
    status removed = files_->remove(path_of(name));
    if (!removed.ok() && is_absence(removed)) return {};
    record(removed, name);
    if (name.kind == object_kind::container && files_->remove_folder(folder_of_file(name)).ok()) {  // it was the last
      unsynced_.erase(folder_of_file(name));
      unsynced_.insert(std::string(folder_of(name.kind)));
    }
    return removed;
  }
  status sync() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return (pending_.empty() && !is_writing_) || !failure_.ok(); });
    for (const std::string& folder : unsynced_) {
      if (failure_.ok()) failure_ = sync_folder(folder);
    }
    if (failure_.ok()) unsynced_.clear();
    return failure_;
  }

  status sync_kind(object_kind kind, std::string_view prefix) override {
    CUTPOINT_TRY(const auto folders, folders_below(kind, prefix));
    for (const std::string& each : folders) CUTPOINT_RETURN_IF_FAILED(sync_folder(each));
    return sync_folder(std::string(folder_of(kind)));
  }
  result<bool> survives_power_cuts() override { return sync_names(*files_, ""); }

  result<std::uint64_t> free_bytes() override { return files_->free_bytes(); }
  result<std::uint64_t> size(const object_name& name) override {
    CUTPOINT_TRY(const auto facts, files_->examine(path_of(name)));
    return facts.bytes;
  }
  status read(const object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    auto file = files_->open(path_of(name));
    return file ? (*file)->read(offset, destination) : file.error();
  }
  result<std::vector<std::uint8_t>> read_whole(const object_name& name, std::uint64_t limit) override {
    CUTPOINT_TRY(const auto file, files_->open(path_of(name)));
    CUTPOINT_TRY(const auto length, file->size());
    if (length > limit) return damage(path_of(name), "it is too long");
    std::vector<std::uint8_t> bytes(length);
    CUTPOINT_RETURN_IF_FAILED(file->read(0, bytes));
    return bytes;
  }
  result<std::unique_ptr<object_reader>> open(const object_name& name, std::uint64_t) override {
    CUTPOINT_TRY(auto file, files_->open(path_of(name)));
    CUTPOINT_TRY(const auto size, file->size());
    // Entries of shards are read in the order of digests, in blocks.
    if (name.kind == object_kind::shard) file->expect_random_reads();
    return std::unique_ptr<object_reader>(std::make_unique<directory_object_reader>(std::move(file), size));
  }
  result<std::vector<std::string>> list(object_kind kind, std::string_view prefix) override {
    std::vector<std::string> ids;
    CUTPOINT_TRY(const auto folders, folders_below(kind, prefix));
    const std::string root(folder_of(kind));
    for (const std::string& folder : folders) {
      const auto names = files_->list(folder);
      if (!names && folder != root && is_absence(names.error())) continue;
      if (!names) return names;
      const std::string begin = folder == root ? "" : folder.substr(root.size() + 1) + "/";
      for (const std::string& each : *names) {
        object_name name{kind, begin + each};
        if (name.id.starts_with(prefix) && is_valid(name)) ids.push_back(std::move(name.id));
      }
    }
    return ids;
  }
  result<std::vector<listed_object>> list_details(object_kind kind, std::string_view prefix) override {
    CUTPOINT_TRY(auto ids, list(kind, prefix));
    std::vector<listed_object> objects;
    for (std::string& each : ids) {
      const auto facts = files_->examine(path_of({kind, each}));
      if (!facts && is_absence(facts.error())) continue;
      if (!facts) return facts.error();
      objects.push_back({std::move(each), facts->bytes, facts->time});
    }
    return objects;
  }

  /// Returns a new file for the bytes of an object.
  result<temporary_file> make_temporary() {
    const std::string id = fmt::format("{}-{}", options_.writer_id, next_temporary_.fetch_add(1));
    return temporary_file::make(*files_, path_of({object_kind::temporary, id}));
  }

 private:
  /// A session's folder is gone if another process has removed the last object in it.
  status sync_folder(const std::string& folder) {
    const auto synced = sync_names(*files_, folder);
    if (synced || (is_absence(synced.error()) && folder.find('/') != std::string::npos)) return {};
    return synced.error();
  }
  /// Returns the folders in which the files of a kind are whose ids begin with `prefix`. Others may be in them too.
  result<std::vector<std::string>> folders_below(object_kind kind, std::string_view prefix) {
    const std::string root(folder_of(kind));
    if (kind != object_kind::container) return std::vector{root};
    if (const std::size_t slash = prefix.find('/'); slash != std::string_view::npos) {
      return std::vector{root + "/" + std::string(prefix.substr(0, slash))};
    }
    CUTPOINT_TRY(auto names, files_->list(root));
    std::erase_if(names, [&](const std::string& each) { return !each.starts_with(prefix) || !is_valid_id(each); });
    for (std::string& each : names) each.insert(0, root + "/");
    return names;
  }
  /// The temporary file is missing if other processes have taken the session for dead. Its bytes are then written again.
  status write(pending_object& object) {
    const bool has_bytes = !object.file;
    status written = write_once(object);
    if (written.ok() || !has_bytes || !is_absence(written)) return written;
    object.file.reset();
    made_folders_.clear();
    return write_once(object);
  }
  status write_once(pending_object& object) {
    if (!object.file) {
      CUTPOINT_TRY(auto file, make_temporary());
      object.file.emplace(std::move(file));
      CUTPOINT_RETURN_IF_FAILED(object.file->append(object.bytes));
    }
    if (object.name.kind == object_kind::container) {
      const std::string folder = folder_of_file(object.name);
      if (!made_folders_.contains(folder)) {
        CUTPOINT_RETURN_IF_FAILED(files_->make_folder(folder));
        made_folders_.insert(folder);
      }
    }
    return object.file->commit(path_of(object.name));
  }
  /// Notes the outcome of a change to a folder. The caller holds the mutex.
  void record(status outcome, const object_name& name) {
    if (failure_.ok()) failure_ = std::move(outcome);
    unsynced_.insert(folder_of_file(name));
    // The folder of a session may be new.
    if (name.kind == object_kind::container) unsynced_.insert(std::string(folder_of(name.kind)));
  }
  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !pending_.empty() || is_closing_; });
      if (!failure_.ok() || is_closing_) pending_.clear();  // what follows a failure or is not synced is not written
      if (pending_.empty()) {
        if (is_closing_) return;
        continue;
      }
      status written;
      pending_object object = std::move(pending_.front());
      pending_.pop_front();
      is_writing_ = true;
      lock.unlock();
      try {
        written = write(object);
      } catch (const std::bad_alloc&) {
        written = out_of_memory();
      }
      object.file.reset();
      object.bytes = std::vector<std::uint8_t>();  // free before the next object is accepted
      lock.lock();
      is_writing_ = false;
      try {
        record(std::move(written), object.name);
      } catch (const std::bad_alloc&) {
        if (failure_.ok()) failure_ = out_of_memory();
      }
      changed_.notify_all();
    }
  }

  std::shared_ptr<file_system> files_;
  directory_storage_options options_;
  std::atomic<std::uint64_t> next_temporary_ = 0;
  std::set<std::string> made_folders_;  ///< of sessions; for whatever writes objects, one at a time

  std::mutex mutex_;
  std::condition_variable changed_;  ///< for everything below
  std::deque<pending_object> pending_;
  bool is_writing_ = false;
  bool is_closing_ = false;
  status failure_;                  ///< the first failure; later calls return it
  std::set<std::string> unsynced_;  ///< the folders that have changed since the last sync
  std::thread helper_;
};

class directory_object_writer final : public object_writer {
 public:
  directory_object_writer(directory_storage& owner, object_name name, temporary_file file)
      : owner_(owner), name_(std::move(name)), file_(std::move(file)) {}
  status append(byte_span bytes) override { return file_->append(bytes); }
  status finish() override {
    pending_object object{name_, {}, std::move(file_)};
    file_.reset();
    return owner_.submit(std::move(object));
  }

 private:
  directory_storage& owner_;
  object_name name_;
  std::optional<temporary_file> file_;
};

result<std::unique_ptr<object_writer>> directory_storage::create(const object_name& name) {
  CUTPOINT_TRY(auto file, make_temporary());
  return std::unique_ptr<object_writer>(std::make_unique<directory_object_writer>(*this, name, std::move(file)));
}

}  // namespace

result<file_facts> file_system::examine(const std::string& path) {
  CUTPOINT_TRY(const auto file, open(path));
  CUTPOINT_TRY(const auto bytes, file->size());
  return file_facts{bytes, 0};
}

result<bool> sync_names(file_system& files, const std::string& path) {
  const status synced = files.sync_folder(path);
  const int error = synced.system_error();
  // What file systems of FUSE, CIFS and some of NFS answer.
  if (error == EINVAL || error == ENOTSUP || error == ENOSYS) return false;
  return synced.ok() ? result(true) : synced;
}

status make_storage_folders(file_system& files) {
  for (std::size_t kind = 0; kind < object_kind_count; ++kind) {
    const std::string folder(folder_of(static_cast<object_kind>(kind)));
    if (folder.empty()) continue;
    CUTPOINT_RETURN_IF_FAILED(files.make_folder(folder));
  }
  const auto synced = sync_names(files, "");
  return synced ? status() : synced.error();
}

std::unique_ptr<storage> open_directory_storage(std::shared_ptr<file_system> files, directory_storage_options options) {
  assert(is_valid_id(options.writer_id) && options.writer_id.size() <= 64);
  return std::make_unique<directory_storage>(std::move(files), std::move(options));
}

}  // namespace cutpoint::store
