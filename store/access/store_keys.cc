#include "store/access/store_keys.h"

#include <algorithm>

#include <fmt/format.h>

#include "store/access/commit.h"
#include "store/format/clock.h"
#include "store/format/failure.h"

namespace cutpoint::store {

result<std::vector<listed_key>> list_keys(open_store& opened_store, const store_log& log) {
  const opened_key& used = *opened_store.opened_by();
  const auto ids = opened_store.objects().list(object_kind::key);
  if (!ids) return ids.error();
  std::vector<listed_key> keys;
  for (const std::string& id : *ids) {
    if (log.removed_keys.contains(id)) continue;
    const auto opens = is_key_of(opened_store.objects(), id, used.store_key, used.facts.config);
    if (!opens) return opens.error();
    if (!*opens) continue;
    const auto kind = kind_of_key(opened_store.objects(), id);
    if (!kind && is_absence(kind.error())) continue;
    if (!kind) return kind.error();
    keys.push_back({id, *kind});
  }
  std::ranges::sort(keys, {}, &listed_key::id);
  return keys;
}

result<std::string> add_key(open_store& opened_store, const key_secret& secret) {
  const auto session = leased_session::begin(opened_store);
  if (!session) return session.error();
  const opened_key& used = *opened_store.opened_by();
  return put_key(*(*session)->open_storage(), used.store_key,
                 {.config = used.facts.config, .time = nanoseconds_now(), .label = {}}, secret);
}

status remove_key(open_store& opened_store, const std::string& id) {
  const auto session = leased_session::begin(opened_store);
  if (!session) return session.error();
  log_entry removal;
  removal.removed_keys = {id};
  const status removed = append_change(**session, removal, [&](const store_log& log) -> status {
    const auto left = list_keys(opened_store, log);
    if (!left) return left.error();
    if (std::ranges::count(*left, id, &listed_key::id) == 0) {
      return {status_code::invalid_argument, fmt::format("no key has the id {}", id)};
    }
    if (left->size() > 1) return {};
    return {status_code::invalid_argument, "this is the last key: without it nobody can open the store"};
  });
  if (!removed.ok()) return removed;
  const auto objects = (*session)->open_storage();
  const status outcome = objects->remove({object_kind::key, id});
  return outcome.ok() ? objects->sync() : outcome;
}

}  // namespace cutpoint::store
