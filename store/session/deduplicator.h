// What a session writes with: the deduplicator, which looks chunks and nodes up, compresses the new ones and writes them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunk_receiver.h>
#include <cutpoint/storage.h>
#include <cutpoint/store.h>

#include "store/format/record.h"
#include "store/format/sealer.h"
#include "store/index/shard_index.h"
#include "store/objects/small_object.h"
#include "store/session/records.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

/// Makes as many compressors as threads compress at once, and reuses them. Thread-safe.
class compressor_pool {
 public:
  compressor_pool(record_codec codec, int level) noexcept : codec_(codec), level_(level) {}

  /// Compresses into `frame` and returns the codec; `none` if the content should be stored as it is.
  [[nodiscard]] record_codec compress(byte_span content, std::vector<std::uint8_t>& frame) {
    if (codec_ == record_codec::none) return codec_;
    compressor idle_compressor = take();
    const bool pays = idle_compressor.compress(content, frame);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(idle_compressor));
    return pays ? codec_ : record_codec::none;
  }

 private:
  compressor take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        compressor compressor_of_pool = std::move(idle_.back());
        idle_.pop_back();
        return compressor_of_pool;
      }
    }
    return compressor(level_);
  }

  record_codec codec_;
  int level_;
  std::mutex mutex_;
  std::vector<compressor> idle_;
};

/// Capping (Lillibridge, Eshghi and Bhagwat, FAST 2013, section 4): the chunks of a backup that are stored already may be in
/// a limited number of containers of earlier sessions, namely in those that have the most bytes of a segment. Chunks that
/// only other containers have are stored again. Not thread-safe.
///
/// Other than in the paper, a container that was chosen for a segment counts once for the next GiB of the stream, because a
/// restore reads it once for many segments. The limit is for each 100 MiB of the stream, plus one; what is left of it may be
/// used later, up to the limit of 100 MiB.
class container_cap {
 public:
  /// What should be chosen for together. Less takes more chunks for new.
  static constexpr std::uint64_t segment_bytes = 20 * MiB;
  static constexpr std::uint64_t limited_bytes = 100 * MiB;
  static constexpr std::uint64_t remembered_bytes = GiB;

  /// A chunk of the stream. Containers are named by their hints.
  struct choice {
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> containers = {};  ///< of earlier sessions that have it; none if it is new
    std::uint64_t chosen = 0;                    ///< the container to refer to; 0 if it must be stored
  };

  /// At most `most_containers`, which are at least one, are chosen for each 100 MiB.
  explicit container_cap(std::uint64_t most_containers) noexcept : most_containers_(most_containers) {}

  /// Sets `chosen` of the chunks of a segment, which follows that of the call before.
  void choose(std::span<choice> chunks);

 private:
  std::uint64_t most_containers_;
  std::uint64_t position_ = 0;                        ///< in the stream
  std::uint64_t credit_ = limited_bytes;              ///< a container takes `limited_bytes` of it
  std::map<std::uint64_t, std::uint64_t> last_uses_;  ///< positions, by container
};

/// Takes part in feeds: their chunk receivers call `select` and `store`. Stores nodes, too. Thread-safe, except `finish`: all chunks that
/// were selected must be stored then. If a feed fails, it cannot be finished, because another feed may refer to a
/// chunk that the failed one has selected and not stored.
class deduplicator final : public node_receiver {
 public:
  /// What is known of a chunk that was looked up.
  struct chunk_answer {
    bool is_new;  ///< whether the store lacks it; then it counts as stored, and must be given to the deduplicator
    std::uint64_t hint;  ///< 0 if it is new, or not known yet because it was new in this session
  };
  /// The chunks of one feed that were selected and are not stored yet.
  using selection = std::deque<chunk_answer>;

  /// `nodes` makes the digests of nodes by the same recipe as the feed makes those of chunks. All references must
  /// outlive the deduplicator.
  deduplicator(const store_config& config, shard_index& shards, record_writer& records, record_fingerprinter nodes);
  ~deduplicator() override;

  /// From now on it refers to few containers of earlier sessions, as `container_cap` describes. A node is then
  /// stored again if no stored one has its hints, because they lead a restore to the containers that were chosen.
  void cap_containers(std::uint64_t most_containers, storage& objects, const seal_key& key);

  /// From now on chunks are looked up in an index of the caller, which gets the places of the session's own.
  void use_index(std::shared_ptr<store_index> index);

  /// From now on it counts the new chunks that these containers had, which are condemned.
  void count_healed(std::set<container_name> condemned);
  /// Returns how many chunks were stored though condemned containers had them.
  [[nodiscard]] std::uint64_t healed_chunks();

  /// The context of the store; its chunkers have no keys.
  [[nodiscard]] const chunking_context& context() const noexcept { return context_; }

