// Answers come before speeds: nothing is measured until these checks have passed.
#pragma once

#include <span>
#include <string>

#include <cutpoint/status.h>

#include "bench/common/configurations.h"

namespace cutpoint::bench {

/// Checks, in this order:
/// - each fingerprint gives a published digest;
/// - the golden input has its known digest, and every entry of the file `goldens` is met on it: the number of chunks
///   and the SHA-256 of all their lengths;
/// - each configuration without an entry covers that input with chunks, and cuts the same when it sees no more than
///   its reach at a time.
/// The error names what was wrong: backend_failure for an answer, io_error for a file of goldens that cannot be read.
[[nodiscard]] status check_answers(const std::string& goldens, std::span<const configuration> configurations);

}  // namespace cutpoint::bench
