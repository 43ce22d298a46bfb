// The store behind cutpoint.Store.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/store.h>
#include <cutpoint/store_policy.h>
#include <nanobind/nanobind.h>

#include "bindings/python/errors.h"
#include "bindings/python/interruptible.h"
#include "bindings/python/ownership.h"
#include "bindings/python/push.h"
#include "bindings/python/settings.h"

namespace cutpoint::python {

/// The kind of a secret, "password" or "key file", and its bytes.
using optional_secret = std::optional<std::pair<std::string, nanobind::bytes>>;
using object_list = std::vector<nanobind::object>;

/// Makes a store. `cuts` is a name or a canonical string, or empty for the default.
void create_store(nanobind::handle folder, const optional_secret& secret, const std::string& cuts,
                  const std::string& fingerprint, int compression_level, std::uint32_t container_bytes,
                  const std::string& context, bool accepts_insecure_cuts);

/// Records are returned as dict or tuple, of which the Python files of the package make their classes. All members throw
/// ValueError after `close` and RuntimeError while another thread is in a call.
class open_store {
 public:
  open_store(nanobind::handle folder, const optional_secret& secret);
  /// Abandons the push sessions that have not ended.
  void close();
  /// Returns a warning for each chunker whose key lengths of chunks give away.
  [[nodiscard]] std::vector<std::string> insecure_cuts();
  /// Ends the call that is running in another thread, if there is one.
  void cancel();

  /// Returns the snapshot and its problems. The functions in `progress` are
  /// called about ten times a second, and with the totals.
  [[nodiscard]] nanobind::tuple back_up(const object_list& paths, nanobind::handle host, const object_list& tags,
                                        std::int64_t time, nanobind::handle parent, bool reads_everything,
                                        const object_list& exclude, const object_list& include, bool one_file_system,
                                        bool exclude_caches, nanobind::handle standard_input_name,
                                        std::uint64_t most_old_containers, std::uint64_t threads,
                                        const lane_fields& lanes, std::optional<std::uint64_t> memory_bytes,
                                        std::uint64_t most_bytes_per_second, const object_list& progress);
  /// Begins a push session. `self` is this object.
  [[nodiscard]] std::shared_ptr<pushed_session> begin_push(nanobind::object self, nanobind::handle host,
                                                           const object_list& paths, const object_list& tags,
                                                           std::int64_t time, std::uint64_t most_streams,
                                                           std::uint64_t threads, const lane_fields& lanes,
                                                           std::optional<std::uint64_t> memory_bytes,
                                                           std::uint64_t most_bytes_per_second);
  /// Commits a push session of this store. Returns the snapshot, its problems and the warning of a device, as `back_up` does.
  [[nodiscard]] nanobind::tuple commit_push(pushed_session& session);
  [[nodiscard]] nanobind::list snapshots();
  [[nodiscard]] nanobind::dict find(nanobind::handle id);
  void remove(const object_list& ids);
  [[nodiscard]] nanobind::dict restore(nanobind::handle id, nanobind::handle target, nanobind::handle path,
                                       const object_list& include, const object_list& exclude, bool replaces_files,
                                       bool removes_others, bool is_dry_run, bool verifies, std::uint64_t threads,
                                       std::uint64_t most_bytes_per_second, const object_list& progress);
  [[nodiscard]] nanobind::list files(nanobind::handle id, nanobind::handle path);
  [[nodiscard]] nanobind::bytes read(nanobind::handle id, nanobind::handle path, std::uint64_t begin,
                                     std::uint64_t end);
  [[nodiscard]] nanobind::dict check(bool reads_data, std::uint64_t threads, const object_list& progress);
  [[nodiscard]] nanobind::dict repair(std::uint64_t threads);
  [[nodiscard]] nanobind::dict statistics();

  /// Returns the snapshots that the rules look at, each with the reasons for which it is kept. `counts` and `spans` are
  /// those of each `keep_period`; an empty text is no span.
  [[nodiscard]] nanobind::list apply_policy(const std::array<std::uint64_t, keep_period_count>& counts,
                                            const std::array<std::string, keep_period_count>& spans,
                                            const object_list& keep_tags, const object_list& hosts,
                                            const object_list& paths, const object_list& tags, bool uses_host,
                                            bool uses_paths, bool uses_tags);
  [[nodiscard]] nanobind::dict diff(nanobind::handle before, nanobind::handle before_path, nanobind::handle after,
                                    nanobind::handle after_path, bool compares_metadata);
  [[nodiscard]] nanobind::dict prune(double most_unused, std::optional<std::uint64_t> most_rewritten_bytes,
                                     bool is_dry_run, std::uint64_t threads, const object_list& progress);
  [[nodiscard]] nanobind::dict copy_snapshots(open_store& source, const object_list& ids, std::uint64_t threads,
                                              const lane_fields& lanes, std::optional<std::uint64_t> memory_bytes,
                                              const object_list& progress);

  [[nodiscard]] nanobind::list keys();
  [[nodiscard]] std::string add_key(const optional_secret& secret);
  void remove_key(const std::string& id);

 private:
  /// Lets `cancel` find what ends the present call.
  class running_cancellation {
   public:
    running_cancellation(open_store& owner, cancellation& cancel) : owner_(owner) { show(&cancel); }
    ~running_cancellation() { show(nullptr); }
    running_cancellation(const running_cancellation&) = delete;
    running_cancellation& operator=(const running_cancellation&) = delete;

   private:
    void show(cancellation* cancel) {
      const std::lock_guard lock(owner_.running_mutex_);
      owner_.running_ = cancel;
    }
    open_store& owner_;
  };

  /// Runs `body` without the GIL, with the store and what ends its work, and returns its result.
  template <class Body>
  auto use(Body&& body, duration expected = duration::any) {
    const exclusive_use admitted(busy_);
    process_cancellation cancel;
    const running_cancellation shown(*this, cancel);
    return interruptibly(cancel, expected, [&, &library_store = store()] { return body(library_store, cancel); });
  }
  /// Returns the store, or throws ValueError.
  [[nodiscard]] backup_store& store() {
    if (!store_) raise(PyExc_ValueError, "the store is closed");
    return *store_;
  }
  /// Returns the value, or throws the failure.
  template <class T>
  [[nodiscard]] T value_of(result<T> outcome) const {
    if (!outcome) raise(outcome.error(), folder_);
    return std::move(outcome).value();
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::string folder_;
  std::optional<backup_store> store_;
  std::vector<std::weak_ptr<pushed_session>> pushes_;
  std::mutex running_mutex_;
  cancellation* running_ = nullptr;  ///< of the present call
};

}  // namespace cutpoint::python
