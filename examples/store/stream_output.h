// The output of a restored stream. Zeros become holes if the output is a regular file that ends at its offset.
#pragma once

#include "files.h"

namespace store {

class stream_output {
 public:
  /// `file` is an open file, pipe or device, which the caller closes. `name` is its name in errors.
  stream_output(int file, std::string name);

  status write(byte_span bytes);
  /// Extends the file to the end of the stream if the stream ends in a hole.
  status finish();

 private:
  int file_;
  std::string name_;
  bool makes_holes_ = false;
  bool ends_in_hole_ = false;
};

}  // namespace store
