#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
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
  std::span<const Var> members(Var child) const {
    return std::span(members_).subspan(start_[child], start_[child + 1] - start_[child]);
  }
  std::span<const std::size_t> strides(Var child) const {
    return std::span(strides_).subspan(start_[child], start_[child + 1] - start_[child]);
  }

  std::vector<std::uint32_t> card;
  std::vector<std::size_t> cpt_start{0};
  std::vector<std::vector<Var>> children;

 private:
  std::vector<std::size_t> start_{0};
  std::vector<Var> members_;
  std::vector<std::size_t> strides_;
};

// Unobserved variables of a row that hang together through families: given what is observed, they
// are independent of all other variables. Rows with the same piece share its elimination.
struct Piece {
  std::vector<Var> variables;  // ascending: position p stands for variables[p]
  std::vector<std::uint32_t> card;
  std::vector<Var> families;                         // children of the families that touch it
  std::vector<std::vector<std::uint32_t>> scopes;    // of each family: positions
  std::vector<std::vector<std::size_t>> strides;     // and their steps in its table
  std::vector<std::vector<std::uint32_t>> observed;  // members of each family that are observed
  std::unique_ptr<Elimination> elimination;
};
// Where a variable stands among ascending ones, those of a piece for example.
std::optional<std::uint32_t> position_in(std::span<const Var> ascending, Var variable);

// What tables an answer needs.
struct TableSize {
  double largest = 0.0;    // entries of the largest
  std::vector<Var> scope;  // and its variables
  double total = 0.0;      // entries of all that a thread holds at a time
};

// A table with holes, compiled for the structure of a network. A row is independent pieces; pieces
// of different rows that look alike, evidence included, are computed once, as one instance.
class Holes {
 public:
  // Empty weights: one a row. `targets`: 1 for the variables that are asked for; unobserved
  // variables that tell nothing about them are left out. Empty: all are.
  Holes(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
        std::span<const std::uint8_t> targets, const Stop& stop);
  // Of the rows from `first` to before `last` only the sums: instances and their weights, and what
  // is observed. No row is known afterwards, and the table is not needed any more.
  Holes(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
        std::size_t first, std::size_t last, const Stop& stop);
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
  const TableSize& size() const { return size_; }
  // Bytes of what is known of instances and of where they are used.
  double bytes() const {
    const auto of = [](const auto& list) {
      return static_cast<double>(list.size() * sizeof(list[0]));
    };
    return of(instances_) + of(offsets_) + of(row_start_) + of(instance_start_) + of(by_instance_) +
           of(uses_) + of(plan_of_row_) + of(observed_counts_);
  }
  bool is_wanted(Var variable) const { return targets_.empty() || targets_[variable] != 0; }
  const Piece& piece_of(const Instance& instance) const { return pieces_[instance.piece]; }
  // Log-probability of the families of a row that are observed whole.
  double observed_log_probability(std::size_t row, std::span<const double> cpts) const;

 private:
  // What rows with the same variables missing have in common.
  struct Plan {
    std::vector<std::uint32_t> pieces;
    std::vector<char> is_relevant;  // empty: every family is

    bool counts(Var child) const { return is_relevant.empty() || is_relevant[child]; }
  };
  class InstanceIndex;

  Plan make_plan(std::span<const Var> missing);
  std::vector<char> relevant(std::span<const Var> missing) const;
  std::uint32_t number_of(const std::vector<Var>& variables, const std::vector<Var>& families);
  Piece make_piece(const std::vector<Var>& variables, const std::vector<Var>& families) const;
  void note_size(const Piece& piece);
  // Calls visit(place of its probability) for each family of a row that is observed whole.
  void visit_observed(const Plan& plan, auto&& code_of, auto&& visit) const;
  bool compile(std::size_t first, std::size_t last, const Stop& stop);
  std::uint32_t plan_of(const std::vector<Var>& missing);
  void add_uses(std::size_t row, const Plan& plan, std::span<const std::uint8_t> cells,
                InstanceIndex& known);
  void group_by_instance();

  FamilyGraph graph_;
  Table table_;
  std::span<const double> weights_;
  std::vector<std::uint8_t> targets_;
  bool keeps_rows_ = true;
  std::vector<Piece> pieces_;
  std::map<std::pair<std::vector<Var>, std::vector<Var>>, std::uint32_t> piece_index_;
  std::map<std::vector<Var>, std::uint32_t> plan_index_;
  std::vector<Plan> plans_;
  std::vector<std::uint32_t> plan_of_row_;
  std::vector<Instance> instances_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> row_start_{0}, instance_start_, by_instance_;
  std::vector<Use> uses_;
  std::vector<double> observed_counts_;
  TableSize size_;
};

// Beliefs about one instance after the other.
struct InstanceBeliefs {
  Beliefs beliefs;
  std::vector<const double*> factors;

  std::span<const double* const> factors_of(const Holes& holes, const Holes::Instance& instance,
                                            std::span<const double> cpts);
  // By the elimination of its piece, or by another one. Returns the log of the sum.
  double collect(const Holes& holes, const Holes::Instance& instance, std::span<const double> cpts,
                 const Elimination* shape = nullptr);
};

}  // namespace bayesmend
