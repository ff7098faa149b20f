#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/inference/cliques.hpp"

namespace bayesmend {

// More entries than this, of all cliques together, are never filled.
inline constexpr double kMaxTreeEntries = 0x1.0p36;

// What messages do with the positions that they leave behind.
enum class Pass { sum, max };

// What a clique has handed to its parent, at the entry that a walk through the parent has come to.
struct HandedOver {
  const double* values;  // one per state of the kept positions below
  std::int64_t n_states;
  const std::int64_t* strides;  // of the walk's digits, in runs of values

  const double* at(std::size_t own) const {  // at a state of the parent's own position
    return values + n_states * strides[0] * static_cast<std::int64_t>(own);
  }
};

// A product of factors over positions 0 .. n - 1 and how to eliminate them, with the steps through
// every table worked out. It holds no numbers: many products of the same shape share it.
class Elimination {
 public:
  // strides[f][p]: how far position scopes[f][p] moves in factor f.
  Elimination(std::span<const std::int32_t> card,
              const std::vector<std::vector<std::uint32_t>>& scopes,
              const std::vector<std::vector<std::int64_t>>& strides,
              std::span<const std::uint32_t> keep, double max_joint);

  const CliqueTree& tree() const { return tree_; }
  std::span<const std::int32_t> card() const { return card_; }
  // Entries of a clique among those of all, one clique after the other.
  std::span<const double> entries(std::span<const double> all, std::size_t clique) const {
    return all.subspan(table_start_[clique], table_start_[clique + 1] - table_start_[clique]);
  }

  // What one thread needs to join marginals.
  class JoinScratch;
  // The joint distribution of some positions from the distributions of all cliques, `beliefs`, and
  // those of their own positions given the others, `conditionals`: only the cliques between the
  // positions are visited. Adds it to `joint`, where state k of positions[p] moves by strides[p].
  // For trees whose cliques eliminate one position each. What the scratch remembers is kept under
  // `key`: the same distributions, the same key.
  void join(std::span<const double> beliefs, std::span<const double> conditionals,
            std::span<const std::uint32_t> positions, std::span<const std::size_t> strides,
            std::uint32_t key, JoinScratch& scratch, std::span<double> joint) const;

 private:
  friend class Beliefs;
  // A walk through the entries of a clique: what each input moves by per digit.
  struct Walk {
    std::vector<std::uint32_t> sizes;   // states per digit
    std::vector<std::int64_t> strides;  // [input][digit]; factors first, then children
    std::size_t n_inputs = 0;
  };
  bool holds(std::size_t clique, std::uint32_t position) const {
    return (members_[clique * n_words_ + position / 64] >> (position % 64) & 1) != 0;
  }
  // The clique with the fewest entries among those with all the positions, or one past the last.
  std::size_t smallest_with(std::span<const std::uint32_t> positions) const;
  // Prepares a walk through a clique: what its children have handed over, and their places.
  void take_inputs(std::size_t clique, JoinScratch& scratch) const;
  // Moves on to the next state of all but the own position; returns the digit that was raised.
  std::size_t advance(std::size_t clique, JoinScratch& scratch) const;
  // Works out what a clique hands to its parent, or remembers it.
  void hand_over(std::size_t clique, std::span<const double> table, bool is_kept,
                 std::size_t stride, std::uint32_t key, JoinScratch& scratch) const;
  void work_out(std::size_t clique, std::span<const double> table, bool is_kept,
                JoinScratch& scratch, std::vector<double>& values) const;
  // Adds up the joint distribution in the clique that holds all positions not handed over.
  template <class StrideOf>
  void join_top(std::size_t clique, std::span<const double> table, StrideOf&& stride_of,
                JoinScratch& scratch, std::span<double> joint) const;

  std::vector<std::int32_t> card_;
  CliqueTree tree_;
  std::vector<Walk> walks_;
  std::vector<std::size_t> table_start_, message_start_;  // one more than there are cliques
  std::vector<std::uint32_t> home_;                       // the clique that eliminates a position
  std::vector<std::int64_t> home_stride_;                 // and its step there
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> members_;  // [clique][word]: positions in its scope, as bits
};

class Elimination::JoinScratch {
 public:
  std::size_t max_remembered = 0;  // numbers

