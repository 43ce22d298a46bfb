// Inputs counted by kinds of files: what deduplication would save of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <cutpoint/dedup.h>
#include <cutpoint/inputs.h>

namespace cutpoint {

/// Counts the chunks of inputs by kinds of files.
class input_tally : public input_receiver {
 public:
  /// For fingerprints of this kind, which must not be `none`.
  explicit input_tally(fingerprint_kind fingerprint);

  status take(const delivered_chunk& c) override { return tally_.take(c); }

  // When all has come out.

  [[nodiscard]] const dedup_tally& tally() const noexcept { return tally_; }
  /// Returns the names of the kinds, by their numbers in the tally.
  [[nodiscard]] std::vector<std::string> kind_names() const;

 protected:
  [[nodiscard]] status begin_input(std::uint64_t stream, const std::string& path) override;
  [[nodiscard]] status end_input(std::uint64_t stream, const status& outcome) override;
  [[nodiscard]] virtual std::string kind_of(const std::string& path) const;

 private:
  std::map<std::string, std::size_t> kinds_;
  std::size_t kind_ = 0;  ///< of the input under way
  dedup_tally tally_;
};

}  // namespace cutpoint
