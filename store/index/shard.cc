#include "store/index/shard.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/object_header.h"
#include "store/format/sealer.h"

namespace cutpoint::store {

namespace {

std::uint64_t prefix_at(const std::uint8_t* entry) noexcept {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < prefix_bits / 8; ++i) prefix = prefix << 8 | entry[i];
  return prefix;
}

std::uint32_t load_24_bits(const std::uint8_t* bytes) noexcept {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
}

shard_entry entry_at(const std::uint8_t* entry) noexcept {
  return {prefix_at(entry), load_24_bits(entry + 6), load_24_bits(entry + 9)};
}

/// Returns how many entries of a partition lie on average in a difference of prefixes.
std::int64_t expected_entries(std::int64_t difference, std::size_t count, unsigned partition_bits) {
  __extension__ using wide = __int128;
  return static_cast<std::int64_t>((wide{difference} * static_cast<std::int64_t>(count)) >>
                                   (prefix_bits - partition_bits));
}

std::size_t clamped_index(std::int64_t index, std::size_t low, std::size_t high) {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(index, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high) - 1));
}

std::uint64_t prefix_in(const std::uint8_t* entries, std::size_t index) noexcept {
  return prefix_at(entries + index * shard_entry_bytes);
}

std::uint64_t new_shard_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

/// The filters of a shard's partitions. Each is read when it is asked for first.
class shard::filter_table {
 public:
  explicit filter_table(std::size_t partition_count) : filters_(partition_count) {}

  /// Returns the fingerprints of a partition's filter, or null if they cannot be read.
  [[nodiscard]] const std::uint8_t* find(const object_reader& object, std::size_t index, const partition& entries) {
    std::atomic<const std::uint8_t*>& filter = filters_[index].fingerprints;
    if (const std::uint8_t* known = filter.load(std::memory_order_acquire)) return known;
    const std::lock_guard lock(mutex_);
    std::vector<std::uint8_t>& bytes = filters_[index].bytes;
    if (!bytes.empty()) return bytes.data();
    std::vector<std::uint8_t> read(entries.shape.fingerprint_count());
    const std::uint64_t position = entries.position + std::uint64_t{entries.count} * shard_entry_bytes;
    if (!object.read(position, read).ok()) return nullptr;
    bytes = std::move(read);
    filter.store(bytes.data(), std::memory_order_release);
    return bytes.data();
  }
  [[nodiscard]] std::uint64_t memory_bytes() {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = filters_.capacity() * sizeof(loaded_filter);
    for (const loaded_filter& each : filters_) sum += each.bytes.capacity();
    return sum;
  }

 private:
  struct loaded_filter {
    std::atomic<const std::uint8_t*> fingerprints = nullptr;
    std::vector<std::uint8_t> bytes;
  };
  std::mutex mutex_;  ///< for all that is written
  std::vector<loaded_filter> filters_;
};

