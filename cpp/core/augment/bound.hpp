#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/augment/problem.hpp"

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

// Values that a family would choose for the undecided cells it sees, and what any other costs it.
struct CellChoice {
  std::uint32_t cell;
  std::uint8_t value;  // chosen
};
struct CellLoss {
  std::uint32_t cell, value;
  double loss;
};

// Upper bound of one family over all values of its undecided cells, with prices.
//
// Patterns that look alike to the family form a unit. A unit of binary cells is described by how
// many of its patterns take the second state: which ones is a matter of prices alone. Units that
// can meet in a parent configuration are enumerated together; where they are too many they are
// cut into blocks, and each block is scored as if all rows of earlier blocks that can reach a cell
// had reached it: by the chain rule and convexity that only raises the score.
class FamilyBound {
 public:
  // `merge`: patterns that look alike move together, which is enough without prices.
  void build(const AugmentProblem& problem, const AugmentProblem::Family& family,
             const AugmentProblem::Completion& fixed, bool merge, std::size_t max_entries);
  // Becomes `other` with more cells fixed, which must be built without `merge`.
  void restrict(const FamilyBound& other, const AugmentProblem::Completion& fixed);

  // Whether one of its undecided cells is fixed there.
  bool sees(const AugmentProblem::Completion& fixed) const;
  // Whether it is the maximum itself, not only a bound of it.
  bool is_exact() const { return is_exact_; }
  std::size_t n_entries() const { return values_.size(); }
  // The maximum without prices.
  double maximum() const;

  struct Scratch {
    std::vector<double> buffer, prices, differences;
  };
  double maximum(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                 Scratch& scratch) const;
  void explain(const AugmentProblem& problem, std::size_t child, const Prices& prices,
               std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const;

 private:
  struct Shape {
    std::uint32_t stride, card;
  };
  struct Unit {
    std::uint32_t weight;  // of each pattern
    std::uint32_t offset;
    std::uint32_t first_shape, n_holes;
    std::uint32_t first_cell, n_members;  // cells of member m: first_cell + m * n_holes ..
    std::uint32_t n_states;
    bool by_count;  // the state is the number of members with value 1
  };
  struct Block {
    std::uint32_t first_unit, n_units;
    std::size_t first_value, n_values;
  };
  struct Difference {
    double gain;  // price of value 1 over value 0
    std::uint32_t member;
  };

  void collect_units(const AugmentProblem& problem, const AugmentProblem::Family& family,
                     const AugmentProblem::Completion& fixed, bool merge);
  void order_by_component(const AugmentProblem::Family& family);
  void fill_block(const AugmentProblem::Family& family, const Block& block, std::size_t unit,
                  double value, std::size_t index);
  double place(const AugmentProblem::Family& family, std::uint32_t cell, std::uint32_t weight);
  void take_back(const AugmentProblem::Family& family, std::uint32_t cell, std::uint32_t weight);
  std::size_t n_targets(const Unit& unit) const;
  std::uint32_t target(const Unit& unit, std::size_t joint_value) const;
  double price(const AugmentProblem& problem, std::size_t child, const Prices& prices,
               std::uint32_t cell, std::size_t value) const;
  std::vector<Difference> differences(const AugmentProblem& problem, std::size_t child,
                                      const Prices& prices, const Unit& unit) const;
  void unit_prices(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                   const Unit& unit, double* target, std::vector<double>& gains) const;
  void explain_counted(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                       const Unit& unit, std::size_t state, std::span<const double> best,
                       std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const;
  void explain_joint(const Unit& unit, std::size_t state, std::span<const double> best,
                     std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const;

  double constant_ = 0.0;
  bool is_exact_ = true;
  std::vector<Unit> units_;
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> cells_;
  std::vector<Block> blocks_;
  std::vector<double> values_;
  // Workspace of build().
  std::vector<std::uint32_t> counts_, configs_, earlier_;
  std::vector<std::uint8_t> starts_component_;
};

}  // namespace bayesmend
