// A chunk trace in a file, for a function that reads it.
#pragma once

#include <string>
#include <type_traits>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/source.h>

#include "cli/common/interrupt.h"

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

}  // namespace cutpoint::cli
