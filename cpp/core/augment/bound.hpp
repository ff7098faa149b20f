#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/augment/problem.hpp"
#include "core/base/disjoint.hpp"

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
  std::size_t size() const { return values_.size() + earned_.size(); }
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
  FamilyPrices(const AugmentProblem& problem, const Prices& prices, Var child)
      : problem_(problem), cells_(problem.cells()), prices_(prices), child_(child) {}
  double operator()(std::uint32_t cell, std::size_t value) const {
    if (cells_[cell].variable != child_) return -prices_.at(child_, cell, value);
    const double earned = prices_.earned(cell, value);
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
// had reached it: by the chain rule and convexity that only raises the score. What rows pay in
// cells without an example does not depend on other rows: it is exact in every block. So are the
// terms of cells, which come with the prices, or with the table where patterns are merged.
class FamilyBound {
 public:
  // `merge`: patterns that look alike, with the same terms, move together, which is enough without
  // prices.
  void build(const AugmentProblem& problem, const AugmentProblem::Family& family,
             const AugmentProblem::Completion& fixed, bool merge, std::size_t max_entries);
  // Becomes `other` with more cells fixed, which must be built without `merge`.
  void restrict(const AugmentProblem& problem, const AugmentProblem::Family& family,
                const FamilyBound& other, const AugmentProblem::Completion& fixed);

  // Whether one of its undecided cells is fixed there.
  bool sees(const AugmentProblem::Completion& fixed) const;
  // Whether it is the maximum itself, not only a bound of it.
  bool is_exact() const { return is_exact_; }
  std::size_t n_entries() const { return values_.size(); }
  // Undecided ones that it sees.
  std::size_t n_cells() const { return cells_.size(); }
  // The maximum without prices, of one built with `merge`.
  double maximum() const;

  struct Scratch {
    std::vector<double> buffer, prices, gains;
  };
  double maximum(const FamilyPrices& prices, Scratch& scratch) const;
  // Adds what it would choose at the maximum, and what any other value would lose.
  void explain(const FamilyPrices& prices, std::vector<CellChoice>& choices,
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
    std::uint32_t n_states;
    bool by_count;        // the state is the number of members with value 1
    const double* terms;  // of the child's cell, by value, where patterns are merged; or none
    std::size_t n_targets() const { return by_count ? 2 : n_states; }
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
                     bool merge);
  // One item as a unit of its own; its undecided cells go to `cells`, their shapes to shapes_.
  Unit make_unit(const AugmentProblem& problem, const AugmentProblem::Item& item,
                 const Completion& fixed, std::vector<std::uint32_t>& cells);
  bool is_alike(const Unit& a, const Unit& b, std::uint32_t child_card) const;
  void list_cells(std::vector<Member> members, std::span<const std::uint32_t> cells);
  void order_by_component(const Family& family);
  void fill_block(const Family& family, const Block& block, std::size_t unit, double value,
                  std::size_t index);
  double place(const Family& family, std::uint32_t cell, std::uint32_t weight);
  void take_back(const Family& family, std::uint32_t cell, std::uint32_t weight);
  std::uint32_t target(const Unit& unit, std::size_t joint_value) const;
  // Leave a unit its undecided cells, and list which of its states the fixed ones allow.
  void restrict_counted(const FamilyBound& other, const Unit& old, const Completion& fixed,
                        Unit& unit, std::vector<std::uint32_t>& kept);
  void restrict_joint(const FamilyBound& other, const Unit& old, const Completion& fixed,
                      Unit& unit, std::vector<std::uint32_t>& kept);
  void restrict_values(const FamilyBound& other, const Block& old,
                       const std::vector<std::vector<std::uint32_t>>& kept);
  void price_states(const FamilyPrices& prices, const Unit& unit, Scratch& scratch) const;
  void explain_counted(const FamilyPrices& prices, const Unit& unit, std::size_t state,
                       std::span<const double> best, std::vector<CellChoice>& choices,
                       std::vector<CellLoss>& losses) const;
  void explain_joint(const Unit& unit, std::size_t state, std::span<const double> best,
                     std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const;
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
  std::vector<Block> blocks_;
  std::vector<double> values_;
  // Workspace of build().
  std::vector<std::uint32_t> counts_, configs_, earlier_;
  std::vector<double> row_costs_;  // per cell
  std::vector<std::uint8_t> starts_component_;
  DisjointSets components_;  // of parent configurations that units link
};

}  // namespace bayesmend
