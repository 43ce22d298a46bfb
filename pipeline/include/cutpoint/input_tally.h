// A receiver that counts, for each kind of file, what deduplication would save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/context.h>
#include <cutpoint/dedup.h>
#include <cutpoint/inputs.h>

namespace cutpoint {

/// Counts the chunks of inputs by kinds of files. A derived class reports failures (`input_failed`).
class input_tally : public input_receiver {
 public:
  /// `fingerprint` is the kind that the feed makes. It must not be `none`. Files that different rules of the context cut are of
  /// different kinds, even if these have the same name.
  explicit input_tally(fingerprint_kind fingerprint, chunking_context context = {});

  [[nodiscard]] bool has_select() const noexcept override { return true; }

  // Valid when the feed has finished.

  [[nodiscard]] const dedup_tally& tally() const noexcept { return tally_; }
  /// Returns the names of the kinds in the order of their numbers in the tally.
  [[nodiscard]] std::vector<std::string> kind_names() const;
  /// Returns the rule of each kind in the same order.
  [[nodiscard]] std::vector<std::size_t> kind_rules() const;

 protected:
  [[nodiscard]] status take_chunk(const delivered_chunk& chunk) override { return tally_.take(chunk); }
  [[nodiscard]] status select_chunks(std::span<const delivered_chunk> chunks,
                                     std::span<std::unique_ptr<chunk_work>> work) override {
    return tally_.select(chunks, work);
  }
  [[nodiscard]] status begin_input(std::uint64_t stream, const std::string& path) override;
  [[nodiscard]] status end_input(std::uint64_t stream, const status& outcome) override;
  /// Returns the name of the kind that `path` counts for; `kind_of_file(path)` by default.
  [[nodiscard]] virtual std::string kind_of(const std::string& path) const;

 private:
  chunking_context context_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> kinds_;  ///< by rules and names
  std::size_t kind_ = 0;                                              ///< kind of the present input
  dedup_tally tally_;
};

}  // namespace cutpoint
