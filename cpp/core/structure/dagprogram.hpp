#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/stop.hpp"

namespace bayesmend {

// The dynamic programme over subsets for scores that change from call to call: tables are made on
// first use and stay allocated, one thread, no lists. For up to about 20 variables.
class DagProgram {
 public:
  explicit DagProgram(std::size_t n_vars);

  std::size_t n_vars() const { return n_vars_; }
  // Forgets all families; to be called before the first offer() and after each solve().
  void clear();
  // Offers a family: `parents` is a mask over all variables.
  void offer(std::size_t child, std::uint32_t parents, double score);
  // Best total over all DAGs of offered families; minus infinity when there is none, plus infinity
  // (a bound that says nothing) when stopped before.
  double solve(const Stop& stop);
  // After solve(): for each variable, which others may be its parents in the best DAG found.
  std::vector<std::uint32_t> predecessors() const;
  // After solve(): prepares around(); false when stopped before.
  bool pass_backward(const Stop& stop);
  // Best total of all other variables when `child` has these parents, by mask of the others.
  void around(std::size_t child, std::vector<double>& target) const;

 private:
  void fill_forward(std::uint32_t block);

  std::size_t n_vars_, half_;
  std::unique_ptr<double[]> best_;  // per child, by mask of the others
  std::vector<double> forward_, backward_;
};

}  // namespace bayesmend
