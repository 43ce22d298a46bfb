#include "store/index/index_of_caller.h"

namespace cutpoint::store {

result<std::optional<found_record>> index_of_caller::read_place(const store_chunk_place& place, const digest& chunk) {
  const auto table = shards_.tables().find(place.container);
  if (!table) return table.error();
  if (*table == nullptr || place.record >= (*table)->records.size()) return std::optional<found_record>();
  const record_description& record = (*table)->records[place.record].description;
  if (record.kind != record_kind::chunk || record.content != chunk) return std::optional<found_record>();
  return std::optional(record_in(**table, place.record));
}

status index_of_caller::locate(std::span<const digest> chunks, std::span<std::optional<found_record>> records) {
  places_.assign(chunks.size(), std::nullopt);
  if (status asked = index_->look_up(chunks, places_); !asked.ok()) return asked;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!places_[i]) continue;
    auto record = read_place(*places_[i], chunks[i]);
    if (!record) return record.error();
    records[i] = std::move(*record);
    if (records[i]) continue;
    if (status located = shards_.locate(record_kind::chunk, chunks.subspan(i, 1), records.subspan(i, 1)); !located.ok())
      return located;
    if (!records[i]) continue;
    const store_chunk_place right = {*container_name_of(records[i]->container->id), records[i]->ordinal};
    if (status added = index_->add(chunks.subspan(i, 1), {&right, 1}); !added.ok()) return added;
  }
  return {};
}

status index_of_caller::add(const container_name& container) {
  const auto table = shards_.tables().find(container);
  if (!table) return table.error();
  if (*table == nullptr) return {};
  std::vector<digest> chunks;
  std::vector<store_chunk_place> places;
  for (std::uint32_t i = 0; i < (*table)->records.size(); ++i) {
    const record_description& record = (*table)->records[i].description;
    if (record.kind != record_kind::chunk) continue;
    chunks.push_back(record.content);
    places.push_back({container, i});
  }
  return chunks.empty() ? status() : index_->add(chunks, places);
}

}  // namespace cutpoint::store
