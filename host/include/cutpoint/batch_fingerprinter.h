// The interface for making many digests at once, in whatever order is fastest.
#pragma once

#include <memory>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Makes the same digests as a `fingerprinter` with the same recipe. Not thread-safe.
class batch_fingerprinter {
 public:
  virtual ~batch_fingerprinter() = default;

  /// Requests the digest of `bytes`, which may be empty. It is written to `destination` by the time `flush` returns.
  /// Until then `bytes` must not change and `destination` must stay valid.
  virtual void submit(byte_span bytes, digest& destination) = 0;

  /// Makes all digests that were requested and not made yet. Does not throw, so that it can be called to clean up after
  /// a failure. Errors: backend_failure, if a library failed; then the digests since the last flush are invalid.
  [[nodiscard]] virtual status flush() = 0;
};

/// Returns a batch fingerprinter that makes each digest when it is requested.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_one_by_one_fingerprinter(fingerprinter maker);

}  // namespace cutpoint
