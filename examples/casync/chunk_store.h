// A chunk store of casync and desync (.castr): one compressed file for each chunk, named by its digest.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <zstd.h>

namespace casync {

class chunk_store {
 public:
  /// Creates the folder if it does not exist.
  explicit chunk_store(std::string folder) : folder_(std::move(folder)), context_(ZSTD_createCCtx()) {}

  /// Writes the chunk to `ab12/ab12....cacnk` if this file does not exist. Errors: io_error; backend_failure, if zstd fails.
  cutpoint::status add(const cutpoint::digest& digest, cutpoint::byte_span bytes) {
    constexpr std::size_t folder_letters = 4;
    const std::string name = to_hex(digest);
    const std::filesystem::path folder = std::filesystem::path(folder_) / name.substr(0, folder_letters);
    const std::filesystem::path path = folder / (name + ".cacnk");
    std::error_code failure;
    if (std::filesystem::exists(path, failure)) return {};
    std::filesystem::create_directories(folder, failure);
    if (failure) return cutpoint::system_failure(folder.native(), "created", failure.value());

    compressed_.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t size = ZSTD_compressCCtx(context_.get(), compressed_.data(), compressed_.size(), bytes.data(),
                                               bytes.size(), ZSTD_CLEVEL_DEFAULT);
    if (ZSTD_isError(size) != 0)
      return {cutpoint::status_code::backend_failure, path.native() + ": " + ZSTD_getErrorName(size)};

    const std::filesystem::path unfinished = path.native() + ".new";  // so that no reader sees an incomplete chunk
    std::ofstream file(unfinished, std::ios::binary);
    file.write(compressed_.data(), static_cast<std::streamsize>(size));
    file.close();
    if (!file) return cutpoint::system_failure(unfinished.native(), "written", errno);
    std::filesystem::rename(unfinished, path, failure);
    if (failure) return cutpoint::system_failure(path.native(), "created", failure.value());
    return {};
  }

 private:
  struct freer {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::string folder_;
  std::unique_ptr<ZSTD_CCtx, freer> context_;
  std::vector<char> compressed_;
};

}  // namespace casync
