// A store's folder: making it, locking it, and the names in it.
#pragma once

#include <string>

#include <cutpoint/chunker.h>

#include "files.h"

namespace store {

/// The folder, locked for the one that writes; made a store where it is empty or not there. What an interrupted writer
/// left is removed. Errors: io_error; unavailable, where another has it; invalid_argument, for one of other things.
result<descriptor> lock_store(const std::string& store);

/// The cuts that the store was made with. Errors: io_error; invalid_argument, where it is no store.
result<cutpoint::chunker> read_cuts(const std::string& store);

/// Where the recipe of a stream lies. Errors: invalid_argument, for a name that is none for a file.
result<std::string> recipe_path(const std::string& store, const std::string& name);

std::string recipes_folder(const std::string& store);
std::string chunks_folder(const std::string& store);
std::string incoming_folder(const std::string& store);

}  // namespace store
