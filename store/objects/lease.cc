#include "store/objects/lease.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>

#include <cutpoint/fingerprint.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::array<std::uint8_t, 16> own_boot() {
  std::array<std::uint8_t, 16> boot = {};
  std::string digits = read_text("/proc/sys/kernel/random/boot_id");
  std::erase_if(digits, [](char each) { return std::isxdigit(static_cast<unsigned char>(each)) == 0; });
  return read_hex(digits, boot) ? boot : decltype(boot){};
}

std::uint64_t own_pid_namespace() {
  struct stat facts = {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

/// The start of a process that has ended and that its parent has not waited for.
constexpr std::uint64_t start_of_ended = UINT64_MAX;

/// Returns the time in ticks since the boot at which a process began, or 0 if there is none.
std::uint64_t start_time_of(std::uint64_t process) {
  const std::string line = read_text(fmt::format("/proc/{}/stat", process));
  const std::size_t name_end = line.rfind(')');  // the name before it may have any bytes
  if (name_end == std::string::npos) return 0;
  std::istringstream text(line.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(text), {}};
  constexpr std::size_t state = 0;  // all counted from behind the name
  constexpr std::size_t threads = 17;
  constexpr std::size_t start_time = 19;
  if (fields.size() <= start_time) return 0;
  // A process whose main thread alone has ended is in the same state, and has other threads.
  if (fields[state] == "Z" && fields[threads] == "1") return start_of_ended;
  std::uint64_t ticks = 0;
  std::from_chars(fields[start_time].data(), fields[start_time].data() + fields[start_time].size(), ticks);
  return ticks;
}

std::string lease_id(const std::string& session, std::uint64_t number) {
  return fmt::format("{}.{:08}", session, number);
}

}  // namespace

process_identity process_identity::own() {
  process_identity identity;
  identity.boot = own_boot();
  identity.pid_namespace = own_pid_namespace();
  identity.process = static_cast<std::uint64_t>(::getpid());
  identity.start_time = start_time_of(identity.process);
  return identity;
}

bool process_identity::has_ended() const {
  const bool is_comparable = boot != decltype(boot){} && boot == own_boot() && pid_namespace != 0 &&
                             pid_namespace == own_pid_namespace() && process != 0 && start_time != 0;
  // A process without a start time is gone. One that runs is there for everybody, unless /proc hides those of other users.
  return is_comparable && start_time_of(process) != start_time &&
         (::kill(static_cast<pid_t>(process), 0) != 0 ? errno == ESRCH : start_time_of(process) != 0);
}

std::chrono::nanoseconds lease::time_left(std::int64_t now) const {
  if (is_end() || process.has_ended()) return std::chrono::nanoseconds(-1);
  const std::int64_t age = std::max<std::int64_t>(now - time, 0);
  const std::int64_t lasts = time > now ? longest_duration : duration;
  return std::chrono::nanoseconds(lasts - age);
}

status put_lease(storage& objects, const std::string& id, const lease& facts, const seal_key& key) {
  std::vector<std::uint8_t> body;
  field_writer(body)
      .number(static_cast<std::uint64_t>(facts.time))
      .number(static_cast<std::uint64_t>(facts.duration))
      .number(facts.epoch)
      .bytes(facts.process.boot)
      .number(facts.process.pid_namespace)
      .number(facts.process.process)
      .number(facts.process.start_time)
      .text(facts.owner);
  object_salt salt;
  fill_random(salt);
  const object_name name{object_kind::lease, id};
  return objects.put(name, encode_small_object(name, std::move(body), key, salt));
}

namespace {

result<lease> decode_lease(byte_span bytes, const object_name& name, const seal_key& key) {
  CUTPOINT_TRY(const auto body, decode_small_object(bytes, name, key));
  field_reader fields(body);
  lease facts;
  facts.time = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  facts.duration = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  facts.epoch = fields.number<std::uint64_t>();
  facts.process.boot = fields.bytes<16>();
  facts.process.pid_namespace = fields.number<std::uint64_t>();
  facts.process.process = fields.number<std::uint64_t>();
  facts.process.start_time = fields.number<std::uint64_t>();
  facts.owner = fields.text();
  if (!fields.ok() || fields.remaining() != 0 || facts.time > latest_time || facts.time < -latest_time ||
      facts.duration < 0 || facts.duration > longest_duration) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return facts;
}

}  // namespace

result<lease> read_lease(storage& objects, const std::string& id, const seal_key& key) {
  const object_name name{object_kind::lease, id};
  CUTPOINT_TRY(const auto bytes, objects.read_whole(name, largest_lease_bytes));
  return decode_lease(bytes, name, key);
}

held_lease::held_lease(storage_function open, const seal_key& key, std::string session,
                       std::chrono::nanoseconds duration, std::uint64_t epoch)
    : open_(std::move(open)), key_(key), session_(std::move(session)), duration_(duration), epoch_(epoch) {}

result<std::unique_ptr<held_lease>> held_lease::take(storage_function open, const seal_key& key,
                                                     const std::string& session, std::chrono::nanoseconds duration,
                                                     std::uint64_t epoch) {
  std::unique_ptr<held_lease> lease_of_session(new held_lease(std::move(open), key, session, duration, epoch));
  try {
    CUTPOINT_RETURN_IF_FAILED(lease_of_session->put_next(duration));
    lease_of_session->start();
    return lease_of_session;
  } catch (const std::system_error& refused) {
    static_cast<void>(lease_of_session->give_up());
    return status(status_code::unavailable,
                  fmt::format("a thread that renews the lease cannot be started: {}", refused.what()),
                  refused.code().value());
  } catch (...) {
    static_cast<void>(lease_of_session->give_up());
    throw;
  }
}

held_lease::~held_lease() { stop(); }

void held_lease::start() {
  renewer_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!stopping_.wait_for(lock, duration_ / 3, [this] { return is_stopping_; })) {
      try {
        static_cast<void>(renew());      // the next time it may succeed
      } catch (const std::bad_alloc&) {  // so may there be memory
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

/// Returns whether the newest lease has expired, by a clock that goes on while the machine is suspended.
bool held_lease::is_overdue() const { return put_at_.count() != 0 && time_since_start() - put_at_ >= duration_; }

bool held_lease::may_have_expired() {
  const std::lock_guard lock(mutex_);
  return was_overdue_ || is_overdue();
}

/// Makes the next lease durable. The names of leases that were removed are not used again.
status held_lease::put_next(std::chrono::nanoseconds duration) {
  was_overdue_ = was_overdue_ || is_overdue();
  const auto put_at = time_since_start();
  const std::uint64_t number = next_number_++;
  const auto objects = open_();
  const lease facts{objects->now(), duration.count(), epoch_, process_identity::own(), own_name()};
  CUTPOINT_RETURN_IF_FAILED(put_lease(*objects, lease_id(session_, number), facts, key_));
  CUTPOINT_RETURN_IF_FAILED(objects->sync());
  newest_number_ = number;
  put_at_ = put_at;
  return {};
}

/// Removes the leases that were put before a number, also those that a failure has left, if the storage lets this user do that.
status held_lease::remove_leases(std::uint64_t end) {
  const auto objects = open_();
  if (!objects->may_remove(object_kind::lease)) return {};
  for (; oldest_number_ < end; ++oldest_number_) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(*objects, {object_kind::lease, lease_id(session_, oldest_number_)}));
  }
  return objects->sync();
}

status held_lease::renew() {
  CUTPOINT_RETURN_IF_FAILED(put_next(duration_));
  return remove_leases(newest_number_);
}

status held_lease::give_up() {
  stop();
  if (!open_()->may_remove(object_kind::lease)) return put_next(std::chrono::nanoseconds(0));
  return remove_leases(next_number_);
}

namespace {

/// Puts a last lease for each of some sessions whose leases cannot be removed, durably. A session that goes on all the same may have
/// put one with the same number meanwhile: then it goes on.
status put_ends(storage& objects, const seal_key& key, const std::set<std::string>& sessions) {
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::lease));
  std::map<std::string, std::uint64_t> next_numbers;
  for (const std::string& id : ids) {
    const std::string session(session_of(id));
    if (!sessions.contains(session)) continue;
    std::uint64_t number = 0;
    if (id.size() > session.size()) {
      std::from_chars(id.data() + session.size() + 1, id.data() + id.size(), number);
    }
    next_numbers[session] = std::max(next_numbers[session], number + 1);
  }
  for (const auto& [session, number] : next_numbers) {
    const lease end{.time = objects.now(), .duration = 0, .epoch = 0, .process = {}, .owner = own_name()};
    status put = put_lease(objects, lease_id(session, number), end, key);
    if (put.ok()) put = objects.sync();
    if (!put.ok() && !is_presence(put)) return put;
  }
  return {};
}

