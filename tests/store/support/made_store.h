// A store on the model of a disk with a volatile cache.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/session/open_store.h"
#include "store/storage/directory_storage.h"
#include "store/tree/node_walk.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/containers.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {

struct made_store {
  explicit made_store(const std::optional<store::key_secret>& secret = std::nullopt)
      : made_store({.fingerprint = fingerprint_kind::blake3,
                    .container_bytes = 64 * KiB,
                    .cuts = secret ? "toeplitz128-aes(min_exp=9,max_exp=13,mask_bits=11)"
                                   : "borg2-fastcdc(min_exp=9,max_exp=13,mask_bits=11)"},
                   secret) {}
  explicit made_store(const store::store_config& config, const std::optional<store::key_secret>& secret = std::nullopt)
      : secret_key(secret) {
    EXPECT_TRUE(store::make_storage_folders(*files).ok());
    const status outcome = store::make_store(*open_storage("init"), config, secret_key);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
  }
  explicit made_store(disk crashed, const std::optional<store::key_secret>& secret = std::nullopt)
      : secret_key(secret), files(std::move(crashed)) {}

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
  [[nodiscard]] std::unique_ptr<store::open_store> open() const { return value_of(try_open(secret_key)); }

  std::optional<store::key_secret> secret_key;
  std::shared_ptr<volatile_file_system> files = std::make_shared<volatile_file_system>();
};

/// Returns the ids of the objects of a kind.
inline std::vector<std::string> names(const made_store& disk_store, store::object_kind kind) {
  return *disk_store.open_storage("n")->list(kind);
}

/// Nodes in memory, by their digests.
class node_memory final : public store::node_receiver, public store::node_source {
 public:
  result<store::record_reference> put_node(const store::encoded_node& node) override {
    EXPECT_LE(node.content_bytes, store::largest_node_bytes);
    const digest name = digest_of(node.content());
    nodes_[to_hex(name)] = node.bytes;
    return store::record_reference{name, static_cast<std::uint32_t>(node.content_bytes), 5};
  }
  result<std::vector<std::uint8_t>> read_node(const store::record_reference& node) override {
    ++reads;
    const auto position = nodes_.find(to_hex(node.content));
    if (position == nodes_.end()) return store::damage("a node", "it is absent");
    return position->second;
  }
  /// Loses a node.
  void erase(const store::record_reference& node) { nodes_.erase(to_hex(node.content)); }
  [[nodiscard]] const std::map<std::string, std::vector<std::uint8_t>>& nodes() const { return nodes_; }

  int reads = 0;

 private:
  std::map<std::string, std::vector<std::uint8_t>> nodes_;
};

inline store::record_reference drawn_reference(choices& random) {
  store::record_reference reference;
  for (std::uint8_t& each : reference.content.bytes) each = static_cast<std::uint8_t>(random.word());
  reference.content.size = 32;
  reference.raw_bytes = static_cast<std::uint32_t>(random.between(1, 100'000));
  reference.hint = random.between(1, 5);
  return reference;
}

}  // namespace cutpoint::tests
