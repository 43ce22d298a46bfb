// The content of a stored file as a stream.
#pragma once

#include <cutpoint/source.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Reads a regular file of a store from front to back. Holes can be skipped, as those of a file of this machine.
class stored_stream final : public file_stream {
 public:
  /// The arguments must outlive the stream.
  stored_stream(const folder_entry& file, record_source& records) : file_(file), records_(records) {}

  /// Reads up to the next hole. Errors: those of the records; damage.
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override;
  [[nodiscard]] result<std::uint64_t> skip_hole() override;
  [[nodiscard]] status check_unchanged() const override { return {}; }

 private:
  const folder_entry& file_;
  record_source& records_;
  std::uint64_t position_ = 0;
};

}  // namespace cutpoint::store
