// The options of commands that cut for a store: the back end, GPUs, threads and segments.
#pragma once

#include <optional>

#include <cutpoint/engine.h>
#include <cutpoint/store.h>

#include "cli/common/console.h"
#include "cli/common/options.h"
#include "cli/options/lane_options.h"
#include "cli/options/segment_options.h"

namespace cutpoint::cli {

class store_lanes {
 public:
  /// Adds the options of `chunk` and `dedup`, except the join: a store has exact cuts.
  void add_to(option_list& options);

  /// Starts the threads. Errors: a wrong name, value, bound or combination; a device that cannot be used.
  [[nodiscard]] status start();
  /// Returns the threads, which have been started.
  [[nodiscard]] engine& threads() { return *threads_; }
  /// Returns the lanes for a store, with the rates of its cuts and its fingerprint, which are measured if they must be.
  [[nodiscard]] store_lane_options lanes_for(const backup_store& store, const console& say) const;

 private:
  lane_options lanes_;
  segment_options segments_;
  store_lane_options checked_;
  std::optional<engine> threads_;
};

}  // namespace cutpoint::cli
