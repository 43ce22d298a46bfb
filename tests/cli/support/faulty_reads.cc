// Calls that fail as those of a bad disk or of an odd host do: a library for LD_PRELOAD, between the command and the C library.
//
// A file whose name ends in CUTPOINT_TIME_SUFFIX has an mtime of 5 seconds and 2^30 - 1 nanoseconds, which ext4 gives of a damaged
// inode.
//
// Folders cannot be synced if CUTPOINT_FOLDER_SYNC_ERROR is an errno, which is then the answer.
//
// A file whose path ends in CUTPOINT_CLOSE_SUFFIX is closed with ENOSPC, as network file systems say that they were full.
//
// Of every file whose path ends in CUTPOINT_FAULT_SUFFIX no byte from CUTPOINT_FAULT_OFFSET on can be read (EIO); what
// lies before it can. A file whose path ends in CUTPOINT_STREAM_SUFFIX can be read from front to back only, as some of
// the kernel's own files: pread and lseek fail (ESPIPE).
//
// OpenSSL lacks the algorithms that CUTPOINT_MISSING_ALGORITHMS names, such as "MD5 AES-256-CTR", as it lacks some under FIPS rules.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

using read_call = ssize_t(int, void*, std::size_t);
using read_at_call = ssize_t(int, void*, std::size_t, off_t);
using seek_call = off_t(int, off_t, int);

template <class Call>
Call* replaced(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

/// Whether the path of an open file ends as a variable of the environment says.
bool is_meant(int descriptor, const char* variable) {
  const char* suffix = std::getenv(variable);
  if (suffix == nullptr) return false;
  char link[64];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  char path[PATH_MAX];
  const ssize_t length = ::readlink(link, path, sizeof(path));
  return length > 0 && std::string_view(path, static_cast<std::size_t>(length)).ends_with(suffix);
}

bool is_faulty(int descriptor) { return is_meant(descriptor, "CUTPOINT_FAULT_SUFFIX"); }

off_t fault_offset() {
  const char* text = std::getenv("CUTPOINT_FAULT_OFFSET");
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

/// What a call gives that failed so.
int failed(int error) {
  errno = error;
  return -1;
}

/// Bytes that a read at `offset` may ask for: 0 where it fails. At the end of the file, which can be seen, all.
std::size_t readable_size(int descriptor, std::size_t size, off_t offset) {
  const off_t fault = fault_offset();
  if (offset < fault) return std::min(size, static_cast<std::size_t>(fault - offset));
  char byte = 0;
  static const auto look = replaced<read_at_call>("pread");
  return look(descriptor, &byte, 1, offset) == 0 ? size : 0;
}

template <class Call>
ssize_t read_before_fault(int descriptor, std::size_t size, off_t offset, Call call) {
  const std::size_t readable = readable_size(descriptor, size, offset);
  return readable != 0 || size == 0 ? call(readable) : failed(EIO);
}

bool is_stream(int descriptor) { return is_meant(descriptor, "CUTPOINT_STREAM_SUFFIX"); }

ssize_t read_at(read_at_call* call, int descriptor, void* buffer, std::size_t size, off_t offset) {
  if (is_stream(descriptor)) return failed(ESPIPE);
  if (!is_faulty(descriptor)) return call(descriptor, buffer, size, offset);
  return read_before_fault(descriptor, size, offset,
                           [&](std::size_t readable) { return call(descriptor, buffer, readable, offset); });
}

/// Whether OpenSSL lacks an algorithm.
bool is_missing(std::string_view algorithm) {
  const char* names = std::getenv("CUTPOINT_MISSING_ALGORITHMS");
  if (names == nullptr) return false;
  return (' ' + std::string(names) + ' ').find(' ' + std::string(algorithm) + ' ') != std::string::npos;
}

/// What a function of OpenSSL that finds an algorithm by its name returns.
void* fetched(const char* function, void* library, const char* algorithm, const char* properties) {
  using fetch_call = void*(void*, const char*, const char*);
  return is_missing(algorithm) ? nullptr : replaced<fetch_call>(function)(library, algorithm, properties);
}

}  // namespace

extern "C" {

void* EVP_MD_fetch(void* library, const char* algorithm, const char* properties) {
  return fetched("EVP_MD_fetch", library, algorithm, properties);
}

void* EVP_CIPHER_fetch(void* library, const char* algorithm, const char* properties) {
  return fetched("EVP_CIPHER_fetch", library, algorithm, properties);
}

void* EVP_KDF_fetch(void* library, const char* algorithm, const char* properties) {
  return fetched("EVP_KDF_fetch", library, algorithm, properties);
}

const void* EVP_aes_256_ctr() {
  return is_missing("AES-256-CTR") ? nullptr : replaced<const void*()>("EVP_aes_256_ctr")();
}

int EVP_PBE_scrypt(const char* password, std::size_t password_size, const unsigned char* salt, std::size_t salt_size,
                   std::uint64_t n, std::uint64_t r, std::uint64_t p, std::uint64_t most_memory, unsigned char* key,
                   std::size_t key_size) {
  using scrypt_call = decltype(EVP_PBE_scrypt);
  if (is_missing("SCRYPT")) return 0;
  return replaced<scrypt_call>("EVP_PBE_scrypt")(password, password_size, salt, salt_size, n, r, p, most_memory, key,
                                                 key_size);
}

int close(int descriptor) {
  static const auto call = replaced<int(int)>("close");
  const bool fails = is_meant(descriptor, "CUTPOINT_CLOSE_SUFFIX");
  const int outcome = call(descriptor);
  return fails ? failed(ENOSPC) : outcome;
}

int fsync(int descriptor) {
  static const auto call = replaced<int(int)>("fsync");
  const char* const error = std::getenv("CUTPOINT_FOLDER_SYNC_ERROR");
  struct stat facts = {};
  const bool fails = error != nullptr && ::fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode);
  return fails ? failed(std::atoi(error)) : call(descriptor);
}

int statx(int directory, const char* name, int flags, unsigned mask, struct statx* facts) noexcept {
  static const auto call = replaced<int(int, const char*, int, unsigned, struct statx*)>("statx");
  const int outcome = call(directory, name, flags, mask, facts);
  const char* const suffix = std::getenv("CUTPOINT_TIME_SUFFIX");
  if (outcome == 0 && suffix != nullptr && std::string_view(name).ends_with(suffix)) {
    facts->stx_mtime.tv_sec = 5;
    facts->stx_mtime.tv_nsec = (1u << 30) - 1;
  }
  return outcome;
}

ssize_t read(int descriptor, void* buffer, std::size_t size) {
  static const auto call = replaced<read_call>("read");
  if (!is_faulty(descriptor)) return call(descriptor, buffer, size);
  return read_before_fault(descriptor, size, ::lseek(descriptor, 0, SEEK_CUR),
                           [&](std::size_t readable) { return call(descriptor, buffer, readable); });
}

ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset) {
  static const auto call = replaced<read_at_call>("pread");
  return read_at(call, descriptor, buffer, size, offset);
}

ssize_t pread64(int descriptor, void* buffer, std::size_t size, off64_t offset) {
  static const auto call = replaced<read_at_call>("pread64");
  return read_at(call, descriptor, buffer, size, offset);
}

off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  static const auto call = replaced<seek_call>("lseek");
  return is_stream(descriptor) ? failed(ESPIPE) : call(descriptor, offset, whence);
}

off64_t lseek64(int descriptor, off64_t offset, int whence) noexcept {
  static const auto call = replaced<seek_call>("lseek64");
  return is_stream(descriptor) ? failed(ESPIPE) : call(descriptor, offset, whence);
}

}  // extern "C"
