#include "core/inference/joins.hpp"

#include <algorithm>
#include <limits>

namespace bayesmend {
namespace {

// All sums of a place and a further one, the first ones fastest.
void cross(std::vector<std::size_t>& places, std::span<const std::size_t> further) {
  const std::size_t n = places.size();
  places.resize(n * further.size());
  for (std::size_t f = further.size(); f-- > 0;)
    for (std::size_t k = 0; k < n; ++k) places[f * n + k] = places[k] + further[f];
}

}  // namespace

// Adds value times what the children have handed over, for all states of the kept positions below.
void Joiner::add_product(double value, std::size_t own, std::span<const Input> inputs, double* out,
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
  const std::size_t n_last = inputs.back().n_states, n_below = n_states / n_last;
  for (std::size_t f = 0; f < n_last; ++f, out += n_below)
    if (from[f] != 0.0)
      add_product(value * from[f], own, inputs.first(inputs.size() - 1), out, n_below);
}

void Joiner::join(const Elimination& shape, std::span<const double> beliefs,
                  std::span<const double> conditionals, std::span<const std::uint32_t> positions,
                  std::span<const std::size_t> strides, std::uint32_t key,
                  std::size_t max_remembered, std::span<double> joint) {
  shape_ = &shape;
  positions_ = positions;
  strides_ = strides;
  const auto& cliques = shape.tree().cliques;
  if (handed_.size() < cliques.size()) handed_.resize(cliques.size());
  if (const auto clique = smallest_clique(); clique < cliques.size()) {
    handed_[clique].children.clear();
    join_top(clique, shape.entries(beliefs, clique), joint);
    return;
  }
  open_.clear();
  for (const auto position : positions) visit_later(shape.home(position));
  left_.assign(positions.begin(), positions.end());
  while (!is_top(open_.front())) {
    const std::uint32_t clique = open_.front();
    open_.erase(open_.begin());
    hand_over(clique, shape.entries(conditionals, clique), key, max_remembered);
    const std::uint32_t parent = cliques[clique].parent;
    visit_later(parent);
    handed_[parent].children.push_back(clique);
  }
  join_top(open_.front(), shape.entries(beliefs, open_.front()), joint);
}

std::size_t Joiner::stride_of(std::uint32_t position) const {
  const auto at = std::ranges::find(positions_, position);
  return at == positions_.end() ? 0 : strides_[static_cast<std::size_t>(at - positions_.begin())];
}

std::size_t Joiner::smallest_clique() const {
  const auto& cliques = shape_->tree().cliques;
  std::size_t smallest = cliques.size();
  double n_entries = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < cliques.size(); ++c)
    if (cliques[c].n_entries < n_entries &&
        std::ranges::all_of(positions_, [&](std::uint32_t p) { return shape_->holds(c, p); })) {
      smallest = c;
      n_entries = cliques[c].n_entries;
    }
  return smallest;
}

void Joiner::visit_later(std::uint32_t clique) {
  const auto at = std::ranges::lower_bound(open_, clique);
  if (at != open_.end() && *at == clique) return;
  open_.insert(at, clique);
  handed_[clique].children.clear();
}

bool Joiner::is_top(std::uint32_t clique) const {
  // Cliques that wait for no more than positions which this one holds too need no visit.
  return std::ranges::all_of(left_, [&](auto p) { return shape_->holds(clique, p); }) &&
         std::all_of(open_.begin() + 1, open_.end(),
                     [&](auto other) { return handed_[other].children.empty(); });
}

void Joiner::take_inputs(std::size_t c) {
  const auto& clique = shape_->clique(c);
  const auto& walk = shape_->walk(c);
  auto& mine = handed_[c];
  inputs_.clear();
  mine.places.assign(1, 0);
  for (const auto child : mine.children) {
    const auto& below = handed_[child];
    const auto at = std::ranges::find(clique.children, child);
    const auto number =
        clique.factors.size() + static_cast<std::size_t>(at - clique.children.begin());
    inputs_.push_back({below.values, below.places.size(), walk.strides_of(number)});
    cross(mine.places, below.places);
  }
  odometer_.reset(walk.sizes.size());
}

