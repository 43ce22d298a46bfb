// What a store refuses to be made with and opened by, and that it is whole wherever making it and committing to it stop.
#include "store/session/open_store.h"

#include <algorithm>
#include <set>

#include <cutpoint/catalog.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/session/leased_session.h"
#include "store/session/records.h"
#include "store/upkeep/upkeep.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

using store::key_secret;
using store::object_kind;
using store::secret_kind;
using testing::HasSubstr;
using testing::SizeIs;

const key_secret store_password{secret_kind::password, "correct horse"};
/// Other than a password it takes no time.
const key_secret key_file{secret_kind::key_file, "battery staple"};

/// Stores one record, and returns what refers to it.
store::record_reference store_record(store::open_store& opened_store, store::storage& objects, byte_span content) {
  store::own_containers own;
  store::record_writer records(objects, opened_store.key(), opened_store.config().container_bytes, own,
                               blake3_fingerprinter());
  const digest name = *(*fingerprinter::make(opened_store.fingerprint()))(content);
  const store::record_description description{store::record_kind::node, store::record_codec::none,
                                              static_cast<std::uint32_t>(content.size()),
                                              static_cast<std::uint32_t>(content.size()), name};
  const auto hint = records.append(description, content);
  if (!hint || !records.finish().ok()) return {};
  return {name, description.raw_bytes, *hint};
}

bool has_record(store::open_store& opened_store, const store::record_reference& record) {
  std::optional<store::found_record> record_found;
  return opened_store.shards().locate(store::record_kind::node, {&record.content, 1}, {&record_found, 1}).ok() &&
         record_found.has_value();
}

std::vector<std::uint8_t> some_content() { return std::vector<std::uint8_t>(1000, 7); }

TEST(open_store, refuses_what_is_no_store) {
  made_store disk_store;
  ASSERT_TRUE(disk_store.files->remove("config").ok());
  EXPECT_TRUE(disk_store.try_open(std::nullopt).ok()) << "its copy is there";
  ASSERT_TRUE(disk_store.files->remove("config.copy").ok());
  const status opened_store = error_of(disk_store.try_open(std::nullopt));
  EXPECT_EQ(opened_store.code(), status_code::unavailable);
  EXPECT_THAT(opened_store.message(), HasSubstr("not a store"));
}

TEST(open_store, needs_the_secret_and_no_other) {
  const made_store encrypted(store_password);
  EXPECT_THAT(encrypted.try_open(std::nullopt).error().message(), HasSubstr("is encrypted"));
  EXPECT_THAT(encrypted.try_open(key_secret{secret_kind::password, "wrong"}).error().message(), HasSubstr("no key"));
  EXPECT_THAT(encrypted.try_open(key_secret{secret_kind::key_file, store_password.bytes}).error().message(),
              HasSubstr("no key"));
  EXPECT_TRUE(encrypted.try_open(store_password).ok());
  EXPECT_THAT(made_store().try_open(store_password).error().message(), HasSubstr("is not encrypted"));
}

TEST(open_store, derives_other_cuts_and_digests_from_each_key) {
  const made_store one(store_password);
  const made_store other(store_password);
  const auto a = one.open();
  const auto b = other.open();
  EXPECT_NE(a->cuts().canonical(), b->cuts().canonical());
  EXPECT_NE(a->fingerprint(), b->fingerprint());
  EXPECT_EQ(a->cuts().canonical(), one.open()->cuts().canonical());
  EXPECT_THAT(a->config().cuts, testing::Not(HasSubstr("key")));
}

TEST(open_store, refuses_a_config_that_was_replaced) {
  const made_store disk_store(store_password);
  const made_store other(store_password);
  *disk_store.files->bytes_of("config") = *other.files->bytes_of("config");
  const status opened_store = error_of(disk_store.try_open(store_password));
  EXPECT_THAT(opened_store.message(), HasSubstr("not the one that the key was made for"));
}

