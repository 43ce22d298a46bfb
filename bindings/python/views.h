// Memory of C++ that Python sees without a copy.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>

namespace cutpoint::python {

/// Returns a memoryview that owns the memory of a vector. nanobind's conversion to NumPy arrays would run Python code.
template <class Item>
nanobind::object view_of(std::vector<Item>&& items, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<Item>>(std::move(items));
  Item* const data = owned->data();
  nanobind::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<Item>*>(p); });
  static_cast<void>(owned.release());
  return nanobind::ndarray<nanobind::memview, Item>(data, shape, owner).cast();
}

template <class Item>
nanobind::object view_of(std::vector<Item>&& items) {
  const std::size_t count = items.size();
  return view_of(std::move(items), {count});
}

}  // namespace cutpoint::python
