// An open store: its config and key, the index, and everything that derives from them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/context.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <cutpoint/storage.h>

#include "store/index/table_cache.h"
#include "store/objects/key.h"
#include "store/objects/log.h"
#include "store/objects/small_object.h"
#include "store/session/deduplicator.h"
#include "store/session/store_reading.h"

namespace cutpoint::store {

/// Whether a new encrypted store takes cuts whose key can be computed from lengths of chunks.
enum class insecure_cuts { refused, accepted };

/// Checks the chunkers of a store that is to be made. An encrypted store takes algorithms with a key, which it sets itself, and in
/// rules also those that cut at fixed lengths. Errors: invalid_argument, which names the class of a rule.
[[nodiscard]] status check_new_cuts(const store_config& config, insecure_cuts insecure);

/// Returns the chunker of a config, in an encrypted store with a key that is derived from `store_key`, or with the known key of
/// zeros if that is null. Errors: invalid_argument, for cuts that no store takes.
[[nodiscard]] result<chunker> chunker_of(const store_config& config, const fingerprint_key* store_key);
/// Returns the context of a config. Its chunkers have keys as that of `chunker_of`, except those that cut at fixed lengths.
[[nodiscard]] result<chunking_context> context_of(const store_config& config, const fingerprint_key* store_key);

/// Returns a sentence for each chunker of an encrypted store whose key can be computed from lengths of chunks. It is empty
/// for all other stores.
[[nodiscard]] std::vector<std::string> warnings_of_insecure_cuts(const store_config& config);

/// Returns a random id for a session: 32 hexadecimal digits.
[[nodiscard]] std::string new_session_id();

/// Makes a config and, with a secret, a key. `config.identity` is drawn anew. Errors: invalid_argument, for what a store
/// does not take; those of the storage, also if it has a config already.
[[nodiscard]] status make_store(storage& objects, store_config config, const std::optional<key_secret>& secret,
                                insecure_cuts insecure = insecure_cuts::refused);

/// Not thread-safe, except `make_fingerprinter` and what its members say.
class open_store {
 public:
  /// Reads the config, opens the key, and opens the index. Changes nothing. Errors: unavailable, if this is not a store or a newer version
  /// made it; invalid_argument, for a secret that is wrong, missing or not needed; damage; those of the storage.
  [[nodiscard]] static result<std::unique_ptr<open_store>> open(storage_opener opener,
                                                                const std::optional<key_secret>& secret);
  open_store(const open_store&) = delete;
  open_store& operator=(const open_store&) = delete;

  [[nodiscard]] const store_config& config() const noexcept { return config_; }
  /// Returns the bytes of the config's object.
  [[nodiscard]] const std::vector<std::uint8_t>& config_bytes() const noexcept { return config_bytes_; }
  [[nodiscard]] const seal_key& key() const noexcept { return key_; }
  /// The key that opened the store; nullopt if it is not encrypted.
  [[nodiscard]] const std::optional<opened_key>& opened_by() const noexcept { return opened_by_; }
  [[nodiscard]] storage& objects() noexcept { return *objects_; }
  [[nodiscard]] table_cache& tables() noexcept { return *tables_; }
  [[nodiscard]] shard_index& shards() noexcept { return *shards_; }
  [[nodiscard]] const chunker& cuts() const noexcept { return *cuts_; }
  [[nodiscard]] const chunking_context& context() const noexcept { return context_; }
  /// Checks that a feed with so much memory can find the store's cuts. The error, memory_limit, has no key, as that of an engine
  /// would have.
  [[nodiscard]] status check_memory(std::uint64_t memory_bytes) const;
  [[nodiscard]] const fingerprint_recipe& fingerprint() const noexcept { return fingerprint_; }
  /// The index of the caller, or null.
  [[nodiscard]] const std::shared_ptr<store_index>& index() const noexcept { return index_; }
  void use_index(std::shared_ptr<store_index> index) noexcept { index_ = std::move(index); }
  [[nodiscard]] store_reading reading() { return reading(*shards_); }
  /// Returns what reading by another index takes.
  [[nodiscard]] store_reading reading(shard_index& shards);
  [[nodiscard]] std::unique_ptr<storage> open_storage(const std::string& writer_id, std::size_t pending_objects) const {
    return opener_(writer_id, pending_objects);
  }
  /// Opens an index of the shards, which it shares with the others of this object. `objects` is what it puts and removes shards by.
  /// Errors: as for `shard_index::open`.
  [[nodiscard]] result<shard_index> open_index(storage& objects, table_cache& tables) {
    return shard_index::open(objects, key_.kind(), tables, open_shards_.get());
  }
  /// The shards that are open. Whoever reads by threads of his own opens them here.
  [[nodiscard]] shard_pool& shared_shards() noexcept { return *open_shards_; }
  /// Opens what new records are written with. `log` is that of the session; the others as for `store_writer::open`.
  [[nodiscard]] result<std::unique_ptr<store_writer>> open_writer(
      storage& objects, table_cache& tables, own_containers& own, const store_log& log,
      std::size_t most_waiting_entries = record_writer::usual_waiting_entries) const;

