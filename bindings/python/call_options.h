// The options of a call, by the names that the Python files of the package give them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/errors.h"
#include "bindings/python/input.h"

namespace cutpoint::python {

class call_options : public nanobind::dict {
 public:
  using nanobind::dict::dict;

  /// Returns the value of an option. Throws TypeError if it has another type.
  template <class T>
  [[nodiscard]] T get(const char* name) const {
    T value;
    const nanobind::object option = (*this)[name];
    if (!nanobind::try_cast(option, value)) {
      raise(PyExc_TypeError,
            std::string(name) + " cannot be of the type " + nanobind::type_name(option.type()).c_str());
    }
    return value;
  }
  /// The same, but leaves `value` as it is if the option is None.
  template <class T>
  void read(const char* name, T& value) const {
    if (const auto given = get<std::optional<T>>(name)) value = *given;
  }
  /// Returns a path or a text of the system as its bytes.
  [[nodiscard]] std::string text(const char* name) const { return path_of(nanobind::object((*this)[name])); }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> texts;
    for (const nanobind::handle each : get<nanobind::list>(name)) texts.push_back(path_of(each));
    return texts;
  }
  [[nodiscard]] std::set<std::string> ids(const char* name) const {
    const std::vector<std::string> all = texts(name);
    return {all.begin(), all.end()};
  }
  [[nodiscard]] std::vector<path_pattern> patterns(const char* name) const {
    return make_patterns(get<std::vector<nanobind::object>>(name));
  }
};

}  // namespace cutpoint::python
