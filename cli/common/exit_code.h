// What the command tells the shell.
#pragma once

namespace cutpoint::cli {

enum class exit_code : int {
  done = 0,
  input_failed = 1,  ///< an input, the output or the system failed; what could be done was done
  wrong_usage = 2,   ///< nothing was done: an option, a name or a bound is wrong
  interrupted = 130,
};

}  // namespace cutpoint::cli
