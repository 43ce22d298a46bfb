// Checks a store: its objects, and the trees of its snapshots.
#pragma once

#include <cutpoint/store.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Checks everything and reports all damage. Changes nothing. Memory: with `reads_data` a container for each thread; 100
/// bytes for each folder and each record that is lost. Errors: those of the storage, except damage; cancelled.
[[nodiscard]] result<store_check_summary> check_store(const store_reading& store, const store_check_options& options);

}  // namespace cutpoint::store
