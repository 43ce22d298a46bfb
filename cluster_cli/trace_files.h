// Chunk traces in files, for functions that read or write them.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/source.h>

#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/interrupt.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

/// Opens a trace and calls a function with its reader. Errors: those of opening, and of the function.
template <class Function>
std::invoke_result_t<Function, cluster::chunk_trace_reader&> with_trace(const std::string& path, Function&& function) {
  auto file = file_source::open(path, &interruption());
  if (!file) return file.error();
  auto reader = cluster::chunk_trace_reader::open(*file, path);
  if (!reader) return reader.error();
  return function(*reader);
}

/// Writes a trace to an output: the function gets the writer, and returns how that went. Prints what failed. Returns the exit code.
template <class Function>
[[nodiscard]] result<exit_code> write_trace(output& out, const console& say, Function&& function) {
  if (out.is_terminal()) return usage_error("a chunk trace is not written to a terminal: give -o FILE");
  cluster::chunk_trace_writer writer([&](std::string_view bytes) { return out.write(bytes); });
  status outcome = out.begin();
  if (outcome.ok()) outcome = function(writer);
  if (outcome.ok()) outcome = writer.finish();
  if (outcome.ok()) outcome = out.finish();
  if (outcome.ok()) return exit_code::done;
  say.error(outcome.message());
  return outcome.code() == status_code::cancelled ? exit_code::interrupted : exit_code::input_failed;
}

}  // namespace cutpoint::cli
