#include "tests/host/support/tests_folder.h"

namespace cutpoint::tests {

std::string tests_folder() { return CUTPOINT_TESTS_FOLDER; }

}  // namespace cutpoint::tests
