#include "store/prune/kept_copies.h"

#include <vector>

#include "store/check/container_audit.h"
#include "store/container/container_reader.h"
#include "store/format/failure.h"

namespace cutpoint::store {

status kept_copies::spare(const live_records& marks, const std::set<container_name>& lost,
                          std::set<container_name>& removed) {
  storage& objects = opened_store_.objects();
  table_cache tables(objects, opened_store_.key(), table_cache::usual_bytes, lost);
  auto shards = shard_index::open(objects, opened_store_.key().kind(), tables);
  if (!shards) return shards.error();
  auto check = opened_store_.reading().make_fingerprinter();
  if (!check) return check.error();
  std::vector<found_record> copies;
  // Whether all copies of a container's records that are kept instead of it are whole.
  const auto has_whole_copies = [&](const container_name& name) -> result<bool> {
    const auto table = tables.find(name);
    if (!table) return table.error();
    if (*table == nullptr) return true;  // it is lost, or removed already
    for (const placed_record& each : (*table)->records) {
      if (each.description.kind == record_kind::padding) continue;
      if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
      copies.clear();
      if (status located = shards->locate_all(each.description.kind, each.description.content, copies); !located.ok()) {
        return located;
      }
      for (const found_record& copy : copies) {
        const auto container = marks.find(*container_name_of(copy.container->id));
        if (!container || removed.contains(marks.name(*container)) || !marks.is_live(*container, copy.ordinal))
          continue;
        const auto whole = is_whole(copy, *check);
        if (!whole || !*whole) return whole;
      }
    }
    return true;
  };
  for (auto each = removed.begin(); each != removed.end();) {
    const auto whole = has_whole_copies(*each);
    if (!whole) return whole.error();
    each = *whole ? std::next(each) : removed.erase(each);
  }
  return {};
}

result<bool> kept_copies::is_whole(const found_record& copy, record_fingerprinter& check) {
  const place where{*container_name_of(copy.container->id), copy.ordinal};
  if (whole_.contains(where)) return true;
  if (broken_.contains(where)) return false;
  const auto content = read_record(opened_store_.objects(), *copy.container, copy.place, opened_store_.key());
  if (!content && !is_damage(content.error()) && !is_absence(content.error())) return content.error();
  const auto outcome = content ? has_digest(copy.place.description, *content, check) : result<bool>(false);
  if (!outcome) return outcome;
  const bool is_right = *outcome;
  (is_right ? whole_ : broken_).insert(where);
  if (!is_right && damaged_) {
    damaged_(path_of({object_kind::container, copy.container->id}),
             content ? damage("a record", "its bytes do not have its digest") : content.error());
  }
  return is_right;
}

}  // namespace cutpoint::store
