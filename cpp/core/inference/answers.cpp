#include "core/inference/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/rng.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kInstancesPerTask = 32;
constexpr std::size_t kRowsPerTask = 256;

struct Workspace {
  Beliefs beliefs;
  std::vector<const double*> factors;
  std::vector<std::uint8_t> states;
  std::vector<double> values;
};

// Runs work(number of the instance, workspace) for each instance.
template <class Work>
bool for_instances(const Holes& holes, std::size_t n_threads, const Stop& stop, Work&& work) {
  const std::size_t n = holes.instances().size();
  const std::size_t n_tasks = (n + kInstancesPerTask - 1) / kInstancesPerTask;
  std::vector<Workspace> space(resolve_threads(n_threads));
  return parallel_for(n_tasks, space.size(), stop, [&](std::size_t task, std::size_t thread) {
    const std::size_t end = std::min(n, (task + 1) * kInstancesPerTask);
    for (std::size_t i = task * kInstancesPerTask; i < end; ++i) work(i, space[thread]);
  });
}

// Per row: what is observed whole, and the values of its instances.
bool add_up_rows(const Holes& holes, std::span<const double> cpts, std::span<const double> values,
                 std::size_t n_threads, const Stop& stop, std::vector<double>& rows) {
  const std::size_t n_rows = holes.table().n_rows;
  rows.resize(n_rows);
  const std::size_t n_tasks = (n_rows + kRowsPerTask - 1) / kRowsPerTask;
  return parallel_for(n_tasks, n_threads, stop, [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(n_rows, (task + 1) * kRowsPerTask);
    for (std::size_t row = task * kRowsPerTask; row < end; ++row) {
      rows[row] = holes.observed_log_probability(row, cpts);
      for (const auto& use : holes.uses_of_row(row)) rows[row] += values[use.instance];
    }
  });
}

// Position of the variable in the piece; npos when it is not there.
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
std::size_t position_in(const Piece& piece, std::int32_t variable) {
  const auto at = std::ranges::lower_bound(piece.variables, variable);
  if (at == piece.variables.end() || *at != variable) return kNowhere;
  return static_cast<std::size_t>(at - piece.variables.begin());
}

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdu;
  return value ^ (value >> 33);
}

// Those of `variables` that lie in a piece, as positions, and the places they have in `variables`.
struct Share {
  std::vector<std::uint32_t> positions;
  std::vector<std::size_t> places;
};
Share share_of(const Piece& piece, std::span<const std::int32_t> variables) {
  Share share;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const std::size_t position = position_in(piece, variables[k]);
    if (position == kNowhere) continue;
    share.positions.push_back(static_cast<std::uint32_t>(position));
    share.places.push_back(k);
  }
  return share;
}

// Some of the variables that a table runs over.
struct Axes {
  std::vector<std::size_t> sizes, strides;

  void add(std::size_t size, std::size_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  // Calls visit(place) for all their states together, the first variable varying fastest.
  template <class Visit>
  void for_places(Visit&& visit) const {
    std::vector<std::size_t> digits(sizes.size(), 0);
    for (std::size_t place = 0;;) {
      visit(place);
      std::size_t d = 0;
      for (; d < sizes.size() && ++digits[d] == sizes[d]; ++d) {
        place -= strides[d] * (sizes[d] - 1);
        digits[d] = 0;
      }
      if (d == sizes.size()) return;
      place += strides[d];
    }
  }
};

Elimination keeping(const Piece& piece, std::span<const std::uint32_t> positions) {
  return Elimination(piece.card, piece.scopes, piece.strides, positions, 0.0);
}

}  // namespace

std::vector<double> log_evidence(const Holes& holes, std::span<const double> cpts,
                                 std::size_t n_threads, const Stop& stop) {
  std::vector<double> values(holes.instances().size()), rows;
  const bool finished = for_instances(holes, n_threads, stop, [&](std::size_t i, Workspace& space) {
    const auto& instance = holes.instances()[i];
    holes.factors(instance, cpts, space.factors);
    values[i] = space.beliefs.collect(*holes.pieces()[instance.piece].elimination, space.factors,
                                      Pass::sum);
  });
  if (!finished || !add_up_rows(holes, cpts, values, n_threads, stop, rows)) return {};
  return rows;
}

