#include "bindings/python/chunk_expander.h"

namespace cutpoint::python {

nanobind::object chunk_expander::next() {
  const chunk_record& run = records_[next_record_];
  const byte_span digest = run.fingerprint.view();
  nanobind::object chunk = chunk_type_(run.offset + next_in_run_ * run.length, run.length,
                                       nanobind::bytes(reinterpret_cast<const char*>(digest.data()), digest.size()));
  if (++next_in_run_ == run.count) {
    next_in_run_ = 0;
    ++next_record_;
  }
  return chunk;
}

}  // namespace cutpoint::python
