// LRU-based index partitioning, as PRUNE describes it (sections 2.4 and 3): small tablets behind one filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <cutpoint/fingerprint_index.h>
#include <cutpoint/status.h>

namespace cutpoint::bench {

/// A Bloom filter of digests. Not thread-safe.
class bloom_filter {
 public:
  /// A filter without bits answers "perhaps" always.
  bloom_filter(std::uint64_t bits, unsigned functions);

  void add(const digest& content) noexcept;
  /// Returns false only for a digest that was not added.
  [[nodiscard]] bool may_have(const digest& content) const noexcept;

  /// The bits, which a file may keep.
  [[nodiscard]] std::span<std::uint64_t> words() noexcept { return words_; }

  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] unsigned functions() const noexcept { return functions_; }

  /// Returns the number of functions that makes the fewest false positives: 0.7 m/n (section 3.1), at least 1.
  [[nodiscard]] static unsigned best_functions(std::uint64_t bits, std::uint64_t digests) noexcept;
  /// Returns the share of absent digests that are taken for present ones (equation 1).
  [[nodiscard]] static double false_positives(std::uint64_t bits, unsigned functions, std::uint64_t digests) noexcept;

 private:
  std::uint64_t bits_;
  unsigned functions_;
  std::vector<std::uint64_t> words_;
};

}  // namespace cutpoint::bench

// One tablet of PRUNE's fingerprint table: a small B+tree in a file (LMDB).

struct MDB_env;
struct MDB_txn;

namespace cutpoint::bench {

/// A set of digests of one kind. Changes are seen at once, and are in the file after `commit`; nothing is brought to the disk
/// before the tablet is closed, as in the paper, whose table a crash may lose. Opens its file when it is used. Not thread-safe.
class tablet {
 public:
  /// Of a file that exists the digests are those of the tablet. `most_bytes` bounds the file; unused room costs addresses alone.
  tablet(std::string file, std::uint64_t most_bytes);
  ~tablet();
  tablet(tablet&&) noexcept = default;
  tablet& operator=(tablet&&) = delete;

  /// Errors of all: io_error, which names the file.
  [[nodiscard]] status open();
  [[nodiscard]] result<bool> has(const digest& content);
  /// Calls a function with each digest, in their order.
  [[nodiscard]] status visit(const std::function<void(const digest&)>& visitor);
  /// Inserts a digest that the tablet lacks.
  [[nodiscard]] status insert(const digest& content);
  /// Ends the changes that are under way, if any.
  [[nodiscard]] status commit();
  /// The same, and frees the memory that changes take. The tablet is opened again when it is used.
  [[nodiscard]] status finish();
  /// Writes what was changed to the disk, unmaps and closes it, and drops it from the page cache, which does not drop what is mapped.
  [[nodiscard]] status close();

  [[nodiscard]] bool is_open() const noexcept { return environment_ != nullptr; }
  /// Returns the bytes of the tree's pages. Pages that copy-on-write has left free are not among them.
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  /// Returns the bytes of the file, with free pages, when it was used last.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  /// Returns the number of pages from the root to a leaf, which a lookup reads.
  [[nodiscard]] unsigned depth() const noexcept { return depth_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return entries_; }

 private:
  struct environment_closer {
    void operator()(MDB_env* environment) const noexcept;
  };
  struct transaction_closer {
    void operator()(MDB_txn* transaction) const noexcept;
  };
  using owned_transaction = std::unique_ptr<MDB_txn, transaction_closer>;

  [[nodiscard]] status failure(int error) const;
  [[nodiscard]] status begin_writing();
  [[nodiscard]] status describe(MDB_txn* transaction);

  std::string file_;
  std::uint64_t most_bytes_;
  std::unique_ptr<MDB_env, environment_closer> environment_;
  owned_transaction reading_;
  bool is_reading_ = false;  ///< whether `reading_` sees the newest state
  bool is_changed_ = false;  ///< since the file was opened
  owned_transaction writing_;
  unsigned table_ = 0;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t entries_ = 0;
  unsigned depth_ = 0;
};

/// How the list of tablets is managed (section 3.3, figure 8). A lookup examines tablets from the head on.
enum class tablet_order : std::uint8_t {
  single,        ///< one table
  linear,        ///< by age: new tablets come to the end
  lru,           ///< a hit moves its tablet to the head, where new ones come, too
  lru_list,      ///< the next tablet of the list moves with it: the paper's words
  lru_creation,  ///< the tablet that was created after it moves with it: another reading of them
};
inline constexpr std::size_t tablet_orders = 5;
[[nodiscard]] std::string_view name_of(tablet_order order) noexcept;

struct tablet_options {
  std::string folder;  ///< for the tablets' files alone
  tablet_order order = tablet_order::lru;
  std::uint64_t tablet_bytes = 1536 * 1024;  ///< of used pages, after which a tablet is full; the paper's best size
  std::uint64_t filter_bits = 0;             ///< 0: no filter
  unsigned filter_functions = 1;
  std::size_t most_open = 0;  ///< tablets whose files are open; 0: all, as in the paper
};

struct tablet_counts {
  std::uint64_t lookups = 0;
  std::uint64_t filtered = 0;         ///< that the filter answered
  std::uint64_t hits = 0;             ///< that a tablet had
  std::uint64_t false_positives = 0;  ///< that no tablet had though the filter did not answer
  std::uint64_t examined = 0;         ///< tablets, over all lookups
  std::uint64_t pages = 0;            ///< of trees from root to leaf, over all examined tablets
  std::uint64_t openings = 0;         ///< of tablets' files
};

/// Digests are inserted into the tablet that is not full, in the order of the stream. Errors: io_error.
class tablet_index final : public fingerprint_index {
 public:
  explicit tablet_index(tablet_options options);
  /// Adds the tablets that the folder has from another index, of which `order` and `tablet_bytes` were the same, and its filter if that
  /// was like this one. Only at first.
  [[nodiscard]] status load();

  status look_up(std::span<const digest> digests, std::span<index_answer> answers) override;
  status insert(std::span<const digest> digests, std::span<index_answer> answers) override;
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  /// Returns the bytes of the filter and the list, without the pages of open tablets.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override;

  /// Closes all tablets, which drops them from memory, and writes the filter.
  [[nodiscard]] status close();

  [[nodiscard]] const tablet_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] std::size_t tablet_count() const noexcept { return by_creation_.size(); }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept;
  [[nodiscard]] std::uint64_t file_bytes() const noexcept;
  /// Returns the numbers of the tablets, which count from 0 by creation, in the order of the list.
  [[nodiscard]] std::vector<std::size_t> order() const;

 private:
  struct entry {
    tablet table;
    std::size_t number;           ///< by creation
    std::uint64_t last_used = 0;  ///< a number that grows with each use
  };
  using position = std::list<entry>::iterator;

  [[nodiscard]] result<bool> find(const digest& content);
  [[nodiscard]] status use(entry& each);
  void move_to_head(position hit);
  [[nodiscard]] status insert_new(const digest& content);
  void add_tablet();
  [[nodiscard]] bool read_filter();
  [[nodiscard]] status write_filter();
  [[nodiscard]] std::string path_of(std::size_t number) const;
  [[nodiscard]] std::string filter_path() const;

  tablet_options options_;
  bloom_filter filter_;
  std::list<entry> list_;
  std::vector<position> by_creation_;
  std::size_t open_count_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t size_of_file_ = 0;  ///< how many digests the filter's file has
  tablet_counts counts_;
};

}  // namespace cutpoint::bench
