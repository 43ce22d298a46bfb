// A chunk store of casync and desync (.castr): one compressed file for each chunk, named by its digest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <zstd.h>

namespace casync {

class chunk_store {
 public:
  /// Creates the folder if it does not exist.
  explicit chunk_store(std::string folder);

  /// Writes the chunk to `ab12/ab12....cacnk` if this file does not exist. Errors: io_error; backend_failure, if zstd fails.
  cutpoint::status add(const cutpoint::digest& digest, cutpoint::byte_span bytes);

 private:
  struct freer {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::string folder_;
  std::unique_ptr<ZSTD_CCtx, freer> context_;
  std::vector<char> compressed_;
};

}  // namespace casync
