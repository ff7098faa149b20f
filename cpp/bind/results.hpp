#pragma once

#include <vector>

#include "bind/bind.hpp"

namespace bayesmend::bind {

// Shows a vector that is part of a result as an array: it shares the memory and keeps the result
// alive.
template <class T, class... Sizes>
auto share(nb::handle result, std::vector<T>& values, Sizes... shape) {
  using Array = nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(Sizes)>>;
  return Array(values.data(), {shape...}, result);
}

// The same as a property.
template <class Result, class T>
auto array_of(std::vector<T> Result::* member) {
  return [member](nb::handle_t<Result> self) {
    auto& values = nb::cast<Result&>(self).*member;
    return share(self, values, values.size());
  };
}

// The same for numbers that the core counts unsigned: NumPy gets them signed, the largest as -1.
template <class Result, class T>
auto signed_array_of(std::vector<T> Result::* member) {
  return [member](nb::handle_t<Result> self) {
    using Signed = std::make_signed_t<T>;
    auto& values = nb::cast<Result&>(self).*member;
    return nb::ndarray<nb::numpy, Signed, nb::ndim<1>>(reinterpret_cast<Signed*>(values.data()),
                                                       {values.size()}, self);
  };
}

}  // namespace bayesmend::bind
