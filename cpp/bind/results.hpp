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

}  // namespace bayesmend::bind
