// Peers: what each does, those that are linked or loaded, the comparison of those that do the same work, and its report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/status.h>
#include <cutpoint/topology.h>

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

/// Returns the peers that a shared library exports by the function
/// `const peer* cutpoint_peers(const char* backend, std::size_t* count)`. If it is another build of Cutpoint, it uses this back end.
/// The library stays loaded. Errors: unavailable.
[[nodiscard]] result<std::vector<peer>> load_peers(const std::string& path, backend where);

[[nodiscard]] std::vector<peer_group> group_by_work(const std::vector<peer>& peers);

/// How the answer of a contender compares with Cutpoint's.
enum class agreement { equal, other_definition, wrong };

struct contender {
  std::string name;
  std::function<void(std::size_t buffer)> run;  ///< does the work once on all bytes of a buffer of the data
  std::uint64_t chunk_count = 0;                ///< in all buffers
  agreement answer = agreement::equal;
  // Medians of the rounds.
  double bytes_per_second = 0;
  double share_of_read = 0;
  double our_ratio = 0;  ///< Cutpoint's speed over this one's
  /// How far the middle half of its rounds lies apart, over the median: what else slowed the machine, mostly.
  double spread = 0;
};

struct comparison {
  std::string input;                  ///< "random bytes", or the name of a file
  std::string place;                  ///< where a buffer fits: a cache such as "L2", or "memory"
  std::uint64_t buffer_bytes = 0;     ///< how many bytes a turn processes, again and again
  std::size_t buffer_count = 1;       ///< different buffers, which the rounds take one after the other
  std::string work;                   ///< an algorithm with its sizes, or a fingerprint with its messages
  std::vector<contender> contenders;  ///< the plain read, Cutpoint, the peers
};

/// Returns the name of the nearest cache that is at least twice as large as `bytes`, or "memory".
[[nodiscard]] std::string place_of(std::uint64_t bytes, std::span<const cache_info> caches);

/// Returns the rate of a function that does the work on `bytes` bytes once, in bytes a second.
using rate_function = std::function<double(const std::function<void()>& run, std::uint64_t bytes)>;

/// Measures and sets the medians. A round is one turn of each contender of every comparison, so the turns of a comparison are
/// spread over the whole time, and what slows the machine for some seconds slows few of them. In each round another contender
/// is first. Ratios are those of rates of the same round.
void measure(std::span<comparison> all, std::uint64_t rounds, const rate_function& rate);

/// Cuts a stream as users of the library do. Writes and returns what `peer::cut` does.
std::size_t cut_all(const chunker& cuts, byte_span data, std::uint64_t* ends);

/// Returns the plain read, Cutpoint by the back end `where`, and the peers, all of which must have the same work and size. Their
/// answers have been compared on all buffers, each of which is a stream. The buffers have the same size, and their bytes must outlive
/// the result. Errors: unknown_name, if this build of Cutpoint cannot do the work; as `chunker_on`.
[[nodiscard]] result<std::vector<contender>> cutting_contenders(std::span<const peer> peers,
                                                                const std::vector<byte_span>& buffers, backend where);

/// The messages of a hashing comparison: those that cover each buffer.
struct message_set {
  std::string name;
  std::vector<std::vector<byte_span>> buffers;
};

/// Returns messages of 8 KiB, and messages that are chunks as `fastcdc` cuts them.
[[nodiscard]] std::vector<message_set> message_sets(const std::vector<byte_span>& buffers);

/// Returns the same for hashing messages.
[[nodiscard]] result<std::vector<contender>> hashing_contenders(std::span<const peer> peers,
                                                                const std::vector<byte_span>& buffers,
                                                                const message_set& messages, backend where);

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
