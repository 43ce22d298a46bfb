// Where the sources of the tests are, and the data beside them.
#pragma once

#include <string>

namespace cutpoint::tests {

/// Returns the folder `tests` of the sources. Only one small object has its path, so that a cache of the compiler finds all others in
/// another checkout.
[[nodiscard]] std::string tests_folder();

}  // namespace cutpoint::tests
