#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/table/table.hpp"

namespace bayesmend::bind {

namespace nb = nanobind;
using namespace nb::literals;

// Inputs are read-only and never converted: a silent copy would hide a wrong dtype.
template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

// What the core reads. Integers come signed from NumPy, are not negative, and go to the core as the
// unsigned numbers it counts with: both types may refer to the same memory.
template <class Array>
auto view(const Array& array) {
  using T = std::remove_const_t<typename Array::Scalar>;
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return std::span(reinterpret_cast<const Unsigned*>(array.data()), array.size());
  } else {
    return std::span(array.data(), array.size());
  }
}

// A table that the core views, one row of `columns` per variable.
inline Table table_of(const In<std::uint8_t, 2>& columns, const In<std::int32_t, 1>& card) {
  return {view(columns), view(card), columns.shape(0), columns.shape(1)};
}

// Hands a vector over to NumPy without copying it, its numbers as those of another type where the
// two differ in sign only.
template <class As, class T>
nb::ndarray<nb::numpy, As> own_as(std::vector<T>&& values,
                                  std::initializer_list<std::size_t> shape) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  As* data = reinterpret_cast<As*>(held->data());
  nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  held.release();
  return nb::ndarray<nb::numpy, As>(data, shape, owner);
}

template <class T>
auto own(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  return own_as<T>(std::move(values), shape);
}
template <class T>
auto own(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return own_as<T>(std::move(values), {size});
}
// Unsigned numbers go to NumPy as signed ones, the largest as -1.
template <class T>
auto own_signed(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return own_as<std::make_signed_t<T>>(std::move(values), {size});
}

}  // namespace bayesmend::bind
