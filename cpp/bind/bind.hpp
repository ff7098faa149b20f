#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bayesmend::bind {

namespace nb = nanobind;
using namespace nb::literals;

// Inputs are read-only and never converted: a silent copy would hide a wrong dtype.
template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto view(const Array& array) {
  return std::span(array.data(), array.size());
}

// Hands a vector over to NumPy without copying it.
template <class T>
nb::ndarray<nb::numpy, T> own(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  T* data = held->data();
  nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  held.release();
  return nb::ndarray<nb::numpy, T>(data, shape, owner);
}

template <class T>
nb::ndarray<nb::numpy, T> own(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return own(std::move(values), {size});
}

}  // namespace bayesmend::bind
