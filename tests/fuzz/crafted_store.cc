#include "tests/fuzz/crafted_store.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <zstd.h>

#include "store/format/object_header.h"
#include "store/format/sealer.h"
#include "store/index/shard_writer.h"
#include "store/objects/log.h"
#include "store/objects/small_object.h"
#include "tests/fuzz/fuzzed_choices.h"

namespace cutpoint::tests {

namespace {

using store::checksum;
using store::record_kind;
using bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t most_records = 7;  // folders of 3 entries then have at most 3^7 paths
constexpr std::uint64_t most_elements = 3;

/// In the order of bytes, so that most lists of names are sorted.
const std::array<std::string, 16> names = {
    "",       "..",   "../victim", "../outside/new",       ".",    "/",       "/etc/x",
    "a",      "a/b",  "b",         std::string("c\0d", 3), "link", "outside", std::string(300, 'n'),
    "victim", "\xff",
};
const std::array<std::string, 8> targets = {"", "..", "../outside", "../victim", "/", "a", "link", "outside/../.."};
const std::array<std::uint64_t, 10> lengths = {0,
                                               1,
                                               10,
                                               100,
                                               4096,
                                               1 << 20,
                                               std::uint64_t{1} << 40,
                                               std::uint64_t{1} << 62,
                                               std::uint64_t{1} << 63,
                                               ~std::uint64_t{0}};

template <class Array>
const auto& any_of(const Array& values, choices& random) {
  return values[random.between(0, values.size() - 1)];
}

std::unique_ptr<batch_fingerprinter> blake3() {
  return make_one_by_one_fingerprinter(*fingerprinter::make(fingerprint_kind::blake3));
}

std::string name_of(byte_span object) { return to_hex(*(*fingerprinter::make(fingerprint_kind::blake3))(object)); }

digest sha256_of(byte_span content) { return *(*fingerprinter::make(fingerprint_kind::sha256))(content); }

/// A frame of zeros: a small one, or a bomb.
bytes frame_of_zeros(std::size_t length) {
  const bytes zeros(length);
  bytes frame(ZSTD_compressBound(length));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 1));
  return frame;
}

/// Makes the tag of a sealed part right.
void seal(std::span<std::uint8_t> object, store::sealed_content role, std::uint64_t position, std::uint64_t begin,
          std::uint64_t size) {
  const auto sealed = object.subspan(begin, size);
  const store::seal_tag tag = store::checksum_sealer().seal(role, position, sealed);
  std::copy(tag.begin(), tag.end(), object.begin() + static_cast<std::ptrdiff_t>(begin + size));
}

/// Makes the checksum of a header right.
void seal_header(std::span<std::uint8_t> header) {
  const store::seal_tag tag = checksum(header.first(48), 0);
  std::copy(tag.begin(), tag.end(), header.begin() + 48);
}

}  // namespace

std::unique_ptr<store::storage> crafted_store::objects() const {
  return store::open_directory_storage(files_, {.writer_id = "crafter", .pending_objects = 0});
}

crafted_store::crafted_store(fuzzed_choices& random) : random_(random) {
  require(store::make_storage_folders(*files_).ok(), "no folders");
  store::store_config config;
  config.container_bytes = store::least_container_bytes;
  config.cuts = random_.once_in(16) ? any_of(names, random_) : "fixed(avg_bytes=700)";
  bytes encoded = store::encode_config(config);
  if (random_.once_in(16)) {
    const std::size_t body_bytes = encoded.size() - store::object_header_bytes - store::tag_bytes;
    lie(std::span(encoded).subspan(store::object_header_bytes, body_bytes));
    seal(encoded, store::sealed_content::body, store::object_header_bytes, store::object_header_bytes, body_bytes);
  }
  require(store::put_config(*objects(), std::move(encoded)).ok(), "no config");
  for (std::uint64_t left = random_.between(1, 2); left != 0; --left) {
    store::container_builder builder(128 * KiB);
    for (std::uint64_t count = random_.between(1, most_records / 2); count != 0; --count) {
      random_.once_in(3) ? add_chunk(builder) : add_node(builder);
    }
    put_container(std::move(builder));
  }
  if (random_.once_in(4)) put_shard();
  for (std::uint64_t left = random_.between(1, 2); left != 0; --left) put_snapshot();
}

void crafted_store::lie(std::span<std::uint8_t> target) {
  if (target.empty()) return;
  for (std::uint64_t left = random_.between(1, 3); left != 0; --left) {
    std::uint8_t& changed = target[random_.between(0, target.size() - 1)];
    const std::array<std::uint8_t, 6> values = {
        0, 1, 0x7f, 0xff, static_cast<std::uint8_t>(changed + 1), static_cast<std::uint8_t>(random_.word())};
    changed = any_of(values, random_);
  }
}

