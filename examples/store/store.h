// A store that deduplicates: streams go in by name, become chunks that are kept once, and come out again.
//
//     STORE/store                    says that it is one, and its cuts
//     STORE/chunks/ab/abcd...        a chunk, by its digest
//     STORE/recipes/NAME             what a stream is made of, written last: all of its chunks are there
//     STORE/incoming/                what is being written; emptied by the next put
#pragma once

#include <functional>
#include <string>

#include <cutpoint/source.h>

#include "files.h"

namespace store {

/// What a put came to.
struct put_summary {
  std::uint64_t bytes = 0;       ///< of the stream
  std::uint64_t chunks = 0;      ///< of the stream
  std::uint64_t new_chunks = 0;  ///< that the store did not have
  std::uint64_t new_bytes = 0;   ///< of those
};

/// What a verification came to.
struct verify_summary {
  std::uint64_t chunks = 0;
  std::uint64_t streams = 0;
  std::uint64_t problems = 0;
};

/// Keeps a stream under a name; makes the store where the folder is empty or not there. In bounded memory. One put into
/// a store at a time, which holds a lock. When it returns without an error the stream is on the disk; otherwise, and
/// when the machine stops meanwhile, the store is as before but for chunks that no stream has.
/// Errors: io_error; cancelled; invalid_argument, for a name that is taken or cannot be a file's, a folder that is no
/// store; unavailable, where another put is under way; those of the engine.
result<put_summary> put(const std::string& store, const std::string& name, cutpoint::source& stream,
                        const cutpoint::cancellation& stop);

/// Writes a stream to an open file. Every chunk is checked before it is written, the whole recipe before all.
/// Errors: io_error; cancelled; invalid_argument, for what is damaged, and a name that cannot be a file's.
status get(const std::string& store, const std::string& name, int output, const cutpoint::cancellation& stop);

/// Reads every chunk and every recipe, and tells each problem in a sentence, in memory that grows with the problems.
/// Errors: io_error, where a folder cannot be read; cancelled.
result<verify_summary> verify(const std::string& store, const cutpoint::cancellation& stop,
                              const std::function<void(const std::string&)>& tell);

}  // namespace store
