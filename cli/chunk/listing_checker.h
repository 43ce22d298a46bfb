// Compares inputs with a listing of their chunks.
#pragma once

#include <optional>
#include <string>

#include <cutpoint/inputs.h>

#include "cli/chunk/listing.h"
#include "cli/common/console.h"

namespace cutpoint::cli {

/// A receiver that reads the listing beside the chunks. The inputs must be those of `listed_paths`, in their order.
/// Prints a line for each input that differs or cannot be compared, and, if verbose, for each that is equal.
class listing_checker final : public input_receiver {
 public:
  /// The references must outlive the checker.
  listing_checker(listing_reader& listing, const console& say) : listing_(listing), say_(say) {}

  /// Reads the first chunk of the listing. Must be called before the feed begins. Errors: as for `listing_reader`.
  [[nodiscard]] status begin() { return advance(); }
  /// Reports the inputs of the listing that were not delivered. Call it when the feed has finished, unless it was
  /// cancelled. Errors: as for `listing_reader`.
  [[nodiscard]] status finish();

  status take_chunk(const delivered_chunk& c) override;

  [[nodiscard]] bool is_all_equal() const { return different_count_ + missing_count_ + failed_count() == 0; }
  /// Returns a line with the numbers of inputs.
  [[nodiscard]] std::string summary() const;

 private:
  status begin_input(std::uint64_t stream, const std::string& path) override;
  status end_input(std::uint64_t stream, const status& outcome) override;
  status input_failed(const std::string& path, const status& why) override;

  [[nodiscard]] status advance();
  /// Returns whether the next chunk of the listing belongs to the present input.
  [[nodiscard]] bool is_next_of_input() const;
  /// Makes the next input of the listing the present one. Reports those before it.
  [[nodiscard]] status find_input(const std::string& path);
  /// Skips the chunks of the present input.
  [[nodiscard]] status skip_input();

  listing_reader& listing_;
  const console& say_;
  std::optional<listed_chunk> next_;         ///< the next chunk of the listing
  std::string path_;                         ///< the present input
  bool is_inside_ = false;                   ///< whether the listing is behind the present input's first chunk
  std::optional<std::uint64_t> difference_;  ///< offset of the first difference of the present input
  std::uint64_t equal_count_ = 0;
  std::uint64_t different_count_ = 0;
  std::uint64_t missing_count_ = 0;
  bool has_ended_ = false;          ///< whether an input has ended whose failure may follow
  std::uint64_t* count_ = nullptr;  ///< the count that has the input that ended last
};

}  // namespace cutpoint::cli
