#include "store/objects/log.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <span>
#include <utility>

#include <cutpoint/fingerprint.h>
#include <fmt/format.h>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_entry_bytes = MiB;
constexpr std::size_t largest_removal_bytes = 256 * MiB;
/// Entries whose numbers are further beyond those before them do not count, unless a decision among them does.
constexpr std::uint64_t largest_gap = std::uint64_t{1} << 20;

/// What an object of the log has. The numbers are in files and never change.
enum class entry_content : std::uint8_t { snapshots = 1, removal = 2 };

object_name entry_name(std::uint64_t number) { return {object_kind::log_entry, fmt::format("{:016x}", number)}; }

object_name removal_name(std::uint64_t number, const digest& named) {
  return {object_kind::removal, fmt::format("{:016x}.{}", number, to_hex(named))};
}

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

status out_of_bounds(const object_name& name) { return damage(path_of(name), "a field is out of its bounds"); }

/// Reads the bytes of a removal into the entry that names it. One that does not exist, or that another entry was put with, leaves
/// the entry without effect.
status decode_removal(const result<std::vector<std::uint8_t>>& bytes, const object_name& name, std::uint64_t number,
                      const seal_key& key, log_entry& entry) {
  entry.counts = bytes.ok() || !is_absence(bytes.error());
  if (!entry.counts) return {};
  if (!bytes) return bytes.error();
  CUTPOINT_TRY(const auto named, blake3_digest(*bytes));
  if (removal_name(number, named) != name) {
    return damage(path_of(name), "its bytes have changed: they do not give its name");
  }
  CUTPOINT_TRY(const auto body, decode_small_object(*bytes, name, key));
  field_reader fields(body);
  log_entry removal;
  removal.header = entry.header;
  removal.counts = fields.number<std::uint64_t>() == number;
  removal.kind = static_cast<log_entry_kind>(fields.number<std::uint8_t>());
  read(removal.removed_containers, fields);
  read(removal.condemned_containers, fields);
  read(removal.snapshots, fields);
  read(removal.removed_snapshots, fields);
  read(removal.removed_keys, fields);
  const bool is_kind = removal.kind >= log_entry_kind::change && removal.kind <= log_entry_kind::decision;
  if (!fields.ok() || fields.remaining() != 0 || !is_kind) return out_of_bounds(name);
  if (removal.counts) {
    entry = std::move(removal);
  } else {
    entry.counts = false;
  }
  return {};
}

/// An entry as its own object has it.
struct decoded_entry {
  log_entry entry;
  std::optional<object_name> removal;  ///< that the entry names, and that it is to be read from
};

result<decoded_entry> decode_entry(byte_span bytes, std::uint64_t number, const seal_key& key) {
  const object_name name = entry_name(number);
  CUTPOINT_TRY(const auto body, decode_small_object(bytes, name, key));
  field_reader fields(body);
  decoded_entry decoded;
  std::copy_n(bytes.begin(), decoded.entry.header.size(), decoded.entry.header.begin());
  const auto content = static_cast<entry_content>(fields.number<std::uint8_t>());
  if (content == entry_content::snapshots) read(decoded.entry.snapshots, fields);
  if (content == entry_content::removal) {
    decoded.removal = removal_name(number, {fields.bytes<largest_digest_bytes>(), largest_digest_bytes});
  }
  if (!fields.ok() || fields.remaining() != 0 || content < entry_content::snapshots ||
      content > entry_content::removal) {
    return out_of_bounds(name);
  }
  return decoded;
}

/// Reads entries with their removals, many at once. Returns the outcome of each, in the order of the numbers.
result<std::vector<result<log_entry>>> read_entries(storage& objects, const seal_key& key,
                                                    std::span<const std::uint64_t> numbers) {
  std::vector<object_name> names;
  for (const std::uint64_t each : numbers) names.push_back(entry_name(each));
  std::vector<result<log_entry>> entries(numbers.size(), log_entry());
  std::vector<object_name> removals;
  std::vector<std::size_t> removal_owners;  // the indices of the entries that name them
  CUTPOINT_RETURN_IF_FAILED(objects.read_many(names, largest_entry_bytes, [&](std::size_t i, const auto& bytes) {
    auto decoded = bytes ? decode_entry(*bytes, numbers[i], key) : bytes.error();
    entries[i] = decoded ? result<log_entry>(std::move(decoded->entry)) : decoded.error();
    if (!decoded || !decoded->removal) return status();
    removals.push_back(*std::move(decoded->removal));
    removal_owners.push_back(i);
    return status();
  }));
  CUTPOINT_RETURN_IF_FAILED(objects.read_many(removals, largest_removal_bytes, [&](std::size_t i, const auto& bytes) {
    result<log_entry>& owner = entries[removal_owners[i]];
    status decoded = decode_removal(bytes, removals[i], numbers[removal_owners[i]], key, *owner);
    if (!decoded.ok()) owner = std::move(decoded);
    return status();
  }));
  return entries;
}

