// A folder for one test, gone with it, and the things that can lie in one.
#pragma once

#include <string>
#include <string_view>

namespace cutpoint::tests {

class temporary_folder {
 public:
  temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  /// Also where the test shut folders in it.
  ~temporary_folder();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }

  /// Each makes the folders above, and gives the path.
  std::string make_file(std::string_view name, std::string_view content = "content") const;
  std::string make_folder(std::string_view name) const;
  std::string make_link(std::string_view target, std::string_view name) const;
  std::string make_fifo(std::string_view name) const;
  std::string make_socket(std::string_view name) const;

 private:
  void make_folders_above(std::string_view name) const;

  std::string path_;
};

/// While it lives, files are opened with the rights of a user who owns nothing, if the process can do that: root can,
/// and others need not, since they have no right that a mode does not give.
class without_privileges {
 public:
  without_privileges();
  without_privileges(const without_privileges&) = delete;
  without_privileges& operator=(const without_privileges&) = delete;
  ~without_privileges();

  /// Whether modes hold for this process now.
  [[nodiscard]] bool holds() const;

 private:
  bool was_root_;
};

}  // namespace cutpoint::tests