void crafted_store::add_record(store::container_builder& builder, store::record_description description,
                               byte_span payload, std::uint32_t referred_bytes) {
  if (!builder.has_room(payload.size())) return;
  if (random_.once_in(10)) lie(std::span(description.content.bytes).first(2));
  description.stored_bytes = static_cast<std::uint32_t>(payload.size());
  builder.append(description, payload);
  records_.push_back({description.kind, {description.content, referred_bytes, 0}});
}

void crafted_store::add_chunk(store::container_builder& builder) {
  bytes content(random_.between(0, 40));
  for (std::uint8_t& each : content) each = static_cast<std::uint8_t>(random_.word());
  bytes payload = content;
  std::size_t length = content.size();
  const auto form = random_.between(0, 4);
  // The longest record takes most of the time of a run, and is rare.
  const std::size_t longest = random_.between(1, 200) == 100 ? store::largest_raw_bytes : MiB;
  if (form == 1) length = random_.once_in(2) ? 1000 : longest;
  if (form == 1) payload = frame_of_zeros(length);
  if (form == 2) payload = frame_of_zeros(longest);  // of a record that says to be short
  if (form == 3) length = longest;                   // of a frame that is short or none
  if (form == 1 || form == 2) content.assign(length, 0);
  const auto raw_bytes = static_cast<std::uint32_t>(form == 0 ? length : std::max(length, payload.size()));
  add_record(builder,
             {record_kind::chunk, form == 0 ? store::record_codec::none : store::record_codec::zstd, raw_bytes, 0,
              sha256_of(content)},
             payload, raw_bytes);
}

store::record_reference crafted_store::reference_to(record_kind kind) {
  store::record_reference reference;
  reference.content.size = 32;
  std::vector<const made_record*> candidates;
  for (const made_record& each : records_) {
    if (each.kind == kind) candidates.push_back(&each);
  }
  if (!candidates.empty() && !random_.once_in(12)) reference = any_of(candidates, random_)->reference;
  if (random_.once_in(12)) reference.raw_bytes = static_cast<std::uint32_t>(any_of(lengths, random_));
  if (random_.once_in(3)) reference.hint = containers_.empty() ? random_.word() : containers_.front().hint;
  return reference;
}

store::stored_extent crafted_store::extent() {
  store::stored_extent new_extent;
  new_extent.kind = static_cast<store::extent_kind>(random_.between(1, 3));
  new_extent.record = reference_to(record_kind::chunk);
  if (new_extent.kind != store::extent_kind::data) new_extent.count = any_of(lengths, random_);
  return new_extent;
}

store::folder_entry crafted_store::entry(std::string name) {
  store::folder_entry new_entry;
  new_entry.name = std::move(name);
  new_entry.kind = random_.one_of(file_kind::block_device);
  new_entry.permissions = static_cast<std::uint32_t>(random_.between(0, 010000));
  new_entry.user_id = static_cast<std::uint32_t>(random_.between(0, 2));
  new_entry.modified.tv_nsec = random_.once_in(10) ? 1'000'000'000 : 5;
  new_entry.target = any_of(targets, random_);
  new_entry.inode = random_.between(1, 2);
  new_entry.link_count = random_.between(1, 3);
  if (random_.once_in(6)) new_entry.attributes.push_back({any_of(names, random_), "value"});
  if (random_.once_in(6)) new_entry.attributes.push_back({"user.a", std::string(random_.between(0, 100), 'v')});
  const bool has_node = random_.once_in(new_entry.kind == file_kind::directory ? 1 : 3);
  if (has_node) new_entry.node = reference_to(record_kind::node);
  for (std::uint64_t left = has_node ? 0 : random_.between(0, 2); left != 0; --left)
    new_entry.extents.push_back(extent());
  for (const store::stored_extent& each : new_entry.extents) new_entry.size += each.bytes();
  if (has_node || random_.once_in(4)) new_entry.size = any_of(lengths, random_);
  return new_entry;
}

store::encoded_node crafted_store::node() {
  const bool is_folder = !random_.once_in(3);
  const bool is_leaf = !random_.once_in(3);
  const auto level = static_cast<std::uint8_t>(is_leaf ? 0 : random_.between(1, 3));
  store::node_builder builder(is_folder ? store::node_kind::folder : store::node_kind::extents, level);
  std::size_t name = 0;
  for (std::uint64_t left = random_.between(0, most_elements); left != 0; --left) {
    name = std::min<std::size_t>(name + random_.between(0, 6), names.size() - 1);
    if (!is_leaf) {
      builder.add(store::child_node{reference_to(record_kind::node), any_of(lengths, random_), names[name]});
    } else if (is_folder) {
      builder.add(entry(names[name]));
    } else {
      builder.add(extent());
    }
  }
  return builder.finish();
}

void crafted_store::add_node(store::container_builder& builder) {
  store::encoded_node encoded = node();
  if (random_.once_in(4)) lie(std::span(encoded.bytes).first(encoded.content_bytes));
  if (random_.once_in(8)) lie(std::span(encoded.bytes).subspan(encoded.content_bytes));  // the hints
  const auto raw_bytes = static_cast<std::uint32_t>(encoded.bytes.size());
  const auto referred_bytes = static_cast<std::uint32_t>(encoded.content_bytes);
  add_record(builder, {record_kind::node, store::record_codec::none, raw_bytes, 0, sha256_of(encoded.content())},
             encoded.bytes, referred_bytes);
}

