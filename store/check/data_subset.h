// Chooses the containers whose data a check reads.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/store.h>

#include "store/storage/storage.h"

namespace cutpoint::store {

/// Moves the ids of a subset from `ids` to the result.
[[nodiscard]] std::vector<std::string> take_subset(storage& objects, const store_data_subset& subset,
                                                   std::vector<std::string>& ids);

}  // namespace cutpoint::store
