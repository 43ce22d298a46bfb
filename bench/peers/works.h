// The pieces of work that are measured: cutting by one algorithm, or hashing messages, by Cutpoint and by its peers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

#include "bench/peers/comparison.h"
#include "bench/peers/peer.h"

namespace cutpoint::bench {

/// Returns the plain read, Cutpoint and the peers, all of which must have the same work and size. Their answers have
/// been compared. `data` must outlive the result. Errors: unknown_name, if this build of Cutpoint cannot do the work.
[[nodiscard]] result<std::vector<contender>> cutting_contenders(std::span<const peer> peers, byte_span data);

/// The messages of a hashing comparison: byte ranges that cover the data.
struct message_set {
  std::string name;
  std::vector<chunk> messages;
};

/// Returns messages of 8 KiB, and messages that are chunks as `fastcdc` cuts them.
[[nodiscard]] std::vector<message_set> message_sets(byte_span data);

/// Returns the same for hashing `messages`, which must cover `data`.
[[nodiscard]] result<std::vector<contender>> hashing_contenders(std::span<const peer> peers, byte_span data,
                                                                const std::vector<chunk>& messages);

}  // namespace cutpoint::bench
