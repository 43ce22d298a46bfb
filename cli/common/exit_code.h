// Exit codes of the command.
#pragma once

namespace cutpoint::cli {

enum class exit_code : int {
  done = 0,
  input_failed = 1,  ///< an input, the output or the system failed; all other work is done
  wrong_usage = 2,   ///< an option, a name or a bound is wrong; no input was read
  interrupted = 130,
};

}  // namespace cutpoint::cli
