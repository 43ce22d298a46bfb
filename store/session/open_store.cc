#include "store/session/open_store.h"

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/cut_stream.h>
#include <fmt/format.h>

#include "store/format/clock.h"
#include "store/format/failure.h"
#include "store/format/sealer.h"
#include "store/session/leased_session.h"

namespace cutpoint::store {

namespace {

status refused_key(std::string message, int system_error = 0) {
  return {status_code::invalid_argument, std::move(message), system_error};
}

}  // namespace

std::string new_session_id() {
  digest id{{}, 16};
  fill_random(std::span(id.bytes).first(id.size));
  return to_hex(id);
}

status make_store(storage& objects, store_config config, const std::optional<key_secret>& secret,
                  insecure_cuts insecure) {
  config.encryption = secret ? seal_kind::aes_256_gcm : seal_kind::checksum;
  if (secret) CUTPOINT_RETURN_IF_FAILED(check_encryption());
  CUTPOINT_RETURN_IF_FAILED(check_new_cuts(config, insecure));
  CUTPOINT_TRY(const auto cuts, chunker_of(config, nullptr));
  CUTPOINT_TRY(config.context, context_of(config, nullptr));
  if (secret && config.fingerprint != fingerprint_kind::blake3) {
    return refused_key("an encrypted store needs the fingerprint blake3, which takes a key");
  }
  config.cuts = cuts.canonical();
  if (const std::size_t key = config.cuts.find(",key="); secret && key != std::string::npos) {
    config.cuts.erase(key, config.cuts.find_first_of(",)", key + 1) - key);
  }
  fill_random(config.identity);
  // The config is put last: without one this is no store, and another can be made.
  std::vector<std::uint8_t> bytes = encode_config(config);
  for (const object_name& name : {config_name(), config_copy_name()}) {
    if (objects.size(name).ok()) return {status_code::io_error, "a store is there already", EEXIST};
  }
  if (secret) {
    CUTPOINT_TRY(const auto named, blake3_digest(bytes));
    fingerprint_key store_key;
    fill_random(store_key);
    const auto id = put_key(objects, store_key, {.config = named.bytes, .time = 0, .label = "the first key"}, *secret);
    if (!id) return id.error();
  }
  return put_config(objects, bytes);
}

result<std::unique_ptr<open_store>> open_store::open(storage_opener opener, const std::optional<key_secret>& secret) {
  std::unique_ptr<open_store> opened_store(new open_store(std::move(opener)));
  opened_store->objects_ = opened_store->opener_(new_session_id(), 0);
  opened_store->open_shards_ = std::make_unique<shard_pool>(*opened_store->objects_);
  auto config = read_config(*opened_store->objects_);
  if (!config && is_absence(config.error())) return status(status_code::unavailable, "this is not a store", ENOENT);
  if (!config) return config.error();
  opened_store->config_ = std::move(config->config);
  opened_store->config_bytes_ = std::move(config->bytes);
  CUTPOINT_RETURN_IF_FAILED(opened_store->unlock(secret));
  CUTPOINT_TRY(const auto log, opened_store->follow_log([](const object_name&, const status&) {}));
  std::optional<opened_key>& opened_by = opened_store->opened_by_;
  if (opened_by && log->removed_keys.contains(opened_by->id)) {
    // All keys have the same contents. The secret may open another one, too.
    auto other = open_any_key(*opened_store->objects_, *secret, opened_by->facts.config, log->removed_keys);
    if (other) opened_by = *std::move(other);
  }
  CUTPOINT_RETURN_IF_FAILED(opened_store->open_shards(*log));
  return opened_store;
}

status open_store::unlock(const std::optional<key_secret>& secret) {
  const fingerprint_key* store_key = nullptr;
  fingerprint_ = config_.fingerprint;
  if (config_.encryption == seal_kind::checksum) {
    if (secret) return refused_key("the store is not encrypted: it takes no password and no key file");
  } else {
    if (!secret) return refused_key("the store is encrypted: a password or a key file is needed", ENOKEY);
    CUTPOINT_RETURN_IF_FAILED(check_encryption());
    CUTPOINT_TRY(const auto named, blake3_digest(config_bytes_));
    CUTPOINT_TRY(const auto unlocked_key, open_any_key(*objects_, *secret, named.bytes));
    key_ = seal_key(unlocked_key.store_key, config_.identity);
    opened_by_ = unlocked_key;
    fingerprint_.key = derive_key(unlocked_key.store_key, config_.identity, "cutpoint store digest");
    store_key = &opened_by_->store_key;
  }
  CUTPOINT_TRY(cuts_, chunker_of(config_, store_key));
  CUTPOINT_TRY(context_, context_of(config_, store_key));
  return {};
}

status open_store::reopen_shards() {
  CUTPOINT_TRY(const auto log, follow_log([](const object_name&, const status&) {}));
  return open_shards(*log);
}

status open_store::open_shards(const store_log& log) {
  if (opened_by_ && log.removed_keys.contains(opened_by_->id)) {
    return refused_key("the key that this password or key file opens was removed");
  }
  std::vector<shard> same;  // those that are there still are not opened again
  if (shards_) same.assign(shards_->shards().begin(), shards_->shards().end());
  shards_.reset();
  tables_ = std::make_unique<table_cache>(*objects_, key_, table_cache::usual_bytes, log.lost());
  CUTPOINT_TRY(shards_, open_index(*objects_, *tables_));
  return {};
}

result<std::unique_ptr<store_writer>> open_store::open_writer(storage& objects, table_cache& tables,
                                                              own_containers& own, const store_log& log,
                                                              std::size_t most_waiting_entries) const {
  CUTPOINT_TRY(auto nodes, record_fingerprinter::fastest(fingerprint_));
  CUTPOINT_TRY(auto writer, store_writer::open(config_, objects, key_, tables, own, std::move(nodes),
                                               most_waiting_entries, open_shards_.get()));
  writer->records.count_healed(log.condemned);
  if (index_) writer->records.use_index(index_);
  return writer;
}

store_reading open_store::reading(shard_index& shards) {
  return {*objects_, key_, shards, [recipe = fingerprint_] { return record_fingerprinter::fastest(recipe); }};
}

result<bool> open_store::is_committed(const std::string& id) {
  CUTPOINT_TRY(const auto log, follow_log([](const object_name&, const status&) {}));
  return log->snapshots.contains(id);
}

status open_store::check_memory(std::uint64_t memory_bytes) const {
  std::vector<chunker> all = config_.context.cuts();
  all.push_back(*chunker_of(config_, nullptr));
  for (const chunker& each : all) {
    CUTPOINT_RETURN_IF_FAILED(cutpoint::check_memory(each, {.memory_bytes = memory_bytes}));
  }
  return {};
}

std::unique_ptr<storage> open_store::open_storage_of(const std::string& session) const {
  digest number{{}, 8};  // names of temporary files are not used twice
  fill_random(std::span(number.bytes).first(number.size));
  return open_storage(session + "-" + to_hex(number), 0);
}

result<std::vector<open_store::listed_snapshot>> open_store::snapshots(const problem_function& problem) {
  CUTPOINT_TRY(const auto log, follow_log([&](const object_name& entry, const status& why) {
                 if (problem) problem(path_of(entry), why);
               }));
  return snapshots(*log, problem);
}

result<std::vector<open_store::listed_snapshot>> open_store::snapshots(const store_log& log,
                                                                       const problem_function& problem) {
  CUTPOINT_TRY(const auto ids, objects_->list(object_kind::snapshot));  // those that are missing were removed
  std::vector<listed_snapshot> snapshots;
  std::vector<std::string> unread;
  const auto add = [&](const std::string& id, snapshot facts) {
    // No commit has had a number of its own yet that large: it would make the snapshot the latest for ever.
    if (facts.sequence > log.newest) facts.sequence = 0;
    read_snapshots_.try_emplace(id, facts);
    snapshots.push_back({id, std::move(facts)});
  };
  for (const std::string& id : ids) {
    if (!log.snapshots.contains(id)) continue;
    const auto known = read_snapshots_.find(id);
    if (known != read_snapshots_.end()) {
      add(id, known->second);
    } else {
      unread.push_back(id);
    }
  }
  const auto take = [&](const std::string& id, result<snapshot> facts) {
    if (facts) {
      add(id, std::move(*facts));
    } else if (!is_absence(facts.error()) && problem) {
      problem(path_of({object_kind::snapshot, id}), facts.error());
    }
    return status();
  };
  CUTPOINT_RETURN_IF_FAILED(read_snapshots(*objects_, unread, digest_bytes(), key_, take));
  std::ranges::sort(snapshots, {}, [](const listed_snapshot& each) {
    return std::tuple(each.facts.sequence, each.facts.edited, each.id);
  });
  return snapshots;
}

result<std::vector<open_store::listed_snapshot>> open_store::snapshots_after(std::uint64_t number) {
  auto ids = log_.committed_after(number);
  if (!ids || number == 0) return snapshots(log_.log(), {});
  std::erase_if(*ids, [&](const std::string& id) { return !log_.log().snapshots.contains(id); });  // that were replaced
  std::vector<listed_snapshot> snapshots;
  const auto take = [&](const std::string& id, result<snapshot> facts) {
    if (facts && facts->sequence <= log_.log().newest) snapshots.push_back({id, std::move(*facts)});
    return facts || is_absence(facts.error()) || is_damage(facts.error()) ? status() : facts.error();
  };
  CUTPOINT_RETURN_IF_FAILED(read_snapshots(*objects_, *ids, digest_bytes(), key_, take));
  return snapshots;
}

result<std::uint64_t> open_store::next_sequence() {
  CUTPOINT_TRY(const auto later, snapshots_after(sequenced_entry_));
  for (const listed_snapshot& each : later) largest_sequence_ = std::max(largest_sequence_, each.facts.sequence);
  sequenced_entry_ = log_.log().newest;
  return largest_sequence_ + 1;
}

std::uint8_t open_store::digest_bytes() const {
  return static_cast<std::uint8_t>(fingerprints()[static_cast<std::size_t>(fingerprint_.kind)].digest_bytes);
}

result<snapshot> open_store::read(const std::string& id) { return read_snapshot(*objects_, id, digest_bytes(), key_); }

result<std::vector<listed_key>> list_keys(open_store& opened_store, const store_log& log) {
  const opened_key& used = *opened_store.opened_by();
  CUTPOINT_TRY(auto ids, opened_store.objects().list(object_kind::key));
  std::erase_if(ids, [&](const std::string& id) { return log.removed_keys.contains(id); });
  CUTPOINT_TRY(const auto kinds, kinds_of_keys(opened_store.objects(), ids, used.store_key, used.facts.config));
  std::vector<listed_key> keys;
  for (const auto& [id, kind] : kinds) keys.push_back({id, kind});
  return keys;
}

result<std::string> add_key(open_store& opened_store, const key_secret& secret) {
  CUTPOINT_TRY(const auto session, leased_session::begin(opened_store));
  const opened_key& used = *opened_store.opened_by();
  return put_key(*session->open_storage(), used.store_key,
                 {.config = used.facts.config, .time = nanoseconds_now(), .label = {}}, secret);
}

status remove_key(open_store& opened_store, const std::string& id) {
  CUTPOINT_RETURN_IF_FAILED(check_removal(opened_store.objects(), object_kind::key));
  CUTPOINT_TRY(const auto session, leased_session::begin(opened_store));
  log_entry removal;
  removal.removed_keys = {id};
  const status removed = append_change(*session, removal, [&](const store_log& log) -> status {
    CUTPOINT_TRY(const auto left, list_keys(opened_store, log));
    if (std::ranges::count(left, id, &listed_key::id) == 0) {
      return {status_code::invalid_argument, fmt::format("no key has the id {}", id)};
    }
    if (left.size() > 1) return {};
    return {status_code::invalid_argument, "this is the last key: without it nobody can open the store"};
  });
  if (!removed.ok()) return removed;
  const auto objects = session->open_storage();
  const status outcome = remove_object(*objects, {object_kind::key, id});
  return outcome.ok() ? objects->sync() : outcome;
}

}  // namespace cutpoint::store
