// Many fingerprints at once: asked for one by one, made in whatever order is fastest.
#pragma once

#include <memory>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Makes fingerprints of one kind, always those that a `fingerprinter` of that kind makes. One thread at a time.
class batch_fingerprinter {
 public:
  virtual ~batch_fingerprinter() = default;

  /// Asks for the digest of `bytes`, which may be empty. Until `flush` returns the bytes must stay as they are, and
  /// `destination` where it is; it is written at some time until then.
  virtual void submit(byte_span bytes, digest& destination) = 0;

  /// Makes all that was asked for and not made yet. Throws nothing: it is also what cleans up after a failure. Errors:
  /// backend_failure, when a library failed; the digests since the last flush are then worth nothing.
  [[nodiscard]] virtual status flush() = 0;
};

/// Makes each as it is asked for.
[[nodiscard]] std::unique_ptr<batch_fingerprinter> make_one_by_one_fingerprinter(fingerprinter maker);

}  // namespace cutpoint