result<shard> shard::open(std::shared_ptr<const object_reader> object, std::string id) {
  const std::string path = path_of({object_kind::shard, id});
  const auto broken = [&] { return damage(path, "its directory is wrong"); };
  const std::uint64_t size = object->size();
  if (size < object_header_bytes + shard_footer_bytes) return broken();
  // One read of the end has the directory too, one of the front the header and the containers. A short shard takes one in all.
  std::vector<std::uint8_t> end(std::min(size, usual_end_bytes));
  CUTPOINT_RETURN_IF_FAILED(object->read(size - end.size(), end));
  const auto read_from = [&](std::uint64_t begin, std::span<std::uint8_t> bytes) -> status {
    if (begin < size - end.size()) return object->read(begin, bytes);
    std::copy_n(end.begin() + static_cast<std::ptrdiff_t>(begin - (size - end.size())), bytes.size(), bytes.begin());
    return {};
  };
  const std::uint64_t directory_end = size - shard_footer_bytes;
  field_reader fields(byte_span(end).last(shard_footer_bytes));
  const auto magic = fields.number<std::uint32_t>();
  const auto partition_bits = fields.number<std::uint32_t>();
  state opened_state;
  opened_state.entry_count = fields.number<std::uint64_t>();
  const auto container_count = fields.number<std::uint32_t>();
  static_cast<void>(fields.number<std::uint32_t>());
  const auto directory_position = fields.number<std::uint64_t>();
  opened_state.body_tag = fields.bytes<tag_bytes>();
  const auto footer_tag = fields.bytes<tag_bytes>();
  const bool is_footer =
      magic == shard_footer_magic && partition_bits <= most_partition_bits && container_count <= most_shard_containers;
  const std::uint64_t containers_bytes = std::uint64_t{container_count} * shard_container_bytes;
  const std::uint64_t body_begin = object_header_bytes + containers_bytes;
  // The header says first what is wrong with an object of another kind or version.
  std::vector<std::uint8_t> front(is_footer && body_begin <= directory_end ? body_begin : object_header_bytes);
  CUTPOINT_RETURN_IF_FAILED(read_from(0, front));
  if (const auto decoded = decode_header(front, object_kind::shard, path); !decoded) return decoded.error();
  if (!is_footer) return broken();
  const std::uint64_t directory_bytes = std::uint64_t{directory_entry_bytes} << partition_bits;
  if (directory_position < body_begin || directory_position > directory_end ||
      directory_end - directory_position != directory_bytes) {
    return broken();
  }
  std::vector<std::uint8_t> directory_and_footer(directory_bytes + shard_footer_bytes);
  CUTPOINT_RETURN_IF_FAILED(read_from(directory_position, directory_and_footer));
  const byte_span checked = byte_span(directory_and_footer).first(directory_and_footer.size() - tag_bytes);
  if (checksum(checked, shard_footer_seed) != footer_tag) return broken();
  opened_state.partitions.reserve(std::size_t{1} << partition_bits);
  field_reader directory(byte_span(directory_and_footer).first(directory_bytes));
  std::uint64_t counted = 0;
  std::uint64_t previous_end = body_begin;  // partitions that overlap would have more entries than the shard has bytes
  for (std::size_t i = 0; i < std::size_t{1} << partition_bits; ++i) {
    const auto position = directory.number<std::uint64_t>();
    const auto count = directory.number<std::uint32_t>();
    fuse_filter_shape shape;
    shape.segment_bits = directory.number<std::uint32_t>();
    shape.segment_count = directory.number<std::uint32_t>();
    static_cast<void>(directory.number<std::uint32_t>());
    shape.seed = directory.number<std::uint64_t>();
    if (shape.segment_bits > fuse_filter_shape::most_segment_bits || shape.segment_count == 0 ||
        position < previous_end || position > directory_position) {
      return broken();
    }
    const std::uint64_t entries_bytes = std::uint64_t{count} * shard_entry_bytes;
    const std::uint64_t filter_bytes = count == 0 ? 0 : shape.fingerprint_count();
    if (entries_bytes + filter_bytes > directory_position - position) return broken();
    opened_state.partitions.push_back({position, count, shape});
    counted += count;
    previous_end = position + entries_bytes + filter_bytes;
  }
  if (counted != opened_state.entry_count) return broken();
  field_reader container_fields(byte_span(front).subspan(object_header_bytes));
  opened_state.containers.reserve(container_count);
  for (std::uint32_t i = 0; i < container_count; ++i) {
    shard_container container;
    container.name = container_fields.bytes<container_name_bytes>();
    container.hint = container_fields.number<std::uint64_t>();
    container.bytes = container_fields.number<std::uint64_t>();
    opened_state.containers.push_back(container);
  }
  opened_state.number = new_shard_number();
  opened_state.partition_bits = partition_bits;
  opened_state.body_bytes = directory_position;
  opened_state.object = std::move(object);
  opened_state.id = std::move(id);
  opened_state.filters = std::make_shared<filter_table>(opened_state.partitions.size());
  return shard(std::make_shared<const state>(std::move(opened_state)));
}

std::optional<fuse_filter> shard::filter_of(std::size_t index) const {
  const partition& asked = state_->partitions[index];
  const std::uint8_t* const fingerprints = state_->filters->find(*state_->object, index, asked);
  return fingerprints == nullptr ? std::nullopt : std::optional(fuse_filter(asked.shape, fingerprints));
}

std::uint64_t shard::memory_bytes() const {
  return state_->containers.capacity() * sizeof(shard_container) + state_->partitions.capacity() * sizeof(partition) +
         state_->filters->memory_bytes();
}

bool shard::may_contain(std::uint64_t prefix) const {
  const std::size_t index = partition_of(prefix);
  if (state_->partitions[index].count == 0) return false;
  const auto filter = filter_of(index);
  return !filter || filter->may_contain(prefix);
}

