// Fuzz target for the reader of chunk traces. Nothing may crash, a refusal has a message, and a trace that is accepted is the
// same after it is written and read again.
#include <tuple>
#include <vector>

#include <cutpoint/cluster/chunk_trace.h>

#include "tests/fuzz/fuzzed_choices.h"

namespace cutpoint::tests {
namespace {

/// The class, the client, the fingerprint and the length of each chunk. A file without chunks has a row with the length 0.
using trace_rows = std::vector<std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint32_t>>;

status read_rows(byte_span bytes, trace_rows& rows) {
  memory_source source(bytes);
  auto reader = cluster::chunk_trace_reader::open(source, "trace");
  if (!reader) return reader.error();
  for (;;) {
    const auto has_file = reader->next_file();
    if (!has_file) return has_file.error();
    if (!*has_file) return {};
    const std::string application = reader->applications()[reader->application()];
    rows.emplace_back(application, reader->client(), 0, 0);
    for (;;) {
      const auto chunks = reader->next_chunks();
      if (!chunks) return chunks.error();
      if (chunks->empty()) break;
      for (const auto& each : *chunks) rows.emplace_back(application, reader->client(), each.fingerprint, each.length);
    }
  }
}

void check_trace(byte_span bytes) {
  trace_rows rows;
  if (const status read = read_rows(bytes, rows); !read.ok()) {
    require(!read.message().empty(), "an error without a message");
    return;
  }
  std::vector<std::uint8_t> written;
  cluster::chunk_trace_writer writer([&](std::string_view more) {
    written.insert(written.end(), more.begin(), more.end());
    return status();
  });
  for (const auto& [application, client, fingerprint, length] : rows) {
    if (length != 0) {
      require(writer.add({fingerprint, length}).ok(), "a chunk that was read cannot be written");
    } else {
      require(writer.begin_file(application, client).ok(), "a file that was read cannot be written");
    }
  }
  require(writer.finish().ok(), "a trace that was read cannot be written");
  trace_rows again;
  require(read_rows(written, again).ok() && again == rows, "a trace is not read back");
}

}  // namespace
}  // namespace cutpoint::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cutpoint::tests::check_trace({data, size});
  return 0;
}
