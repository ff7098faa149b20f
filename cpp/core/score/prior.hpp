#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/variable.hpp"

namespace bayesmend {

// Among how many parent sets a variable has its own: of the optional parents any number may be
// taken, the required ones always are.
struct ParentChoices {
  std::uint32_t n_optional, n_required;
};

// The fair prior over structures (Friedman and Koller 2003; Koivisto and Sood 2004): every number
// of parents is as likely as any other, and so is every set among those of one size. Of no cost
// where it has no choices.
class FairPrior {
 public:
  explicit FairPrior(std::span<const ParentChoices> choices);

  // log C(optional parents, those taken of them); infinite where there are not so many.
  double cost(Var child, std::size_t n_parents) const {
    if (first_.empty()) return 0.0;
    return n_parents < n_required_[child] ? 0.0 : of_taken(child, n_parents - n_required_[child]);
  }
  // The least cost of a set of `least` to `most` parents.
  double least_cost(Var child, std::size_t least, std::size_t most) const;

 private:
  double of_taken(Var child, std::size_t n_taken) const {
    return n_taken > n_optional_[child] ? std::numeric_limits<double>::infinity()
                                        : costs_[first_[child] + n_taken];
  }

  std::vector<std::uint32_t> n_required_, n_optional_;
  std::vector<std::size_t> first_;  // where the costs of a variable begin; shared by equal choices
  std::vector<double> costs_;
};

}  // namespace bayesmend
