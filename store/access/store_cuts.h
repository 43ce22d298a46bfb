// The chunkers of a store: which ones it takes, and the keys that an encrypted store derives for them.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/context.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

#include "store/objects/config.h"

namespace cutpoint::store {

/// Whether a new encrypted store takes cuts whose key can be computed from lengths of chunks.
enum class insecure_cuts { refused, accepted };

/// Checks the chunkers of a store that is to be made. An encrypted store takes algorithms with a key, which it sets itself, and in
/// rules also those that cut at fixed lengths. Errors: invalid_argument, which names the class of a rule.
[[nodiscard]] status check_new_cuts(const store_config& config, insecure_cuts insecure);

/// Returns the chunker of a config, in an encrypted store with a key that is derived from `store_key`, or with the known key of
/// zeros if that is null. Errors: invalid_argument, for cuts that no store takes.
[[nodiscard]] result<chunker> chunker_of(const store_config& config, const fingerprint_key* store_key);
/// Returns the context of a config. Its chunkers have keys as that of `chunker_of`, except those that cut at fixed lengths.
[[nodiscard]] result<chunking_context> context_of(const store_config& config, const fingerprint_key* store_key);

/// Returns a sentence for each chunker of an encrypted store whose key can be computed from lengths of chunks. It is empty
/// for all other stores.
[[nodiscard]] std::vector<std::string> warnings_of_insecure_cuts(const store_config& config);

}  // namespace cutpoint::store
