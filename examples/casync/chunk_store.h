// A chunk store of casync and desync (.castr): each chunk in a file of its own, compressed, named by its digest.
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
  /// Makes the folder where it is not there.
  explicit chunk_store(std::string folder);

  /// Adds a chunk that is not there, as `ab12/ab12....cacnk`. Errors: io_error; backend_failure, of zstd.
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
