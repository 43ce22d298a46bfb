// Makes digests of records and containers, one at a time.
#pragma once

#include <memory>
#include <utility>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/fingerprint.h>

namespace cutpoint::store {

/// Makes a fingerprinter of the back end that is the fastest here, which the first call for each kind of fingerprint measures
/// in some milliseconds. Thread-safe. Errors: those of `fingerprints_on`.
[[nodiscard]] result<std::unique_ptr<batch_fingerprinter>> fastest_fingerprinter(const fingerprint_recipe& recipe);

/// Movable. Not thread-safe.
class record_fingerprinter {
 public:
  explicit record_fingerprinter(std::unique_ptr<batch_fingerprinter> maker) noexcept : maker_(std::move(maker)) {}

  /// Makes one that uses the hash library. Errors: those of `fingerprinter::make`.
  [[nodiscard]] static result<record_fingerprinter> make(const fingerprint_recipe& recipe) {
    auto maker = fingerprinter::make(recipe);
    if (!maker) return maker.error();
    return record_fingerprinter(make_one_by_one_fingerprinter(std::move(*maker)));
  }

  /// Makes one of the back end that is the fastest here, as `fastest_fingerprinter`.
  [[nodiscard]] static result<record_fingerprinter> fastest(const fingerprint_recipe& recipe);

  /// Errors: backend_failure.
  [[nodiscard]] result<digest> operator()(byte_span bytes) {
    digest content;
    maker_->submit(bytes, content);
    if (status flushed = maker_->flush(); !flushed.ok()) return flushed;
    return content;
  }

 private:
  std::unique_ptr<batch_fingerprinter> maker_;
};

/// Returns the BLAKE3 digest, without a key, that names an object. Errors: those of `fingerprinter::make`.
[[nodiscard]] inline result<digest> blake3_digest(byte_span bytes) {
  auto maker = fingerprinter::make(fingerprint_kind::blake3);
  return maker ? (*maker)(bytes) : maker.error();
}

}  // namespace cutpoint::store
