#include "core/inference/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/hash.hpp"
#include "core/base/odometer.hpp"
#include "core/base/rng.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kInstancesPerTask = 32;
constexpr std::size_t kRowsPerTask = 256;

struct Workspace : InstanceBeliefs {
  std::vector<std::uint8_t> states;
  std::vector<double> values;
};

// Runs work(number of the instance, its piece, workspace) for each instance.
template <class Work>
bool for_instances(const Holes& holes, std::size_t n_threads, const Stop& stop, Work&& work) {
  std::vector<Workspace> space(resolve_threads(n_threads));
  return parallel_for_blocks(holes.instances().size(), kInstancesPerTask, space.size(), stop,
                             [&](std::size_t i, std::size_t thread) {
                               work(i, holes.piece_of(holes.instances()[i]), space[thread]);
                             });
}

// Per row: what is observed whole, and the values of its instances. Empty when stopped.
std::vector<double> add_up_rows(const Holes& holes, std::span<const double> cpts,
                                std::span<const double> values, std::size_t n_threads,
                                const Stop& stop) {
  std::vector<double> rows(holes.table().n_rows);
  const auto add_up = [&](std::size_t row, std::size_t) {
    rows[row] = holes.observed_log_probability(row, cpts);
    for (const auto& use : holes.uses_of_row(row)) rows[row] += values[use.instance];
  };
  if (!parallel_for_blocks(rows.size(), kRowsPerTask, n_threads, stop, add_up)) rows.clear();
  return rows;
}

// Those of `variables` that lie in a piece, as positions, and the places they have in `variables`.
struct Share {
  std::vector<std::uint32_t> positions;
  std::vector<std::size_t> places;
};
Share share_of(const Piece& piece, std::span<const Var> variables) {
  Share share;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const auto position = position_in(piece.variables, variables[k]);
    if (!position) continue;
    share.positions.push_back(*position);
    share.places.push_back(k);
  }
  return share;
}

// Some of the variables that a table runs over.
struct Axes {
  std::vector<std::uint32_t> sizes;
  std::vector<std::size_t> strides;

  void add(std::uint32_t size, std::size_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  // Calls visit(place) for all their states together, the first variable varying fastest.
  template <class Visit>
  void for_places(Visit&& visit) const {
    Odometer odometer;
    odometer.reset(sizes.size());
    for (std::size_t place = 0;;) {
      visit(place);
      const auto raised =
          odometer.raise(sizes, 0, [&](std::size_t d) { place -= strides[d] * (sizes[d] - 1); });
      if (raised == sizes.size()) return;
      place += strides[raised];
    }
  }
};

// Where the distributions of the holes asked for lie: variable by variable, rows ascending.
class MarginalPlaces {
 public:
  explicit MarginalPlaces(const Holes& holes) : first_(holes.uses().size() + 1, 0) {
    const auto variables_of = [&](const Holes::Use& use) -> std::span<const Var> {
      return holes.piece_of(holes.instances()[use.instance]).variables;
    };
    std::vector<std::vector<std::size_t>> places(holes.table().n_vars);  // by variable, in start_
    for (std::size_t u = 0; u < holes.uses().size(); ++u) {              // rows ascending
      first_[u + 1] = first_[u];
      for (const auto v : variables_of(holes.uses()[u])) {
        if (holes.is_wanted(v)) places[v].push_back(first_[u + 1]);
        ++first_[u + 1];
      }
    }
    start_.resize(first_.back());
    for (Var v = 0; v < places.size(); ++v)
      for (const auto place : places[v]) {
        start_[place] = size_;
        size_ += holes.table().card[v];
      }
  }
  std::size_t size() const { return size_; }
  // Of a position of a use's piece.
  std::size_t at(std::size_t use, std::size_t position) const {
    return start_[first_[use] + position];
  }

 private:
  std::size_t size_ = 0;
  std::vector<std::size_t> first_;  // of each use, in start_
  std::vector<std::size_t> start_;  // by use and position
};

}  // namespace

std::vector<double> log_evidence(const Holes& holes, std::span<const double> cpts,
                                 std::size_t n_threads, const Stop& stop) {
  std::vector<double> values(holes.instances().size());
  const auto collect = [&](std::size_t i, const Piece&, Workspace& space) {
    values[i] = space.collect(holes, holes.instances()[i], cpts);
  };
  if (!for_instances(holes, n_threads, stop, collect)) return {};
  return add_up_rows(holes, cpts, values, n_threads, stop);
}

Explanation explain(const Holes& holes, std::span<const double> cpts, std::size_t n_threads,
                    const Stop& stop) {
  const Table& table = holes.table();
  Explanation result;
  result.cells.assign(table.cells.begin(), table.cells.end());
  result.n_vars = table.n_vars;
  std::vector<double> values(holes.instances().size());
  const auto explain_instance = [&](std::size_t i, const Piece& piece, Workspace& space) {
    space.states.assign(piece.variables.size(), 0);
    values[i] = best_states(*piece.elimination, space.factors_of(holes, holes.instances()[i], cpts),
                            space.beliefs, space.states);
    if (values[i] == kImpossible) return;
    for (const std::size_t u : holes.uses_of_instance(i))
      for (std::size_t p = 0; p < piece.variables.size(); ++p)
        result.cells[piece.variables[p] * table.n_rows + holes.uses()[u].row] = space.states[p];
  };
  if (!for_instances(holes, n_threads, stop, explain_instance)) return {};
  result.log_probability = add_up_rows(holes, cpts, values, n_threads, stop);
  return result;
}

