#include "chunk_files.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#include "store_folder.h"

namespace store {

namespace {

constexpr std::size_t folder_letters = 2;
constexpr std::size_t most_waiting = 1024;
constexpr std::uint64_t most_waiting_bytes = 64 * cutpoint::MiB;

std::string incoming_path(const std::string& store, const std::string& digest) {
  return incoming_folder(store) + "/" + digest;
}

}  // namespace

std::string chunk_path(const std::string& store, const std::string& digest) {
  return chunks_folder(store) + "/" + digest.substr(0, folder_letters) + "/" + digest;
}

result<std::vector<std::uint8_t>> read_chunk(const std::string& store, const std::string& digest, std::uint64_t length,
                                             cutpoint::fingerprinter& hasher) {
  auto bytes = read_file(chunk_path(store, digest), length);
  if (!bytes) return bytes;
  const auto found = hasher(*bytes);
  if (!found) return found.error();
  if (to_hex(*found) != digest) {
    return status(cutpoint::status_code::invalid_argument,
                  chunk_path(store, digest) + ": has other bytes than its name says");
  }
  return bytes;
}

status chunk_writer::add(const std::string& digest, byte_span bytes) {
  struct stat there = {};
  const bool is_there = ::stat(chunk_path(store_, digest).c_str(), &there) == 0;
  if (is_there && static_cast<std::uint64_t>(there.st_size) == bytes.size()) return {};
  const std::string path = incoming_path(store_, digest);
  if (::access(path.c_str(), F_OK) == 0) return {};  // it has a temporary name
  auto file = create_file(path);
  if (!file) return file.error();
  if (status written = write_all(file->number(), bytes, path); !written.ok()) return written;
  waiting_.push_back(digest);
  waiting_bytes_ += bytes.size();
  ++new_chunks_;
  new_bytes_ += bytes.size();
  return waiting_.size() < most_waiting && waiting_bytes_ < most_waiting_bytes ? status() : name_waiting();
}

status chunk_writer::sync() {
  return ::syncfs(folder_.number()) == 0 ? status() : cutpoint::system_failure(store_, "flushed", errno);
}

status chunk_writer::name_waiting() {
  if (waiting_.empty()) return {};
  if (status flushed = sync(); !flushed.ok()) return flushed;
  for (const std::string& digest : waiting_) {
    if (status named = rename_file(incoming_path(store_, digest), chunk_path(store_, digest)); !named.ok())
      return named;
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  return {};
}

status chunk_writer::finish() {
  status named = name_waiting();
  return named.ok() ? sync() : named;  // flushes the names
}

}  // namespace store
