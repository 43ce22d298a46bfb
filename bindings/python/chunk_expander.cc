#include "bindings/python/chunk_expander.h"

namespace cutpoint::python {

nanobind::object chunk_expander::next() {
  const chunk_record& run = runs_[at_];
  const byte_span digest = run.fingerprint.view();
  nanobind::object chunk = type_(run.offset + within_ * run.length, run.length,
                                 nanobind::bytes(reinterpret_cast<const char*>(digest.data()), digest.size()));
  if (++within_ == run.count) {
    within_ = 0;
    ++at_;
  }
  return chunk;
}

}  // namespace cutpoint::python
