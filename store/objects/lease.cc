#include "store/objects/lease.h"

#include <algorithm>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "store/format/clock.h"
#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_lease_bytes = MiB;
constexpr std::int64_t latest_time = std::int64_t{1} << 62;  // differences of times do not overflow
constexpr std::int64_t longest_duration = std::int64_t{24} * 3600 * 1'000'000'000;

std::string own_name() {
  std::array<char, 256> host = {};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}, process {}, user {}", host.data(), ::getpid(), ::geteuid());
}

std::string lease_id(const std::string& session, std::uint64_t number) {
  return fmt::format("{}.{:08}", session, number);
}

}  // namespace

std::chrono::nanoseconds lease::time_left() const {
  return std::chrono::nanoseconds(time - nanoseconds_now()) + std::chrono::nanoseconds(duration);
}

std::string_view session_of(std::string_view id) noexcept { return id.substr(0, id.find_first_of(".-")); }

status put_lease(storage& objects, const std::string& id, const lease& facts, const seal_key& key) {
  std::vector<std::uint8_t> body;
  field_writer(body)
      .number(static_cast<std::uint64_t>(facts.time))
      .number(static_cast<std::uint64_t>(facts.duration))
      .number(facts.epoch)
      .text(facts.owner);
  object_salt salt;
  fill_random(salt);
  return objects.put({object_kind::lease, id}, encode_small_object(object_kind::lease, std::move(body), key, salt));
}

result<lease> read_lease(storage& objects, const std::string& id, const seal_key& key) {
  const object_name name{object_kind::lease, id};
  const auto bytes = read_object(objects, name, largest_lease_bytes);
  if (!bytes) return bytes.error();
  const auto body = decode_small_object(*bytes, object_kind::lease, key, path_of(name));
  if (!body) return body.error();
  field_reader fields(*body);
  lease facts;
  facts.time = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  facts.duration = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  facts.epoch = fields.number<std::uint64_t>();
  facts.owner = fields.text();
  if (!fields.ok() || fields.remaining() != 0 || facts.time > latest_time || facts.time < -latest_time ||
      facts.duration < 0 || facts.duration > longest_duration) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return facts;
}

held_lease::held_lease(storage& objects, const seal_key& key, std::string session, std::chrono::nanoseconds duration,
                       std::uint64_t epoch)
    : objects_(objects), key_(key), session_(std::move(session)), duration_(duration), epoch_(epoch) {}

result<std::unique_ptr<held_lease>> held_lease::take(storage& objects, const seal_key& key, const std::string& session,
                                                     std::chrono::nanoseconds duration, std::uint64_t epoch) {
  std::unique_ptr<held_lease> lease_of_session(new held_lease(objects, key, session, duration, epoch));
  try {
    if (status put = lease_of_session->put_next(); !put.ok()) return put;
    lease_of_session->start();
  } catch (...) {
    static_cast<void>(lease_of_session->give_up());
    throw;
  }
  return lease_of_session;
}

held_lease::~held_lease() { stop(); }

void held_lease::start() {
  is_stopping_ = false;
  renewer_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!stopping_.wait_for(lock, duration_ / 3, [this] { return is_stopping_; })) {
      try {
        if (!renew().ok()) return;       // the storage has failed for the session too, or the lease is missed later
      } catch (const std::bad_alloc&) {  // the next time there may be memory
      }
    }
  });
}

void held_lease::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  if (renewer_.joinable()) renewer_.join();
}

/// Makes the next lease durable. The names of leases that were removed are not used again.
status held_lease::put_next() {
  const lease facts{nanoseconds_now(), duration_.count(), epoch_, own_name()};
  const std::uint64_t number = next_number_++;
  if (status put = put_lease(objects_, lease_id(session_, number), facts, key_); !put.ok()) return put;
  if (status synced = objects_.sync(); !synced.ok()) return synced;
  held_number_ = number;
  return {};
}

