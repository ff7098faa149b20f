#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace bayesmend {

// Sets of the numbers 0 .. n - 1, at first one for each, that can be joined.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t n = 0) { reset(n); }
  void reset(std::size_t n) {
    parent_.resize(n);
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  // The member that stands for the set of x.
  std::uint32_t root(std::uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  // The root of a's set then stands for both.
  void join(std::uint32_t a, std::uint32_t b) { parent_[root(b)] = root(a); }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace bayesmend
