// Counts the calls by which a command asks for files: a library for LD_PRELOAD, between the command and the C library.
//
// Calls count that are about paths below the current folder of the process: those that are relative, and what they opened. At its
// end the process writes the counts to the file CUTPOINT_COUNTS, an object of JSON. Allocations of memory stand for what is done
// between calls: a copy of a list of snapshots is one for each.
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

extern "C" void* __libc_malloc(std::size_t);  // NOLINT(bugprone-reserved-identifier)

namespace {

struct counter {
  const char* name;
  std::atomic<std::uint64_t> count = 0;
};
enum counted { opens, reads, writes, removals, listings, listed_names, read_bytes, allocations };
std::array<counter, 8> counters = {
    {{"opens"}, {"reads"}, {"writes"}, {"removals"}, {"listings"}, {"listed_names"}, {"read_bytes"}, {"allocations"}}};

void add(counted what, std::uint64_t number = 1) { counters[what].count.fetch_add(number, std::memory_order_relaxed); }

constexpr int most_descriptors = 65'536;
std::array<std::atomic<bool>, most_descriptors> is_counted_descriptor = {};

bool is_counted(int descriptor) {
  return descriptor >= 0 && descriptor < most_descriptors &&
         is_counted_descriptor[static_cast<std::size_t>(descriptor)];
}

template <class Call>
Call* replaced(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

int open_below(int folder, const char* path, int flags, mode_t mode) {
  static const auto call = replaced<int(int, const char*, int, ...)>("openat");
  const bool counts = path[0] != '/' && (folder == AT_FDCWD || is_counted(folder));
  if (counts) add(opens);  // also one that fails
  const int descriptor = call(folder, path, flags, mode);
  if (descriptor >= 0 && descriptor < most_descriptors)
    is_counted_descriptor[static_cast<std::size_t>(descriptor)] = counts;
  return descriptor;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

ssize_t count_read(int descriptor, ssize_t bytes) {
  if (!is_counted(descriptor)) return bytes;
  add(reads);
  if (bytes > 0) add(read_bytes, static_cast<std::uint64_t>(bytes));
  return bytes;
}

/// Writes the counts when the process ends.
struct report {
  ~report() {
    const char* const path = std::getenv("CUTPOINT_COUNTS");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    const char* before = "{";
    for (const counter& each : counters) {
      std::fprintf(file, "%s\"%s\": %llu", before, each.name, static_cast<unsigned long long>(each.count));
      before = ", ";
    }
    std::fputs("}\n", file);
    std::fclose(file);
  }
} at_end;

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  add(allocations);
  return __libc_malloc(size);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_below(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_below(folder, path, flags, mode);
}

DIR* opendir(const char* path) {
  const int descriptor = open_below(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  return descriptor < 0 ? nullptr : ::fdopendir(descriptor);
}

dirent* readdir(DIR* folder) {
  static const auto call = replaced<dirent*(DIR*)>("readdir");
  dirent* const entry = call(folder);
  if (is_counted(::dirfd(folder))) add(entry == nullptr ? listings : listed_names);
  return entry;
}

ssize_t read(int descriptor, void* buffer, std::size_t size) {
  static const auto call = replaced<ssize_t(int, void*, std::size_t)>("read");
  return count_read(descriptor, call(descriptor, buffer, size));
}

ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset) {
  static const auto call = replaced<ssize_t(int, void*, std::size_t, off_t)>("pread");
  return count_read(descriptor, call(descriptor, buffer, size, offset));
}

ssize_t preadv2(int descriptor, const struct iovec* buffers, int count, off_t offset, int flags) {
  static const auto call = replaced<ssize_t(int, const struct iovec*, int, off_t, int)>("preadv2");
  return count_read(descriptor, call(descriptor, buffers, count, offset, flags));
}

ssize_t write(int descriptor, const void* buffer, std::size_t size) {
  static const auto call = replaced<ssize_t(int, const void*, std::size_t)>("write");
  if (is_counted(descriptor)) add(writes);
  return call(descriptor, buffer, size);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto call = replaced<int(int, const char*, int)>("unlinkat");
  if (is_counted(folder)) add(removals);
  return call(folder, path, flags);
}

}  // extern "C"
