// The fingerprint index: the set of digests that have been seen, behind an interface for batches.
#pragma once

#include <cstdint>
#include <span>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Whether an index had a digest.
enum class index_answer : std::uint8_t { absent, present };

/// A set of digests of one kind. Callers pass digests in batches and in the order of the stream, because neighbours in
/// a stream are often stored together: an implementation may load the digests that were stored with the first one that
/// it finds, and answer the following ones from memory. It may also use threads of its own during a call.
///
/// `answers` has as many elements as `digests`. Calls must not overlap. An implementation may throw std::bad_alloc.
/// After a failure the answers have no meaning, and an insertion may have inserted some of the digests; what else
/// follows from a failure is up to the implementation.
class fingerprint_index {
 public:
  virtual ~fingerprint_index() = default;

  /// Answers for each digest whether it is in the index. Inserts no digest. Errors: those of the implementation, such
  /// as io_error if the index is in files.
  [[nodiscard]] virtual status look_up(std::span<const digest> digests, std::span<index_answer> answers) = 0;
  /// Inserts the digests that are not in the index, and answers for each digest whether it was in the index before or
  /// precedes itself in `digests`. So the answers are those of insertions one by one. Errors: as `look_up`.
  [[nodiscard]] virtual status insert(std::span<const digest> digests, std::span<index_answer> answers) = 0;

  /// Returns the number of digests in the index.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Returns the number of bytes of memory that the index occupies now.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
};

}  // namespace cutpoint
