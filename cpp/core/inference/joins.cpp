#include <algorithm>
#include <limits>

#include "core/inference/beliefs.hpp"

namespace bayesmend {
namespace {

// All sums of a place and a further one, the first ones fastest.
void cross(std::vector<std::size_t>& places, std::span<const std::size_t> further) {
  const std::size_t n = places.size();
  places.resize(n * further.size());
  for (std::size_t f = further.size(); f-- > 0;)
    for (std::size_t k = 0; k < n; ++k) places[f * n + k] = places[k] + further[f];
}

// Adds value times what the children have handed over, for all states of the kept positions below.
void add_product(double value, std::size_t own, std::span<const HandedOver> inputs, double* out,
                 std::size_t n_states) {
  if (inputs.empty()) {
    *out += value;
    return;
  }
  // The last child's states are the slowest.
  const double* from = inputs.back().at(own);
  if (inputs.size() == 1) {
    for (std::size_t k = 0; k < n_states; ++k) out[k] += value * from[k];
    return;
  }
  const auto n_last = static_cast<std::size_t>(inputs.back().n_states);
  const std::size_t n_below = n_states / n_last;
  for (std::size_t f = 0; f < n_last; ++f, out += n_below)
    if (from[f] != 0.0)
      add_product(value * from[f], own, inputs.first(inputs.size() - 1), out, n_below);
}

}  // namespace

void Elimination::join(std::span<const double> beliefs, std::span<const double> conditionals,
                       std::span<const std::uint32_t> positions,
                       std::span<const std::size_t> strides, std::uint32_t key,
                       JoinScratch& scratch, std::span<double> joint) const {
  if (scratch.handed.size() < tree_.cliques.size()) scratch.handed.resize(tree_.cliques.size());
  auto stride_of = [&](std::uint32_t position) {
    const auto at = std::ranges::find(positions, position);
    return at == positions.end() ? 0 : strides[static_cast<std::size_t>(at - positions.begin())];
  };
  if (const auto clique = smallest_with(positions); clique < tree_.cliques.size()) {
    scratch.handed[clique].children.clear();
    join_top(clique, entries(beliefs, clique), stride_of, scratch, joint);
    return;
  }
  // Cliques still to visit, ascending: children come before their parents.
  auto& open = scratch.open;
  open.clear();
  auto visit_later = [&](std::uint32_t clique) {
    const auto at = std::ranges::lower_bound(open, clique);
    if (at != open.end() && *at == clique) return;
    open.insert(at, clique);
    scratch.handed[clique].children.clear();
  };
  for (const auto position : positions) visit_later(home_[position]);
  auto& left = scratch.left;  // positions that no clique has handed over yet
  left.assign(positions.begin(), positions.end());
  for (;;) {
    const std::uint32_t clique = open.front();
    // Cliques that wait for no more than positions which this one holds too need no visit.
    const bool is_top =
        std::ranges::all_of(left, [&](auto position) { return holds(clique, position); }) &&
        std::all_of(open.begin() + 1, open.end(),
                    [&](auto other) { return scratch.handed[other].children.empty(); });
    if (is_top) {
      join_top(clique, entries(beliefs, clique), stride_of, scratch, joint);
      return;
    }
    open.erase(open.begin());
    const std::uint32_t own = tree_.cliques[clique].scope[0];
    const bool is_kept = std::erase(left, own) > 0;
    hand_over(clique, entries(conditionals, clique), is_kept, stride_of(own), key, scratch);
    const auto parent = static_cast<std::uint32_t>(tree_.cliques[clique].parent);
    visit_later(parent);
    scratch.handed[parent].children.push_back(clique);
  }
}

std::size_t Elimination::smallest_with(std::span<const std::uint32_t> positions) const {
  std::size_t smallest = tree_.cliques.size();
  double n_entries = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c)
    if (tree_.cliques[c].n_entries < n_entries &&
        std::ranges::all_of(positions, [&](std::uint32_t p) { return holds(c, p); })) {
      smallest = c;
      n_entries = tree_.cliques[c].n_entries;
    }
  return smallest;
}

void Elimination::take_inputs(std::size_t c, JoinScratch& scratch) const {
  const auto& clique = tree_.cliques[c];
  const std::size_t n_digits = walks_[c].sizes.size();
  auto& mine = scratch.handed[c];
  scratch.inputs.clear();
  mine.places.assign(1, 0);
  for (const auto child : mine.children) {
    const auto& below = scratch.handed[child];
    const auto at = std::ranges::find(clique.children, child);
    const auto number =
        clique.factors.size() + static_cast<std::size_t>(at - clique.children.begin());
    const auto n_states = static_cast<std::int64_t>(below.places.size());
    scratch.inputs.push_back({below.values, n_states, &walks_[c].strides[number * n_digits]});
    cross(mine.places, below.places);
  }
  scratch.digits.assign(n_digits, 0);
}

