#include "store/index/shard_writer.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/object_header.h"

namespace cutpoint::store {

namespace {

constexpr std::uint64_t usual_partition_entries = std::uint64_t{1} << 17;

void append_24_bits(std::uint32_t value, std::vector<std::uint8_t>& bytes) {
  for (int shift = 0; shift < 24; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

}  // namespace

shard_writer::shard_writer(object_writer& object, const object_salt& salt, seal_kind seal,
                           std::span<const shard_container> containers, std::uint64_t most_entries)
    : object_(object), checksum_(shard_body_seed), container_count_(static_cast<std::uint32_t>(containers.size())) {
  assert(containers.size() <= most_shard_containers);
  const std::uint64_t partitions = std::max<std::uint64_t>(most_entries / usual_partition_entries, 1);
  partition_bits_ = std::min(static_cast<unsigned>(std::bit_width(partitions - 1)), most_partition_bits);
  write(encode(object_header{object_kind::shard, seal, salt}));
  std::vector<std::uint8_t> bytes;
  for (const shard_container& each : containers) {
    field_writer(bytes).bytes(each.name).number(each.hint).number(each.bytes);
  }
  write(bytes);
}

void shard_writer::write(byte_span bytes) {
  if (outcome_.ok()) outcome_ = object_.append(bytes);
  checksum_.update(bytes);
  position_ += bytes.size();
}

status shard_writer::append(const shard_entry& entry) {
  assert(entry.container < container_count_ && entry.ordinal < most_shard_containers);
  const std::uint64_t partition = entry.prefix >> (prefix_bits - partition_bits_);
  while (directory_.size() / directory_entry_bytes < partition) write_partition();
  assert(partition_.empty() || partition_.back() <= entry);
  partition_.push_back(entry);
  return outcome_;
}

void shard_writer::write_partition() {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(partition_.size() * shard_entry_bytes);
  std::vector<std::uint64_t> prefixes;
  prefixes.reserve(partition_.size());
  for (const shard_entry& each : partition_) {
    for (unsigned shift = prefix_bits; shift != 0;)
      bytes.push_back(static_cast<std::uint8_t>(each.prefix >> (shift -= 8)));
    append_24_bits(each.container, bytes);
    append_24_bits(each.ordinal, bytes);
    if (prefixes.empty() || prefixes.back() != each.prefix) prefixes.push_back(each.prefix);
  }
  fuse_filter_shape shape = prefixes.empty() ? fuse_filter_shape{} : fuse_filter_shape_for(prefixes.size());
  const std::uint64_t begin = position_;
  write(bytes);
  if (!prefixes.empty()) {
    const auto fingerprints = build_fuse_filter(prefixes, shape);
    if (fingerprints) {
      write(*fingerprints);
    } else if (outcome_.ok()) {
      outcome_ = {status_code::backend_failure, "no seed gives a filter for a shard"};
    }
  }
  field_writer(directory_)
      .number(begin)
      .number(static_cast<std::uint32_t>(partition_.size()))
      .number(shape.segment_bits)
      .number(shape.segment_count)
      .zeros(4)
      .number(shape.seed);
  entry_count_ += partition_.size();
  partition_.clear();
}

status shard_writer::finish() {
  while (directory_.size() / directory_entry_bytes < std::size_t{1} << partition_bits_) write_partition();
  std::vector<std::uint8_t> end = std::move(directory_);
  field_writer(end)
      .number(shard_footer_magic)
      .number(std::uint32_t{partition_bits_})
      .number(entry_count_)
      .number(container_count_)
      .zeros(4)
      .number(position_)
      .bytes(checksum_.tag());
  const seal_tag tag = checksum(end, shard_footer_seed);
  end.insert(end.end(), tag.begin(), tag.end());
  write(end);
  return outcome_.ok() ? object_.finish() : outcome_;
}

std::string new_shard_id() {
  digest random;
  random.size = 16;
  fill_random(std::span(random.bytes).first(random.size));
  return to_hex(random);
}

namespace {

/// Writes a shard, and finishes the object.
status write_shard(object_writer& object, seal_kind seal, std::span<const shard_container> containers,
                   std::vector<shard_entry> entries) {
  std::vector<shard_container> sorted(containers.begin(), containers.end());
  std::sort(sorted.begin(), sorted.end());
  for (shard_entry& each : entries) {
    const auto position = std::lower_bound(sorted.begin(), sorted.end(), containers[each.container]);
    each.container = static_cast<std::uint32_t>(position - sorted.begin());
  }
  std::sort(entries.begin(), entries.end());
  object_salt salt;
  fill_random(salt);
  shard_writer writer(object, salt, seal, sorted, entries.size());
  for (const shard_entry& each : entries) {
    if (status appended = writer.append(each); !appended.ok()) return appended;
  }
  return writer.finish();
}

/// An object in memory.
class memory_object final : public object_writer, public object_reader {
 public:
  status append(byte_span bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  status finish() override { return {}; }
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  status read(std::uint64_t offset, std::span<std::uint8_t> destination) const override {
    if (offset > bytes_.size() || destination.size() > bytes_.size() - offset) {
      return damage("an object in memory", "it ends too early");
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), destination.size(), destination.begin());
    return {};
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

result<std::string> put_shard(storage& objects, seal_kind seal, std::span<const shard_container> containers,
                              std::vector<shard_entry> entries) {
  std::string id = new_shard_id();
  auto object = objects.create({object_kind::shard, id});
  if (!object) return object.error();
  const status written = write_shard(**object, seal, containers, std::move(entries));
  return written.ok() ? result<std::string>(std::move(id)) : written;
}

result<shard> make_shard(seal_kind seal, std::span<const shard_container> containers,
                         std::vector<shard_entry> entries) {
  auto object = std::make_shared<memory_object>();
  if (status written = write_shard(*object, seal, containers, std::move(entries)); !written.ok()) return written;
  return shard::open(std::move(object), "");
}

}  // namespace cutpoint::store