  /// Looks up many chunks, and asks for the compression of the new ones, as their rules say. Errors: those of the index.
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work,
                              selection& selected);
  /// Stores the next chunk of those that the feed has selected, in their order, and returns its extent, which has no hint if
  /// another feed is about to store the chunk. Errors: those of the storage.
  [[nodiscard]] result<stored_extent> store(const delivered_chunk& chunk, selection& selected);

  [[nodiscard]] result<record_reference> put_node(const encoded_node& node) override;

  /// Looks up chunks that are stored elsewhere, by their digests. A digest is new once. Errors: those of the index.
  [[nodiscard]] result<std::vector<chunk_answer>> look_up(std::span<const digest> chunks);
  /// Stores a chunk that was new. `payload` is the content as the codec has it. Errors: those of the storage.
  [[nodiscard]] status put_chunk(const digest& content, std::size_t raw_bytes, record_codec codec, byte_span payload);
  /// Returns the hint of a chunk that this session has stored. Errors: those of the index.
  [[nodiscard]] result<std::uint64_t> hint_of_put(const digest& content);

  /// Adds what was looked up, compressed and written.
  void add_work(store_work& sum);

  /// Makes everything durable that was stored, so that a snapshot may refer to it. Errors: those of the storage.
  [[nodiscard]] status finish();
  /// Merges the shards that were put, so that a session with many snapshots looks few up. What was committed does not need it.
  /// Errors: those of the storage.
  [[nodiscard]] status merge_shards();

 private:
  class compression;

  struct digest_hash {
    std::size_t operator()(const digest& content) const noexcept;
  };
  /// The records of a kind that are new in this session, with their hints: 0 for those that are not stored yet. Those that shards
  /// of the session have are not among them any more.
  using new_records = std::unordered_map<digest, std::uint64_t, digest_hash>;

  /// What bounds the containers that the session refers to.
  struct container_bound {
    container_cap cap;
    storage& objects;
    const seal_key& key;
  };

  [[nodiscard]] new_records& new_of(record_kind kind) noexcept {
    return kind == record_kind::chunk ? new_chunks_ : new_nodes_;
  }
  [[nodiscard]] status locate_chunks(std::span<const digest> chunks);
  [[nodiscard]] chunk_answer answer(const digest& chunk, const std::optional<found_record>& record);
  [[nodiscard]] result<std::uint64_t> hint_of_stored(record_kind kind, const digest& content);
  [[nodiscard]] bool is_own(const found_record& record) const {
    return own_hints_.contains(hint_of(record.container->salt));
  }
  [[nodiscard]] status open_own_shards(std::uint64_t unfinished_hint);
  [[nodiscard]] status merge_put_shards();
  [[nodiscard]] result<bool> add_own_shards();
  [[nodiscard]] status cap(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work,
                           selection& selected);
  void select(chunk_answer chunk, std::size_t rule, std::unique_ptr<chunk_work>& work, selection& selected);
  [[nodiscard]] result<std::uint64_t> find_same_node(const digest& name, const encoded_node& node);
  [[nodiscard]] result<std::uint64_t> append(record_kind kind, const digest& content, std::size_t raw_bytes,
                                             record_codec codec, byte_span payload);

  chunking_context context_;
  std::deque<compressor_pool> compressors_;  ///< for each rule of the context; the first is without a rule
  shard_index& shards_;

  std::mutex mutex_;  ///< for everything below
  new_records new_chunks_;
  new_records new_nodes_;
  std::unordered_set<std::uint64_t> own_hints_;  ///< of all containers of the session
  record_writer& records_;
  record_fingerprinter nodes_;
  std::optional<container_bound> bound_;
  std::optional<index_of_caller> index_;
  std::size_t indexed_containers_ = 0;  ///< how many of `records_.put_containers()` the index has got
  std::set<container_name> condemned_;
  std::uint64_t healed_chunks_ = 0;
  std::uint64_t chunk_count_ = 0;
  stage_work indexing_;
  stage_work compression_;
  stage_work writing_;
  std::vector<store_class_work> classes_;             ///< for each rule; empty without rules
  std::vector<digest> digests_;                       ///< workspace of `select`
  std::vector<std::optional<found_record>> located_;  ///< what `locate_chunks` has found
  std::vector<container_cap::choice> choices_;        ///< workspace of `cap`
  std::vector<found_record> same_records_;            ///< workspace
};

/// It does not move, because its members refer to each other.
struct store_writer {
  /// The references must outlive the writer. The index has the containers that `tables` does not leave out. `node_names` as
  /// for `deduplicator`, `most_waiting_entries` as for `record_writer`. Errors: those of the storage and the back ends.
  [[nodiscard]] static result<std::unique_ptr<store_writer>> open(
      const store_config& config, storage& objects, const seal_key& key, table_cache& tables, own_containers& own,
      record_fingerprinter node_names, std::size_t most_waiting_entries = record_writer::usual_waiting_entries,
      shard_pool* shared_shards = nullptr);

  store_writer(const store_config& config, shard_index index, record_writer writer, record_fingerprinter node_names)
      : shards(std::move(index)),
        containers(std::move(writer)),
        records(config, shards, containers, std::move(node_names)) {}

  /// Makes everything durable that was stored, and puts down how much that is since the last call. Errors: those of the storage.
  [[nodiscard]] status finish(snapshot_statistics& statistics);

  shard_index shards;
  record_writer containers;
  deduplicator records;
  std::uint64_t finished_raw_bytes = 0;     ///< of `containers` when `finish` was called last
  std::uint64_t finished_stored_bytes = 0;  ///< the same
};

}  // namespace cutpoint::store