/// Returns the bytes of an object of the log or of a removal. Errors: memory_limit.
result<std::vector<std::uint8_t>> encode(const object_name& name, std::vector<std::uint8_t> body, const seal_key& key,
                                         std::size_t largest_bytes) {
  object_salt salt;
  fill_random(salt);
  std::vector<std::uint8_t> bytes = encode_small_object(name, std::move(body), key, salt);
  if (bytes.size() <= largest_bytes) return bytes;
  return status(status_code::memory_limit, fmt::format("an entry of the log cannot have {} bytes", bytes.size()));
}

/// Puts the removal of the entry with a number, durably, and returns the hash in its name.
result<digest> put_removal(storage& objects, const seal_key& key, std::uint64_t number, const log_entry& entry) {
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  fields.number(number).number(static_cast<std::uint8_t>(entry.kind));
  append(entry.removed_containers, fields);
  append(entry.condemned_containers, fields);
  append(entry.snapshots, fields);
  append(entry.removed_snapshots, fields);
  append(entry.removed_keys, fields);
  CUTPOINT_TRY(auto bytes, encode({object_kind::removal, ""}, std::move(body), key, largest_removal_bytes));
  CUTPOINT_TRY(const auto named, blake3_digest(bytes));
  CUTPOINT_RETURN_IF_FAILED(objects.put(removal_name(number, named), std::move(bytes)));
  CUTPOINT_RETURN_IF_FAILED(objects.sync());
  return named;
}

bool only_commits(const log_entry& entry) {
  return entry.kind == log_entry_kind::change && entry.condemned_containers.empty() &&
         entry.removed_snapshots.empty() && entry.removed_keys.empty();
}

