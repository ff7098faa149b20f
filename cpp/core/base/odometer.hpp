#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bayesmend {

// Counts through the joint states of several digits, the first varying fastest.
class Odometer {
 public:
  void reset(std::size_t n_digits) { digits_.assign(n_digits, 0); }
  // Raises digit `first`, or the next one above that is not yet at its last state; calls back(d)
  // for every digit that falls back to its first state. Returns the digit raised, or the number of
  // digits when all have fallen back.
  template <class Back>
  std::size_t raise(std::span<const std::uint32_t> sizes, std::size_t first, Back&& back) {
    std::size_t d = first;
    for (; d < sizes.size() && ++digits_[d] == sizes[d]; ++d) {
      back(d);
      digits_[d] = 0;
    }
    return d;
  }

 private:
  std::vector<std::uint32_t> digits_;
};

}  // namespace bayesmend
