// Compares all bytes of containers with what was written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/source.h>

#include "store/format/container.h"
#include "store/format/sealer.h"
#include "store/session/store_reading.h"

namespace cutpoint::store {

/// Returns whether the content of a record has its digest, by a fingerprinter of the store's recipe. Errors: those of the
/// fingerprinter.
[[nodiscard]] result<bool> has_digest(const record_description& description, byte_span content,
                                      record_fingerprinter& check);

/// What is left of a container.
struct audited_container {
  std::string id;
  std::uint64_t bytes = 0;  ///< the length of the container
  /// Success, or the damage that was found.
  status outcome;
  /// The records whose content has its digest.
  container_table whole;
  /// Digests of the other chunks that were found.
  std::vector<digest> lost_chunks;
};

/// Reads whole containers, one after the other, each with several threads: so the memory is that of one container, however many
/// threads there are. Not thread-safe.
class container_auditor {
 public:
  /// `threads` as for `thread_count`. Errors: those of the fingerprinters.
  [[nodiscard]] static result<container_auditor> make(const store_reading& store, std::uint64_t threads);

  /// Reads a container, and compares its bytes with its name, and each record with its digest. Memory: the container, its table,
  /// and a record for each thread. Errors: those of the storage, except damage; unavailable, if a newer version wrote it.
  [[nodiscard]] result<audited_container> audit(const std::string& id);
  /// Returns the content of a whole record of the container that was audited last.
  [[nodiscard]] result<std::vector<std::uint8_t>> content(const placed_record& record) const {
    return content(record, *lanes_.front().opener);
  }

 private:
  /// What one thread needs.
  struct lane {
    record_fingerprinter check;
    std::optional<record_opener> opener;  ///< of the container that was audited last
  };

  container_auditor(const store_reading& store, record_fingerprinter name) : store_(store), name_(std::move(name)) {}

  [[nodiscard]] status read(const object_name& name);
  [[nodiscard]] result<std::vector<std::uint8_t>> content(const placed_record& record,
                                                          const record_opener& opener) const;
  /// Returns whether the content of a record has its digest. Errors: those of the fingerprinter; of a record, but not damage.
  [[nodiscard]] result<bool> is_whole(const placed_record& record, lane& reader) const;

  store_reading store_;
  record_fingerprinter name_;
  std::vector<lane> lanes_;
  std::vector<std::uint8_t> bytes_;  ///< of the container that was audited last
};

/// Audits containers with several threads, and calls `take` after each. Errors: as for `container_auditor`; those of `take`.
[[nodiscard]] status audit_containers(
    const store_reading& store, const std::vector<std::string>& ids, std::uint64_t threads, const cancellation* cancel,
    const std::function<status(const audited_container&, const container_auditor&)>& take);

}  // namespace cutpoint::store