 private:
  friend class Elimination;
  // What a clique hands to its parent: a value for each entry of what they share and each state of
  // the kept positions below, and where that state lies in the joint distribution.
  struct Handed {
    const double* values = nullptr;  // [shared entry][kept state]
    std::vector<double> own_values;  // unless they are remembered
    std::vector<std::size_t> places;
    std::vector<std::uint32_t> children;  // those that hand over to this clique
    std::uint32_t position = kSeveral;    // the kept one, if it is only one
  };
  static constexpr auto kSeveral = static_cast<std::uint32_t>(-1);
  std::vector<Handed> handed;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> digits;
  std::vector<std::uint32_t> left;
  std::vector<HandedOver> inputs;
  std::vector<std::size_t> own_places, top_strides;
  // What cliques hand over of one position alone: many sets of positions share it.
  std::unordered_map<std::uint64_t, std::vector<double>> remembered;
  std::size_t n_remembered = 0;
};

// The tables of one product. Reusable: the same object serves one product after the other.
class Beliefs {
 public:
  // Messages from the leaves to the roots. factors[f] points to the first entry of factor f;
  // clamp, when given, holds a state per position, or -1. Returns the log of the sum (or of the
  // largest entry) of the product; minus infinity when it is zero everywhere.
  double collect(const Elimination& shape, std::span<const double* const> factors, Pass pass,
                 std::span<const std::int32_t> clamp = {});
  // Messages back: afterwards every table is proportional to its marginal (or max-marginal).
  void distribute();

  // Entries of a clique: after collect, of the last one (its scope eliminated last) the joint
  // table; after distribute, of any.
  std::span<const double> table(std::size_t clique) const;
  // After distribute: the distribution (or the max-marginals, the largest being 1) of a position.
  void marginal(std::uint32_t position, std::span<double> out) const;
  // After distribute: adds weight times the distribution of every factor that a clique holds to
  // `counts`, that of factor f from first[f] on, laid out as the factor is.
  void add_factor_marginals(std::size_t clique, double weight, std::span<const std::size_t> first,
                            std::span<double> counts) const;
  // After collect with Pass::sum: a draw, one state per position; uniform() is in [0, 1).
  template <class Uniform>
  void draw(std::span<std::uint8_t> states, Uniform&& uniform) const;
  // After collect with Pass::max: a best state per position. False when another is as good.
  bool decode(std::span<std::uint8_t> states) const;

 private:
  template <class Visit>
  void walk_runs(std::size_t clique, std::size_t first, std::size_t last, Visit&& visit) const;
  double input_at(std::size_t input, std::size_t state, std::int64_t stride) const {
    return inputs_[input][offsets_[input] + static_cast<std::int64_t>(state) * stride];
  }
  void multiply(std::size_t clique, std::span<const double* const> factors);
  bool is_possible(std::size_t clique);
  void multiply_logs(std::size_t clique);
  void apply_clamp(std::size_t clique, std::span<const std::int32_t> clamp);
  double send(std::size_t clique);
  std::size_t block_start(const Clique& clique, std::span<const std::uint8_t> states) const;
  void write_states(const Clique& clique, std::size_t entry, std::span<std::uint8_t> states) const;

  const Elimination* shape_ = nullptr;
  Pass pass_ = Pass::sum;
  std::vector<double> tables_, messages_, margin_;
  double log_scale_ = 0.0;
  std::vector<const double*> inputs_;
  mutable std::vector<std::uint32_t> digits_;
  mutable std::vector<std::int64_t> offsets_;
};

// Two products this close to each other, relatively, count as equal: as ties.
inline constexpr double kTie = 1e-9;

// The states of the largest entry of a product; among equals those that come first when states
// are compared position by position. Returns its log; minus infinity when all entries are zero.
double best_states(const Elimination& shape, std::span<const double* const> factors,
                   Beliefs& beliefs, std::span<std::uint8_t> states);

template <class Uniform>
void Beliefs::draw(std::span<std::uint8_t> states, Uniform&& uniform) const {
  const auto& cliques = shape_->tree().cliques;
  for (std::size_t c = cliques.size(); c-- > 0;) {
    const auto& clique = cliques[c];
    const std::size_t start = block_start(clique, states);
    const auto n_own = static_cast<std::size_t>(clique.n_own_entries);
    const auto block = table(c).subspan(start, n_own);
    double total = 0.0;
    for (const double entry : block) total += entry;
    const double target = uniform() * total;
    double passed = 0.0;
    std::size_t chosen = 0;
    for (std::size_t r = 0; r < n_own; ++r) {
      if (block[r] == 0.0) continue;
      chosen = r;  // the last one possible, should rounding leave the target behind
      passed += block[r];
      if (target < passed) break;
    }
    write_states(clique, chosen, states);
  }
}

}  // namespace bayesmend
