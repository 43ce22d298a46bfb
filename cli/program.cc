#include "cli/program.h"

#include <array>
#include <exception>
#include <new>

#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

namespace {

/// Opens /dev/null for each closed standard descriptor, in the direction that fails as a closed one does. Otherwise a
/// file that is opened later would get the number of a standard descriptor.
void occupy_closed_descriptors() {
  constexpr std::array<int, 3> unusable_modes = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      static_cast<void>(::open("/dev/null", unusable_modes[static_cast<std::size_t>(descriptor)]));
    }
  }
}

result<exit_code> run(int argc, char** argv, const program& definition, const console& say) {
  command_line line(definition);
  const auto text = line.parse(argc, argv);
  if (!text) return text.error();
  return *text ? write_all(output_option(), **text, say) : line.chosen().run();
}

}  // namespace

int run_program(int argc, char** argv, const program& definition) {
  console::name_program(definition.name);
  const console say(verbosity::normal);
  exit_code outcome = exit_code::input_failed;
  try {
    occupy_closed_descriptors();
    const auto ended = run(argc, argv, definition, say);
    outcome = ended ? *ended : say.refuse(ended.error());
  } catch (const std::bad_alloc&) {
    say.error("out of memory");
  } catch (const std::exception& unexpected) {
    say.error(unexpected.what());
  }
  return static_cast<int>(outcome);
}

}  // namespace cutpoint::cli