void Joiner::spread_places(std::size_t c, std::size_t n_states, std::size_t stride) {
  own_places_.resize(n_states);
  for (std::size_t s = 0; s < n_states; ++s) own_places_[s] = s * stride;
  cross(handed_[c].places, own_places_);
}

std::size_t Joiner::advance(std::size_t c) {
  const auto& sizes = shape_->walk(c).sizes;
  const std::size_t raised = odometer_.raise(sizes, 1, [&](std::size_t d) {
    for (auto& input : inputs_) input.values -= input.n_states * input.strides[d] * (sizes[d] - 1);
  });
  for (auto& input : inputs_) input.values += input.n_states * input.strides[raised];
  return raised;
}

void Joiner::hand_over(std::size_t c, std::span<const double> table, std::uint32_t key,
                       std::size_t max_remembered) {
  auto& mine = handed_[c];
  const std::uint32_t own = shape_->clique(c).scope[0];
  const std::size_t n_own = shape_->walk(c).sizes[0];
  const bool is_kept = std::erase(left_, own) > 0;
  take_inputs(c);
  mine.position = kSeveral;
  if (is_kept && mine.children.empty()) mine.position = own;
  if (!is_kept && mine.children.size() == 1) mine.position = handed_[mine.children[0]].position;
  if (is_kept) spread_places(c, n_own, stride_of(own));
  const std::size_t n_values = mine.places.size() * (table.size() / n_own);
  const bool is_single = mine.position < 0x10000 && c < 0x10000;
  const std::uint64_t name = std::uint64_t{key} << 32 | c << 16 | (mine.position & 0xffff);
  if (is_single)
    if (const auto known = remembered_.find(name); known != remembered_.end()) {
      mine.values = known->second.data();
      return;
    }
  const bool is_remembered = is_single && n_remembered_ + n_values <= max_remembered;
  if (is_remembered) n_remembered_ += n_values;
  auto& values = is_remembered ? remembered_[name] : mine.own_values;
  work_out(c, table, is_kept, values);
  mine.values = values.data();
}

void Joiner::work_out(std::size_t c, std::span<const double> table, bool is_kept,
                      std::vector<double>& values) {
  const std::size_t n_own = shape_->walk(c).sizes[0], n_kept = handed_[c].places.size();
  const std::size_t n_below = is_kept ? n_kept / n_own : n_kept;
  values.assign(n_kept * (table.size() / n_own), 0.0);
  double* out = values.data();
  for (std::size_t entry = 0;; out += n_kept) {
    for (std::size_t own = 0; own < n_own; ++own, ++entry)
      if (table[entry] != 0.0)
        add_product(table[entry], own, inputs_, out + (is_kept ? own * n_below : 0), n_below);
    if (entry == table.size()) return;
    advance(c);
  }
}

void Joiner::join_top(std::size_t c, std::span<const double> table, std::span<double> joint) {
  const auto& sizes = shape_->walk(c).sizes;
  const auto& scope = shape_->clique(c).scope;
  take_inputs(c);
  const auto& places = handed_[c].places;
  const std::size_t n_below = places.size();
  auto& strides = top_strides_;  // of the digits, in what is added up
  strides.assign(scope.size(), 0);
  for (std::size_t d = 0; d < scope.size(); ++d) {
    const std::size_t stride = stride_of(scope[d]);
    if (stride == 0) continue;  // not a kept position
    strides[d] = places.size();
    spread_places(c, sizes[d], stride);
  }
  auto& sums = handed_[c].own_values;
  sums.assign(places.size(), 0.0);
  double* out = sums.data();
  for (std::size_t entry = 0;;) {
    const auto run = table.subspan(entry, sizes[0]);
    for (std::size_t own = 0; own < run.size(); ++own) {
      if (inputs_.empty())
        out[own * strides[0]] += run[own];
      else if (run[own] != 0.0)
        add_product(run[own], own, inputs_, out + own * strides[0], n_below);
    }
    entry += run.size();
    if (entry == table.size()) break;
    const std::size_t raised = advance(c);
    for (std::size_t d = 1; d < raised; ++d) out -= strides[d] * (sizes[d] - 1);
    out += strides[raised];
  }
  for (std::size_t k = 0; k < places.size(); ++k) joint[places[k]] += sums[k];
}

}  // namespace bayesmend
