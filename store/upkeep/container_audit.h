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

/// Reads whole containers. Not thread-safe.
class container_auditor {
 public:
  /// Errors: those of the fingerprinters.
  [[nodiscard]] static result<container_auditor> make(const store_reading& store);

  /// Reads a container, and compares its bytes with its name, and each record with its digest. Memory: the container and
  /// its largest record. Errors: those of the storage, except damage; unavailable, if a newer version wrote it.
  [[nodiscard]] result<audited_container> audit(const std::string& id);
  /// Returns the content of a whole record of the container that was audited last.
  [[nodiscard]] result<std::vector<std::uint8_t>> content(const placed_record& record) const;

 private:
  container_auditor(const store_reading& store, record_fingerprinter check, record_fingerprinter name)
      : store_(store), check_(std::move(check)), name_(std::move(name)) {}

  store_reading store_;
  record_fingerprinter check_;
  record_fingerprinter name_;
  std::vector<std::uint8_t> bytes_;      ///< of the container that was audited last
  std::optional<record_opener> opener_;  ///< of the same
};

/// Audits containers with several threads. The calls of `take` do not overlap. Errors: as for `container_auditor`.
[[nodiscard]] status audit_containers(
    const store_reading& store, const std::vector<std::string>& ids, std::uint64_t threads, const cancellation* cancel,
    const std::function<status(const audited_container&, const container_auditor&)>& take);

}  // namespace cutpoint::store
