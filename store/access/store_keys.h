// The keys that open a store, and their removal.
#pragma once

#include <string>
#include <vector>

#include "store/access/open_store.h"

namespace cutpoint::store {

struct listed_key {
  std::string id;
  secret_kind kind = secret_kind::password;
};

/// Returns the keys that open an encrypted store, by their ids: those that have its key and that `log` has not removed. Errors:
/// those of the storage.
[[nodiscard]] result<std::vector<listed_key>> list_keys(open_store& opened_store, const store_log& log);

/// Adds a key for a secret, durably, and returns its id. Errors: those of `put_key` and of sessions.
[[nodiscard]] result<std::string> add_key(open_store& opened_store, const key_secret& secret);

/// Removes a key, durably. The log orders the removals of all processes, so that each knows which keys are left. Errors: those of
/// sessions; invalid_argument, if no key has the id or it is the last one.
[[nodiscard]] status remove_key(open_store& opened_store, const std::string& id);

}  // namespace cutpoint::store
