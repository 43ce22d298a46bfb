// Owning handles of stores, and callbacks that call C++ functions.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <cutpoint/cutpoint_store.h>
#include <gtest/gtest.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {

struct store_destroyer {
  void operator()(cutpoint_store* store) const { EXPECT_EQ(cutpoint_store_destroy(store), CUTPOINT_OK); }
};
using store_handle = std::unique_ptr<cutpoint_store, store_destroyer>;

inline cutpoint_store_secret password(std::string_view text) {
  cutpoint_store_secret secret = {};
  secret.struct_bytes = sizeof secret;
  secret.kind = CUTPOINT_SECRET_PASSWORD;
  secret.bytes = text.data();
  secret.byte_count = text.size();
  return secret;
}

inline store_handle open_store(const std::string& folder, const cutpoint_store_secret* secret = nullptr) {
  cutpoint_store* store = nullptr;
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_store_open(folder.c_str(), secret, &store, &error), CUTPOINT_OK) << error.message;
  return store_handle(store);
}

inline store_handle make_store(const std::string& folder, const cutpoint_store_secret* secret = nullptr) {
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_store_create(folder.c_str(), nullptr, secret, &error), CUTPOINT_OK) << error.message;
  return open_store(folder, secret);
}

/// Options that back up one path. The path must outlive them.
inline cutpoint_store_backup_options backup_of(const char* const& path) {
  cutpoint_store_backup_options options = {};
  options.struct_bytes = sizeof options;
  options.paths = &path;
  options.path_count = 1;
  options.host = "h";
  return options;
}

/// Backs up one path and returns the snapshot's id.
inline std::string back_up(cutpoint_store* store, cutpoint_engine* engine, const std::string& path) {
  const char* const text = path.c_str();
  const cutpoint_store_backup_options options = backup_of(text);
  const cutpoint_store_snapshot* snapshot = nullptr;
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_store_back_up(store, engine, &options, &snapshot, &error), CUTPOINT_OK) << error.message;
  return snapshot != nullptr ? snapshot->id : "";
}

/// Calls a C++ function, which is the context, with the arguments of a callback.
template <class Function, class... Arguments>
int forward_call(void* context, Arguments... arguments) {
  return (*static_cast<Function*>(context))(arguments...);
}

/// Reads a range of a file. Returns the bytes.
inline std::string read_range(cutpoint_store* store, const std::string& id, const std::string& path,
                              std::uint64_t begin, std::uint64_t end) {
  std::string bytes;
  const auto append = [](void* context, const void* data, std::size_t count) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), count);
    return 0;
  };
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_store_read_file(store, id.c_str(), path.c_str(), begin, end, append, &bytes, &error), CUTPOINT_OK)
      << error.message;
  return bytes;
}

}  // namespace cutpoint::tests
