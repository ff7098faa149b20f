#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/exact.hpp"
#include "core/base/odometer.hpp"
#include "core/inference/cliques.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// More entries than this, of all cliques together, are never filled.
inline constexpr double kMaxTreeEntries = 0x1.0p36;

// The logarithm of a product that is zero everywhere.
inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// What messages do with the positions that they leave behind.
enum class Pass { sum, max };

// A product of factors over positions 0 .. n - 1 and how to eliminate them, with the steps through
// every table worked out. It holds no numbers: many products of the same shape share it.
class Elimination {
 public:
  // strides[f][p]: how far position scopes[f][p] moves in factor f.
  Elimination(std::span<const std::uint32_t> card,
              const std::vector<std::vector<std::uint32_t>>& scopes,
              const std::vector<std::vector<std::size_t>>& strides,
              std::span<const std::uint32_t> keep, double max_joint);

  // A walk through the entries of a clique, whose digits are the positions of its scope.
  struct Walk {
    std::vector<std::uint32_t> sizes;  // states per digit
    std::vector<std::size_t> strides;  // [input][digit]; factors first, then children

    // What an input moves by per digit.
    const std::size_t* strides_of(std::size_t input) const {
      return strides.data() + input * sizes.size();
    }
  };

  const CliqueTree& tree() const { return tree_; }
  const Clique& clique(std::size_t number) const { return tree_.cliques[number]; }
  std::span<const std::uint32_t> card() const { return card_; }
  const Walk& walk(std::size_t clique) const { return walks_[clique]; }
  // The clique that eliminates a position, and the position's step there.
  std::uint32_t home(std::uint32_t position) const { return home_[position]; }
  std::size_t home_stride(std::uint32_t position) const { return home_stride_[position]; }
  bool holds(std::size_t clique, std::uint32_t position) const {
    return (members_[clique * n_words_ + position / 64] >> (position % 64) & 1) != 0;
  }
  // Entries of a clique, or of its message to its parent, among those of all, one clique after the
  // other.
  std::size_t n_entries() const { return table_start_.back(); }
  std::size_t n_message_entries() const { return message_start_.back(); }
  template <class T>
  std::span<T> entries(std::span<T> all, std::size_t clique) const {
    return all.subspan(table_start_[clique], table_start_[clique + 1] - table_start_[clique]);
  }
  template <class T>
  std::span<T> message(std::span<T> all, std::size_t clique) const {
    return all.subspan(message_start_[clique], message_start_[clique + 1] - message_start_[clique]);
  }

 private:
  Walk make_walk(const Clique& clique, const std::vector<std::vector<std::uint32_t>>& scopes,
                 const std::vector<std::vector<std::size_t>>& strides) const;
  void note_positions(std::uint32_t clique);

  std::vector<std::uint32_t> card_;
  CliqueTree tree_;
  std::vector<Walk> walks_;
  std::vector<std::size_t> table_start_{0}, message_start_{0};  // one more than there are cliques
  std::vector<std::uint32_t> home_;
  std::vector<std::size_t> home_stride_;
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> members_;  // [clique][word]: positions in its scope, as bits
};

// The tables of one product. Reusable: the same object serves one product after the other.
class Beliefs {
 public:
  // Messages from the leaves to the roots. factors[f] points to the first entry of factor f;
  // clamp, when given, holds a state per position, or kMissing. Returns the log of the sum (or of
  // the largest entry) of the product, or kImpossible.
  double collect(const Elimination& shape, std::span<const double* const> factors, Pass pass,
                 std::span<const std::uint8_t> clamp = {});
  // Messages back: afterwards every table is proportional to its marginal (or max-marginal).
  void distribute();