std::vector<double> marginals(const Holes& holes, std::span<const double> cpts,
                              std::size_t n_threads, const Stop& stop) {
  const MarginalPlaces places(holes);
  std::vector<double> result(places.size(), 0.0);
  const auto is_wanted = [&](Var v) { return holes.is_wanted(v); };
  const auto write = [&](std::size_t i, const Piece& piece, Workspace& space) {
    if (std::ranges::none_of(piece.variables, is_wanted)) return;
    if (space.collect(holes, holes.instances()[i], cpts) == kImpossible) return;
    space.beliefs.distribute();
    for (std::uint32_t p = 0; p < piece.variables.size(); ++p) {
      if (!is_wanted(piece.variables[p])) continue;
      space.values.resize(piece.card[p]);
      space.beliefs.marginal(p, space.values);
      for (const std::size_t u : holes.uses_of_instance(i))
        std::ranges::copy(space.values, result.data() + places.at(u, p));
    }
  };
  if (!for_instances(holes, n_threads, stop, write)) return {};
  return result;
}

std::vector<std::uint8_t> draw_completions(const Holes& holes, std::span<const double> cpts,
                                           std::size_t n_draws, std::uint64_t seed,
                                           std::size_t n_threads, const Stop& stop) {
  const Table& table = holes.table();
  std::vector<std::uint8_t> result;
  result.reserve(n_draws * table.cells.size());
  for (std::size_t d = 0; d < n_draws; ++d)
    result.insert(result.end(), table.cells.begin(), table.cells.end());
  const auto draw = [&](std::size_t i, const Piece& piece, Workspace& space) {
    if (space.collect(holes, holes.instances()[i], cpts) == kImpossible) return;
    space.states.assign(piece.variables.size(), 0);
    for (const std::size_t u : holes.uses_of_instance(i)) {
      const auto& use = holes.uses()[u];
      for (std::size_t d = 0; d < n_draws; ++d) {
        Rng rng(mix(seed ^ mix(use.row)), mix((std::uint64_t{use.ordinal} << 32) + d));
        space.beliefs.draw(space.states,
                           [&] { return static_cast<double>(rng.next() >> 11) * 0x1.0p-53; });
        for (std::size_t p = 0; p < piece.variables.size(); ++p)
          result[(d * table.n_vars + piece.variables[p]) * table.n_rows + use.row] =
              space.states[p];
      }
    }
  };
  if (!for_instances(holes, n_threads, stop, draw)) return {};
  return result;
}

TableSize joint_size(const Holes& holes, std::span<const Var> variables) {
  double joint = 1.0, most = 0.0;
  for (const auto v : variables) joint *= holes.graph().card[v];
  TableSize size{joint, {variables.begin(), variables.end()}, joint};
  for (const auto& use : holes.uses_of_row(0)) {
    const auto& piece = holes.piece_of(holes.instances()[use.instance]);
    const auto share = share_of(piece, variables);
    if (share.positions.empty()) continue;
    const auto tree = make_clique_tree(piece.card, piece.scopes, share.positions, 0.0);
    double entries = tree.n_entries;
    for (const Clique& clique : tree.cliques) entries += clique.n_entries / clique.n_own_entries;
    most = std::max(most, entries);
    const Clique& largest = tree.cliques[tree.largest];
    if (largest.n_entries <= size.largest) continue;
    size.largest = largest.n_entries;
    size.scope.clear();
    for (const auto position : largest.scope) size.scope.push_back(piece.variables[position]);
  }
  size.total += most;
  return size;
}

std::vector<double> joint_distribution(const Holes& holes, std::span<const double> cpts,
                                       std::span<const Var> variables) {
  const Table& table = holes.table();
  Axes all;
  std::size_t size = 1, base = 0;
  for (const auto v : variables) {
    all.add(table.card[v], size);
    const auto code = table.cells[v * table.n_rows];
    if (code != kMissing) base += size * code;
    size *= table.card[v];
  }
  // Pieces are independent: the joint distribution is a product of theirs. Each spreads what is
  // there, where its own variables are all in their first state, over their other states.
  std::vector<double> result(size, 0.0);
  result[base] = 1.0;
  Axes done;
  for (const auto& use : holes.uses_of_row(0)) {
    const auto& instance = holes.instances()[use.instance];
    const Piece& piece = holes.piece_of(instance);
    const auto share = share_of(piece, variables);
    if (share.positions.empty()) continue;
    const Elimination shape(piece.card, piece.scopes, piece.strides, share.positions, 0.0);
    InstanceBeliefs space;
    if (space.collect(holes, instance, cpts, &shape) == kImpossible)
      return std::vector<double>(size, 0.0);
    const auto part = space.beliefs.table(shape.tree().cliques.size() - 1);
    const double total = std::accumulate(part.begin(), part.end(), 0.0);
    Axes own;
    for (const std::size_t k : share.places) own.add(all.sizes[k], all.strides[k]);
    std::size_t entry = 0;
    own.for_places([&](std::size_t place) {
      const double probability = part[entry++] / total;
      if (place == 0) return;  // what the others are made of
      done.for_places(
          [&](std::size_t at) { result[base + at + place] = result[base + at] * probability; });
    });
    done.for_places([&](std::size_t at) { result[base + at] *= part[0] / total; });
    for (const std::size_t k : share.places) done.add(all.sizes[k], all.strides[k]);
  }
  return result;
}

}  // namespace bayesmend