void shard::prefetch_filter(std::uint64_t prefix) const {
  const std::size_t index = partition_of(prefix);
  if (state_->partitions[index].count == 0) return;
  if (const auto filter = filter_of(index)) filter->prefetch(prefix);
}

/// Prefixes of digests are uniform, so that the first guess is within about the root of the number of entries, and the block
/// around it mostly has the prefix. For prefixes that are not uniform the search takes longer.
status shard::find(std::uint64_t prefix, shard_blocks& blocks, std::vector<shard_entry>& entries) const {
  constexpr int most_guesses = 4;  // after which the range is halved
  const partition& searched = state_->partitions[partition_of(prefix)];
  const auto read = [&](std::size_t block) {
    const std::size_t begin = block * shard_blocks::block_entries;
    return blocks.read(state_->number, *state_->object, searched.position + std::uint64_t{begin} * shard_entry_bytes,
                       std::min<std::size_t>(shard_blocks::block_entries, searched.count - begin));
  };
  const auto entries_in = [&](std::size_t block) {
    return std::min<std::size_t>(shard_blocks::block_entries, searched.count - block * shard_blocks::block_entries);
  };
  if (searched.count == 0) return {};
  std::size_t low = 0;  // the first entry that is not below the prefix is in the blocks [low, high), or none is
  std::size_t high = (searched.count - 1) / shard_blocks::block_entries + 1;
  const std::uint64_t rest = prefix & ((std::uint64_t{1} << (prefix_bits - state_->partition_bits)) - 1);
  std::int64_t guess = expected_entries(static_cast<std::int64_t>(rest), searched.count, state_->partition_bits);
  for (int guesses = 0; low + 1 < high; ++guesses) {
    const std::size_t block =
        guesses < most_guesses
            ? clamped_index(guess / static_cast<std::int64_t>(shard_blocks::block_entries), low, high)
            : low + (high - low) / 2;
    CUTPOINT_TRY(const auto bytes, read(block));
    const std::uint64_t first = prefix_in(bytes, 0);
    if (first >= prefix) {
      if (block == low) {
        high = low + 1;
        break;
      }
      // An entry before may have the same prefix.
      high = first > prefix ? block : block + 1;
      if (first == prefix && block > low) {
        CUTPOINT_TRY(const auto before, read(block - 1));
        if (prefix_in(before, entries_in(block - 1) - 1) < prefix) {
          low = block;
        } else {
          high = block;
        }
      }
    } else if (prefix_in(bytes, entries_in(block) - 1) < prefix) {
      low = block + 1;
    } else {
      low = block;
      high = block + 1;
    }
    const auto begin = static_cast<std::int64_t>(block * shard_blocks::block_entries);
    guess = begin + expected_entries(static_cast<std::int64_t>(prefix) - static_cast<std::int64_t>(first),
                                     searched.count, state_->partition_bits);
  }
  for (std::size_t block = low; block * shard_blocks::block_entries < searched.count; ++block) {
    CUTPOINT_TRY(const auto bytes, read(block));
    std::size_t begin = 0;  // of the entries that are not below the prefix
    for (std::size_t end = entries_in(block); begin < end;) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (prefix_in(bytes, middle) < prefix) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    for (std::size_t i = begin; i < entries_in(block); ++i) {
      if (prefix_in(bytes, i) != prefix) return {};
      const shard_entry entry = entry_at(bytes + i * shard_entry_bytes);
      if (entry.container < state_->containers.size()) entries.push_back(entry);
    }
  }
  return {};
}

status shard::read_partition(std::size_t partition_index, std::vector<shard_entry>& entries) const {
  const partition& wanted = state_->partitions[partition_index];
  std::vector<std::uint8_t> bytes(std::size_t{wanted.count} * shard_entry_bytes);
  CUTPOINT_RETURN_IF_FAILED(state_->object->read(wanted.position, bytes));
  for (std::size_t i = 0; i < wanted.count; ++i) {
    const shard_entry entry = entry_at(bytes.data() + i * shard_entry_bytes);
    if (entry.container < state_->containers.size()) entries.push_back(entry);
  }
  return {};
}

result<bool> shard::is_intact() const {
  running_checksum sum(shard_body_seed);
  std::vector<std::uint8_t> bytes(MiB);
  for (std::uint64_t position = 0; position < state_->body_bytes;) {
    const auto block = std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), state_->body_bytes - position));
    const status read = state_->object->read(position, block);
    if (is_damage(read)) return false;
    if (!read.ok()) return read;
    sum.update(block);
    position += block.size();
  }
  return sum.tag() == state_->body_tag;
}

