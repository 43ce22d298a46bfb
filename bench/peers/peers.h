// Peers: what each does, those that are linked or loaded, the comparison of those that do the same work, and its report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace cutpoint::bench {

/// A message to hash. `digest` has room for 32 bytes.
struct message {
  const std::uint8_t* bytes;
  std::size_t size;
  std::uint8_t* digest;
};

/// One of `cut` and `hash` is null. bench/peers/rust/src/lib.rs declares the same structures.
struct peer {
  const char* name;  ///< the project and its version
  const char* work;  ///< Cutpoint's name of the algorithm or fingerprint
  const char* size;  ///< the chunk sizes, MIN:AVG:MAX; empty for the algorithm's own sizes and for fingerprints
  /// Whether its cuts must be Cutpoint's. If not, its definition differs in details, and speeds cannot be compared.
  bool has_same_definition;
  /// Cuts `size` bytes. Writes the end of each chunk to `ends`, which has room for one end for each KiB and one more.
  /// Returns the number of chunks.
  std::size_t (*cut)(const std::uint8_t* bytes, std::size_t size, std::uint64_t* ends);
  void (*hash)(const message* messages, std::size_t count);
};

/// The peers that do the same work. There is at least one.
struct peer_group {
  std::string work;  ///< the work with its sizes
  std::vector<peer> peers;
};

/// Returns the peers that are C and C++ libraries: OpenSSL, and ipsec-mb if the build found it.
[[nodiscard]] std::vector<peer> library_peers();

/// Returns the peers that a shared library exports by the function `const peer* cutpoint_peers(std::size_t* count)`.
/// The library stays loaded. Errors: unavailable.
[[nodiscard]] result<std::vector<peer>> load_peers(const std::string& path);

[[nodiscard]] std::vector<peer_group> group_by_work(const std::vector<peer>& peers);

/// How the answer of a contender compares with Cutpoint's.
enum class agreement { equal, other_definition, wrong };

struct contender {
  std::string name;
  std::function<void()> run;  ///< does the work on all bytes once
  std::uint64_t chunk_count = 0;
  agreement answer = agreement::equal;
  // Medians of the rounds.
  double bytes_per_second = 0;
  double share_of_read = 0;
  double our_ratio = 0;  ///< Cutpoint's speed over this one's
};

struct comparison {
  std::string input;  ///< "random bytes", or the name of a file
  std::uint64_t data_bytes = 0;
  std::string work;                   ///< an algorithm with its sizes, or a fingerprint with its messages
  std::vector<contender> contenders;  ///< the plain read, Cutpoint, the peers
};

/// Returns the rate of a function that does the work once, in bytes a second.
using rate_function = std::function<double(const std::function<void()>& run)>;

/// Measures each contender once in each round and sets its medians. Each round begins with another contender. Ratios are
/// those of rates of the same round.
void measure(comparison& all, std::uint64_t rounds, const rate_function& rate);

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

// The results of comparisons as a table and as JSON.

struct peers_report {
  std::string machine;  ///< the model of the processor
  std::string build;    ///< the commit, compiler and flags of Cutpoint
  std::uint64_t rounds = 0;
  std::vector<comparison> comparisons;

  /// Returns whether no peer gave a wrong answer.
  [[nodiscard]] bool is_right() const;
  /// Returns a table for each input and size, with a line for each peer.
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string json() const;
};

}  // namespace cutpoint::bench
