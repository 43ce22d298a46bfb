// Bytes choose streams, parameters, segments, lanes and a history: what the engine gives is what the sequential
// algorithm gives.
#include "tests/fuzz/fuzzed_choices.h"
#include "tests/fuzz/require.h"
#include "tests/host/support/tiny_parameters.h"
#include "tests/pipeline/support/exactness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cutpoint::tests;
  fuzzed_choices choices({data, size});
  const std::size_t which = choices.between(0, algorithm_count - 1);
  require_no_fault(exactness_fault(which, choices));
  return 0;
}
