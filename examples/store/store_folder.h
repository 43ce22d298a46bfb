// The folder of a store: its creation, its lock, and the paths in it.
#pragma once

#include <string>

#include <cutpoint/chunker.h>

#include "files.h"

namespace store {

/// Opens and locks the folder for a writer. Makes it a store if it is empty or does not exist, and removes the files that
/// an interrupted writer left. Errors: io_error; unavailable, if another writer has the lock; invalid_argument, if the
/// folder has other files.
result<descriptor> lock_store(const std::string& store);

/// Returns the cuts that the store was made with. Errors: io_error; invalid_argument, if the folder is not a store.
result<cutpoint::chunker> read_cuts(const std::string& store);

/// Returns the path of a stream's recipe. Errors: invalid_argument, if the name cannot be a file's.
result<std::string> recipe_path(const std::string& store, const std::string& name);

std::string recipes_folder(const std::string& store);
std::string chunks_folder(const std::string& store);
std::string incoming_folder(const std::string& store);

}  // namespace store