Explanation explain(const Holes& holes, std::span<const double> cpts, std::size_t n_threads,
                    const Stop& stop) {
  const Table& table = holes.table();
  Explanation result;
  result.cells.assign(table.cells.begin(), table.cells.end());
  std::vector<double> values(holes.instances().size());
  const bool finished = for_instances(holes, n_threads, stop, [&](std::size_t i, Workspace& space) {
    const auto& instance = holes.instances()[i];
    const Piece& piece = holes.pieces()[instance.piece];
    holes.factors(instance, cpts, space.factors);
    space.states.assign(piece.variables.size(), 0);
    values[i] = best_states(*piece.elimination, space.factors, space.beliefs, space.states);
    if (values[i] == -std::numeric_limits<double>::infinity()) return;
    for (const std::size_t u : holes.uses_of_instance(i)) {
      const std::size_t row = holes.uses()[u].row;
      for (std::size_t p = 0; p < piece.variables.size(); ++p)
        result.cells[static_cast<std::size_t>(piece.variables[p]) * table.n_rows + row] =
            space.states[p];
    }
  });
  if (!finished || !add_up_rows(holes, cpts, values, n_threads, stop, result.log_probability))
    return {};
  return result;
}

std::vector<double> marginals(const Holes& holes, std::span<const double> cpts,
                              std::size_t n_threads, const Stop& stop) {
  const Table& table = holes.table();
  // Where the distribution of a hole starts, by use and position in its piece.
  std::vector<std::size_t> first_of_use(holes.uses().size() + 1, 0);
  for (std::size_t u = 0; u < holes.uses().size(); ++u) {
    const auto& instance = holes.instances()[holes.uses()[u].instance];
    first_of_use[u + 1] = first_of_use[u] + holes.pieces()[instance.piece].variables.size();
  }
  std::vector<std::size_t> start(first_of_use.back(), kNowhere);
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> cells(table.n_vars);
  for (std::size_t row = 0, u = 0; row < table.n_rows; ++row)
    for (std::size_t k = 0; k < holes.uses_of_row(row).size(); ++k, ++u) {
      const auto& piece = holes.pieces()[holes.instances()[holes.uses()[u].instance].piece];
      for (std::size_t p = 0; p < piece.variables.size(); ++p) {
        const auto v = static_cast<std::size_t>(piece.variables[p]);
        if (holes.is_wanted(v)) cells[v].emplace_back(row, first_of_use[u] + p);
      }
    }
  std::size_t size = 0;
  for (std::size_t v = 0; v < table.n_vars; ++v)
    for (const auto& [row, slot] : cells[v]) {
      start[slot] = size;
      size += static_cast<std::size_t>(table.card[v]);
    }
  std::vector<double> result(size, 0.0);
  const bool finished = for_instances(holes, n_threads, stop, [&](std::size_t i, Workspace& space) {
    const auto& instance = holes.instances()[i];
    const Piece& piece = holes.pieces()[instance.piece];
    if (std::ranges::none_of(piece.variables, [&](std::int32_t v) {
          return holes.is_wanted(static_cast<std::size_t>(v));
        }))
      return;
    holes.factors(instance, cpts, space.factors);
    const double log_sum = space.beliefs.collect(*piece.elimination, space.factors, Pass::sum);
    if (log_sum == -std::numeric_limits<double>::infinity()) return;
    space.beliefs.distribute();
    for (std::uint32_t p = 0; p < piece.variables.size(); ++p) {
      if (!holes.is_wanted(static_cast<std::size_t>(piece.variables[p]))) continue;
      space.values.resize(static_cast<std::size_t>(piece.card[p]));
      space.beliefs.marginal(p, space.values);
      for (const std::size_t u : holes.uses_of_instance(i))
        std::ranges::copy(space.values,
                          result.begin() + static_cast<std::ptrdiff_t>(start[first_of_use[u] + p]));
    }
  });
  if (!finished) return {};
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
  const bool finished = for_instances(holes, n_threads, stop, [&](std::size_t i, Workspace& space) {
    const auto& instance = holes.instances()[i];
    const Piece& piece = holes.pieces()[instance.piece];
    holes.factors(instance, cpts, space.factors);
    const double log_sum = space.beliefs.collect(*piece.elimination, space.factors, Pass::sum);
    if (log_sum == -std::numeric_limits<double>::infinity()) return;
    space.states.assign(piece.variables.size(), 0);
    for (const std::size_t u : holes.uses_of_instance(i)) {
      const auto& use = holes.uses()[u];
      for (std::size_t d = 0; d < n_draws; ++d) {
        Rng rng(mix(seed ^ mix(use.row)), mix((std::uint64_t{use.ordinal} << 32) + d));
        space.beliefs.draw(space.states,
                           [&] { return static_cast<double>(rng.next() >> 11) * 0x1.0p-53; });
        for (std::size_t p = 0; p < piece.variables.size(); ++p)
          result[(d * table.n_vars + static_cast<std::size_t>(piece.variables[p])) * table.n_rows +
                 use.row] = space.states[p];
      }
    }
  });
  if (!finished) return {};
  return result;
}

