#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/augment/bound.hpp"
#include "core/augment/problem.hpp"
#include "core/base/stop.hpp"

namespace bayesmend {

// What families choose for the cells, each by its share, as arrays by cell and value.
struct SharedChoices {
  // By child first: what it takes as a copy, or what an own family of the cell takes that has the
  // child as a parent, so that there is nothing to earn.
  std::vector<double> copies;
  std::vector<double> owners;  // what families of the cell's own variable take
  std::vector<double> losses;  // what any value costs all of them
};

// Some families with some cells decided, at any prices: for searches that bound the best DAG
// themselves. Families are meant by their position among these.
class FamilyTables {
 public:
  using Completion = AugmentProblem::Completion;

  // Ascending numbers of families, and the entries of one block of each. Of no use once `stop` has
  // ended it.
  FamilyTables(const AugmentProblem& problem, std::vector<std::uint32_t> families, Completion fixed,
               std::vector<std::size_t> max_entries, std::size_t n_threads, const Stop& stop);

  // Makes blocks so many times larger of those that are bounded in more than one, but no larger
  // than `most`; of some only once `stop` has ended it.
  void refine(std::span<const std::size_t> positions, std::size_t times, std::size_t most,
              std::size_t n_threads, const Stop& stop);
  // The most that each is worth.
  std::vector<double> maxima(const Prices& prices, std::size_t n_threads, const Stop& stop) const;
  SharedChoices choose(std::span<const std::size_t> positions, std::span<const double> shares,
                       const Prices& prices) const;
  // By cell and value: whether some family of the cell's own variable takes that value and loses
  // less than it may, which is all it can lose and still be part of something better.
  std::vector<std::uint8_t> values_left(std::span<const double> slack, const Prices& prices) const;
  // The score of each under a full completion.
  std::vector<double> scores(const Completion& completion) const;
  // For each family, one of the same child with fewer parents that is worth as much, which is never
  // taken in its place by any DAG that loses by it; itself where there is none.
  std::vector<std::size_t> dominators(std::span<const double> values) const;

  std::span<const std::uint32_t> families() const { return families_; }
  std::span<const std::size_t> max_entries() const { return max_entries_; }
  double n_entries() const;

 private:
  const AugmentProblem& problem_;
  std::vector<std::uint32_t> families_;
  Completion fixed_;
  std::vector<FamilyBound> bounds_;
  std::vector<std::size_t> max_entries_;
};

}  // namespace bayesmend
