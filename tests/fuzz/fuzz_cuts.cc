// Fuzz target for cuts. The input chooses an algorithm, tiny parameters and a stream. The cuts must be as defined,
// cover the stream and be restartable.
#include <cutpoint/chunker.h>

#include "tests/fuzz/fuzzed_choices.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::tests {
namespace {

void check_cuts(byte_span input) {
  fuzzed_choices choices(input);
  const std::size_t which = choices.between(0, algorithm_count - 1);
  const auto chunker = chunker::make(tiny_parameters(which, choices));
  require(chunker.ok(), chunker.ok() ? "" : chunker.error().message());
  const byte_span stream = choices.rest();
  const auto chunks = chunker->find_cuts(stream);
  require_no_fault(cover_fault(*chunker, chunks, stream.size()));
  require_no_fault(definition_fault(*chunker, stream));
  require_no_fault(restart_fault(*chunker, stream, chunks));
  require_no_fault(short_window_fault(*chunker, stream, chunks, 1 + stream.size() / 64));
}

}  // namespace
}  // namespace cutpoint::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cutpoint::tests::check_cuts({data, size});
  return 0;
}
