// The routing units of a trace, in batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/routing/policy.h"
#include "cluster/routing/super_chunks.h"

namespace cutpoint::cluster {

/// A routing unit with the class of its files, which the unit has only for policies that know classes.
struct classified_unit {
  routing_unit unit;
  class_number application;
};

struct unit_options {
  routing_unit_kind kind;
  bool is_application_aware;
  super_chunk_options super_chunks;
  std::size_t handprint_size;
  std::size_t batch_size;  ///< units in a batch
};

/// Makes routing units of the files that it is given, and hands them out in batches. A super-chunk has data of one class
/// and one client, whether the policy knows classes or not, so that policies are compared on the same super-chunks. Not
/// thread-safe.
class unit_builder {
 public:
  /// Takes a batch, which is valid during the call.
  using receiver = std::function<void(std::span<const classified_unit>)>;

  unit_builder(const unit_options& options, receiver take);

  void begin_file(class_number application, std::uint32_t client);
  void add(std::span<const routed_chunk> chunks);
  void end_file();
  /// Hands out what is left.
  void finish();

 private:
  struct unit_place {
    class_number application;
    std::uint32_t client;
    std::size_t chunks_end;  ///< the unit's end in `chunks_`; it begins where the one before it ends
  };

  void add_unit(class_number application, std::span<const routed_chunk> chunks);
  void hand_out();

  unit_options options_;
  receiver take_;
  super_chunk_builder super_chunks_;
  class_number application_ = 0;
  std::uint32_t client_ = 0;
  std::vector<routed_chunk> file_;    ///< for units that are files
  std::vector<routed_chunk> chunks_;  ///< of the units of the batch
  std::vector<unit_place> places_;
  std::vector<std::uint64_t> handprints_;
  std::vector<std::size_t> handprint_ends_;
  std::vector<classified_unit> batch_;
};

}  // namespace cutpoint::cluster