  /// Reads what is new in the log, as `log_reader::read` does. The log is valid until it is read again.
  [[nodiscard]] result<const store_log*> follow_log() { return log_.read(*objects_, key_); }
  [[nodiscard]] result<const store_log*> follow_log(const damaged_object_function& damaged) {
    return log_.read(*objects_, key_, damaged);
  }
  /// The same, with a copy of the log, whose length is that of all snapshots.
  [[nodiscard]] result<store_log> read_log() {
    CUTPOINT_TRY(const auto log, follow_log());
    return *log;
  }
  [[nodiscard]] result<store_log> read_log(const damaged_object_function& damaged) {
    CUTPOINT_TRY(const auto log, follow_log(damaged));
    return *log;
  }
  /// Opens a storage whose temporary files belong to a session.
  [[nodiscard]] std::unique_ptr<storage> open_storage_of(const std::string& session) const;

  /// Opens the shards anew, with those that other processes have written. Containers that are condemned or decided to be removed
  /// count as absent. What `tables` and `shards` have returned is not valid any more.
  [[nodiscard]] status reopen_shards();

  /// Returns what was read of the log last.
  [[nodiscard]] const store_log& known_log() const noexcept { return log_.log(); }
  /// Returns the snapshots that are committed, in the order of their sequence numbers, and versions of a snapshot after it. Those
  /// that cannot be read are reported. Where entries of the log cannot be read either, that is reported too, and all whole
  /// snapshots count as committed.
  struct listed_snapshot {
    std::string id;
    snapshot facts;
  };
  [[nodiscard]] result<std::vector<listed_snapshot>> snapshots(const problem_function& problem);
  /// The same, of a log that was read before.
  [[nodiscard]] result<std::vector<listed_snapshot>> snapshots(const store_log& log, const problem_function& problem);
  /// Returns the snapshots that were committed after number `number`, as far as the log was read, and perhaps others: all, if a
  /// decision has summed them up. Those that cannot be read are left out. Errors: those of the storage.
  [[nodiscard]] result<std::vector<listed_snapshot>> snapshots_after(std::uint64_t number);
  /// Returns the sequence number of the next snapshot, as far as the log was read: one more than the largest that this object has
  /// seen. Errors: those of the storage.
  [[nodiscard]] result<std::uint64_t> next_sequence();
  /// Returns whether a snapshot is committed, or nobody knows because an entry of the log cannot be read. Its object may have been
  /// removed. Errors: those of the storage.
  [[nodiscard]] result<bool> is_committed(const std::string& id);
  /// Reads a snapshot by its whole id, whether it is committed or not. Errors: those of `read_snapshot`.
  [[nodiscard]] result<snapshot> read(const std::string& id);

 private:
  explicit open_store(storage_opener opener) : opener_(std::move(opener)) {}
  [[nodiscard]] status unlock(const std::optional<key_secret>& secret);
  [[nodiscard]] std::uint8_t digest_bytes() const;
  [[nodiscard]] status open_shards(const store_log& log);

  storage_opener opener_;
  std::unique_ptr<storage> objects_;
  store_config config_;
  std::vector<std::uint8_t> config_bytes_;
  seal_key key_;
  std::optional<opened_key> opened_by_;
  fingerprint_recipe fingerprint_ = fingerprint_kind::none;
  std::optional<chunker> cuts_;
  chunking_context context_;
  std::unique_ptr<shard_pool> open_shards_;
  std::unique_ptr<table_cache> tables_;
  std::optional<shard_index> shards_;
  std::shared_ptr<store_index> index_;
  log_reader log_;
  std::map<std::string, snapshot> read_snapshots_;  ///< by id: a snapshot never changes
  std::uint64_t largest_sequence_ = 0;
  std::uint64_t sequenced_entry_ = 0;  ///< number of the newest entry whose snapshots `largest_sequence_` counts
};

// The keys that open a store, and their removal.

struct listed_key {
  std::string id;
  secret_kind kind = secret_kind::password;
};

/// Returns the keys that open an encrypted store, by their ids: those that have its key and that `log` has not removed. Errors:
/// those of the storage.
[[nodiscard]] result<std::vector<listed_key>> list_keys(open_store& opened_store, const store_log& log);

/// Adds a key for a secret, durably, and returns its id. Errors: those of `put_key` and of sessions.
[[nodiscard]] result<std::string> add_key(open_store& opened_store, const key_secret& secret);

/// Removes a key, durably. The log orders the removals of all processes, so that each knows which keys are left. Errors: those of
/// sessions; invalid_argument, if no key has the id or it is the last one.
[[nodiscard]] status remove_key(open_store& opened_store, const std::string& id);

}  // namespace cutpoint::store
