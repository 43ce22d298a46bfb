// The fastest back end for a job, by measurement.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include <cutpoint/backends.h>

namespace cutpoint {

/// The chunker on the back end that cuts random bytes and text fastest here. Of those that are about equal it is the
/// widest, as for chunks of many MiB, which are not measured. Takes some milliseconds.
[[nodiscard]] chunker fastest(const chunker& cuts);

/// The fastest batch fingerprinter here, for chunks of 8 KiB. Errors: as `fingerprints_on`.
[[nodiscard]] result<chosen_fingerprinter> fastest(const fingerprint_recipe& recipe);

/// Measures once for each chunker and each kind of fingerprint, and remembers the result. Thread-safe.
class backend_cache {
 public:
  /// As `chunker_on`, but `automatic` keeps a kernel that the chunker has. Errors: also invalid_argument, if another back
  /// end is to replace a kernel that belongs to none.
  [[nodiscard]] result<chunker> place(const chunker& cuts, backend which);
  /// As `fingerprints_on`.
  [[nodiscard]] result<chosen_fingerprinter> place(const fingerprint_recipe& recipe, backend which);

 private:
  std::mutex mutex_;
  std::map<std::string, backend, std::less<>> of_cuts_;
  std::map<fingerprint_kind, backend> of_fingerprints_;
};

}  // namespace cutpoint
