#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/variable.hpp"
#include "core/inference/beliefs.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// The families of a network and where their conditional probabilities lie: those of child i start
// at cpt_start[i], one row of card[i] entries per parent configuration, first parent fastest.
class FamilyGraph {
 public:
  FamilyGraph(std::span<const std::uint32_t> card, std::span<const std::uint64_t> parent_offsets,
              std::span<const Var> parents);

  std::size_t n_vars() const { return card.size(); }
  std::size_t n_entries() const { return cpt_start.back(); }
  // The child first, then its parents; strides[m] is the step of members[m] in the table.
  std::span<const std::int32_t> members(std::size_t child) const {
    return std::span(members_).subspan(start_[child], start_[child + 1] - start_[child]);
  }
  std::span<const std::int64_t> strides(std::size_t child) const {
    return std::span(strides_).subspan(start_[child], start_[child + 1] - start_[child]);
  }

  std::vector<std::int32_t> card;
  std::vector<std::size_t> cpt_start;
  std::vector<std::vector<std::int32_t>> children;

 private:
  std::vector<std::size_t> start_;
  std::vector<std::int32_t> members_;
  std::vector<std::int64_t> strides_;
};

// Unobserved variables of a row that hang together through families: given what is observed, they
// are independent of all other variables. Rows with the same piece share its elimination.
struct Piece {
  std::vector<std::int32_t> variables;  // ascending: position p stands for variables[p]
  std::vector<std::int32_t> card;
  std::vector<std::int32_t> families;                // children of the families that touch it
  std::vector<std::vector<std::uint32_t>> scopes;    // of each family: positions
  std::vector<std::vector<std::int64_t>> strides;    // and their steps in its table
  std::vector<std::vector<std::uint32_t>> observed;  // members of each family that are observed
  std::unique_ptr<Elimination> elimination;
};

// A table with holes, compiled for the structure of a network. A row is independent pieces; pieces
// of different rows that look alike, evidence included, are computed once, as one instance.
class Holes {
 public:
  // Empty weights: one a row. `targets`: 1 for the variables that are asked for; unobserved
  // variables that tell nothing about them are left out. Empty: all are.
  Holes(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
        std::span<const std::uint8_t> targets, const Stop& stop);
  Holes(const Holes&) = delete;
  Holes& operator=(const Holes&) = delete;

  struct Instance {
    std::uint32_t piece = 0;
    std::size_t first_offset = 0;  // of its factors, in offsets()
    double weight = 0.0;           // of the rows that have it
  };
  // An instance of a row.
  struct Use {
    std::uint32_t instance = 0;
    std::uint32_t ordinal = 0;  // among those of its row
    std::size_t row = 0;
  };

  const FamilyGraph& graph() const { return graph_; }
  const Table& table() const { return table_; }
  // Of all rows.
  double total_weight() const;
  bool was_stopped() const { return was_stopped_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  const std::vector<Instance>& instances() const { return instances_; }
  // Where each factor of an instance starts among all conditional probabilities.
  std::span<const std::size_t> offsets(const Instance& instance) const {
    return std::span(offsets_).subspan(instance.first_offset,
                                       pieces_[instance.piece].families.size());
  }
  std::span<const Use> uses_of_row(std::size_t row) const {
    return std::span(uses_).subspan(row_start_[row], row_start_[row + 1] - row_start_[row]);
  }
  // Positions in uses(), grouped by instance.
  const std::vector<Use>& uses() const { return uses_; }
  std::span<const std::size_t> uses_of_instance(std::size_t instance) const {
    return std::span(by_instance_)
        .subspan(instance_start_[instance],
                 instance_start_[instance + 1] - instance_start_[instance]);
  }
  // Weights of rows in which a family is observed, in the layout of the conditional probabilities.
  const std::vector<double>& observed_counts() const { return observed_counts_; }
  double row_weight(std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  // Largest table of any elimination.
  double largest_table() const { return largest_; }
  const std::vector<std::int32_t>& largest_scope() const { return largest_scope_; }
  bool is_wanted(std::size_t variable) const { return targets_.empty() || targets_[variable] != 0; }
  bool has_targets() const { return !targets_.empty(); }
  // Pointers to the factors of an instance.
  void factors(const Instance& instance, std::span<const double> cpts,
               std::vector<const double*>& out) const;
  // Log-probability of the families of a row that are observed whole.
  double observed_log_probability(std::size_t row, std::span<const double> cpts) const;

 private:
  struct Plan {
    std::vector<std::uint32_t> pieces;
    std::vector<char> is_relevant;  // empty: every family is
  };
  Plan make_plan(std::span<const std::int32_t> missing);
  std::vector<char> relevant(std::span<const std::int32_t> missing) const;
  std::uint32_t piece_of(std::vector<std::int32_t> variables, std::vector<std::int32_t> families);
  // Calls visit(place of its probability) for each family of a row that is observed whole.
  void visit_observed(const Plan& plan, auto&& code_of, auto&& visit) const;
  void compile(const Stop& stop);
  void group_by_instance();

  FamilyGraph graph_;
  Table table_;
  std::span<const double> weights_;
  std::vector<std::uint8_t> targets_;
  bool was_stopped_ = false;
  std::vector<Piece> pieces_;
  std::map<std::vector<std::int32_t>, std::uint32_t> piece_index_;
  std::map<std::vector<std::int32_t>, std::uint32_t> plan_index_;
  std::vector<Plan> plans_;
  std::vector<std::uint32_t> plan_of_row_;
  std::vector<Instance> instances_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> row_start_, instance_start_, by_instance_;
  std::vector<Use> uses_;
  std::vector<double> observed_counts_;
  double largest_ = 0.0;
  std::vector<std::int32_t> largest_scope_;
};

}  // namespace bayesmend
