// A session of a lane's batch fingerprinter, which flushes it before the digests' memory is freed.
#pragma once

#include <cutpoint/batch_fingerprinter.h>

#include "pipeline/sequence/ring.h"

namespace cutpoint {

/// Submits chunks of the ring to a batch fingerprinter. The destructor flushes what was not flushed, because the
/// fingerprinter would otherwise write digests to memory that may have been freed.
class fingerprint_submission {
 public:
  fingerprint_submission(const ring& ring, batch_fingerprinter& batch) : ring_(ring), batch_(batch) {}
  fingerprint_submission(const fingerprint_submission&) = delete;
  fingerprint_submission& operator=(const fingerprint_submission&) = delete;
  ~fingerprint_submission() {
    if (!is_flushed_) static_cast<void>(batch_.flush());
  }

  /// Returns the chunk's bytes.
  std::uint64_t submit(const chunk& where, digest& destination) {
    is_flushed_ = false;
    batch_.submit(ring_.bytes(where.offset, where.offset + where.length), destination);
    return where.length;
  }
  status flush() {
    is_flushed_ = true;
    return batch_.flush();
  }

 private:
  const ring& ring_;
  batch_fingerprinter& batch_;
  bool is_flushed_ = true;
};

}  // namespace cutpoint