void crafted_store::put_container(store::container_builder builder) {
  store::object_salt salt = {};
  salt[0] = static_cast<std::uint8_t>(1 + containers_.size());
  auto built = std::move(builder).build(store::seal_key(), salt, *blake3());
  require(built.ok(), "no container");
  bytes& container = built->bytes;
  const std::uint64_t footer = container.size() - store::tail_bytes;
  const std::uint64_t trailer_fields = built->records.size() * store::description_bytes;
  const std::uint64_t trailer = footer - trailer_fields - store::tag_bytes;
  const std::span<std::uint8_t> all(container);
  if (random_.once_in(4)) lie(all.subspan(trailer, trailer_fields));
  seal(all, store::sealed_content::trailer, trailer, trailer, trailer_fields);
  if (random_.once_in(8)) lie(all.subspan(footer, store::footer_fields_bytes));
  seal(all, store::sealed_content::footer, footer, footer, store::footer_fields_bytes);
  if (random_.once_in(8)) lie(all.last(store::object_header_bytes).first(48));
  seal_header(all.last(store::object_header_bytes));
  if (random_.once_in(4)) {  // records are recovered without the trailer
    lie(all.subspan(trailer, trailer_fields + store::tag_bytes));
    for (const store::placed_record& each : built->records) {
      if (random_.once_in(2)) lie(all.subspan(each.position, store::description_bytes));
      seal(all, store::sealed_content::record_header, each.position, each.position, store::description_bytes);
    }
  }
  if (random_.once_in(16)) container.resize(random_.between(0, container.size()));
  const auto number = static_cast<std::uint32_t>(containers_.size());
  store::append_entries(built->records, number, entries_);
  const auto name = store::container_name_in({}, *(*fingerprinter::make(fingerprint_kind::blake3))(container));
  containers_.push_back({name, store::hint_of(salt), container.size()});
  static_cast<void>(objects()->put({store::object_kind::container, store::id_of(name)}, std::move(container)));
}

void crafted_store::put_shard() {
  std::vector<store::shard_entry> entries = entries_;
  for (store::shard_entry& each : entries) {
    if (random_.once_in(4)) each.container = static_cast<std::uint32_t>(random_.between(0, containers_.size() - 1));
    if (random_.once_in(4)) each.ordinal = static_cast<std::uint32_t>(random_.between(0, 5));
  }
  const auto id = store::put_shard(*objects(), store::seal_kind::checksum, containers_, entries);
  require(id.ok(), "no shard");
  bytes& shard_bytes = *files_->bytes_of("shards/" + *id);
  const std::span<std::uint8_t> all(shard_bytes);
  const std::uint64_t directory = shard_bytes.size() - store::shard_footer_bytes - store::directory_entry_bytes;
  const auto body = all.subspan(store::object_header_bytes, directory - store::object_header_bytes);
  if (random_.once_in(2)) lie(body);
  if (random_.once_in(3)) lie(all.subspan(directory, store::directory_entry_bytes));
  if (random_.once_in(6)) lie(all.last(store::shard_footer_bytes).first(32));
  const store::seal_tag body_tag = checksum(all.first(directory), store::shard_body_seed);
  std::copy(body_tag.begin(), body_tag.end(), shard_bytes.end() - 2 * store::tag_bytes);
  const auto end = all.subspan(directory, shard_bytes.size() - directory - store::tag_bytes);
  const store::seal_tag tag = checksum(end, store::shard_footer_seed);
  std::copy(tag.begin(), tag.end(), shard_bytes.end() - store::tag_bytes);
}

void crafted_store::put_snapshot() {
  store::snapshot snapshot;
  snapshot.root = reference_to(record_kind::node);
  snapshot.sequence = random_.between(0, 3);
  snapshot.paths = {"/a"};
  auto id = store::put_snapshot(*objects(), snapshot, store::seal_key());
  require(id.ok(), "no snapshot");
  const auto commit = [this](const std::string& committed) {
    const auto log = store::read_log(*objects(), store::seal_key());
    store::log_entry entry;
    entry.snapshots = {committed};
    require(log && store::append_to_log(*objects(), store::seal_key(), *log, entry).ok(), "no commit");
  };
  commit(*id);
  if (!random_.once_in(6)) return;
  bytes changed = *files_->bytes_of("snapshots/" + *id);
  const std::size_t body_bytes = changed.size() - store::object_header_bytes - store::tag_bytes;
  lie(std::span(changed).subspan(store::object_header_bytes, body_bytes));
  seal(changed, store::sealed_content::body, store::object_header_bytes, store::object_header_bytes, body_bytes);
  const std::string name = name_of(changed);
  static_cast<void>(objects()->put({store::object_kind::snapshot, name}, std::move(changed)));
  commit(name);
}

}  // namespace cutpoint::tests
