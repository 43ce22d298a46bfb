// The feed's handle: the feed, the state of its streams, and the last error.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "bindings/c/engine.h"
#include "bindings/c/outcome.h"
#include "bindings/c/receivers.h"

struct cutpoint_feed {
 public:
  cutpoint_feed(std::shared_ptr<cutpoint::engine> engine,
                std::unique_ptr<cutpoint::embed::c_receiver> receiver) noexcept
      : engine_(std::move(engine)), receiver_(std::move(receiver)) {}

  [[nodiscard]] cutpoint::embed::outcome open(cutpoint::feed_options options);

  /// Runs a call and keeps its failure. Returns CUTPOINT_BUSY if another thread is in a call.
  template <class Body>
  cutpoint_status exclusively(Body&& body) noexcept;

  // Must be called within `exclusively`.

  [[nodiscard]] cutpoint::embed::outcome begin(std::uint64_t stream);
  [[nodiscard]] cutpoint::embed::outcome write(cutpoint::byte_span bytes);
  [[nodiscard]] cutpoint::embed::outcome write_zeros(std::uint64_t byte_count);
  [[nodiscard]] cutpoint::embed::outcome end(cutpoint_status why);
  [[nodiscard]] cutpoint::embed::outcome finish();
  [[nodiscard]] cutpoint_statistics statistics() const;

  // May be called at any time.

  void cancel() noexcept { cancel_.request(); }
  [[nodiscard]] cutpoint::embed::c_receiver& receiver() noexcept { return *receiver_; }
  [[nodiscard]] cutpoint_error last_error() const noexcept;

 private:
  enum class phase { between_streams, in_stream, finished, broken };

  [[nodiscard]] cutpoint::embed::outcome expect(phase needed) const;
  /// Returns the outcome of a call of the engine's feed, and keeps a failure that ends the feed.
  [[nodiscard]] cutpoint::embed::outcome settle(cutpoint::status status);
  [[nodiscard]] cutpoint::embed::outcome refuse_while_full();
  void keep(const cutpoint_error& error) noexcept;

  std::shared_ptr<cutpoint::engine> engine_;
  std::unique_ptr<cutpoint::embed::c_receiver> receiver_;
  cutpoint::cancellation cancel_;
  std::optional<cutpoint::feed> feed_;  ///< must be destroyed before the members above, which it uses
  phase phase_ = phase::between_streams;
  cutpoint::embed::outcome failure_;  ///< of the feed; permanent
  mutable std::mutex error_mutex_;
  cutpoint_error last_error_ = {};
};
