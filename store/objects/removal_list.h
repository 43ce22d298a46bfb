// Removal lists: the containers that a prune proposes to remove, and those that it has decided to remove.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "store/crypto/sealer.h"
#include "store/index/shard.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

/// The numbers are in files and never change.
enum class removal_state : std::uint8_t { proposed = 1, decided = 2 };

/// The containers that new sessions must not refer to. Only the newest list of a store counts: a decision has been carried
/// out before the next proposal is put.
struct removal_list {
  std::uint64_t epoch = 0;  ///< 0 without a list
  removal_state state = removal_state::decided;
  std::set<container_name> containers;
};

[[nodiscard]] object_name removal_list_name(std::uint64_t epoch);

/// Returns the epoch of the newest removal list, or 0. Errors: those of the storage.
[[nodiscard]] result<std::uint64_t> newest_epoch(storage& objects);

/// Reads the newest list. Errors: those of the storage; damage.
[[nodiscard]] result<removal_list> read_newest_list(storage& objects, const seal_key& key);
/// The same, but a list that is damaged is passed to `damaged`, and counts as a decision that removes nothing. Errors: those
/// of the storage.
[[nodiscard]] result<removal_list> read_newest_list(
    storage& objects, const seal_key& key,
    const std::function<void(const object_name& list, const status& why)>& damaged);

/// Puts the list of an epoch. Does not sync. Errors: those of the storage; if the epoch has a list already, the failure is
/// one that `is_presence` recognizes.
[[nodiscard]] status put_removal_list(storage& objects, const seal_key& key, const removal_list& list);

/// Removes the lists of all epochs before one. Does not sync. Errors: those of the storage.
[[nodiscard]] status remove_lists_before(storage& objects, std::uint64_t epoch);

}  // namespace cutpoint::store
