#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/augment/problem.hpp"
#include "core/augment/splits.hpp"
#include "core/base/disjoint.hpp"

namespace bayesmend {

// Prices on the agreement between families about a missing cell.
//
// The family of the cell's own variable owns its value; a family of child c that has the variable
// as a parent holds a copy and pays price(c, cell, value) for it, which the owner earns when it
// chooses that value, unless c is a parent in the family of the owner: no DAG holds both arcs. Any
// prices >= 0 keep the relaxation an upper bound.
//
// They lie on a grid, which is far finer than they are good, so that they are as easily written as
// used.
class Prices {
 public:
  static constexpr double kGrid = 0x1p-20;

  Prices() = default;
  explicit Prices(const AugmentProblem& problem);
  double& at(std::size_t child, std::size_t cell, std::size_t value) {
    return values_[(child * n_cells_ + cell) * width_ + value];
  }
  double at(std::size_t child, std::size_t cell, std::size_t value) const {
    return values_[(child * n_cells_ + cell) * width_ + value];
  }
  // What the owner earns: the sum over all children. Call settle() after changes, which puts them
  // on the grid.
  double earned(std::size_t cell, std::size_t value) const {
    return earned_[cell * width_ + value];
  }
  void settle();
  std::size_t size() const { return values_.size() + earned_.size(); }
  // Of all children, cells and values; call settle() after changes.
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }
  // Values that any cell has room for.
  std::size_t width() const { return width_; }

 private:
  std::size_t n_vars_ = 0, n_cells_ = 0;
  std::uint32_t width_ = 1;
  std::vector<double> values_, earned_;
};

// The prices as one family meets them: it earns those of its child's cells, and their terms, and
// pays for others.
class FamilyPrices {
 public:
  FamilyPrices(const AugmentProblem& problem, const Prices& prices,
               const AugmentProblem::Family& family)
      : problem_(problem),
        cells_(problem.cells()),
        prices_(prices),
        child_(family.child),
        parents_(problem.members(family).first(family.n_members - 1)) {}
  double operator()(std::uint32_t cell, std::size_t value) const {
    if (cells_[cell].variable != child_) return -prices_.at(child_, cell, value);
    double earned = prices_.earned(cell, value);
    for (const auto parent : parents_) earned -= prices_.at(parent, cell, value);
    if (!problem_.has_terms()) return earned;
    return earned + cells_[cell].weight * problem_.terms_of(cell)[value];
  }
  // What value 1 of a binary cell adds to value 0.
  double gain(std::uint32_t cell) const { return (*this)(cell, 1) - (*this)(cell, 0); }

 private:
  const AugmentProblem& problem_;
  std::span<const AugmentProblem::Cell> cells_;
  const Prices& prices_;
  Var child_;
  std::span<const Var> parents_;
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
// Patterns that look alike to the family form a unit: each goes to one of the same cells of the
// table, its targets. A unit is described by how many of its patterns go to each: which ones is a
// matter of prices alone, and the best choice follows from that of one pattern less. Units that can
// meet in a parent configuration are enumerated together; where they are too many they are cut into
// blocks, and each block is scored as if all rows of earlier blocks that can reach a cell had
// reached it: by the chain rule and convexity that only raises the score. What rows pay in cells
// without an example does not depend on other rows: it is exact in every block. So are the terms of
// cells, which come with the prices, or with the table where patterns are merged.
class FamilyBound {
 public:
  struct Scratch {
    std::vector<double> buffer, prices, gains;
    SplitTables splits;
  };

  // `merge`: patterns that look alike, with the same terms, move together, which is enough without
  // prices.
  void build(const AugmentProblem& problem, const AugmentProblem::Family& family,
             const AugmentProblem::Completion& fixed, bool merge, std::size_t max_entries,
             Scratch& scratch);
  // Becomes `other` with more cells fixed, which must be built without `merge`.
  void restrict(const AugmentProblem& problem, const AugmentProblem::Family& family,
                const FamilyBound& other, const AugmentProblem::Completion& fixed,
                Scratch& scratch);

  // Whether one of its undecided cells is fixed there.
  bool sees(const AugmentProblem::Completion& fixed) const;
  // Whether it is the maximum itself, not only a bound of it.
  bool is_exact() const { return is_exact_; }
  std::size_t n_entries() const { return values_.size(); }
  // Undecided ones that it sees.
  std::size_t n_cells() const { return cells_.size(); }
  // The maximum without prices, of one built with `merge`.
  double maximum() const;
  // The least and the most it scores, without prices and terms, of one built without `merge`: the
  // least of one that is not exact is minus infinity.
  std::pair<double, double> range() const;

