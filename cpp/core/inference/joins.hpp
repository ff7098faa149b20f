#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/odometer.hpp"
#include "core/inference/beliefs.hpp"

namespace bayesmend {

// Joint distributions of positions from those of the cliques that hold them. One thread's: it keeps
// what it needs while it works, and remembers what many sets of positions share.
class Joiner {
 public:
  // Adds the joint distribution of some positions to `joint`, where state k of positions[p] moves
  // by strides[p]. `beliefs` holds the distributions of all cliques, `conditionals` those of their
  // own positions given the others: only the cliques between the positions are visited. For trees
  // of one clique or whose cliques eliminate one position each. What is remembered, up to
  // `max_remembered` numbers in all, goes under `key`: the same distributions, the same key.
  void join(const Elimination& shape, std::span<const double> beliefs,
            std::span<const double> conditionals, std::span<const std::uint32_t> positions,
            std::span<const std::size_t> strides, std::uint32_t key, std::size_t max_remembered,
            std::span<double> joint);

 private:
  // What a clique hands to its parent: a value for each entry of what they share and each state of
  // the kept positions below, and where that state lies in the joint distribution.
  struct Handed {
    const double* values = nullptr;  // [shared entry][kept state]
    std::vector<double> own_values;  // unless they are remembered
    std::vector<std::size_t> places;
    std::vector<std::uint32_t> children;  // those that hand over to this clique
    std::uint32_t position = kSeveral;    // the kept one, if it is only one
  };
  // The same at the entry that a walk through the parent has come to.
  struct Input {
    const double* values;  // one per state of the kept positions below
    std::size_t n_states;
    const std::size_t* strides;  // of the walk's digits, in runs of values

    const double* at(std::size_t own) const {  // at a state of the parent's own position
      return values + n_states * strides[0] * own;
    }
  };
  static constexpr auto kSeveral = static_cast<std::uint32_t>(-1);

  static void add_product(double value, std::size_t own, std::span<const Input> inputs, double* out,
                          std::size_t n_states);
  // How far a position moves in the joint distribution; 0 unless it is kept.
  std::size_t stride_of(std::uint32_t position) const;
  // The clique with the fewest entries among those with all the positions, or one past the last.
  std::size_t smallest_clique() const;
  void visit_later(std::uint32_t clique);
  // Whether the first open clique is the last that has to be visited.
  bool is_top(std::uint32_t clique) const;
  // Prepares a walk through a clique: what its children have handed over, and their places.
  void take_inputs(std::size_t clique);
  // Adds a kept position to the places of a clique.
  void spread_places(std::size_t clique, std::size_t n_states, std::size_t stride);
  // Moves on to the next state of all but the own position; returns the digit that was raised.
  std::size_t advance(std::size_t clique);
  // Works out what a clique hands to its parent, or remembers it.
  void hand_over(std::size_t clique, std::span<const double> table, std::uint32_t key,
                 std::size_t max_remembered);
  void work_out(std::size_t clique, std::span<const double> table, bool is_kept,
                std::vector<double>& values);
  // Adds up the joint distribution in the clique that holds all positions not handed over.
  void join_top(std::size_t clique, std::span<const double> table, std::span<double> joint);

  // Of the call at hand.
  const Elimination* shape_ = nullptr;
  std::span<const std::uint32_t> positions_;
  std::span<const std::size_t> strides_;
  std::vector<Handed> handed_;
  std::vector<std::uint32_t> open_;  // cliques still to visit, ascending: children before parents
  std::vector<std::uint32_t> left_;  // positions that no clique has handed over yet
  Odometer odometer_;
  std::vector<Input> inputs_;
  std::vector<std::size_t> own_places_, top_strides_;
  // What cliques hand over of one position alone: many sets of positions share it.
  std::unordered_map<std::uint64_t, std::vector<double>> remembered_;
  std::size_t n_remembered_ = 0;
};

}  // namespace bayesmend
