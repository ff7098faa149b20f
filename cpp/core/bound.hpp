#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/augment.hpp"

namespace bayesmend {

// Prices on the agreement between families about a missing cell.
//
// The family of the cell's own variable owns its value; a family of child c that has the variable
// as a parent holds a copy and pays price(c, cell, value) for it, which the owner earns when it
// chooses that value. Any prices >= 0 keep the relaxation an upper bound.
class Prices {
 public:
  Prices() = default;
  explicit Prices(const AugmentProblem& problem);
  double& at(std::size_t child, std::size_t cell, std::size_t value) {
    return values_[(child * n_cells_ + cell) * width_ + value];
  }
  double at(std::size_t child, std::size_t cell, std::size_t value) const {
    return values_[(child * n_cells_ + cell) * width_ + value];
  }
  // What the owner earns: the sum over all children. Call settle() after changes.
  double earned(std::size_t cell, std::size_t value) const {
    return earned_[cell * width_ + value];
  }
  void settle();

 private:
  std::size_t n_vars_ = 0, n_cells_ = 0, width_ = 1;
  std::vector<double> values_, earned_;
};

// Upper bound of one family over all values of its undecided cells, with prices.
//
// Patterns that can meet in a parent configuration are enumerated together; where they are too
// many they are cut into blocks, and each block is scored as if all rows of earlier blocks that can
// reach a cell had reached it: by the chain rule and convexity that only raises the score.
class FamilyBound {
 public:
  // `merge`: patterns that look alike to this family move together (without prices only).
  void build(const AugmentProblem& problem, const AugmentProblem::Family& family,
             const AugmentProblem::Completion& fixed, bool merge, std::size_t max_entries);

  bool is_exact() const { return is_exact_; }
  double constant() const { return constant_; }
  // The maximum without prices.
  double maximum() const;
  // The maximum with prices; `scratch` is workspace.
  double maximum(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                 std::vector<double>& scratch) const;
  // The same, with the values chosen for its undecided cells: calls choose(cell, value), and
  // lose(cell, value, loss) with how much the maximum drops when the cell takes the value.
  template <class Choose, class Lose>
  double explain(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                 Choose&& choose, Lose&& lose) const;

 private:
  struct Unit {
    std::uint32_t weight;
    std::uint32_t offset;
    std::uint32_t first_hole, n_holes;
    std::uint32_t n_states;
  };
  struct Block {
    std::uint32_t first_unit, n_units;
    std::size_t first_value, n_values;
  };

  void collect_units(const AugmentProblem& problem, const AugmentProblem::Family& family,
                     const AugmentProblem::Completion& fixed, bool merge);
  void order_by_component(const AugmentProblem& problem, const AugmentProblem::Family& family);
  void fill_block(const AugmentProblem& problem, const AugmentProblem::Family& family,
                  Block& block, std::size_t unit, double value, std::size_t index);
  std::uint32_t target(const AugmentProblem& problem, const Unit& unit, std::size_t state) const;
  void unit_prices(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                   const Unit& unit, double* target) const;

  double constant_ = 0.0;
  bool is_exact_ = true;
  std::vector<Unit> units_;
  std::vector<AugmentProblem::Hole> holes_;
  std::vector<Block> blocks_;
  std::vector<double> values_;
  // Workspace of build().
  std::vector<std::uint32_t> counts_, configs_, earlier_;
  std::vector<std::uint8_t> starts_component_;
};

template <class Choose, class Lose>
double FamilyBound::explain(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                            Choose&& choose, Lose&& lose) const {
  double total = constant_;
  std::vector<double> priced, best, linear;
  for (const auto& block : blocks_) {
    priced.assign(values_.begin() + static_cast<std::ptrdiff_t>(block.first_value),
                  values_.begin() + static_cast<std::ptrdiff_t>(block.first_value + block.n_values));
    std::size_t inner = block.n_values;
    for (std::size_t u = 0; u < block.n_units; ++u) {
      const auto& unit = units_[block.first_unit + u];
      linear.resize(unit.n_states);
      unit_prices(problem, child, prices, unit, linear.data());
      inner /= unit.n_states;
      for (std::size_t e = 0; e < priced.size(); ++e)
        priced[e] += linear[e / inner % unit.n_states];
    }
    const auto top = static_cast<std::size_t>(std::max_element(priced.begin(), priced.end()) -
                                              priced.begin());
    total += priced[top];
    inner = block.n_values;
    for (std::size_t u = 0; u < block.n_units; ++u) {
      const auto& unit = units_[block.first_unit + u];
      inner /= unit.n_states;
      std::size_t chosen = top / inner % unit.n_states;
      std::size_t step = 1;
      for (std::uint32_t h = unit.n_holes; h-- > 0;) {
        const auto cell = holes_[unit.first_hole + h].cell;
        const auto card = static_cast<std::size_t>(problem.cells()[cell].card);
        choose(cell, chosen % card);
        chosen /= card;
        best.assign(card, -std::numeric_limits<double>::infinity());
        for (std::size_t e = 0; e < priced.size(); ++e) {
          auto& value = best[e / inner % unit.n_states / step % card];
          value = std::max(value, priced[e]);
        }
        for (std::size_t value = 0; value < card; ++value)
          lose(cell, value, priced[top] - best[value]);
        step *= card;
      }
    }
  }
  return total;
}

}  // namespace bayesmend
