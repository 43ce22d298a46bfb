// The answer that the engine must give, and the receiver that checks it.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

struct bench_answer {
  std::vector<chunk> chunks;
  std::vector<digest> digests;  ///< of each chunk; empty without fingerprints
};

/// Cuts and fingerprints by the sequential reference and the library. Errors: those of fingerprints; cancelled.
[[nodiscard]] result<bench_answer> reference_answer(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                    byte_span data, const cancellation& cancel);

/// Compares delivered chunks with the answer. The first difference ends the feed.
class answer_check final : public chunk_receiver {
 public:
  explicit answer_check(const bench_answer& expected) : expected_(expected) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& c) override;
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }

  /// Returns the difference, after the feed has finished; empty if there is none.
  [[nodiscard]] std::string problem() const;

 private:
  const bench_answer& expected_;
  std::size_t next_ = 0;
  std::string problem_;
};

}  // namespace cutpoint::cli