void apply(const log_entry& entry, std::uint64_t number, store_log& log) {
  std::uint64_t last_oldest = 0;
  switch (entry.kind) {
    case log_entry_kind::decision:
      last_oldest = log.oldest == 0 ? number : log.oldest;
      log = {};
      log.last_oldest = last_oldest;
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
  if (log.oldest == 0) {
    log.oldest = number;
    log.oldest_header = entry.header;
  }
  log.condemned.insert(entry.condemned_containers.begin(), entry.condemned_containers.end());
  log.snapshots.insert(entry.snapshots.begin(), entry.snapshots.end());
  for (const std::string& each : entry.removed_snapshots) log.snapshots.erase(each);
  log.replaced.insert(entry.removed_snapshots.begin(), entry.removed_snapshots.end());
  log.removed_keys.insert(entry.removed_keys.begin(), entry.removed_keys.end());
}

/// The entries that count: the newest decision and those after it. A list that is read while others write may lack names.
struct counted_entries {
  std::vector<std::pair<std::uint64_t, log_entry>> entries;
  std::vector<std::pair<std::uint64_t, status>> failures;  ///< entries that are damaged or missing, and why
  bool is_complete = false;                                ///< false if another process has removed some meanwhile
  bool may_have_decision = false;                          ///< whether one of them is a decision, or cannot be read
  bool has_passed_over = false;  ///< whether an entry has no effect, since its removal is not there
};

/// Reads the newest of some entries that are not known, as many as the storage takes at once.
result<std::map<std::uint64_t, result<log_entry>>> read_ahead(storage& objects, const seal_key& key,
                                                              std::span<const std::uint64_t> numbers,
                                                              const std::map<std::uint64_t, log_entry>& known) {
  std::vector<std::uint64_t> unknown;
  for (std::size_t i = numbers.size(); i > 0 && unknown.size() < objects.parallel_requests(); --i) {
    if (!known.contains(numbers[i - 1])) unknown.push_back(numbers[i - 1]);
  }
  CUTPOINT_TRY(auto entries, read_entries(objects, key, unknown));
  std::map<std::uint64_t, result<log_entry>> ahead;
  for (std::size_t i = 0; i < unknown.size(); ++i) ahead.emplace(unknown[i], std::move(entries[i]));
  return ahead;
}

/// Reads entries from the newest to the newest decision.
result<counted_entries> read_counted(storage& objects, const seal_key& key, std::span<const std::uint64_t> numbers,
                                     std::map<std::uint64_t, log_entry>& known) {
  counted_entries counted;
  std::map<std::uint64_t, result<log_entry>> ahead;  // entries that were read with others
  for (std::size_t i = numbers.size(); i > 0; --i) {
    const std::uint64_t number = numbers[i - 1];
    const auto before = known.find(number);
    if (before == known.end() && !ahead.contains(number)) {
      CUTPOINT_TRY(ahead, read_ahead(objects, key, numbers.first(i), known));
    }
    auto entry = before == known.end() ? std::move(ahead.find(number)->second) : result<log_entry>(before->second);
    if (!entry && is_absence(entry.error())) return counted;
    if (!entry && !is_damage(entry.error())) return entry.error();
    const bool is_decision = entry && entry->kind == log_entry_kind::decision;
    counted.may_have_decision = counted.may_have_decision || is_decision || !entry;
    if (entry) {
      if (entry->counts) known.try_emplace(number, *entry);
      counted.has_passed_over = counted.has_passed_over || !entry->counts;
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
  counted.is_complete = true;
  return counted;
}

/// The same, of the newest entries that are not too far beyond those before them. Who may only put commits cannot put numbers that
/// hide the log.
result<counted_entries> read_near(storage& objects, const seal_key& key, std::span<const std::uint64_t> numbers,
                                  std::map<std::uint64_t, log_entry>& known) {
  for (;;) {
    const auto gap = std::ranges::adjacent_find(
        numbers.rbegin(), numbers.rend(),
        [](std::uint64_t later, std::uint64_t earlier) { return later - earlier > largest_gap; });
    const auto near_count =
        gap == numbers.rend() ? numbers.size() : static_cast<std::size_t>(gap - numbers.rbegin()) + 1;
    auto counted = read_counted(objects, key, numbers.last(near_count), known);
    if (!counted || !counted->is_complete || counted->may_have_decision || near_count == numbers.size()) return counted;
    numbers = numbers.first(numbers.size() - near_count);
  }
}

/// Returns whether the oldest entry that counted is still there, which no other object can have replaced. Then no entry after it was
/// removed before this call, and none of their numbers has been used twice.
result<bool> has_oldest(storage& objects, const store_log& log) {
  encoded_object_header header = {};
  const status read = objects.read(entry_name(log.oldest), 0, header);
  if (read.ok()) return header == log.oldest_header;
  return is_absence(read) || is_damage(read) ? result<bool>(false) : read;
}

}  // namespace

/// Reads the entries after the newest one that is known. Returns false if the whole log must be read: it cannot be followed.
result<bool> log_reader::follow(storage& objects, const seal_key& key) {
  if (!is_whole_ || log_.oldest == 0) return false;
  std::vector<log_entry> entries;
  for (;;) {
    const std::uint64_t next = log_.newest + entries.size() + 1;
    CUTPOINT_TRY(auto read, read_entries(objects, key, {&next, 1}));
    result<log_entry>& entry = read.front();
    if (!entry && is_absence(entry.error())) break;
    if (!entry && is_damage(entry.error())) return false;
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
  }
  // Otherwise it may have been removed, and what was read may be what a suspended process has put under a number that was removed.
  const auto is_there = has_oldest(objects, log_);
  if (!is_there || !*is_there) return is_there;
  for (log_entry& each : entries) {
    const std::uint64_t number = log_.newest + 1;
    apply(each, number, log_);
    if (each.kind == log_entry_kind::decision) entries_.clear();
    entries_.insert_or_assign(number, std::move(each));
  }
  return true;
}

/// Reads the entries that can be read, and passes the others to `damaged`.
status log_reader::read_readable(storage& objects, const seal_key& key, const damaged_object_function& damaged) {
  CUTPOINT_TRY(const auto is_followed, follow(objects, key));
  if (is_followed) return {};
  is_whole_ = false;
  CUTPOINT_TRY(auto numbers, list_numbers(objects));
  for (;;) {
    CUTPOINT_TRY(const auto counted, read_near(objects, key, numbers, entries_));
    // Names may be missing in a list that was made while others wrote. Two equal lists in turn were not.
    CUTPOINT_TRY(auto again, list_numbers(objects));
    const bool is_same = again == numbers;
    numbers = std::move(again);
    const bool is_doubtful = counted.has_passed_over || !counted.failures.empty();
    if (!counted.is_complete || (!is_same && is_doubtful)) continue;
    log_ = {};
    for (const auto& [number, entry] : counted.entries) apply(entry, number, log_);
    for (const auto& [number, why] : counted.failures) {
      log_.newest = std::max(log_.newest, number);
      damaged(entry_name(number), why);
    }
    is_whole_ = counted.failures.empty();
    return {};
  }
}

result<const store_log*> log_reader::read(storage& objects, const seal_key& key) {
  status failure;
  CUTPOINT_RETURN_IF_FAILED(read_readable(objects, key, [&](const object_name&, const status& why) {
    if (failure.ok())
      failure = {why.code(), why.message() + "; a repair of the store can do without it", why.system_error()};
  }));
  return failure.ok() ? result<const store_log*>(&log_) : failure;
}

result<const store_log*> log_reader::read(storage& objects, const seal_key& key,
                                          const damaged_object_function& damaged) {
  CUTPOINT_RETURN_IF_FAILED(read_readable(objects, key, damaged));
  if (is_whole_) return &log_;
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::snapshot));
  log_.snapshots.insert(ids.begin(), ids.end());
  return &log_;
}

