// Synthetic chunk traces: versions of real files that go on changing as they did, at the level of fingerprints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/routed_chunk.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cluster {

/// How a version differs from the one before. A change is consecutive chunks that the version before does not have.
struct version_changes {
  double changed_share = 0;  ///< of a version's chunks, those in changes; from 0 to 1
  double change_chunks = 1;  ///< mean length of a change in chunks, at least 1
};

/// A class of a trace whose files are versions, each of the one before.
struct versioned_class {
  std::string application;
  std::vector<routed_chunk> first_version;
  std::uint64_t version_count = 0;
  version_changes changes;  ///< as measured; no changes if there is one version
};

/// Reads a trace to its end, and takes the files of each class for versions. The memory is that of two versions of each class.
/// Errors: those of the reader; cancelled.
[[nodiscard]] result<std::vector<versioned_class>> measure_changes(chunk_trace_reader& trace,
                                                                   const cancellation* cancel);

struct evolution_options {
  std::uint64_t version_count = 1;  ///< of each class, at least 1
  std::uint64_t seed = 0;
  const cancellation* cancel = nullptr;  ///< checked between files; may be null
};

/// Writes the first versions of all classes as they are, then the second versions, and so on. In each later version, changes
/// and what lies between them have random lengths with the means of the class (a Markov chain with two states). A chunk that
/// changes gets a new fingerprint and keeps its length. Names of classes get the beginning "synthetic-". Equal classes and
/// options give equal traces. Does not call the writer's `finish`. Errors: those of the writer; cancelled.
[[nodiscard]] status write_versions(chunk_trace_writer& writer, std::span<const versioned_class> classes,
                                    const evolution_options& options);

}  // namespace cutpoint::cluster