  // Entries of a clique: after collect, of the last one (its scope eliminated last) the joint
  // table; after distribute, of any.
  std::span<const double> table(std::size_t clique) const {
    return shape_->entries(std::span(tables_), clique);
  }
  // After distribute: the distribution (or the max-marginals, the largest being 1) of a position.
  void marginal(std::uint32_t position, std::span<double> out) const;
  // After distribute: adds weight times the distribution of every factor that a clique holds to
  // `counts`, that of factor f from first[f] on, laid out as the factor is.
  void add_factor_marginals(std::size_t clique, double weight, std::span<const std::size_t> first,
                            std::span<double> counts) const;
  // The same, the probability of each entry rounded, so that sums do not depend on their order.
  void add_factor_marginals(std::size_t clique, std::uint64_t weight,
                            std::span<const std::size_t> first, std::span<ExactSum> counts) const;
  // After collect with Pass::sum: a draw, one state per position; uniform() is in [0, 1).
  template <class Uniform>
  void draw(std::span<std::uint8_t> states, Uniform&& uniform) const;
  // After collect with Pass::max: a best state per position. False when another is as good.
  bool decode(std::span<std::uint8_t> states) const;

 private:
  // Calls visit(place, value) for every factor and entry, the entries adding up to `total`.
  template <class Visit>
  void visit_factor_entries(std::size_t clique, double total, std::span<const std::size_t> first,
                            Visit&& visit) const;
  template <class Visit>
  void walk_runs(std::size_t clique, std::size_t first, std::size_t last, Visit&& visit) const;
  std::span<double> entries(std::size_t clique) {
    return shape_->entries(std::span(tables_), clique);
  }
  std::span<double> message(std::size_t clique) {
    return shape_->message(std::span(messages_), clique);
  }
  double input_at(std::size_t input, std::size_t state, std::size_t stride) const {
    return inputs_[input][offsets_[input] + state * stride];
  }
  // Sums up, or takes the largest, as the pass has it.
  double combine(double a, double b) const { return pass_ == Pass::sum ? a + b : std::max(a, b); }
  // Whether an entry has the states that the clamp holds.
  bool agrees(std::size_t clique, std::size_t entry, std::span<const std::uint8_t> clamp) const;
  // Numbers, as long as no state gets lost by them; or else all of it by logarithms.
  bool collect_numbers(std::span<const double* const> factors, std::span<const std::uint8_t> clamp);
  void collect_logs(std::span<const double* const> factors, std::span<const std::uint8_t> clamp);
  void take_inputs(std::size_t clique, std::span<const double* const> factors);
  void multiply(std::size_t clique, std::span<const double* const> factors);
  template <class Counts>
  bool is_possible(std::size_t clique, Counts&& counts) const;
  void add_logs(std::size_t clique, std::size_t n_numbers);
  void apply_clamp(std::size_t clique, std::span<const std::uint8_t> clamp, double nothing);
  bool send(std::size_t clique, std::span<const std::uint8_t> clamp);
  void send_logs(std::size_t clique);
  void send_back(std::size_t clique, std::size_t input, std::size_t child);
  // Entries of a clique with these states of the positions that others eliminate.
  std::span<const double> own_block(std::size_t clique, std::span<const std::uint8_t> states) const;
  void write_states(const Clique& clique, std::size_t entry, std::span<std::uint8_t> states) const;

  const Elimination* shape_ = nullptr;
  Pass pass_ = Pass::sum;
  std::vector<double> tables_, messages_, margin_;
  double log_scale_ = 0.0;
  bool has_logs_ = false;  // in the messages
  std::vector<const double*> inputs_;
  mutable Odometer odometer_;
  mutable std::vector<std::size_t> offsets_;
};

// Two products this close to each other, relatively, count as equal: as ties.
inline constexpr double kTie = 1e-9;

// The states of the largest entry of a product; among equals those that come first when states
// are compared position by position. Returns its log; minus infinity when all entries are zero.
double best_states(const Elimination& shape, std::span<const double* const> factors,
                   Beliefs& beliefs, std::span<std::uint8_t> states);

template <class Uniform>
void Beliefs::draw(std::span<std::uint8_t> states, Uniform&& uniform) const {
  for (std::size_t c = shape_->tree().cliques.size(); c-- > 0;) {
    const auto block = own_block(c, states);
    double total = 0.0;
    for (const double entry : block) total += entry;
    const double target = uniform() * total;
    double passed = 0.0;
    std::size_t chosen = 0;
    for (std::size_t r = 0; r < block.size(); ++r) {
      if (block[r] == 0.0) continue;
      chosen = r;  // the last one possible, should rounding leave the target behind
      passed += block[r];
      if (target < passed) break;
    }
    write_states(shape_->clique(c), chosen, states);
  }
}

}  // namespace bayesmend