result<shard> shard_pool::open(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto position = open_.find(id);
    if (auto known = position == open_.end() ? nullptr : position->second.lock()) return shard(std::move(known));
  }
  CUTPOINT_TRY(auto object, objects_.open({object_kind::shard, id}, shard::usual_end_bytes));
  CUTPOINT_TRY(auto opened_shard, shard::open(std::move(object), id));
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [](const auto& each) { return each.second.expired(); });
  open_.insert_or_assign(id, opened_shard.state_);
  return opened_shard;
}

void shard_pool::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  open_.erase(id);
}

namespace {

constexpr int most_filter_attempts = 100;

/// The keys that still use a slot: their number, the XOR of their hashes, and the XOR of which of their three slots it
/// is. If one key is left, these are its hash and the slot's number.
struct slot_users {
  std::uint64_t hashes = 0;
  std::uint32_t count = 0;
  std::uint8_t which = 0;
};

void toggle(slot_users& slot, std::uint64_t hash, std::uint8_t which, std::uint32_t change) {
  slot.hashes ^= hash;
  slot.count += change;
  slot.which ^= which;
}

struct peeled_key {
  std::uint64_t hash;
  std::uint8_t which;  ///< the slot that no key peeled later uses
};

}  // namespace

fuse_filter_shape fuse_filter_shape_for(std::uint64_t key_count) noexcept {
  const double count = std::max<double>(static_cast<double>(key_count), 2);
  const auto bits = static_cast<std::uint32_t>(std::max(0.0, std::floor(std::log(count) / std::log(3.33) + 2.25)));
  fuse_filter_shape shape;
  shape.segment_bits = std::min(bits, fuse_filter_shape::most_segment_bits);
  const double factor = std::max(1.125, 0.875 + 0.25 * std::log(1e6) / std::log(count));
  const auto capacity = static_cast<std::uint64_t>(count * factor);
  const std::uint64_t segments = (capacity >> shape.segment_bits) + 1;
  shape.segment_count = static_cast<std::uint32_t>(segments > 3 ? segments - 2 : 1);
  return shape;
}

std::optional<std::vector<std::uint8_t>> build_fuse_filter(std::span<const std::uint64_t> keys,
                                                           fuse_filter_shape& shape) {
  std::vector<slot_users> users(shape.fingerprint_count());
  std::vector<peeled_key> peeled;
  std::vector<std::uint64_t> single;  // slots that one key uses
  splitmix64 seeds(keys.size());
  for (int attempt = 0; attempt < most_filter_attempts; ++attempt) {
    shape.seed = seeds.next();
    const fuse_filter filter(shape, nullptr);
    std::fill(users.begin(), users.end(), slot_users{});
    for (const std::uint64_t key : keys) {
      const std::uint64_t hash = filter.hash_of(key);
      const fuse_filter::slots slots = filter.slots_of_hash(hash);
      for (std::uint8_t i = 0; i < 3; ++i) toggle(users[slots.at[i]], hash, i, 1);
    }
    peeled.clear();
    single.clear();
    for (std::uint64_t at = 0; at < users.size(); ++at) {
      if (users[at].count == 1) single.push_back(at);
    }
    while (!single.empty()) {
      const slot_users last = users[single.back()];
      single.pop_back();
      if (last.count != 1) continue;
      peeled.push_back({last.hashes, last.which});
      const fuse_filter::slots slots = filter.slots_of_hash(last.hashes);
      for (std::uint8_t i = 0; i < 3; ++i) {
        slot_users& slot = users[slots.at[i]];
        toggle(slot, last.hashes, i, ~std::uint32_t{0});
        if (slot.count == 1) single.push_back(slots.at[i]);
      }
    }
    if (peeled.size() != keys.size()) continue;
    std::vector<std::uint8_t> fingerprints(shape.fingerprint_count());
    for (auto key = peeled.rbegin(); key != peeled.rend(); ++key) {
      const fuse_filter::slots slots = filter.slots_of_hash(key->hash);
      std::uint8_t& free = fingerprints[slots.at[key->which]];
      free = 0;
      free = static_cast<std::uint8_t>(slots.fingerprint ^ fingerprints[slots.at[0]] ^ fingerprints[slots.at[1]] ^
                                       fingerprints[slots.at[2]]);
    }
    return fingerprints;
  }
  return std::nullopt;
}

}  // namespace cutpoint::store
