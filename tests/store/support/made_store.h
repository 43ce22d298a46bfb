// A store on the model of a disk with a volatile cache.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "store/access/open_store.h"
#include "store/storage/directory_storage.h"
#include "tests/store/support/containers.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {

struct made_store {
  explicit made_store(std::optional<store::key_secret> secret = std::nullopt) : given(std::move(secret)) {
    EXPECT_TRUE(store::make_storage_folders(*files).ok());
    const store::store_config config{.fingerprint = fingerprint_kind::blake3,
                                     .container_bytes = 64 * KiB,
                                     .cuts = "borg2-fastcdc(min_exp=9,max_exp=13,mask_bits=11)"};
    const status made = store::make_store(*open_storage("init"), config, given);
    EXPECT_TRUE(made.ok()) << made.message();
  }
  explicit made_store(std::shared_ptr<volatile_file_system> crashed) : files(std::move(crashed)) {}
  made_store(std::shared_ptr<volatile_file_system> crashed, const std::optional<store::key_secret>& secret)
      : given(secret), files(std::move(crashed)) {}

  [[nodiscard]] std::unique_ptr<store::storage> open_storage(const std::string& writer_id) const {
    return store::open_directory_storage(files, {.writer_id = writer_id, .pending_objects = 0});
  }
  [[nodiscard]] result<std::unique_ptr<store::open_store>> try_open(
      const std::optional<store::key_secret>& secret) const {
    return store::open_store::open(
        [shared = files](const std::string& writer_id, std::size_t) {
          return store::open_directory_storage(shared, {.writer_id = writer_id, .pending_objects = 0});
        },
        secret);
  }
  [[nodiscard]] std::unique_ptr<store::open_store> open() const {
    auto opened = try_open(given);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message());
    return std::move(*opened);
  }

  std::optional<store::key_secret> given;
  std::shared_ptr<volatile_file_system> files = std::make_shared<volatile_file_system>();
};

}  // namespace cutpoint::tests
