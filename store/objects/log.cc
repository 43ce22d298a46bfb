#include "store/objects/log.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_entry_bytes = 256 * MiB;

object_name entry_name(std::uint64_t number) { return {object_kind::log_entry, fmt::format("{:016x}", number)}; }

/// Returns the numbers of all entries, in order. Objects with other names are passed over.
result<std::vector<std::uint64_t>> list_numbers(storage& objects) {
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::log_entry));
  std::vector<std::uint64_t> numbers;
  for (const std::string& id : ids) {
    std::uint64_t number = 0;
    std::from_chars(id.data(), id.data() + id.size(), number, 16);
    if (entry_name(number).id == id && number != 0) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// The same. A list that is made while others write may lack names; two equal lists in turn do not.
result<std::vector<std::uint64_t>> list_all_numbers(storage& objects) {
  auto numbers = list_numbers(objects);
  while (numbers) {
    auto again = list_numbers(objects);
    if (!again || *again == *numbers) return again;
    numbers = std::move(again);
  }
  return numbers;
}

void append(const std::set<container_name>& containers, field_writer& fields) {
  fields.number(static_cast<std::uint32_t>(containers.size()));
  for (const container_name& each : containers) fields.bytes(each);
}

void append(const std::set<std::string>& ids, field_writer& fields) {
  fields.number(static_cast<std::uint32_t>(ids.size()));
  for (const std::string& each : ids) fields.text(each);
}

void read(std::set<container_name>& containers, field_reader& fields) {
  for (auto count = fields.number<std::uint32_t>(); count > 0 && fields.ok(); --count) {
    containers.insert(fields.bytes<container_name_bytes>());
  }
}

void read(std::set<std::string>& ids, field_reader& fields) {
  for (auto count = fields.number<std::uint32_t>(); count > 0 && fields.ok(); --count) ids.insert(fields.text());
}

result<log_entry> read_entry(storage& objects, const seal_key& key, std::uint64_t number) {
  const object_name name = entry_name(number);
  CUTPOINT_TRY(const auto bytes, read_object(objects, name, largest_entry_bytes));
  CUTPOINT_TRY(const auto body, decode_small_object(bytes, name, key));
  field_reader fields(body);
  log_entry entry;
  entry.kind = static_cast<log_entry_kind>(fields.number<std::uint8_t>());
  read(entry.removed_containers, fields);
  read(entry.condemned_containers, fields);
  read(entry.snapshots, fields);
  read(entry.removed_snapshots, fields);
  read(entry.removed_keys, fields);
  const bool is_kind = entry.kind >= log_entry_kind::change && entry.kind <= log_entry_kind::decision;
  if (!fields.ok() || fields.remaining() != 0 || !is_kind) return damage(path_of(name), "a field is out of its bounds");
  return entry;
}

std::vector<std::uint8_t> encode(const log_entry& entry, std::uint64_t number, const seal_key& key) {
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  fields.number(static_cast<std::uint8_t>(entry.kind));
  append(entry.removed_containers, fields);
  append(entry.condemned_containers, fields);
  append(entry.snapshots, fields);
  append(entry.removed_snapshots, fields);
  append(entry.removed_keys, fields);
  object_salt salt;
  fill_random(salt);
  return encode_small_object(entry_name(number), std::move(body), key, salt);
}

void apply(const log_entry& entry, std::uint64_t number, store_log& log) {
  switch (entry.kind) {
    case log_entry_kind::decision:
      log = {};
      log.decision = number;
      log.decided = entry.removed_containers;
      break;
    case log_entry_kind::proposal:
      log.proposal = number;
      log.proposed.insert(entry.removed_containers.begin(), entry.removed_containers.end());
      break;
    case log_entry_kind::change:
      break;
  }
  log.newest = number;
  log.condemned.insert(entry.condemned_containers.begin(), entry.condemned_containers.end());
  log.snapshots.insert(entry.snapshots.begin(), entry.snapshots.end());
  for (const std::string& each : entry.removed_snapshots) log.snapshots.erase(each);
  log.removed_keys.insert(entry.removed_keys.begin(), entry.removed_keys.end());
}

/// The entries that count: the newest decision and those after it. A list that is read while others write may lack names.
struct counted_entries {
  std::vector<std::pair<std::uint64_t, log_entry>> entries;
  std::vector<std::pair<std::uint64_t, status>> failures;  ///< entries that are damaged or missing, and why
};

/// Reads entries from the newest to the newest decision. Returns nullopt if another process has removed some meanwhile.
result<std::optional<counted_entries>> read_counted(storage& objects, const seal_key& key,
                                                    const std::vector<std::uint64_t>& numbers, known_entries& known) {
  counted_entries counted;
  for (std::size_t i = numbers.size(); i > 0; --i) {
    const std::uint64_t number = numbers[i - 1];
    const auto before = known.find(number);
    auto entry = before == known.end() ? read_entry(objects, key, number) : result<log_entry>(before->second);
    if (!entry && is_absence(entry.error())) return std::optional<counted_entries>();
    if (!entry && !is_damage(entry.error())) return entry.error();
    const bool is_decision = entry && entry->kind == log_entry_kind::decision;
    if (entry) {
      known.try_emplace(number, *entry);
      counted.entries.emplace_back(number, std::move(*entry));
    } else {
      counted.failures.emplace_back(number, entry.error());
    }
    if (is_decision) {
      known.erase(known.begin(), known.find(number));
      break;
    }
    if ((i > 1 ? numbers[i - 2] : 0) + 1 != number) {
      const std::string path = path_of(entry_name(number - 1));
      counted.failures.emplace_back(number - 1, damage(path, "it is missing"));
    }
  }
  std::ranges::reverse(counted.entries);
  return std::optional(std::move(counted));
}

/// Reads the entries that can be read, and passes the others to `damaged`.
result<store_log> read_readable(storage& objects, const seal_key& key,
                                const std::function<void(const object_name& entry, const status& why)>& damaged,
                                known_entries* known) {
  known_entries unknown;
  auto numbers = list_numbers(objects);
  if (!numbers) return numbers.error();
  for (;;) {
    CUTPOINT_TRY(auto counted, read_counted(objects, key, *numbers, known == nullptr ? unknown : *known));
    // Names may be missing in a list that was made while others wrote. Two equal lists in turn were not.
    auto again = list_numbers(objects);
    if (!again) return again.error();
    const bool is_same = *again == *numbers;
    numbers = std::move(again);
    if (!counted || (!is_same && !counted->failures.empty())) continue;
    store_log log;
    for (const auto& [number, entry] : counted->entries) apply(entry, number, log);
    for (const auto& [number, why] : counted->failures) {
      log.newest = std::max(log.newest, number);
      damaged(entry_name(number), why);
    }
    return log;
  }
}

}  // namespace

