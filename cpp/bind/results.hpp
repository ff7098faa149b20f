#pragma once

#include <vector>

#include "bind/bind.hpp"

namespace bayesmend::bind {

// A property that shows a vector of a result as an array: it shares the memory and keeps the
// result alive.
template <class Result, class T>
auto array_of(std::vector<T> Result::* member) {
  return [member](nb::handle_t<Result> self) {
    auto& values = nb::cast<Result&>(self).*member;
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(values.data(), {values.size()}, self);
  };
}

}  // namespace bayesmend::bind
