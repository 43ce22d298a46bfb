// Fuzz target for the engine. The input chooses streams, parameters, segments, lanes and a history. The chunks must be
// those of the sequential algorithm.
#include "tests/fuzz/fuzzed_choices.h"
#include "tests/host/support/tiny_parameters.h"
#include "tests/pipeline/support/exactness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cutpoint::tests;
  fuzzed_choices choices({data, size});
  const std::size_t which = choices.between(0, algorithm_count - 1);
  require_no_fault(exactness_fault(which, choices));
  return 0;
}