/// A lease replaces the one before only if that exists when the new one is durable. So a process that removes a lease and
/// lists the leases after that sees whether the session was faster. A session that was taken for dead does not come back.
status held_lease::renew() {
  const std::uint64_t before = held_number_;
  if (status put = put_next(); !put.ok()) return put;
  const auto size = objects_.size({object_kind::lease, lease_id(session_, before)});
  if (size) return objects_.remove({object_kind::lease, lease_id(session_, before)});
  const std::uint64_t refused = std::exchange(held_number_, before);
  if (status removed = objects_.remove({object_kind::lease, lease_id(session_, refused)}); !removed.ok())
    return removed;
  return size.error();
}

result<bool> held_lease::is_held() {
  const std::lock_guard lock(mutex_);
  const auto size = objects_.size({object_kind::lease, lease_id(session_, held_number_)});
  if (!size && !is_absence(size.error())) return size.error();
  return size.ok();
}

status held_lease::take_again() {
  stop();
  if (status put = put_next(); !put.ok()) return put;
  start();
  return {};
}

status held_lease::give_up() {
  stop();
  if (status removed = objects_.remove({object_kind::lease, lease_id(session_, held_number_)}); !removed.ok()) {
    return removed;
  }
  return objects_.sync();
}

result<std::optional<live_lease>> find_live_lease(storage& objects, const seal_key& key) {
  const auto leases = objects.list(object_kind::lease);
  if (!leases) return leases.error();
  for (const std::string& id : *leases) {
    auto facts = read_lease(objects, id, key);
    if (!facts && !is_absence(facts.error()) && !is_damage(facts.error())) return facts.error();
    if (facts && facts->time_left().count() >= 0) return std::optional(live_lease{id, std::move(*facts)});
  }
  return std::optional<live_lease>();
}

/// A session that renews its lease has two for a moment, of which a list that is made meanwhile may have neither. The
/// next list has one of them.
result<std::vector<live_lease>> find_leases_before(storage& objects, const seal_key& key, std::uint64_t epoch) {
  std::vector<live_lease> older;
  std::set<std::string> seen;
  for (int complete_lists = 0; complete_lists < 2;) {
    const auto leases = objects.list(object_kind::lease);
    if (!leases) return leases.error();
    bool is_complete = true;
    for (const std::string& id : *leases) {
      auto facts = read_lease(objects, id, key);
      if (!facts && is_absence(facts.error())) {
        is_complete = false;
        continue;
      }
      if (!facts && !is_damage(facts.error())) return facts.error();
      lease read = facts ? std::move(*facts) : lease{};
      if (read.epoch < epoch && seen.insert(std::string(session_of(id))).second) older.push_back({id, std::move(read)});
    }
    complete_lists = is_complete ? complete_lists + 1 : 0;
  }
  return older;
}

status drop_expired_sessions(storage& objects, const seal_key& key) {
  const auto leases = objects.list(object_kind::lease);
  if (!leases) return leases.error();
  std::vector<std::string> expired;
  std::vector<std::string_view> alive;
  for (const std::string& id : *leases) {
    const auto facts = read_lease(objects, id, key);
    if (!facts && !is_absence(facts.error()) && !is_damage(facts.error())) return facts.error();
    const bool has_expired = facts ? facts->time_left().count() < 0 : is_damage(facts.error());
    if (has_expired) expired.push_back(id);
    if (!has_expired && facts) alive.push_back(session_of(id));
  }
  // A session has two leases for a moment, of which the older one may have expired.
  std::erase_if(expired, [&](const std::string& id) { return std::ranges::count(alive, session_of(id)) != 0; });
  if (expired.empty()) return {};
  const auto files = objects.list(object_kind::temporary);
  if (!files) return files.error();
  for (const std::string& file : *files) {
    const bool is_abandoned =
        std::ranges::any_of(expired, [&](const std::string& id) { return session_of(id) == session_of(file); });
    if (!is_abandoned) continue;
    if (status removed = objects.remove({object_kind::temporary, file}); !removed.ok()) return removed;
  }
  if (status synced = objects.sync(); !synced.ok()) return synced;
  for (const std::string& id : expired) {
    if (status removed = objects.remove({object_kind::lease, id}); !removed.ok()) return removed;
  }
  return objects.sync();
}

}  // namespace cutpoint::store
