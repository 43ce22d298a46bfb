// LRU-based index partitioning, as PRUNE describes it (sections 2.4 and 3): a fingerprint table of small tablets behind one filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/fingerprint_index.h>

#include "bench/tablets/bloom_filter.h"
#include "bench/tablets/tablet.h"

namespace cutpoint::bench {

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