std::size_t Elimination::advance(std::size_t c, JoinScratch& scratch) const {
  const auto& sizes = walks_[c].sizes;
  std::size_t d = 1;
  for (; ++scratch.digits[d] == sizes[d]; ++d) {
    for (auto& input : scratch.inputs)
      input.values -= input.n_states * input.strides[d] * (sizes[d] - 1);
    scratch.digits[d] = 0;
  }
  for (auto& input : scratch.inputs) input.values += input.n_states * input.strides[d];
  return d;
}

void Elimination::hand_over(std::size_t c, std::span<const double> table, bool is_kept,
                            std::size_t stride, std::uint32_t key, JoinScratch& scratch) const {
  auto& mine = scratch.handed[c];
  const auto& clique = tree_.cliques[c];
  take_inputs(c, scratch);
  mine.position = JoinScratch::kSeveral;
  if (is_kept && mine.children.empty()) mine.position = clique.scope[0];
  if (!is_kept && mine.children.size() == 1)
    mine.position = scratch.handed[mine.children[0]].position;
  if (is_kept) {
    scratch.own_places.resize(walks_[c].sizes[0]);
    for (std::size_t own = 0; own < scratch.own_places.size(); ++own)
      scratch.own_places[own] = own * stride;
    cross(mine.places, scratch.own_places);
  }
  const std::size_t n_values = mine.places.size() * (table.size() / walks_[c].sizes[0]);
  const bool is_single = mine.position < 0x10000 && c < 0x10000;
  const std::uint64_t name = std::uint64_t{key} << 32 | c << 16 | (mine.position & 0xffff);
  if (is_single)
    if (const auto known = scratch.remembered.find(name); known != scratch.remembered.end()) {
      mine.values = known->second.data();
      return;
    }
  if (is_single && scratch.n_remembered + n_values <= scratch.max_remembered) {
    scratch.n_remembered += n_values;
    auto& values = scratch.remembered[name];
    work_out(c, table, is_kept, scratch, values);
    mine.values = values.data();
    return;
  }
  work_out(c, table, is_kept, scratch, mine.own_values);
  mine.values = mine.own_values.data();
}

void Elimination::work_out(std::size_t c, std::span<const double> table, bool is_kept,
                           JoinScratch& scratch, std::vector<double>& values) const {
  const std::size_t n_own = walks_[c].sizes[0], n_kept = scratch.handed[c].places.size();
  const std::size_t n_below = is_kept ? n_kept / n_own : n_kept;
  values.assign(n_kept * (table.size() / n_own), 0.0);
  double* out = values.data();
  for (std::size_t entry = 0;; out += n_kept) {
    for (std::size_t own = 0; own < n_own; ++own, ++entry)
      if (table[entry] != 0.0)
        add_product(table[entry], own, scratch.inputs, out + (is_kept ? own * n_below : 0),
                    n_below);
    if (entry == table.size()) return;
    advance(c, scratch);
  }
}

template <class StrideOf>
void Elimination::join_top(std::size_t c, std::span<const double> table, StrideOf&& stride_of,
                           JoinScratch& scratch, std::span<double> joint) const {
  const auto& sizes = walks_[c].sizes;
  const auto& scope = tree_.cliques[c].scope;
  take_inputs(c, scratch);
  auto& places = scratch.handed[c].places;
  const std::size_t n_below = places.size();
  auto& strides = scratch.top_strides;  // of the digits, in what is added up
  strides.assign(scope.size(), 0);
  for (std::size_t d = 0; d < scope.size(); ++d) {
    const std::size_t stride = stride_of(scope[d]);
    if (stride == 0) continue;  // not a kept position
    strides[d] = places.size();
    scratch.own_places.resize(sizes[d]);
    for (std::size_t s = 0; s < sizes[d]; ++s) scratch.own_places[s] = s * stride;
    cross(places, scratch.own_places);
  }
  auto& sums = scratch.handed[c].own_values;
  sums.assign(places.size(), 0.0);
  double* out = sums.data();
  for (std::size_t entry = 0;;) {
    for (std::size_t own = 0; own < sizes[0]; ++own, ++entry)
      if (table[entry] != 0.0)
        add_product(table[entry], own, scratch.inputs, out + own * strides[0], n_below);
    if (entry == table.size()) break;
    const std::size_t raised = advance(c, scratch);
    for (std::size_t d = 1; d < raised; ++d) out -= strides[d] * (sizes[d] - 1);
    out += strides[raised];
  }
  for (std::size_t k = 0; k < places.size(); ++k) joint[places[k]] += sums[k];
}

}  // namespace bayesmend
