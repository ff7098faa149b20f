#include "core/augment/splits.hpp"

#include <algorithm>
#include <cmath>

namespace bayesmend {

std::size_t Splits::count(std::uint32_t n_places, std::uint32_t n_things, std::size_t limit) {
  // Factor by factor; every product on the way is a number of splits among fewer places.
  double count = 1.0;
  for (std::uint32_t p = 1; p < n_places; ++p) {
    count = count * (n_things + p) / p;
    if (count >= static_cast<double>(limit)) return limit;
  }
  return static_cast<std::size_t>(std::llround(count));
}

Splits::Splits(std::uint32_t n_places, std::uint32_t n_things)
    : n_places_(n_places), n_things_(n_things) {
  const std::size_t width = n_things + std::size_t{2};
  below_.assign(n_places * width, 0);
  for (std::size_t n = 1; n < width; ++n) {
    below_[n] = 1;
    for (std::size_t i = 1; i < n_places; ++i)
      below_[i * width + n] = below_[(i - 1) * width + n] + below_[i * width + n - 1];
  }
  const std::uint32_t n_ranks = size(n_things), n_moved = n_places - 1;
  moved_.assign(std::size_t{n_ranks} * n_moved, 0);
  without_.assign(std::size_t{n_ranks} * n_moved, kNone);
  for (std::uint32_t r = 0; r < n_ranks; ++r) {
    const std::span split(moved_.data() + std::size_t{r} * n_moved, n_moved);
    // How many are in the last i places, for i from all of them to one.
    std::uint32_t rest = r;
    for (std::uint32_t i = n_moved, within = n_things; i > 0; --i) {
      while (below(i, within) > rest) --within;
      rest -= below(i, within);
      split[n_moved - i] = within;
      if (i < n_moved) split[n_moved - i - 1] -= within;
    }
    for (std::uint32_t p = 0; p < n_moved; ++p) {
      if (split[p] == 0) continue;
      --split[p];
      without_[std::size_t{p} * n_ranks + r] = rank(split);
      ++split[p];
    }
  }
}

std::uint32_t Splits::rank(std::span<const std::uint32_t> moved) const {
  std::uint32_t rank = 0, within = 0;
  for (std::uint32_t i = 1; i < n_places_; ++i) {
    within += moved[moved.size() - i];
    rank += below(i, within);
  }
  return rank;
}

}  // namespace bayesmend