  double maximum(const FamilyPrices& prices, Scratch& scratch) const;
  // Adds what it would choose at the maximum, and what any other value would lose.
  void explain(const FamilyPrices& prices, Scratch& scratch, std::vector<CellChoice>& choices,
               std::vector<CellLoss>& losses) const;

 private:
  using Completion = AugmentProblem::Completion;
  using Family = AugmentProblem::Family;
  struct Shape {
    std::uint32_t stride, card;
    bool operator==(const Shape&) const = default;
  };
  struct Unit {
    std::uint32_t weight;  // of each pattern
    std::uint32_t offset;
    std::uint32_t first_shape, n_holes;
    std::uint32_t first_cell, n_members;  // cells of member m: first_cell + m * n_holes ..
    std::uint32_t n_targets;
    std::uint32_t n_states;  // the ranks of the splits of its members
    const double* terms;     // of the child's cell, by value, where patterns are merged; or none
    // Which patterns go where is then a matter of one order.
    bool is_of_pairs() const { return n_holes == 1 && n_targets == 2; }
  };
  struct Block {
    std::uint32_t first_unit, n_units;
    std::size_t first_value, n_values;
  };
  // A pattern of a unit, and where its cells start.
  struct Member {
    std::size_t unit;
    std::uint32_t first_cell;
  };

  void clear();
  void collect_units(const AugmentProblem& problem, const Family& family, const Completion& fixed,
                     bool merge, std::size_t max_states);
  // One item as a unit of its own; its undecided cells go to `cells`, their shapes to shapes_.
  Unit make_unit(const AugmentProblem& problem, const AugmentProblem::Item& item,
                 const Completion& fixed, std::vector<std::uint32_t>& cells);
  bool is_alike(const Unit& a, const Unit& b, std::uint32_t child_card) const;
  void list_cells(std::vector<Member> members, std::span<const std::uint32_t> cells);
  void order_by_component(const Family& family);
  void fill_block(const Family& family, const Block& block, std::size_t unit, double value,
                  std::size_t index, SplitTables& splits);
  double place(const Family& family, std::uint32_t cell, std::uint32_t weight);
  void take_back(const Family& family, std::uint32_t cell, std::uint32_t weight);
  std::uint32_t target(const Unit& unit, std::size_t joint_value) const;
  // Leaves a unit its undecided cells, and lists which of its states the fixed ones allow.
  void restrict_unit(const FamilyBound& other, const Unit& old, const Completion& fixed, Unit& unit,
                     std::vector<std::uint32_t>& kept, SplitTables& splits);
  template <class Act>
  void restrict_member(const Unit& old, std::span<const Shape> shapes, Unit& unit, const Act& act);
  void restrict_values(const FamilyBound& other, const Block& old,
                       const std::vector<std::vector<std::uint32_t>>& kept);
  double price(const FamilyPrices& prices, const Unit& unit, std::size_t member,
               std::size_t target) const;
  void list_prices(const FamilyPrices& prices, const Unit& unit, std::vector<double>& list) const;
  void price_states(const FamilyPrices& prices, const Unit& unit, Scratch& scratch) const;
  // What a unit chooses in its state at the maximum, where `best` is the loss of each state.
  void explain_pairs(const FamilyPrices& prices, const Unit& unit, std::size_t state,
                     std::span<const double> best, std::vector<CellChoice>& choices,
                     std::vector<CellLoss>& losses) const;
  void explain_splits(const FamilyPrices& prices, const Unit& unit, std::size_t state,
                      std::span<const double> best, Scratch& scratch,
                      std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const;
  void explain_member(const Unit& unit, std::size_t member, std::size_t target,
                      std::span<const double> forced, std::vector<CellChoice>& choices,
                      std::vector<CellLoss>& losses) const;
  std::span<const double> values(const Block& block) const {
    return std::span(values_).subspan(block.first_value, block.n_values);
  }
  std::span<const Unit> units(const Block& block) const {
    return std::span(units_).subspan(block.first_unit, block.n_units);
  }

  double constant_ = 0.0;       // the score of what is decided
  double decided_terms_ = 0.0;  // and its terms
  bool is_exact_ = true;
  std::vector<Unit> units_;
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> cells_;
  Completion decided_;  // values of cells_: a pattern may be decided in part
  std::vector<Block> blocks_;
  std::vector<double> values_;
  // Workspace of build().
  std::vector<std::uint32_t> counts_, configs_, earlier_;
  std::vector<double> row_costs_;  // per cell
  std::vector<std::uint8_t> starts_component_;
  DisjointSets components_;  // of parent configurations that units link
};

}  // namespace bayesmend
