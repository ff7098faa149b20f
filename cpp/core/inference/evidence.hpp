#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/exact.hpp"
#include "core/inference/holes.hpp"

namespace bayesmend {

// What a table of any length says of a structure: how many rows show each family whole, and the
// distinct pieces with their weights. All sums are exact: neither the number of threads nor how
// rows are cut into tables makes a difference.
class Evidence {
 public:
  // Weights, unless empty, are multiples of `grid`, a power of two, and all of them together less
  // than 2^52 of it. The table is not needed afterwards.
  Evidence(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
           double grid, std::size_t n_threads, const Stop& stop);
  Evidence(Evidence&&) = default;

  // Weights of rows in which a family is observed, in the layout of the conditional probabilities.
  const std::vector<double>& observed_counts() const { return observed_counts_; }
  std::size_t n_instances() const;
  // The largest tables of all pieces.
  const TableSize& size() const { return size_; }

  // What is expected of families that are not observed whole, in the same layout, in units of
  // grid / kGrid; then minus the log-probability of what is observed in the pieces, likewise; then
  // the weight of the pieces that are impossible, in units of the grid. Empty when stopped.
  std::vector<ExactSum> expect(std::span<const double> cpts, std::size_t n_threads,
                               const Stop& stop) const;

 private:
  double grid_;
  std::vector<std::unique_ptr<Holes>> parts_;
  std::vector<double> observed_counts_;
  TableSize size_;
};

}  // namespace bayesmend
