// Chooses the containers whose data a check reads.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/storage.h>
#include <cutpoint/store.h>

namespace cutpoint::store {

/// Moves the ids of a subset from `ids` to the result.
[[nodiscard]] std::vector<std::string> take_subset(storage& objects, const store_data_subset& subset,
                                                   std::vector<std::string>& ids);

}  // namespace cutpoint::store
