// Returns the version that the build sets.
#include <cutpoint/version.h>

namespace cutpoint {

std::string_view version() noexcept { return CUTPOINT_VERSION; }

}  // namespace cutpoint
