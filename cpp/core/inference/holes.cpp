#include "core/inference/holes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace bayesmend {
namespace {

// Up to so many entries one joint table is faster than a tree of small ones.
constexpr double kMaxJoint = 128.0;

class Disjoint {
 public:
  void add(std::int32_t v) { parent_.try_emplace(v, v); }
  bool has(std::int32_t v) const { return parent_.contains(v); }
  std::int32_t root(std::int32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  // The lower number leads, so that the result does not depend on the order of joining.
  void join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::unordered_map<std::int32_t, std::int32_t> parent_;
};

// Finds equal keys among slices of one vector.
class SliceIndex {
 public:
  // The number of an equal slice seen before, or `number` itself, which is then remembered.
  std::uint32_t find_or_add(std::uint32_t piece, std::span<const std::size_t> slice,
                            std::uint32_t number, auto&& slice_of) {
    std::uint64_t hash = 0x9e3779b97f4a7c15u * (piece + 1);
    for (const std::size_t value : slice) {
      hash ^= value;
      hash *= 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
    auto& bucket = buckets_[hash];
    for (const auto known : bucket)
      if (slice_of(known, piece, slice)) return known;
    bucket.push_back(number);
    return number;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> buckets_;
};

}  // namespace

FamilyGraph::FamilyGraph(std::span<const std::uint32_t> cards,
                         std::span<const std::uint64_t> parent_offsets,
                         std::span<const Var> parents)
    : card(cards.begin(), cards.end()), children(cards.size()) {
  if (parent_offsets.size() != cards.size() + 1)
    throw std::invalid_argument("parent_offsets must have one entry more than card.");
  cpt_start.assign(1, 0);
  start_.assign(1, 0);
  for (std::size_t i = 0; i < card.size(); ++i) {
    std::int64_t stride = card[i];
    members_.push_back(static_cast<std::int32_t>(i));
    strides_.push_back(1);
    for (auto p = parent_offsets[i]; p < parent_offsets[i + 1]; ++p) {
      const Var parent = parents[p];
      if (parent >= card.size())
        throw std::invalid_argument("variable " + std::to_string(i) + " has an unknown parent.");
      members_.push_back(static_cast<std::int32_t>(parent));
      strides_.push_back(stride);
      stride *= card[parent];
      children[parent].push_back(static_cast<std::int32_t>(i));
    }
    start_.push_back(members_.size());
    cpt_start.push_back(cpt_start.back() + static_cast<std::size_t>(stride));
  }
}

Holes::Holes(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
             std::span<const std::uint8_t> targets, const Stop& stop)
    : graph_(graph), table_(table), weights_(weights), targets_(targets.begin(), targets.end()) {
  if (table.n_vars != graph.n_vars())
    throw std::invalid_argument("the table must have one column per variable.");
  if (!weights.empty() && weights.size() != table.n_rows)
    throw std::invalid_argument("there must be one weight per row.");
  if (!targets.empty() && targets.size() != graph.n_vars())
    throw std::invalid_argument("targets must have one entry per variable.");
  compile(stop);
  if (!was_stopped_) group_by_instance();
}

std::vector<char> Holes::relevant(std::span<const std::int32_t> missing) const {
  if (targets_.empty()) return {};
  // What is asked for or observed, and all of its ancestors.
  std::vector<char> is_relevant(graph_.n_vars(), 1);
  for (const auto v : missing)
    is_relevant[static_cast<std::size_t>(v)] =
        static_cast<char>(is_wanted(static_cast<std::size_t>(v)));
  std::vector<std::int32_t> open;
  for (std::size_t v = 0; v < graph_.n_vars(); ++v)
    if (is_relevant[v]) open.push_back(static_cast<std::int32_t>(v));
  while (!open.empty()) {
    const auto v = static_cast<std::size_t>(open.back());
    open.pop_back();
    for (const auto parent : graph_.members(v).subspan(1)) {
      char& known = is_relevant[static_cast<std::size_t>(parent)];
      if (!known) open.push_back(parent);
      known = 1;
    }
  }
  return is_relevant;
}

Holes::Plan Holes::make_plan(std::span<const std::int32_t> missing) {
  Plan plan;
  plan.is_relevant = relevant(missing);
  const auto counts = [&](std::int32_t v) {
    return plan.is_relevant.empty() || plan.is_relevant[static_cast<std::size_t>(v)];
  };
  Disjoint pieces;
  for (const auto v : missing)
    if (counts(v)) pieces.add(v);
  std::vector<std::int32_t> touched;
  for (const auto v : missing) {
    if (!counts(v)) continue;
    touched.push_back(v);
    for (const auto child : graph_.children[static_cast<std::size_t>(v)])
      if (counts(child)) touched.push_back(child);
  }
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::vector<std::int32_t> leader;  // an unobserved member of each family touched
  for (const auto child : touched) {
    std::int32_t first = -1;
    for (const auto member : graph_.members(static_cast<std::size_t>(child))) {
      if (!pieces.has(member)) continue;
      if (first < 0) first = member;
      pieces.join(first, member);
    }
    leader.push_back(first);
  }
  std::map<std::int32_t, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> parts;
  for (const auto v : missing)
    if (counts(v)) parts[pieces.root(v)].first.push_back(v);
  for (std::size_t f = 0; f < touched.size(); ++f)
    parts[pieces.root(leader[f])].second.push_back(touched[f]);
  for (auto& [root, part] : parts)
    plan.pieces.push_back(piece_of(std::move(part.first), std::move(part.second)));
  return plan;
}

std::uint32_t Holes::piece_of(std::vector<std::int32_t> variables,
                              std::vector<std::int32_t> families) {
  std::vector<std::int32_t> key = variables;
  key.push_back(-1);
  key.insert(key.end(), families.begin(), families.end());
  const auto number = static_cast<std::uint32_t>(pieces_.size());
  const auto [known, is_new] = piece_index_.try_emplace(std::move(key), number);
  if (!is_new) return known->second;
  Piece piece;
  for (const auto v : variables) piece.card.push_back(graph_.card[static_cast<std::size_t>(v)]);
  for (const auto child : families) {
    const auto members = graph_.members(static_cast<std::size_t>(child));
    const auto strides = graph_.strides(static_cast<std::size_t>(child));
    auto& scope = piece.scopes.emplace_back();
    auto& steps = piece.strides.emplace_back();
    auto& observed = piece.observed.emplace_back();
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      const auto at = std::ranges::lower_bound(variables, members[m]);
      if (at != variables.end() && *at == members[m]) {
        scope.push_back(static_cast<std::uint32_t>(at - variables.begin()));
        steps.push_back(strides[m]);
      } else {
        observed.push_back(m);
      }
    }
  }
  piece.variables = std::move(variables);
  piece.families = std::move(families);
  piece.elimination = std::make_unique<Elimination>(piece.card, piece.scopes, piece.strides,
                                                    std::span<const std::uint32_t>{}, kMaxJoint);
  const auto& tree = piece.elimination->tree();
  const auto& largest = tree.cliques[tree.largest];
  if (largest.n_entries > largest_) {
    largest_ = largest.n_entries;
    largest_scope_.clear();
    for (const auto p : largest.scope) largest_scope_.push_back(piece.variables[p]);
    std::ranges::sort(largest_scope_);
  }
  pieces_.push_back(std::move(piece));
  return number;
}

void Holes::visit_observed(const Plan& plan, auto&& code_of, auto&& visit) const {
  for (std::size_t child = 0; child < graph_.n_vars(); ++child) {
    if (!plan.is_relevant.empty() && !plan.is_relevant[child]) continue;
    const auto members = graph_.members(child);
    const auto strides = graph_.strides(child);
    std::size_t offset = graph_.cpt_start[child];
    bool is_observed = true;
    for (std::size_t m = 0; m < members.size() && is_observed; ++m) {
      const std::uint8_t code = code_of(static_cast<std::size_t>(members[m]));
      is_observed = code != kMissing;
      offset += static_cast<std::size_t>(strides[m]) * code;
    }
    if (is_observed) visit(offset);
  }
}

double Holes::total_weight() const {
  double total = 0.0;
  for (std::size_t row = 0; row < table_.n_rows; ++row) total += row_weight(row);
  return total;
}

void Holes::compile(const Stop& stop) {
  const std::size_t n_vars = graph_.n_vars();
  SliceIndex known;
  std::vector<std::int32_t> missing;
  std::vector<std::uint8_t> row_cells(n_vars);
  observed_counts_.assign(graph_.n_entries(), 0.0);
  row_start_.assign(1, 0);
  plan_of_row_.reserve(table_.n_rows);
  const auto is_same = [&](std::uint32_t number, std::uint32_t piece,
                           std::span<const std::size_t> slice) {
    return instances_[number].piece == piece &&
           std::ranges::equal(offsets(instances_[number]), slice);
  };
  for (std::size_t row = 0; row < table_.n_rows; ++row) {
    if (row % 256 == 255 && stop.poll()) {
      was_stopped_ = true;
      return;
    }
    missing.clear();
    for (std::size_t v = 0; v < n_vars; ++v) {
      row_cells[v] = table_.cells[v * table_.n_rows + row];
      if (row_cells[v] == kMissing) missing.push_back(static_cast<std::int32_t>(v));
    }
    const auto next_plan = static_cast<std::uint32_t>(plans_.size());
    const auto [at, is_new] = plan_index_.try_emplace(missing, next_plan);
    if (is_new) plans_.push_back(make_plan(missing));
    plan_of_row_.push_back(at->second);
    const Plan& plan = plans_[at->second];
    for (std::uint32_t ordinal = 0; ordinal < plan.pieces.size(); ++ordinal) {
      const Piece& piece = pieces_[plan.pieces[ordinal]];
      const std::size_t first = offsets_.size();
      for (std::size_t f = 0; f < piece.families.size(); ++f) {
        const auto child = static_cast<std::size_t>(piece.families[f]);
        const auto members = graph_.members(child);
        const auto strides = graph_.strides(child);
        std::size_t offset = graph_.cpt_start[child];
        for (const auto m : piece.observed[f])
          offset += static_cast<std::size_t>(strides[m]) *
                    row_cells[static_cast<std::size_t>(members[m])];
        offsets_.push_back(offset);
      }
      const auto number = static_cast<std::uint32_t>(instances_.size());
      const auto found = known.find_or_add(plan.pieces[ordinal], std::span(offsets_).subspan(first),
                                           number, is_same);
      if (found == number)
        instances_.push_back({plan.pieces[ordinal], first, 0.0});
      else
        offsets_.resize(first);
      instances_[found].weight += row_weight(row);
      uses_.push_back({found, ordinal, row});
    }
    row_start_.push_back(uses_.size());
    const auto code_of = [&](std::size_t v) { return row_cells[v]; };
    visit_observed(plan, code_of,
                   [&](std::size_t cell) { observed_counts_[cell] += row_weight(row); });
  }
}

void Holes::group_by_instance() {
  instance_start_.assign(instances_.size() + 1, 0);
  for (const auto& use : uses_) ++instance_start_[use.instance + 1];
  std::partial_sum(instance_start_.begin(), instance_start_.end(), instance_start_.begin());
  by_instance_.resize(uses_.size());
  auto next = instance_start_;
  for (std::size_t u = 0; u < uses_.size(); ++u) by_instance_[next[uses_[u].instance]++] = u;
}

void Holes::factors(const Instance& instance, std::span<const double> cpts,
                    std::vector<const double*>& out) const {
  out.clear();
  for (const std::size_t offset : offsets(instance)) out.push_back(cpts.data() + offset);
}

double Holes::observed_log_probability(std::size_t row, std::span<const double> cpts) const {
  const Plan& plan = plans_[plan_of_row_[row]];
  double log_probability = 0.0;
  const auto code_of = [&](std::size_t v) { return table_.cells[v * table_.n_rows + row]; };
  visit_observed(plan, code_of, [&](std::size_t cell) { log_probability += std::log(cpts[cell]); });
  return log_probability;
}

}  // namespace bayesmend
