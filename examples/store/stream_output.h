// Where a stream is restored to. Zeros become holes, where that is a file that ends where the stream begins.
#pragma once

#include "files.h"

namespace store {

class stream_output {
 public:
  /// An open file, pipe or device that the caller keeps; `name` is what failures call it.
  stream_output(int file, std::string name);

  status write(byte_span bytes);
  /// Makes the file as long as the stream, if that ends in a hole.
  status finish();

 private:
  int file_;
  std::string name_;
  bool makes_holes_ = false;
  bool ends_in_hole_ = false;
};

}  // namespace store