std::set<container_name> store_log::unusable() const {
  std::set<container_name> containers = lost();
  containers.insert(proposed.begin(), proposed.end());
  return containers;
}

std::set<container_name> store_log::lost() const {
  std::set<container_name> containers = decided;
  containers.insert(condemned.begin(), condemned.end());
  return containers;
}

result<store_log> read_log(storage& objects, const seal_key& key, known_entries* known) {
  status failure;
  auto log = read_readable(
      objects, key,
      [&](const object_name&, const status& why) {
        if (failure.ok())
          failure = {why.code(), why.message() + "; a repair of the store can do without it", why.system_error()};
      },
      known);
  if (log && !failure.ok()) return failure;
  return log;
}

result<store_log> read_log(storage& objects, const seal_key& key,
                           const std::function<void(const object_name& entry, const status& why)>& damaged,
                           known_entries* known) {
  bool is_whole = true;
  auto log = read_readable(
      objects, key,
      [&](const object_name& entry, const status& why) {
        is_whole = false;
        damaged(entry, why);
      },
      known);
  if (!log || is_whole) return log;
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::snapshot));
  log->snapshots.insert(ids.begin(), ids.end());
  return log;
}

result<std::optional<std::uint64_t>> append_to_log(storage& objects, const seal_key& key, const store_log& known,
                                                   const log_entry& entry) {
  const std::uint64_t number = known.newest + 1;
  std::vector<std::uint8_t> bytes = encode(entry, number, key);
  if (bytes.size() > largest_entry_bytes) {
    return status(status_code::memory_limit, fmt::format("an entry of the log cannot have {} bytes", bytes.size()));
  }
  // No entry may survive a crash that an entry before it does not survive, whoever has put that.
  CUTPOINT_RETURN_IF_FAILED(objects.sync_kind(object_kind::log_entry));
  status put = objects.put(entry_name(number), std::move(bytes));
  if (put.ok()) put = objects.sync();
  if (is_presence(put)) return std::optional<std::uint64_t>();
  if (!put.ok()) return put;
  CUTPOINT_TRY(const auto numbers, list_all_numbers(objects));
  if (!numbers.empty() && numbers.back() == number) return std::optional(number);
  // The number was free, perhaps because a newer decision has replaced the entry that had it.
  CUTPOINT_TRY(const auto log, read_readable(
                                   objects, key, [](const object_name&, const status&) {}, nullptr));
  const bool is_before = log.decision > number;
  const bool counts = !is_before || (entry.kind == log_entry_kind::change && !entry.snapshots.empty() &&
                                     std::ranges::includes(log.snapshots, entry.snapshots));
  return counts ? std::optional(number) : std::nullopt;
}

status remove_entries_before(storage& objects, std::uint64_t decision) {
  CUTPOINT_TRY(const auto numbers, list_numbers(objects));
  for (const std::uint64_t each : numbers) {
    if (each >= decision) break;
    CUTPOINT_RETURN_IF_FAILED(objects.remove(entry_name(each)));
  }
  return {};
}

}  // namespace cutpoint::store
