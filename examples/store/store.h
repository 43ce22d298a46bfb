// A store that deduplicates named streams: it keeps equal chunks once.
//
//     STORE/store                    marks the folder as a store, and has its cuts
//     STORE/chunks/ab/abcd...        a chunk, named by its digest
//     STORE/recipes/NAME             the chunks of a stream; written after all of them
//     STORE/incoming/                files that are being written; the next put empties it
#pragma once

#include <functional>
#include <string>

#include <cutpoint/source.h>

#include "files.h"

namespace store {

/// The result of a put.
struct put_summary {
  std::uint64_t bytes = 0;       ///< of the stream
  std::uint64_t chunks = 0;      ///< of the stream
  std::uint64_t new_chunks = 0;  ///< chunks that the store did not have
  std::uint64_t new_bytes = 0;   ///< the bytes of the new chunks
};

/// The result of a verification.
struct verify_summary {
  std::uint64_t chunks = 0;
  std::uint64_t streams = 0;
  std::uint64_t problems = 0;
};

/// Stores a stream under a name, in bounded memory. Makes the store if the folder is empty or does not exist. A lock allows
/// one put at a time. After success the stream is on the disk. After an error, or if the machine stops meanwhile, the store
/// has the same streams as before, and possibly chunks that belong to no stream.
/// Errors: io_error; cancelled; invalid_argument, if the name exists or cannot be a file's, or if the folder is not a
/// store; unavailable, if another put is running; those of the engine.
result<put_summary> put(const std::string& store, const std::string& name, cutpoint::source& stream,
                        const cutpoint::cancellation& stop);

/// Writes a stream to an open file. Checks the whole recipe first, and every chunk before it is written.
/// Errors: io_error; cancelled; invalid_argument, if something is damaged or the name cannot be a file's.
status get(const std::string& store, const std::string& name, int output, const cutpoint::cancellation& stop);

/// Reads every chunk and every recipe, and passes each problem to `tell` as a sentence. Errors: io_error, if a folder cannot
/// be read; cancelled.
result<verify_summary> verify(const std::string& store, const cutpoint::cancellation& stop,
                              const std::function<void(const std::string&)>& tell);

}  // namespace store