/// The newest lease of each session that can be read.
struct newest_leases {
  std::vector<listed_lease> leases;
  bool is_complete = true;  ///< false if one was removed meanwhile: its session has put another, or has ended
};

/// Reads the newest of some leases of each session; an older one where that is damaged. A lease that has expired stands for those of
/// a session whose leases are all damaged.
result<newest_leases> read_newest(storage& objects, const seal_key& key, const std::vector<std::string>& ids) {
  std::map<std::string, std::vector<std::string>, std::less<>> unread;  // by session
  for (const std::string& each : ids) unread[std::string(session_of(each))].push_back(each);
  const auto number_order = [](const std::string& id) { return std::pair(id.size(), std::string_view(id)); };
  for (auto& [session, all] : unread) std::ranges::sort(all, {}, number_order);
  newest_leases newest;
  while (!unread.empty()) {
    std::vector<object_name> names;
    for (auto& [session, left] : unread) {
      names.push_back({object_kind::lease, std::move(left.back())});
      left.pop_back();
    }
    CUTPOINT_RETURN_IF_FAILED(objects.read_many(names, largest_lease_bytes, [&](std::size_t i, const auto& bytes) {
      const auto facts = bytes ? decode_lease(*bytes, names[i], key) : bytes.error();
      const auto position = unread.find(session_of(names[i].id));
      if (!facts && is_damage(facts.error()) && !position->second.empty()) return status();
      unread.erase(position);
      if (!facts && is_absence(facts.error())) {
        newest.is_complete = false;
        return status();
      }
      if (!facts && !is_damage(facts.error())) return facts.error();
      newest.leases.push_back({names[i].id, facts ? *facts : lease{.duration = 1, .process = {}, .owner = {}}});
      return status();
    }));
  }
  return newest;
}

}  // namespace

