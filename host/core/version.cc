// The release that this is, as the build names it.
#include <cutpoint/version.h>

namespace cutpoint {

std::string_view version() noexcept { return CUTPOINT_VERSION; }

}  // namespace cutpoint