JointSize joint_size(const Holes& holes, std::span<const std::int32_t> variables) {
  double joint = 1.0, most = 0.0;
  for (const auto v : variables) joint *= holes.graph().card[static_cast<std::size_t>(v)];
  JointSize size{joint, {variables.begin(), variables.end()}, joint};
  for (const auto& use : holes.uses_of_row(0)) {
    const auto& piece = holes.pieces()[holes.instances()[use.instance].piece];
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
                                       std::span<const std::int32_t> variables) {
  const Table& table = holes.table();
  std::vector<std::size_t> card, stride;
  std::size_t size = 1, base = 0;
  for (const auto v : variables) {
    card.push_back(static_cast<std::size_t>(table.card[static_cast<std::size_t>(v)]));
    stride.push_back(size);
    const auto code = table.cells[static_cast<std::size_t>(v) * table.n_rows];
    if (code != kMissing) base += size * code;
    size *= card.back();
  }
  // Pieces are independent: the joint distribution is a product of theirs. Each spreads what is
  // there, where its own variables are all in their first state, over their other states.
  std::vector<double> result(size, 0.0);
  result[base] = 1.0;
  Axes done;
  for (const auto& use : holes.uses_of_row(0)) {
    const auto& instance = holes.instances()[use.instance];
    const Piece& piece = holes.pieces()[instance.piece];
    const auto share = share_of(piece, variables);
    if (share.positions.empty()) continue;
    const Elimination shape = keeping(piece, share.positions);
    Workspace space;
    holes.factors(instance, cpts, space.factors);
    const double log_sum = space.beliefs.collect(shape, space.factors, Pass::sum);
    if (log_sum == -std::numeric_limits<double>::infinity()) {
      std::ranges::fill(result, 0.0);
      return result;
    }
    const auto part = space.beliefs.table(shape.tree().cliques.size() - 1);
    double total = 0.0;
    for (const double value : part) total += value;
    Axes own;
    for (const std::size_t k : share.places) own.add(card[k], stride[k]);
    std::size_t entry = 0;
    own.for_places([&](std::size_t place) {
      const double probability = part[entry++] / total;
      if (place == 0) return;  // what the others are made of
      done.for_places(
          [&](std::size_t at) { result[base + at + place] = result[base + at] * probability; });
    });
    done.for_places([&](std::size_t at) { result[base + at] *= part[0] / total; });
    for (const std::size_t k : share.places) done.add(card[k], stride[k]);
  }
  return result;
}

}  // namespace bayesmend
