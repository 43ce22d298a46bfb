#include "store/crypto/record_fingerprinter.h"

#include <map>
#include <mutex>

#include <cutpoint/backends.h>

namespace cutpoint::store {

result<std::unique_ptr<batch_fingerprinter>> fastest_fingerprinter(const fingerprint_recipe& recipe) {
  static std::mutex mutex;
  static std::map<fingerprint_kind, backend> measured;
  const std::lock_guard lock(mutex);
  const auto known = measured.find(recipe.kind);
  auto chosen = fingerprints_on(recipe, known == measured.end() ? backend::automatic : known->second);
  if (!chosen) return chosen.error();
  measured.emplace(recipe.kind, chosen->where);
  return std::move(chosen->batch);
}

result<record_fingerprinter> record_fingerprinter::fastest(const fingerprint_recipe& recipe) {
  auto maker = fastest_fingerprinter(recipe);
  if (!maker) return maker.error();
  return record_fingerprinter(std::move(*maker));
}

}  // namespace cutpoint::store
