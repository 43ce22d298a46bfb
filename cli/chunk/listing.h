// Listings of `cutpoint chunk` in the format text or jsonl: read chunk by chunk, and compared with inputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/inputs.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

// --- Reading ---------------------------------------------------------------------------------------------------------

struct listed_chunk {
  std::string path;
  chunk where;
  std::string digest;  ///< in hexadecimal; empty without a fingerprint
};

/// Reads chunks in the order of the listing, in memory that does not grow with it.
class listing_reader {
 public:
  /// Opens a listing and reads its first lines. Errors: io_error; cancelled; invalid_argument, if the file is no
  /// listing in the format text or jsonl.
  [[nodiscard]] static result<listing_reader> open(const std::string& file, const cancellation* cancel);
  listing_reader(listing_reader&&) noexcept;
  ~listing_reader();

  /// Returns the canonical string, and the name of the fingerprint.
  [[nodiscard]] const std::string& cuts() const;
  [[nodiscard]] const std::string& fingerprint() const;

  /// Returns the next chunk, or nullopt at the end. Skips lines that report failures. Errors: as for `open`.
  [[nodiscard]] result<std::optional<listed_chunk>> next();

 private:
  class listing_parser;
  explicit listing_reader(std::unique_ptr<listing_parser> state) noexcept;

  std::unique_ptr<listing_parser> implementation_;
};

/// Returns the path of each input of a listing, in order. An input begins at the offset 0. Errors: as for
/// `listing_reader`.
[[nodiscard]] result<std::vector<std::string>> listed_paths(const std::string& file, const cancellation* cancel);

// --- Comparing -------------------------------------------------------------------------------------------------------

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
