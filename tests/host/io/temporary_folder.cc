// Makes folders and files with system calls, and throws if one fails.
#include "tests/host/io/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace cutpoint::tests {

namespace {

constexpr uid_t nobody = 65534;

void require(bool done, std::string_view what) {
  if (!done) throw std::system_error(errno, std::generic_category(), std::string(what));
}

}  // namespace

temporary_folder::temporary_folder() : temporary_folder(std::filesystem::temp_directory_path().string()) {}

temporary_folder::temporary_folder(const std::string& above) : path_(above + "/cutpoint-XXXXXX") {
  require(::mkdtemp(path_.data()) != nullptr, path_);
  require(::chmod(path_.c_str(), 0755) == 0, path_);
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  using std::filesystem::recursive_directory_iterator;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (const auto& entry : recursive_directory_iterator(path_, options, ignored)) {
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) ::chmod(entry.path().c_str(), 0700);
  }
  std::filesystem::remove_all(path_, ignored);
}

void temporary_folder::make_folders_above(std::string_view name) const {
  std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
}

std::string temporary_folder::make_file(std::string_view name, std::string_view content) const {
  make_folders_above(name);
  std::ofstream file(*this / name, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  require(file.good(), name);
  return *this / name;
}

std::string temporary_folder::make_folder(std::string_view name) const {
  std::filesystem::create_directories(*this / name);
  return *this / name;
}

std::string temporary_folder::make_link(std::string_view target, std::string_view name) const {
  make_folders_above(name);
  std::filesystem::create_symlink(target, *this / name);
  return *this / name;
}

std::string temporary_folder::make_fifo(std::string_view name) const {
  make_folders_above(name);
  require(::mkfifo((*this / name).c_str(), 0600) == 0, name);
  return *this / name;
}

std::string temporary_folder::make_socket(std::string_view name) const {
  make_folders_above(name);
  const std::string path = *this / name;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  require(descriptor >= 0, name);
  require(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, name);
  ::close(descriptor);
  return path;
}

without_privileges::without_privileges() : was_root_(::geteuid() == 0) {
  if (was_root_ && ::setegid(nobody) == 0 && ::seteuid(nobody) != 0) static_cast<void>(::setegid(0));
}

without_privileges::~without_privileges() {
  if (was_root_ && ::geteuid() != 0 && (::seteuid(0) != 0 || ::setegid(0) != 0)) std::abort();
}

bool without_privileges::holds() const { return ::geteuid() != 0; }

}  // namespace cutpoint::tests
