// A read-only view of a store: files of its snapshots, looked up and read at random by many threads.
//
// `cutpoint mount` shows a store through it. docs/store.md describes the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <cutpoint/store.h>
#include <cutpoint/tree_entry.h>

namespace cutpoint {

struct store_view_options {
  /// How much memory the caches may use: nodes of folders and of lists of extents, chunks, tables of containers. At least
  /// a few MiB; more makes random reads faster. Each thread that reads needs a chunk beside it.
  std::uint64_t memory_bytes = 256 * MiB;
};

/// Where the list of a stored folder has an entry. It is short and stays true for as long as the entry is stored, so that
/// a program can keep it instead of a path or a description.
struct viewed_place {
  digest node;                   ///< of the node of the list that has the entry
  std::uint32_t node_bytes = 0;  ///< length of the node
  std::uint64_t hint = 0;        ///< which container may have the node; not compared
  std::uint32_t number = 0;      ///< of the entry in the node, from 0; less than 65536
};

/// A file of a snapshot as a view found it. Copies share one description, which is valid without the view.
class viewed_file {
 public:
  /// Returns the file's name in its folder; empty for the root of a snapshot.
  [[nodiscard]] const std::string& name() const noexcept;
  /// Of the root of a snapshot nothing is known but that it is a folder.
  [[nodiscard]] const file_metadata& metadata() const noexcept;
  /// Returns the extended attributes, with ACLs, sorted by name.
  [[nodiscard]] const std::vector<extended_attribute>& attributes() const noexcept;
  /// Returns where its folder's list has it. The root of a snapshot has no place: its node has no digest.
  [[nodiscard]] viewed_place place() const noexcept;

 private:
  friend class store_view;
  friend class viewed_folder;
  struct description;
  explicit viewed_file(std::shared_ptr<const description> about) noexcept : description_(std::move(about)) {}

  std::shared_ptr<const description> description_;
};

/// A byte range of a file that is no hole.
struct viewed_data {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The entries of a folder, read one after the other in the order of their names, from any of them on. Memory: a node of
/// the folder's list. Not thread-safe. The view must outlive it.
class viewed_folder {
 public:
  viewed_folder(viewed_folder&&) noexcept;
  viewed_folder& operator=(viewed_folder&&) noexcept;
  ~viewed_folder();

  /// Returns the next entry, or nullopt after the last one. Errors: io_error, also for damage. After an error the next
  /// call goes on behind the entries that cannot be read.
  [[nodiscard]] result<std::optional<viewed_file>> next();
  /// Goes, forward or back, to the first entry whose name is greater than `name`; with an empty name to the first of all.
  void go_behind(std::string_view name);

 private:
  friend class store_view;
  struct state;
  explicit viewed_folder(std::unique_ptr<state> initial) noexcept;

  std::unique_ptr<state> state_;
};

/// Reads snapshots of one store, also those that other processes make while it is open. Everything that is read has been
/// compared with its digest. If another process has moved records to other containers, they are found there; what was
/// removed is an io_error, and never other bytes.
///
/// Thread-safe: any number of threads may call any members at once. A view writes nothing to the store.
class store_view {
 public:
  /// Takes over an open store. Errors: io_error.
  [[nodiscard]] static result<store_view> make(backup_store backups, const store_view_options& options = {});

  store_view(store_view&&) noexcept;
  store_view& operator=(store_view&&) noexcept;
  ~store_view();

  /// Returns all snapshots that exist now, the oldest first. Those that cannot be read are reported to `problem` when they
  /// are first seen. Objects are read only if the store has got other snapshots since the last call. Errors: io_error.
  [[nodiscard]] result<std::vector<store_snapshot>> snapshots(const store_problem& problem = {});

  /// Finds the file at a path of a snapshot, such as "/home/ann/notes"; an empty path is the root. `id` is the whole id.
  /// Errors: io_error, with ENOENT as the system error if the snapshot has no such file, and any other for damage;
  /// invalid_argument, if no snapshot has the id.
  [[nodiscard]] result<viewed_file> find(const std::string& id, std::string_view path);
  /// Finds an entry of a folder by its name. Reads a few nodes of the folder's list. Errors: io_error, with ENOENT as the
  /// system error if the folder has no such entry or is of another kind, and any other for damage.
  [[nodiscard]] result<viewed_file> find_in(const viewed_file& folder, std::string_view name);
  /// Returns the entry at a place that a file of any view of the same store had. Errors: io_error, also for damage.
  [[nodiscard]] result<viewed_file> entry_at(const viewed_place& place);
  /// Begins to read the entries of a folder. A file of another kind has none.
  [[nodiscard]] result<viewed_folder> open_folder(const viewed_file& folder);

  /// Fills `destination` with the content of a regular file from `offset` on. Holes are zeros. Returns the number of
  /// bytes, less than asked for only at the end of the file. Errors: io_error, also for damage; invalid_argument, if it is
  /// not a regular file.
  [[nodiscard]] result<std::size_t> read(const viewed_file& file, std::uint64_t offset,
                                         std::span<std::uint8_t> destination);
  /// Returns the byte ranges of a regular file that are no holes, in order. Neighbours are one. Errors: as for `read`.
  [[nodiscard]] result<std::vector<viewed_data>> data_of(const viewed_file& file);

 private:
  struct shared_view;
  explicit store_view(std::unique_ptr<shared_view> inside) noexcept;

  std::unique_ptr<shared_view> implementation_;
};

}  // namespace cutpoint
