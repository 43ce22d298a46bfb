// The tuner's proposal of a context: rules for files of the extensions that another rule suits better than the chunker of all.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/tune/facts.h>
#include <cutpoint/tune/sample.h>
#include <cutpoint/tune/search.h>

namespace cutpoint {

/// Proposes a context (PRUNE section 4.3) and sets `facts.context`. `choose` must have recommended a row, whose chunker becomes
/// that of the files without a rule. `extensions` has the extension of each input, in lower case and without a dot, or an empty text;
/// input number k of the sample has `extensions[k]`.
///
/// For each extension with at least 1 MiB in the sample, these are counted and timed on its files alone: fixed lengths of 8 and
/// 64 KiB; fixed lengths of 8 MiB, which leave most files whole, if the sample has all bytes of the inputs; and the recommended
/// algorithm with each mean in `facts.rows`, of which `fixed` has its own length alone. The new chunks of each are compressed, and
/// the goal chooses among the rules by what is left. If no rule's duplicates save more than its chunks cost, the extension gets the
/// longest chunks if compression does not pay, and the recommended chunker otherwise. Files whose compression does not pay are not to
/// be compressed.
///
/// Runs on the calling thread; `progress` may be empty. Errors: those of the fingerprint; cancelled, without a proposal. Throws
/// std::bad_alloc.
[[nodiscard]] status propose_context(const content_sample& sample, const std::vector<std::string>& extensions,
                                     const progress_sink& progress, const cancellation& cancel, tune_facts& facts);

}  // namespace cutpoint
