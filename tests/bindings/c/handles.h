// Owning handles of the interface for C, structures of the right size, and callbacks that call C++ functions.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/cutpoint_store.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {

struct destroyer {
  void operator()(cutpoint_engine* engine) const { cutpoint_engine_destroy(engine); }
  void operator()(cutpoint_feed* feed) const { EXPECT_EQ(cutpoint_feed_destroy(feed), CUTPOINT_OK); }
  void operator()(cutpoint_store* store) const { EXPECT_EQ(cutpoint_store_destroy(store), CUTPOINT_OK); }
};
using engine_handle = std::unique_ptr<cutpoint_engine, destroyer>;
using feed_handle = std::unique_ptr<cutpoint_feed, destroyer>;
using store_handle = std::unique_ptr<cutpoint_store, destroyer>;

/// Returns a structure of zeros that says its size.
template <class Structure>
Structure sized() {
  Structure structure = {};
  structure.struct_bytes = sizeof structure;
  return structure;
}

/// Converts to a callback of any type, which calls the function that is its context.
template <class Function>
struct forwarder {
  template <class... Arguments>
  using callback = int (*)(void* context, Arguments... arguments);

  template <class... Arguments>
  operator callback<Arguments...>() const {  // NOLINT: converts implicitly
    return [](void* context, Arguments... arguments) { return (*static_cast<Function*>(context))(arguments...); };
  }
};
template <class Function>
forwarder<Function> forward_to(const Function&) {
  return {};
}

inline engine_handle make_engine(std::uint64_t threads) {
  auto options = sized<cutpoint_engine_options>();
  options.threads = threads;
  cutpoint_engine* engine = nullptr;
  EXPECT_EQ(cutpoint_engine_create(&options, &engine, nullptr), CUTPOINT_OK);
  return engine_handle(engine);
}

/// Returns default options for these cuts, on the scalar reference, which needs no measurement.
inline cutpoint_feed_options options_for(const char* cuts) {
  auto options = sized<cutpoint_feed_options>();
  options.cuts = cuts;
  options.back_end = "scalar";
  return options;
}

inline feed_handle open_feed(cutpoint_engine* engine, const cutpoint_feed_options& options,
                             const cutpoint_receiver* receiver = nullptr) {
  cutpoint_feed* feed = nullptr;
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_feed_create(engine, &options, receiver, &feed, &error), CUTPOINT_OK) << error.message;
  return feed_handle(feed);
}

inline cutpoint_error last_error(cutpoint_feed* feed) {
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_feed_error(feed, &error), CUTPOINT_OK);
  return error;
}

/// Returns a receiver that calls a function for each chunk.
template <class Function>
cutpoint_receiver receiver_of(Function& on_chunk) {
  auto receiver = sized<cutpoint_receiver>();
  receiver.context = &on_chunk;
  receiver.take_chunk = [](void* context, const cutpoint_chunk* chunk, const void*) {
    return (*static_cast<Function*>(context))(*chunk);
  };
  return receiver;
}

/// Feeds one stream in one write. Returns the first failure.
inline cutpoint_status feed_one(cutpoint_feed* feed, const std::vector<std::uint8_t>& bytes) {
  if (const int begun = cutpoint_feed_begin(feed, 0); begun != CUTPOINT_OK) return begun;
  if (const int written = cutpoint_feed_write(feed, bytes.data(), bytes.size()); written != CUTPOINT_OK) return written;
  if (const int ended = cutpoint_feed_end(feed, CUTPOINT_OK); ended != CUTPOINT_OK) return ended;
  return cutpoint_feed_finish(feed);
}

inline cutpoint_store_secret password(std::string_view text) {
  auto secret = sized<cutpoint_store_secret>();
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
  auto options = sized<cutpoint_store_backup_options>();
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

/// Reads a range of a file. Returns the bytes.
inline std::string read_range(cutpoint_store* store, const std::string& id, const std::string& path,
                              std::uint64_t begin, std::uint64_t end) {
  std::string read;
  auto append = [&](const void* bytes, std::size_t count) {
    read.append(static_cast<const char*>(bytes), count);
    return 0;
  };
  cutpoint_error error = {};
  EXPECT_EQ(cutpoint_store_read_file(store, id.c_str(), path.c_str(), begin, end, forward_to(append), &append, &error),
            CUTPOINT_OK)
      << error.message;
  return read;
}

/// Changes a byte of the first record of each container of a store.
inline void damage_containers(const std::string& store_folder) {
  for (const auto& each : std::filesystem::recursive_directory_iterator(store_folder + "/containers")) {
    if (!each.is_regular_file()) continue;
    std::filesystem::permissions(each.path(), std::filesystem::perms::owner_all);
    std::fstream(each.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(140).put('\x7f');
  }
}

}  // namespace cutpoint::tests