result<std::vector<listed_lease>> list_leases(storage& objects, const seal_key& key) {
  std::map<std::string, listed_lease, std::less<>> newest;  // by session
  // A session that renews its lease has two names for a moment, of which a list may lack both: two whole lists do not.
  for (int complete_lists = 0; complete_lists < 2;) {
    CUTPOINT_TRY(const auto ids, objects.list(object_kind::lease));
    CUTPOINT_TRY(auto read, read_newest(objects, key, ids));
    for (listed_lease& each : read.leases) newest.insert_or_assign(std::string(session_of(each.id)), std::move(each));
    complete_lists = read.is_complete ? complete_lists + 1 : 0;
  }
  std::vector<listed_lease> leases;
  for (auto& [session, each] : newest) {
    if (!each.facts.is_end()) leases.push_back(std::move(each));
  }
  return leases;
}

status remove_sessions(storage& objects, const seal_key& key, const std::set<std::string>& sessions) {
  const auto belongs = [&](const std::string& id) { return sessions.contains(std::string(session_of(id))); };
  for (const object_kind kind : {object_kind::temporary, object_kind::lease}) {
    if (!objects.may_remove(kind)) continue;
    CUTPOINT_TRY(const auto ids, objects.list(kind));
    for (const std::string& id : ids) {
      if (belongs(id)) CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {kind, id}));
    }
    CUTPOINT_RETURN_IF_FAILED(objects.sync());
  }
  return objects.may_remove(object_kind::lease) ? status() : put_ends(objects, key, sessions);
}

result<std::set<std::string>> expired_sessions(storage& objects, const seal_key& key) {
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::lease));
  CUTPOINT_TRY(const auto newest, read_newest(objects, key, ids));
  const std::int64_t now = objects.now();
  std::set<std::string> expired;
  for (const listed_lease& each : newest.leases) {
    // Nothing is left to do for a session that has said that it ended, but to remove its leases.
    const bool is_done = each.facts.is_end() && !objects.may_remove(object_kind::lease);
    if (each.facts.time_left(now).count() < 0 && !is_done) expired.emplace(session_of(each.id));
  }
  return expired;
}

status remove_abandoned_files(storage& objects, const std::vector<std::string>& files) {
  if (files.empty() || !objects.may_remove(object_kind::temporary)) return {};
  CUTPOINT_TRY(const auto leases, objects.list(object_kind::lease));
  for (const std::string& file : files) {
    if (is_reserve(file)) continue;
    const bool has_session =
        std::ranges::any_of(leases, [&](const std::string& id) { return session_of(id) == session_of(file); });
    if (has_session) continue;
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {object_kind::temporary, file}));
  }
  return objects.sync();
}

constexpr std::string_view reserve_prefix = "reserve-";
/// Enough for entries of the log that name 5,000 containers and as many snapshots.
constexpr std::size_t reserve_bytes = 1 * MiB;

bool is_reserve(std::string_view temporary_id) noexcept { return temporary_id.starts_with(reserve_prefix); }

status put_reserve(storage& objects) {
  if (!objects.may_remove(object_kind::temporary)) return {};
  CUTPOINT_TRY(const auto free, objects.free_bytes());
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::temporary));
  if (free == UINT64_MAX || free < reserve_bytes || std::ranges::any_of(ids, is_reserve)) return {};
  digest id{{}, 16};
  fill_random(std::span(id.bytes).first(id.size));
  std::vector<std::uint8_t> bytes(reserve_bytes);
  fill_random(bytes);  // a file system may compress
  status put = objects.put({object_kind::temporary, std::string(reserve_prefix) + to_hex(id)}, std::move(bytes));
  if (put.ok()) put = objects.sync();
  return is_lack_of_room(put) ? status() : put;
}

result<bool> remove_reserve(storage& objects) {
  if (!objects.may_remove(object_kind::temporary)) return false;
  CUTPOINT_TRY(const auto ids, objects.list(object_kind::temporary));
  bool was_there = false;
  for (const std::string& each : ids) {
    if (!is_reserve(each)) continue;
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {object_kind::temporary, each}));
    was_there = true;
  }
  const status synced = objects.sync();
  return synced.ok() ? result<bool>(was_there) : synced;
}

}  // namespace cutpoint::store
