#include "store/index/store_index.h"

namespace cutpoint::store {

status store_index::look_up(std::span<const digest> digests, std::span<index_answer> answers) {
  records_found_.assign(digests.size(), std::nullopt);
  if (status located = shards_.locate(records_, digests, records_found_); !located.ok()) return located;
  if (status looked_up = inserted_.look_up(digests, answers); !looked_up.ok()) return looked_up;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (records_found_[i]) answers[i] = index_answer::present;
  }
  return {};
}

status store_index::insert(std::span<const digest> digests, std::span<index_answer> answers) {
  records_found_.assign(digests.size(), std::nullopt);
  if (status located = shards_.locate(records_, digests, records_found_); !located.ok()) return located;
  absent_.clear();
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (!records_found_[i]) absent_.push_back(digests[i]);
  }
  absent_answers_.resize(absent_.size());
  if (status inserted = inserted_.insert(absent_, absent_answers_); !inserted.ok()) return inserted;
  auto next_answer = absent_answers_.begin();
  for (std::size_t i = 0; i < digests.size(); ++i)
    answers[i] = records_found_[i] ? index_answer::present : *next_answer++;
  return {};
}

}  // namespace cutpoint::store