TEST(make_store, can_be_repeated_wherever_it_stops) {
  const disk prepared = std::make_shared<volatile_file_system>();
  ASSERT_TRUE(store::make_storage_folders(*prepared).ok());
  const store::store_config config{.fingerprint = fingerprint_kind::blake3,
                                   .container_bytes = 64 * KiB,
                                   .cuts = "toeplitz128-aes(min_exp=9,max_exp=13,mask_bits=11)"};
  const auto make_in = [&](const disk& files, const std::string& session) {
    return store::make_store(*made_store(files).open_storage(session), config, key_file).ok();
  };
  const auto make = [&](const disk& files) { return make_in(files, "a"); };
  const auto judge = [&](const disk& files, bool is_made) -> std::string {
    const made_store crashed(files);
    if (!crashed.open_storage("b")->size(store::config_name()).ok()) {
      if (is_made) return "the config is lost";
      if (!make_in(files, "c")) return "it cannot be made again";
    }
    return crashed.try_open(key_file).ok() ? "" : "it cannot be opened";
  };
  EXPECT_EQ(fault_of_stops(prepared, 1, make, judge), "");
}

TEST(make_store, refuses_what_a_store_does_not_take) {
  const made_store disk_store;
  const auto refusal = [&](store::store_config config, const std::optional<key_secret>& secret) {
    return store::make_store(*disk_store.open_storage("x"), std::move(config), secret).message();
  };
  const std::string keyed = "toeplitz128-aes(min_exp=9,max_exp=13,mask_bits=11)";
  EXPECT_THAT(refusal({.cuts = "gear(avg_bytes=8192)"}, store_password), HasSubstr("needs an algorithm with a key"));
  EXPECT_THAT(refusal({.cuts = keyed}, store_password), HasSubstr("needs the fingerprint blake3"));
  EXPECT_THAT(refusal({.cuts = keyed}, {}), HasSubstr("a store without encryption has no secret"));
  EXPECT_THAT(refusal({.cuts = "gear(max_bytes=0)"}, {}), HasSubstr("a maximum of at most 64 MiB"));
  EXPECT_THAT(refusal({.cuts = "gear(avg_bytes=8192)"}, {}), HasSubstr("a store is there already"));
}

TEST(make_store, takes_cuts_that_give_their_key_away_if_they_are_accepted) {
  for (const std::string cuts :
       {"borg2-fastcdc(min_exp=9,max_exp=13,mask_bits=11)", "borg1(min_exp=9,max_exp=13,mask_bits=11,window=31)"}) {
    const made_store disk_store(std::make_shared<volatile_file_system>());
    ASSERT_TRUE(store::make_storage_folders(*disk_store.files).ok());
    const store::store_config config{.fingerprint = fingerprint_kind::blake3, .cuts = cuts};
    const auto make = [&](store::insecure_cuts insecure) {
      return store::make_store(*disk_store.open_storage("x"), config, store_password, insecure);
    };
    EXPECT_THAT(make(store::insecure_cuts::refused).message(), HasSubstr("give the key of these cuts away"));
    ASSERT_TRUE(make(store::insecure_cuts::accepted).ok());
    const auto opened_store = value_of(disk_store.try_open(store_password));
    EXPECT_THAT(store::warnings_of_insecure_cuts(opened_store->config()), SizeIs(1));
    EXPECT_NE(opened_store->cuts().canonical(), parse_canonical(cuts)->canonical()) << "the key is that of the store";
  }
  EXPECT_THAT(store::warnings_of_insecure_cuts(made_store(store_password).open()->config()), testing::IsEmpty());
  EXPECT_THAT(store::warnings_of_insecure_cuts(made_store().open()->config()), testing::IsEmpty());
}

TEST(open_store, derives_a_key_for_each_algorithm) {
  store::store_config config{.encryption = store::seal_kind::aes_256_gcm, .cuts = {}};
  const fingerprint_key store_key = {1, 2, 3};
  std::set<std::string> keys;
  for (const std::string name : {"toeplitz-aes", "toeplitz128-aes", "rabin-aes"}) {
    config.cuts = name + "(min_exp=9,max_exp=13,mask_bits=11)";
    const std::string cuts = store::chunker_of(config, &store_key)->canonical();
    keys.insert(cuts.substr(cuts.find("key=")));
    config.cuts = name + "(min_exp=10,max_exp=14,mask_bits=12)";
    EXPECT_THAT(store::chunker_of(config, &store_key)->canonical(), HasSubstr(cuts.substr(cuts.find("key="))));
    EXPECT_THAT(store::chunker_of(config, nullptr)->canonical(), HasSubstr("key=09408fecf594e2b1"));
  }
  EXPECT_THAT(keys, SizeIs(3));
}

