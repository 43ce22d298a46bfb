// A folder for one test, deleted with it, and functions that make files in it.
#pragma once

#include <string>
#include <string_view>

namespace cutpoint::tests {

class temporary_folder {
 public:
  temporary_folder();
  /// In the folder `above`.
  explicit temporary_folder(const std::string& above);
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  /// Deletes the folder, even if the test made folders in it inaccessible.
  ~temporary_folder();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }

  /// Each of these makes the folders above too, and returns the path.
  std::string make_file(std::string_view name, std::string_view content = "content") const;
  std::string make_folder(std::string_view name) const;
  std::string make_link(std::string_view target, std::string_view name) const;
  std::string make_fifo(std::string_view name) const;
  std::string make_socket(std::string_view name) const;

 private:
  void make_folders_above(std::string_view name) const;

  std::string path_;
};

/// While it lives, files are opened with the rights of a user who owns no file, if the process can change its user.
/// Root can; other users do not need it, because modes apply to them.
class without_privileges {
 public:
  without_privileges();
  without_privileges(const without_privileges&) = delete;
  without_privileges& operator=(const without_privileges&) = delete;
  ~without_privileges();

  /// Returns whether file modes apply to this process now.
  [[nodiscard]] bool holds() const;

 private:
  bool was_root_;
};

}  // namespace cutpoint::tests
