#include "store/upkeep/container_audit.h"

#include <algorithm>
#include <span>
#include <utility>

#include "host/core/parallel.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

/// A thread reads so much of a container at once.
constexpr std::size_t read_bytes = 4 * MiB;
/// The least memory for a container: so much is always mapped apart, so that it goes back to the system before a longer container
/// gets its memory. What a container does not fill is not touched.
constexpr std::size_t least_capacity = 40 * MiB;

}  // namespace

result<container_auditor> container_auditor::make(const store_reading& store, std::uint64_t threads) {
  CUTPOINT_TRY(auto name, record_fingerprinter::fastest(fingerprint_kind::blake3));
  container_auditor auditor(store, std::move(name));
  for (std::size_t i = 0; i < thread_count(threads); ++i) {
    CUTPOINT_TRY(auto check, store.make_fingerprinter());
    auditor.lanes_.push_back({std::move(check), std::nullopt});
  }
  return auditor;
}

/// Reads the bytes of a container.
status container_auditor::read(const object_name& name) {
  CUTPOINT_TRY(const auto size, store_.objects.size(name));
  if (size > largest_container_bytes) return damage(path_of(name), "its length is impossible");
  if (size > bytes_.capacity()) {
    bytes_ = {};  // a vector that grows keeps the old memory meanwhile
    bytes_.reserve(std::max<std::size_t>(size, least_capacity));
  }
  bytes_.resize(size);
  const std::size_t at_once = std::max(lanes_.size(), store_.objects.parallel_requests());
  return try_parallel(at_once, (size + read_bytes - 1) / read_bytes, [&](std::size_t, std::size_t item) {
    const std::size_t begin = item * read_bytes;
    return store_.objects.read(name, begin, std::span(bytes_).subspan(begin, std::min(size - begin, read_bytes)));
  });
}

result<std::vector<std::uint8_t>> container_auditor::content(const placed_record& record,
                                                             const record_opener& opener) const {
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(record.position);
  std::vector<std::uint8_t> copy(begin,
                                 begin + static_cast<std::ptrdiff_t>(record_bytes(record.description.stored_bytes)));
  std::vector<std::uint8_t> content;
  const status outcome = opener.append_content(record, copy, content);
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

result<bool> container_auditor::is_whole(const placed_record& record, lane& reader) const {
  const auto bytes = content(record, *reader.opener);
  if (!bytes && !is_damage(bytes.error())) return bytes.error();
  return bytes ? has_digest(record.description, *bytes, reader.check) : false;
}

result<audited_container> container_auditor::audit(const std::string& id) {
  const object_name name{object_kind::container, id};
  const std::string path = path_of(name);
  audited_container audited;
  audited.id = id;
  if (const status outcome = read(name); !outcome.ok()) {
    if (!is_damage(outcome)) return outcome;
    audited.outcome = outcome;
    return audited;
  }
  auto table = decode_container_table(bytes_, id, store_.key);
  if (!table && !is_damage(table.error())) return table.error();
  // The table is enough to read a record: damage of the record's own description costs nothing.
  if (!table) audited.outcome = table.error();
  const container_table readable = table ? std::move(*table) : recover_records(bytes_, id, store_.key);
  audited.bytes = bytes_.size();
  audited.whole.id = id;
  audited.whole.salt = readable.salt;
  for (lane& each : lanes_) each.opener.emplace(readable.salt, store_.key);
  digest digest_of_bytes;
  std::vector<char> are_whole(readable.records.size());
  const status compared =
      try_parallel(lanes_.size(), 1 + are_whole.size(), [&](std::size_t worker, std::size_t item) -> status {
        if (item == 0) {  // takes the longest
          CUTPOINT_TRY(digest_of_bytes, name_(bytes_));
          return {};
        }
        const placed_record& record = readable.records[item - 1];
        if (record.description.kind == record_kind::padding) return {};
        CUTPOINT_TRY(are_whole[item - 1], is_whole(record, lanes_[worker]));
        return {};
      });
  if (!compared.ok()) return compared;
  if (audited.outcome.ok() && !id.ends_with(to_hex(digest_of_bytes))) {
    audited.outcome = damage(path, "its bytes have changed: they do not give its name");
  }
  for (std::size_t i = 0; i < are_whole.size(); ++i) {
    const placed_record& each = readable.records[i];
    if (are_whole[i] != 0) {
      audited.whole.records.push_back(each);
      continue;
    }
    if (each.description.kind == record_kind::padding) continue;
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
  CUTPOINT_TRY(auto auditor, container_auditor::make(store, threads));
  for (const std::string& each : ids) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    const auto audited = auditor.audit(each);
    // A container that was removed after it was listed belongs to no snapshot any more.
    if (!audited && is_absence(audited.error())) continue;
    if (!audited) return audited.error();
    CUTPOINT_RETURN_IF_FAILED(take(*audited, auditor));
  }
  return {};
}

}  // namespace cutpoint::store
