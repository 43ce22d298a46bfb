// Calls that fail as those of a bad disk or of an odd host do: a library for LD_PRELOAD, between the command and the C library.
//
// A file whose name ends in CUTPOINT_TIME_SUFFIX has an mtime of 5 seconds and 2^30 - 1 nanoseconds, which ext4 gives of a damaged
// inode.
//
// Folders cannot be synced if CUTPOINT_FOLDER_SYNC_ERROR is an errno, which is then the answer.
//
// A file whose path ends in CUTPOINT_CLOSE_SUFFIX is closed with ENOSPC, as network file systems say that they were full.
//
// A file whose path ends in CUTPOINT_END_SUFFIX ends at CUTPOINT_FAULT_OFFSET when it is read, whatever its size says.
//
// A file whose name ends in CUTPOINT_EMPTY_SUFFIX has the size 0 until it is opened, and lies on a file system of FUSE like all
// others.
//
// A file whose path ends in CUTPOINT_QUIET_SUFFIX keeps its permissions when others are set, and the call succeeds.
//
// The name CUTPOINT_FOLDED_NAME is the same as its lower case in calls on names in an open folder, as on file systems that ignore
// case.
//
// Of every file whose path ends in CUTPOINT_FAULT_SUFFIX no byte from CUTPOINT_FAULT_OFFSET on can be read (EIO); what
// lies before it can. A file whose path ends in CUTPOINT_STREAM_SUFFIX can be read from front to back only, as some of
// the kernel's own files: pread and lseek fail (ESPIPE).
//
// Ctrl-C comes before a read at an offset of a file whose path ends in CUTPOINT_INTERRUPT_SUFFIX, at the first for which a handler of the
// signal is there.
//
// OpenSSL lacks the algorithms that CUTPOINT_MISSING_ALGORITHMS names, such as "MD5 AES-256-CTR", as it lacks some under FIPS rules.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
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

/// Sends the signal to the process once, and returns when a thread has taken it.
void interrupt_once() {
  static std::atomic<bool> is_done = false;
  struct sigaction action = {};
  ::sigaction(SIGINT, nullptr, &action);
  if (action.sa_handler == SIG_DFL || is_done.exchange(true)) return;
  ::kill(::getpid(), SIGINT);
  sigset_t pending;
  do {
    ::usleep(1000);
    ::sigpending(&pending);
  } while (sigismember(&pending, SIGINT) == 1);
}

ssize_t read_at(read_at_call* call, int descriptor, void* buffer, std::size_t size, off_t offset) {
  if (is_stream(descriptor)) return failed(ESPIPE);
  if (is_meant(descriptor, "CUTPOINT_INTERRUPT_SUFFIX")) interrupt_once();
  if (is_meant(descriptor, "CUTPOINT_END_SUFFIX")) {
    const off_t rest = std::max<off_t>(fault_offset() - offset, 0);
    return call(descriptor, buffer, std::min(size, static_cast<std::size_t>(rest)), offset);
  }
  if (!is_faulty(descriptor)) return call(descriptor, buffer, size, offset);
  return read_before_fault(descriptor, size, offset,
                           [&](std::size_t readable) { return call(descriptor, buffer, readable, offset); });
}

/// Returns whether a name ends as a variable of the environment says.
bool is_named(const char* name, const char* variable) {
  const char* const suffix = std::getenv(variable);
  return suffix != nullptr && std::string_view(name).ends_with(suffix);
}

/// Returns the name by which a file system that ignores case knows a file.
std::string folded(const char* name) {
  const char* const meant = std::getenv("CUTPOINT_FOLDED_NAME");
  std::string text = name;
  if (meant != nullptr && text == meant) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  }
  return text;
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

int openat(int folder, const char* name, int flags, ...) {
  static const auto call = replaced<int(int, const char*, int, ...)>("openat");
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return call(folder, folded(name).c_str(), flags, mode);
}

int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  static const auto call = replaced<int(int, const char*, mode_t)>("mkdirat");
  return call(folder, folded(name).c_str(), mode);
}

int linkat(int old_folder, const char* old_name, int folder, const char* name, int flags) noexcept {
  static const auto call = replaced<int(int, const char*, int, const char*, int)>("linkat");
  return call(old_folder, folded(old_name).c_str(), folder, folded(name).c_str(), flags);
}

int symlinkat(const char* target, int folder, const char* name) noexcept {
  static const auto call = replaced<int(const char*, int, const char*)>("symlinkat");
  return call(target, folder, folded(name).c_str());
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  static const auto call = replaced<int(int, const char*, int)>("unlinkat");
  return call(folder, folded(name).c_str(), flags);
}

int fstatat(int folder, const char* name, struct stat* facts, int flags) noexcept {
  static const auto call = replaced<int(int, const char*, struct stat*, int)>("fstatat");
  return call(folder, folded(name).c_str(), facts, flags);
}

int fchownat(int folder, const char* name, uid_t user, gid_t group, int flags) noexcept {
  static const auto call = replaced<int(int, const char*, uid_t, gid_t, int)>("fchownat");
  return call(folder, folded(name).c_str(), user, group, flags);
}

int utimensat(int folder, const char* name, const struct timespec* times, int flags) noexcept {
  static const auto call = replaced<int(int, const char*, const struct timespec*, int)>("utimensat");
  return call(folder, folded(name).c_str(), times, flags);
}

int fchmod(int descriptor, mode_t mode) noexcept {
  static const auto call = replaced<int(int, mode_t)>("fchmod");
  return is_meant(descriptor, "CUTPOINT_QUIET_SUFFIX") ? 0 : call(descriptor, mode);
}

int fstatfs(int descriptor, struct statfs* facts) noexcept {
  static const auto call = replaced<int(int, struct statfs*)>("fstatfs");
  const int outcome = call(descriptor, facts);
  if (std::getenv("CUTPOINT_EMPTY_SUFFIX") != nullptr) facts->f_type = FUSE_SUPER_MAGIC;
  return outcome;
}

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
  if (outcome == 0 && is_named(name, "CUTPOINT_TIME_SUFFIX")) {
    facts->stx_mtime.tv_sec = 5;
    facts->stx_mtime.tv_nsec = (1u << 30) - 1;
  }
  if (outcome == 0 && is_named(name, "CUTPOINT_EMPTY_SUFFIX")) facts->stx_size = 0;
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
