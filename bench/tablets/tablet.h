// One tablet of PRUNE's fingerprint table: a small B+tree in a file (LMDB).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

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

}  // namespace cutpoint::bench
