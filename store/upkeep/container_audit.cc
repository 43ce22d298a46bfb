#include "store/upkeep/container_audit.h"

#include <algorithm>
#include <mutex>

#include "host/core/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

result<container_auditor> container_auditor::make(const store_reading& store) {
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  CUTPOINT_TRY(auto name, record_fingerprinter::fastest(fingerprint_kind::blake3));
  return container_auditor(store, std::move(check), std::move(name));
}

result<std::vector<std::uint8_t>> container_auditor::content(const placed_record& record) const {
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(record.position);
  std::vector<std::uint8_t> copy(begin,
                                 begin + static_cast<std::ptrdiff_t>(record_bytes(record.description.stored_bytes)));
  std::vector<std::uint8_t> content;
  const status outcome = opener_->append_content(record, copy, content);
  return outcome.ok() ? result<std::vector<std::uint8_t>>(std::move(content)) : outcome;
}

result<bool> has_digest(const record_description& description, byte_span content, record_fingerprinter& check) {
  byte_span named = content;
  if (description.kind == record_kind::node) {
    const auto without_hints = node_content(content);
    if (!without_hints) return false;
    named = *without_hints;
  }
  CUTPOINT_TRY(const auto digest_of_bytes, check(named));
  return digest_of_bytes == description.content;
}

result<audited_container> container_auditor::audit(const std::string& id) {
  const object_name name{object_kind::container, id};
  const std::string path = path_of(name);
  audited_container audited;
  audited.id = id;
  CUTPOINT_TRY(const auto size, store_.objects.size(name));
  if (size > largest_container_bytes) {
    audited.outcome = damage(path, "its length is impossible");
    return audited;
  }
  bytes_.resize(size);
  CUTPOINT_RETURN_IF_FAILED(store_.objects.read(name, 0, bytes_));
  CUTPOINT_TRY(const auto digest_of_bytes, name_(bytes_));
  auto table = decode_container_table(bytes_, id, store_.key);
  if (!table && !is_damage(table.error())) return table.error();
  if (!table) {
    audited.outcome = table.error();
  } else if (!id.ends_with(to_hex(digest_of_bytes))) {
    audited.outcome = damage(path, "its bytes do not have its name");
  }
  // The table is enough to read a record: damage of the record's own description costs nothing.
  const container_table readable = table ? std::move(*table) : recover_records(bytes_, id, store_.key);
  audited.bytes = bytes_.size();
  audited.whole.id = id;
  audited.whole.salt = readable.salt;
  opener_.emplace(readable.salt, store_.key);
  for (const placed_record& each : readable.records) {
    if (each.description.kind == record_kind::padding) continue;
    const auto bytes = content(each);
    if (!bytes && !is_damage(bytes.error())) return bytes.error();
    CUTPOINT_TRY(const auto is_right, bytes ? has_digest(each.description, *bytes, check_) : false);
    if (is_right) {
      audited.whole.records.push_back(each);
      continue;
    }
    if (each.description.kind == record_kind::chunk) audited.lost_chunks.push_back(each.description.content);
    if (audited.outcome.ok()) {
      audited.outcome = damage(path, fmt::format("the record at {} does not have its digest", each.position));
    }
  }
  return audited;
}

status audit_containers(const store_reading& store, const std::vector<std::string>& ids, std::uint64_t threads,
                        const cancellation* cancel,
                        const std::function<status(const audited_container&, const container_auditor&)>& take) {
  std::vector<container_auditor> auditors;
  const std::size_t count = std::min(thread_count(threads), ids.size());
  for (std::size_t i = 0; i < count; ++i) {
    CUTPOINT_TRY(auto auditor, container_auditor::make(store));
    auditors.push_back(std::move(auditor));
  }
  std::mutex mutex;
  status outcome;
  run_parallel(auditors.size(), ids.size(), [&](std::size_t worker, std::size_t item) {
    {
      const std::lock_guard lock(mutex);
      if (cancel != nullptr && cancel->is_requested()) outcome = stopped_as_asked();
      if (!outcome.ok()) return;
    }
    const auto audited = auditors[worker].audit(ids[item]);
    const std::lock_guard lock(mutex);
    if (!outcome.ok()) return;
    // A container that was removed after it was listed belongs to no snapshot any more.
    if (!audited && is_absence(audited.error())) return;
    outcome = audited ? take(*audited, auditors[worker]) : audited.error();
  });
  return outcome;
}

}  // namespace cutpoint::store