TEST(open_store, is_read_without_an_index_and_a_session_makes_it_again) {
  const made_store disk_store;
  const auto record = store_record(*disk_store.open(), *disk_store.open_storage("w"), some_content());
  const auto shards = [&] { return *disk_store.open_storage("x")->list(object_kind::shard); };
  for (const std::string& id : shards()) ASSERT_TRUE(disk_store.files->remove("shards/" + id).ok());
  const auto opened_store = disk_store.open();
  EXPECT_FALSE(has_record(*opened_store, record));
  store::record_reader records(opened_store->objects(), opened_store->key(), opened_store->shards(),
                               *store::record_fingerprinter::make(opened_store->fingerprint()));
  EXPECT_FALSE(records.read_node(record).ok()) << "it is not a node";
  EXPECT_TRUE(has_record(*opened_store, record)) << "it is in memory";
  EXPECT_THAT(shards(), testing::IsEmpty()) << "a reader writes nothing";
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(store::leased_session::begin(*opened_store).ok());
    EXPECT_THAT(shards(), SizeIs(1));
    EXPECT_TRUE(has_record(*disk_store.open(), record));
  }
}

TEST(open_store, and_all_that_reads_changes_nothing) {
  for (const auto& secret : {std::optional<key_secret>(), std::optional(key_file)}) {
    const made_store disk_store(secret);
    const file_map files = drawn_files(1, 3, 30'000);
    snapshot_map expected;
    expected[*back_up(*disk_store.open(), files)] = files;
    const auto shards = *disk_store.open_storage("x")->list(object_kind::shard);
    for (const std::string& id : shards) {
      ASSERT_TRUE(disk_store.files->remove("shards/" + id).ok());
    }
    disk_store.files->stop_at(disk_store.files->calls());  // as a read-only or a full file system
    const std::uint64_t calls = disk_store.files->calls();
    const auto opened_store = disk_store.open();
    ASSERT_NE(opened_store, nullptr);
    EXPECT_EQ(opened_store->snapshots({})->size(), 1u);
    const auto checked = value_of(store::check_store(opened_store->reading(), {.reads_data = true, .threads = 1}));
    EXPECT_TRUE(checked.is_clean());
    EXPECT_EQ(loss_in(*disk_store.open(), expected), "");
    static_cast<void>(store::report_store(*disk_store.open(), {}));
    static_cast<void>(store::prune_store(*disk_store.open(), {.is_dry_run = true, .threads = 1}));
    EXPECT_EQ(disk_store.files->calls(), calls) << "something was tried to be changed";
  }
}

TEST(open_store, is_whole_wherever_a_commit_stops) {
  const auto commit = [](const disk& files) {
    const auto opened_store = made_store(files).open();
    const auto session = store::leased_session::begin(*opened_store);
    if (!session) return false;
    store::snapshot facts;
    facts.root = store_record(*opened_store, (*session)->objects(), some_content());
    return facts.root.raw_bytes != 0 && store::commit_snapshot(**session, facts).ok();
  };
  const auto judge = [](const disk& files, bool is_committed) -> std::string {
    const auto opened_store = made_store(files).open();
    const auto all = opened_store->snapshots({});
    if (!all) return all.error().message();
    if (all->empty() && is_committed) return "the snapshot is lost";
    const bool has_all =
        std::ranges::all_of(*all, [&](const auto& each) { return has_record(*opened_store, each.facts.root); });
    return has_all ? "" : "a record is lost";
  };
  EXPECT_EQ(fault_of_stops(made_store().files, 8, commit, judge), "");
}

}  // namespace
}  // namespace cutpoint::tests
