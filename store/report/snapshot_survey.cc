#include "store/report/snapshot_survey.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <cutpoint/dedup.h>

#include "store/files/list.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

class surveyor {
 public:
  surveyor(const store_reading& store, const chunking_context& context, record_fingerprinter check)
      : store_(store), context_(context), nodes_(store.objects, store.key, store.shards, std::move(check)) {}

  result<snapshot_survey> survey(const record_reference& root, const cancellation* cancel) {
    folder_entry top;
    top.kind = file_kind::directory;
    top.node = root;
    const status walked =
        visit_tree(top, "/", nodes_, [&](const std::string& path, const folder_entry& entry) -> status {
          if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
          return entry.kind == file_kind::regular_file ? add(path, entry) : status();
        });
    if (!walked.ok()) return walked;
    survey_.layout.containers = seen_.size();
    for (auto& [rule_and_name, kind] : kinds_) {
      kind.class_name = context_.class_name(rule_and_name.first);
      kind.kind = rule_and_name.second;
      survey_.kinds.push_back(kind);
    }
    std::ranges::stable_sort(survey_.kinds, std::greater(), &kind_totals::bytes);
    return survey_;
  }

 private:
  status add(const std::string& path, const folder_entry& file) {
    if (file.link_count > 1 && !linked_files_.insert({file.device, file.inode}).second) return {};
    kind_totals& kind = kinds_[{context_.rule_of(path), kind_of_file(path)}];
    ++kind.files;
    kind.bytes += file.size;
    const status visited = visit_file(file, 0, UINT64_MAX, nodes_, [&](const stored_extent& extent, std::uint64_t) {
      if (extent.kind == extent_kind::hole) return status();
      survey_.layout.bytes += extent.bytes();
      chunks_.push_back(extent.record.content);
      return chunks_.size() < located_at_once ? status() : locate(kind);
    });
    return visited.ok() ? locate(kind) : visited;
  }

  status locate(kind_totals& kind) {
    located_.assign(chunks_.size(), std::nullopt);
    if (status located = store_.shards.locate(record_kind::chunk, chunks_, located_); !located.ok()) return located;
    for (std::size_t i = 0; i < located_.size(); ++i) {
      if (!located_[i]) return damage("the record " + to_hex(chunks_[i]), "no container has it");
      std::vector<bool>& seen = seen_[located_[i]->container->id];
      if (seen.size() <= located_[i]->ordinal) seen.resize(located_[i]->ordinal + std::size_t{1});
      if (seen[located_[i]->ordinal]) continue;
      seen[located_[i]->ordinal] = true;
      const std::uint64_t bytes = located_[i]->place.description.stored_bytes;
      survey_.layout.stored_bytes += bytes;
      kind.stored_bytes += bytes;
    }
    chunks_.clear();
    return {};
  }

  const store_reading& store_;
  const chunking_context& context_;
  record_reader nodes_;
  snapshot_survey survey_;
  std::map<std::pair<std::size_t, std::string>, kind_totals> kinds_;  ///< by rules and names
  std::set<std::pair<std::uint64_t, std::uint64_t>> linked_files_;    ///< with several names, by device and inode
  std::unordered_map<std::string, std::vector<bool>> seen_;           ///< records of each container, by its id
  std::vector<digest> chunks_;                                        ///< that are not located yet
  std::vector<std::optional<found_record>> located_;
};

}  // namespace

result<snapshot_survey> survey_snapshot(const store_reading& store, const chunking_context& context,
                                        const record_reference& root, const cancellation* cancel) {
  auto check = store.make_fingerprinter();
  if (!check) return check.error();
  return surveyor(store, context, std::move(*check)).survey(root, cancel);
}

}  // namespace cutpoint::store
