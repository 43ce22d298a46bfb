// What the parts of the public class of a store share.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/store.h>

#include "store/backup/backup.h"
#include "store/session/leased_session.h"
#include "store/session/open_store.h"
#include "store/session/records.h"

namespace cutpoint {

struct backup_store::named_store {
  std::string name;    ///< begins messages: the path of a folder, or what a storage is called
  std::string folder;  ///< empty if the store is in a storage of the caller
  std::unique_ptr<store::open_store> opened_store;
  store_settings settings;
  /// Rates that were measured, by the number of threads and the devices. Null where no GPU can be used.
  std::map<std::pair<std::uint64_t, std::vector<int>>, std::shared_ptr<const job_rates>> measured_rates;

  /// A backup whose options were checked.
  struct prepared_backup {
    store_backup_options options;  ///< without the store itself
    feed_options feed;
    std::optional<store::parent_snapshot> parent = {};
    store::snapshot facts = {};  ///< what is known of the snapshot before
    std::chrono::steady_clock::time_point begin = {};
  };

  /// Puts the name of the store before the message of an error, which names an object of it.
  [[nodiscard]] static status in_store(const std::string& name, const status& outcome) {
    return outcome.ok() ? outcome : status(outcome.code(), name + ": " + outcome.message(), outcome.system_error());
  }
  template <class T>
  [[nodiscard]] static result<T> in_store(const std::string& name, result<T> outcome) {
    return outcome ? std::move(outcome) : in_store(name, outcome.error());
  }
  template <class Outcome>
  [[nodiscard]] Outcome named(Outcome outcome) const {
    return in_store(name, std::move(outcome));
  }
  [[nodiscard]] static store_snapshot snapshot_of(std::string id, const store::snapshot& facts);

  [[nodiscard]] feed_options job(const store_lane_options& lanes) const;
  /// Returns what feeds of the store have on these lanes, whose rates are measured if that is asked for. Errors: those of the
  /// devices and of the measurement.
  [[nodiscard]] result<feed_options> feed_of(const engine& threads, const store_lane_options& lanes,
                                             std::uint64_t memory_bytes, const cancellation* cancel);

  [[nodiscard]] result<store_snapshot> commit(store::leased_session& session, store::store_writer& writer,
                                              store::snapshot facts, std::chrono::steady_clock::time_point begin,
                                              const cancellation* cancel,
                                              const std::function<status()>& before_commit = {});
  [[nodiscard]] result<store_snapshot> write(engine& threads, prepared_backup backup, store::leased_session& session);
  [[nodiscard]] result<store_snapshot> write_nothing(engine& threads, prepared_backup backup);
  [[nodiscard]] result<store_snapshot> store_files(engine& threads, prepared_backup backup, store::storage& objects,
                                                   store::store_writer& writer, store::shard_index& parent_shards,
                                                   store::leased_session* session);
  /// Calls `receiver`, which may be empty, with work whose session began at this time.
  static void report_work(const engine& threads, std::chrono::steady_clock::time_point begin, store_work work,
                          const store_work_function& receiver);
  /// The same with what the session has looked up, compressed and written besides.
  static void report_session(const engine& threads, std::chrono::steady_clock::time_point begin, store_work work,
                             store::deduplicator& records, const store_work_function& receiver);
  void merge_shards();
  [[nodiscard]] result<store::snapshot> read(const std::string& id);
  [[nodiscard]] result<std::optional<store::open_store::listed_snapshot>> parent_of(
      const store_backup_options& options, const std::vector<std::string>& paths);
  [[nodiscard]] result<store::record_reader> reader() {
    CUTPOINT_TRY(auto check, store::record_fingerprinter::fastest(opened_store->fingerprint()));
    return store::record_reader(opened_store->objects(), opened_store->key(), opened_store->shards(), std::move(check));
  }
};

}  // namespace cutpoint
