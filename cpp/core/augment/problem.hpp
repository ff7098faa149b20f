#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/stop.hpp"
#include "core/score/score.hpp"
#include "core/structure/candidates.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// Learning by augmentation: choose a DAG and a completion of the missing cells together.
//
// Rows that agree in every observed value and every hole form a pattern and are completed alike,
// which loses nothing: scores are convex in the counts (the maximum is at a vertex), and stay so
// with a cost for every row in a cell without an example, which is linear in them. The problem
// keeps, for each family (a child and its parents within the rules), the counts of the rows
// that show all of its variables, its base counts, and the patterns that do not.
//
// Beside what families score, the states of a cell may be worth something for themselves to every
// row of its pattern: its terms. They count with the family of the cell's own variable, are linear
// in the counts and the same for rows alike, so that these are still completed alike.
class AugmentProblem {
 public:
  static constexpr std::uint8_t kFree = kMissing;  // a cell that is not decided

  struct Cell {
    std::uint32_t pattern;
    Var variable;
    std::uint32_t card;
    std::uint32_t weight;  // rows of the pattern
  };
  // A hole of a pattern inside a family.
  struct Hole {
    std::uint32_t cell;
    std::uint32_t stride;
  };
  // A pattern with holes inside a family: the rows it stands for go to the cell
  // `offset` + the sum of stride * value over its holes.
  struct Item {
    std::uint32_t weight;
    std::uint32_t offset;
    std::uint32_t first_hole, n_holes;
  };
  struct Family {
    std::uint64_t parents;  // mask, where there are at most 64 variables
    Var child;
    std::uint32_t child_card;
    std::uint32_t n_cells;  // parent configurations times states of the child, the child fastest
    std::size_t first_member, n_members;  // the parents, ascending, then the child
    std::size_t first_count = 0;
    std::uint32_t first_item = 0, n_items = 0;
    const CellTable* joint = nullptr;
    const CellTable* given = nullptr;
    double penalty;
    std::uint64_t members() const { return parents | std::uint64_t{1} << child; }
  };
  using Completion = std::vector<std::uint8_t>;  // per cell; kFree where undecided

  // `complete` holds the rows without holes; pattern p is codes[p * n_vars ..] and stands for
  // weight[p] rows. Throws std::length_error when the tables would exceed `max_bytes`. Of no use
  // once `stop` has ended the filling of them.
  AugmentProblem(const Table& complete, std::span<const std::uint8_t> codes,
                 std::span<const std::uint32_t> weight, const ScoreRule& rule,
                 const ParentRules& rules, double max_bytes, const Stop& stop = {});
  // The same for one family per variable, those of a DAG over any number of variables.
  AugmentProblem(const Table& complete, std::span<const std::uint8_t> codes,
                 std::span<const std::uint32_t> weight, const ScoreRule& rule,
                 const std::vector<std::vector<Var>>& parents, double max_bytes);

  // Forgets the families that are not marked; each variable keeps its first one.
  void keep(std::span<const std::uint8_t> is_kept);

  // terms[cell * width + value] for one row of the pattern, finite; width: terms.size() /
  // n_cells().
  void set_terms(std::span<const double> terms);
  bool has_terms() const { return !terms_.empty(); }
  // Of one cell, by value; only with terms.
  const double* terms_of(std::uint32_t cell) const { return terms_.data() + cell * term_width_; }
  // What the cells of a variable are worth that are decided there, to all rows.
  double decided_terms(Var variable, const Completion& fixed) const;

  std::size_t n_vars() const { return n_vars_; }
  std::size_t n_cells() const { return cells_.size(); }
  std::span<const Cell> cells() const { return cells_; }
  std::span<const std::uint32_t> cells_of_pattern(std::size_t pattern) const {
    return {pattern_cells_.data() + first_pattern_cell_[pattern],
            first_pattern_cell_[pattern + 1] - first_pattern_cell_[pattern]};
  }
  std::size_t n_patterns() const { return first_pattern_cell_.size() - 1; }

  std::span<const Family> families() const { return families_; }
  std::span<const Var> members(const Family& family) const {
    return {members_.data() + family.first_member, family.n_members};
  }
  // Families of a child: families()[first .. last).
  std::size_t first_family(std::size_t child) const { return first_family_[child]; }
  std::size_t last_family(std::size_t child) const { return first_family_[child + 1]; }
  std::span<const std::uint32_t> base_counts(const Family& family) const {
    return {counts_.data() + family.first_count, family.n_cells};
  }
  std::span<const Item> items(const Family& family) const {
    return {items_.data() + family.first_item, family.n_items};
  }
  std::span<const Hole> holes(const Item& item) const {
    return {holes_.data() + item.first_hole, item.n_holes};
  }

  // Where an item goes under a full completion.
  std::uint32_t cell_of(const Item& item, const Completion& completion) const {
    std::uint32_t cell = item.offset;
    for (const auto& hole : holes(item)) cell += hole.stride * completion[hole.cell];
    return cell;
  }
  // Score of a family under a full completion, with terms; `counts` is scratch.
  double score(const Family& family, const Completion& completion,
               std::vector<std::uint32_t>& counts) const;
  // The same without terms for a table of counts, none of them below the base counts.
  double score_counts(const Family& family, std::span<const std::uint32_t> counts) const;
  // What each row of a pattern pays in a cell with this base count: only rows that show the whole
  // family are examples.
  double row_cost(std::uint32_t base_count) const { return base_count == 0 ? support_ : 0.0; }

 private:
  AugmentProblem(const Table& complete, std::span<const std::uint8_t> codes,
                 std::span<const std::uint32_t> weight, const ScoreRule& rule, double max_bytes);
  bool list_families(const ParentRules& rules, const Stop& stop);
  void add_family(Var child, std::uint64_t mask, std::span<const Var> parents);
  bool count_families(const Table& complete, const Stop& stop);
  bool list_items(std::span<const std::uint8_t> codes, std::span<const std::uint32_t> weight,
                  const Stop& stop);

  std::size_t n_vars_;
  std::vector<std::uint32_t> card_;
  JointCounter counter_;
  FamilyScorer scorer_;
  FamilyScorer::Scratch scratch_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> cell_at_;  // per pattern and variable, where it is missing
  std::vector<std::size_t> first_pattern_cell_{0};
  std::vector<std::uint32_t> pattern_cells_;
  std::vector<double> terms_;
  std::size_t term_width_ = 0;
  std::vector<std::vector<std::uint32_t>> cells_of_variable_;  // only with terms
  std::vector<Family> families_;
  std::vector<std::size_t> first_family_;
  std::vector<Var> members_;
  double support_;
  double bytes_ = 0.0, max_bytes_;
  std::vector<std::uint32_t> counts_;
  std::vector<Item> items_;
  std::vector<Hole> holes_;
};

}  // namespace bayesmend