std::optional<std::vector<std::string>> log_reader::committed_after(std::uint64_t number) const {
  if (!is_whole_ || log_.decision > number) return std::nullopt;
  std::vector<std::string> ids;
  for (auto each = entries_.upper_bound(number); each != entries_.end(); ++each) {
    ids.insert(ids.end(), each->second.snapshots.begin(), each->second.snapshots.end());
  }
  return ids;
}

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

result<store_log> read_log(storage& objects, const seal_key& key) {
  log_reader reader;
  CUTPOINT_TRY(const auto log, reader.read(objects, key));
  return *log;
}

result<store_log> read_log(storage& objects, const seal_key& key, const damaged_object_function& damaged) {
  log_reader reader;
  CUTPOINT_TRY(const auto log, reader.read(objects, key, damaged));
  return *log;
}

result<std::optional<std::uint64_t>> append_to_log(storage& objects, const seal_key& key, const store_log& known,
                                                   const log_entry& entry) {
  const std::uint64_t number = known.newest + 1;
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  if (only_commits(entry)) {
    fields.number(static_cast<std::uint8_t>(entry_content::snapshots));
    append(entry.snapshots, fields);
  } else {
    CUTPOINT_TRY(const auto removal, put_removal(objects, key, number, entry));
    fields.number(static_cast<std::uint8_t>(entry_content::removal)).bytes(removal.bytes);
  }
  CUTPOINT_TRY(const auto bytes, encode(entry_name(number), std::move(body), key, largest_entry_bytes));
  // No entry may survive a crash that an entry before it does not survive, whoever has put that.
  CUTPOINT_RETURN_IF_FAILED(objects.sync_kind(object_kind::log_entry));
  status put = objects.put(entry_name(number), bytes);
  if (put.ok()) put = objects.sync();
  if (is_presence(put)) {
    const auto there = objects.read_whole(entry_name(number), largest_entry_bytes);
    if (!there && !is_absence(there.error()) && !is_damage(there.error())) return there.error();
    if (!there || *there != bytes) return std::optional<std::uint64_t>();
  } else if (!put.ok()) {
    return put;
  }
  CUTPOINT_TRY(const auto was_free, known.oldest == 0 ? result<bool>(false) : has_oldest(objects, known));
  if (was_free) return std::optional(number);
  CUTPOINT_TRY(const auto numbers, list_all_numbers(objects));
  if (!numbers.empty() && numbers.back() == number) return std::optional(number);
  // The number was free, perhaps because a newer decision has replaced the entry that had it.
  CUTPOINT_TRY(const auto log, read_log(objects, key, [](const object_name&, const status&) {}));
  const bool is_before = log.decision > number;
  const bool counts = !is_before || (entry.kind == log_entry_kind::change && !entry.snapshots.empty() &&
                                     std::ranges::includes(log.snapshots, entry.snapshots));
  return counts ? std::optional(number) : std::nullopt;
}

status remove_entries_before(storage& objects, std::uint64_t decision, std::uint64_t last_oldest) {
  CUTPOINT_TRY(auto numbers, list_numbers(objects));
  std::erase_if(numbers, [&](std::uint64_t each) { return each >= decision; });
  // Whoever follows the log after a crash must not find the oldest entry that he knows, and miss one after it, whoever removed that.
  if (!numbers.empty()) CUTPOINT_RETURN_IF_FAILED(objects.sync_kind(object_kind::log_entry));
  for (const std::uint64_t each : numbers) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, entry_name(each)));
    if (each <= last_oldest) CUTPOINT_RETURN_IF_FAILED(objects.sync());
  }
  CUTPOINT_TRY(auto removals, objects.list(object_kind::removal));
  std::erase_if(removals, [end = entry_name(decision).id](const std::string& id) { return id >= end; });
  if (removals.empty()) return {};
  CUTPOINT_RETURN_IF_FAILED(objects.sync());  // an entry that a crash brought back would have no effect
  for (std::string& each : removals) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {object_kind::removal, std::move(each)}));
  }
  return {};
}

}  // namespace cutpoint::store
