#include "core/inference/holes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "core/base/disjoint.hpp"
#include "core/base/hash.hpp"

namespace bayesmend {
namespace {

// Up to so many entries one joint table is faster than a tree of small ones.
constexpr double kMaxJoint = 128.0;

}  // namespace

std::optional<std::uint32_t> position_in(std::span<const Var> ascending, Var variable) {
  const auto at = std::ranges::lower_bound(ascending, variable);
  if (at == ascending.end() || *at != variable) return std::nullopt;
  return static_cast<std::uint32_t>(at - ascending.begin());
}

// Finds instances that look alike: the same piece, the same places of its factors.
class Holes::InstanceIndex {
 public:
  explicit InstanceIndex(const Holes& holes) : holes_(holes) {}

  // The number of an equal instance seen before, or `number` itself, which is then remembered.
  std::uint32_t find_or_add(std::uint32_t piece, std::span<const std::size_t> offsets,
                            std::uint32_t number) {
    std::uint64_t hash = piece;
    for (const std::size_t offset : offsets) hash = extend_hash(hash, offset);
    auto& bucket = buckets_[hash];
    for (const auto known : bucket) {
      const auto& instance = holes_.instances_[known];
      if (instance.piece == piece && std::ranges::equal(holes_.offsets(instance), offsets))
        return known;
    }
    bucket.push_back(number);
    return number;
  }

 private:
  const Holes& holes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> buckets_;
};

FamilyGraph::FamilyGraph(std::span<const std::uint32_t> cards,
                         std::span<const std::uint64_t> parent_offsets,
                         std::span<const Var> parents)
    : card(cards.begin(), cards.end()), children(cards.size()) {
  if (parent_offsets.size() != cards.size() + 1)
    throw std::invalid_argument("parent_offsets must have one entry more than card.");
  for (Var i = 0; i < card.size(); ++i) {
    std::size_t stride = card[i];
    members_.push_back(i);
    strides_.push_back(1);
    for (auto p = parent_offsets[i]; p < parent_offsets[i + 1]; ++p) {
      const Var parent = parents[p];
      if (parent >= card.size())
        throw std::invalid_argument("variable " + std::to_string(i) + " has an unknown parent.");
      members_.push_back(parent);
      strides_.push_back(stride);
      stride *= card[parent];
      children[parent].push_back(i);
    }
    start_.push_back(members_.size());
    cpt_start.push_back(cpt_start.back() + stride);
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
  if (compile(0, table.n_rows, stop)) group_by_instance();
}

Holes::Holes(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
             std::size_t first, std::size_t last, const Stop& stop)
    : graph_(graph), table_(table), weights_(weights), keeps_rows_(false) {
  compile(first, last, stop);
  plan_index_.clear();
  weights_ = {};
  table_ = {};
}

std::vector<char> Holes::relevant(std::span<const Var> missing) const {
  if (targets_.empty()) return {};
  // What is asked for or observed, and all of its ancestors.
  std::vector<char> is_relevant(graph_.n_vars(), 1);
  for (const auto v : missing) is_relevant[v] = static_cast<char>(is_wanted(v));
  std::vector<Var> open;
  for (Var v = 0; v < graph_.n_vars(); ++v)
    if (is_relevant[v]) open.push_back(v);
  while (!open.empty()) {
    const Var v = open.back();
    open.pop_back();
    for (const auto parent : graph_.members(v).subspan(1))
      if (!std::exchange(is_relevant[parent], 1)) open.push_back(parent);
  }
  return is_relevant;
}

Holes::Plan Holes::make_plan(std::span<const Var> missing) {
  Plan plan{.pieces = {}, .is_relevant = relevant(missing)};
  std::vector<Var> hidden, families;  // missing, as far as they count, and what they touch
  for (const auto v : missing) {
    if (!plan.counts(v)) continue;
    hidden.push_back(v);
    families.push_back(v);
    for (const auto child : graph_.children[v])
      if (plan.counts(child)) families.push_back(child);
  }
  std::ranges::sort(families);
  families.erase(std::unique(families.begin(), families.end()), families.end());
  // The hidden members of a family hang together; the first stands for the family.
  DisjointSets sets(hidden.size());
  std::vector<std::uint32_t> first_member;
  for (const auto child : families) {
    auto first = static_cast<std::uint32_t>(hidden.size());
    for (const auto member : graph_.members(child)) {
      const auto position = position_in(hidden, member);
      if (!position) continue;
      if (first == hidden.size()) first = *position;
      sets.join(first, *position);
    }
    first_member.push_back(first);
  }
  // Pieces in the order of their first variables.
  std::vector<std::pair<std::vector<Var>, std::vector<Var>>> pieces;  // variables, families
  std::vector<std::size_t> piece_of_root(hidden.size(), hidden.size());
  for (std::uint32_t position = 0; position < hidden.size(); ++position) {
    auto& number = piece_of_root[sets.root(position)];
    if (number == hidden.size()) {
      number = pieces.size();
      pieces.emplace_back();
    }
    pieces[number].first.push_back(hidden[position]);
  }
  for (std::size_t f = 0; f < families.size(); ++f)
    pieces[piece_of_root[sets.root(first_member[f])]].second.push_back(families[f]);
  for (const auto& [own, touching] : pieces) plan.pieces.push_back(number_of(own, touching));
  return plan;
}

std::uint32_t Holes::number_of(const std::vector<Var>& variables,
                               const std::vector<Var>& families) {
  const auto number = static_cast<std::uint32_t>(pieces_.size());
  const auto [known, is_new] = piece_index_.try_emplace({variables, families}, number);
  if (is_new) note_size(pieces_.emplace_back(make_piece(variables, families)));
  return known->second;
}

Piece Holes::make_piece(const std::vector<Var>& variables, const std::vector<Var>& families) const {
  Piece piece;
  piece.variables = variables;
  piece.families = families;
  for (const auto v : variables) piece.card.push_back(graph_.card[v]);
  for (const auto child : families) {
    const auto members = graph_.members(child);
    auto& scope = piece.scopes.emplace_back();
    auto& strides = piece.strides.emplace_back();
    auto& observed = piece.observed.emplace_back();
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      if (const auto position = position_in(variables, members[m])) {
        scope.push_back(*position);
        strides.push_back(graph_.strides(child)[m]);
      } else {
        observed.push_back(m);
      }
    }
  }
  piece.elimination = std::make_unique<Elimination>(piece.card, piece.scopes, piece.strides,
                                                    std::span<const std::uint32_t>{}, kMaxJoint);
  return piece;
}

void Holes::note_size(const Piece& piece) {
  const auto& tree = piece.elimination->tree();
  size_.total = std::max(size_.total, tree.n_entries);
  const auto& largest = tree.cliques[tree.largest];
  if (largest.n_entries <= size_.largest) return;
  size_.largest = largest.n_entries;
  size_.scope.clear();
  for (const auto position : largest.scope) size_.scope.push_back(piece.variables[position]);
  std::ranges::sort(size_.scope);
}

void Holes::visit_observed(const Plan& plan, auto&& code_of, auto&& visit) const {
  for (Var child = 0; child < graph_.n_vars(); ++child) {
    if (!plan.counts(child)) continue;
    const auto members = graph_.members(child);
    const auto strides = graph_.strides(child);
    std::size_t offset = graph_.cpt_start[child];
    bool is_observed = true;
    for (std::size_t m = 0; m < members.size() && is_observed; ++m) {
      const std::uint8_t code = code_of(members[m]);
      is_observed = code != kMissing;
      offset += strides[m] * code;
    }
    if (is_observed) visit(offset);
  }
}

double Holes::total_weight() const {
  double total = 0.0;
  for (std::size_t row = 0; row < table_.n_rows; ++row) total += row_weight(row);
  return total;
}

// False when it was stopped.
bool Holes::compile(std::size_t first, std::size_t last, const Stop& stop) {
  InstanceIndex known(*this);
  std::vector<Var> missing;
  std::vector<std::uint8_t> cells(graph_.n_vars());
  observed_counts_.assign(graph_.n_entries(), 0.0);
  if (keeps_rows_) plan_of_row_.reserve(last - first);
  for (std::size_t row = first; row < last; ++row) {
    if (row % 256 == 255 && stop.poll()) return false;
    missing.clear();
    for (Var v = 0; v < graph_.n_vars(); ++v) {
      cells[v] = table_.cells[v * table_.n_rows + row];
      if (cells[v] == kMissing) missing.push_back(v);
    }
    const std::uint32_t number = plan_of(missing);
    const Plan& plan = plans_[number];
    if (keeps_rows_) plan_of_row_.push_back(number);
    add_uses(row, plan, cells, known);
    visit_observed(
        plan, [&](Var v) { return cells[v]; },
        [&](std::size_t cell) { observed_counts_[cell] += row_weight(row); });
  }
  return true;
}

std::uint32_t Holes::plan_of(const std::vector<Var>& missing) {
  const auto number = static_cast<std::uint32_t>(plans_.size());
  const auto [known, is_new] = plan_index_.try_emplace(missing, number);
  if (is_new) plans_.push_back(make_plan(missing));
  return known->second;
}

// Finds or makes the instances of a row.
void Holes::add_uses(std::size_t row, const Plan& plan, std::span<const std::uint8_t> cells,
                     InstanceIndex& known) {
  for (std::uint32_t ordinal = 0; ordinal < plan.pieces.size(); ++ordinal) {
    const Piece& piece = pieces_[plan.pieces[ordinal]];
    const std::size_t first = offsets_.size();
    for (std::size_t f = 0; f < piece.families.size(); ++f) {
      const auto members = graph_.members(piece.families[f]);
      const auto strides = graph_.strides(piece.families[f]);
      std::size_t offset = graph_.cpt_start[piece.families[f]];
      for (const auto m : piece.observed[f]) offset += strides[m] * cells[members[m]];
      offsets_.push_back(offset);
    }
    const auto number = static_cast<std::uint32_t>(instances_.size());
    const auto found =
        known.find_or_add(plan.pieces[ordinal], std::span(offsets_).subspan(first), number);
    if (found == number)
      instances_.push_back({plan.pieces[ordinal], first, 0.0});
    else
      offsets_.resize(first);
    instances_[found].weight += row_weight(row);
    if (keeps_rows_) uses_.push_back({found, ordinal, row});
  }
  if (keeps_rows_) row_start_.push_back(uses_.size());
}

void Holes::group_by_instance() {
  instance_start_.assign(instances_.size() + 1, 0);
  for (const auto& use : uses_) ++instance_start_[use.instance + 1];
  std::partial_sum(instance_start_.begin(), instance_start_.end(), instance_start_.begin());
  by_instance_.resize(uses_.size());
  auto next = instance_start_;
  for (std::size_t u = 0; u < uses_.size(); ++u) by_instance_[next[uses_[u].instance]++] = u;
}

double Holes::observed_log_probability(std::size_t row, std::span<const double> cpts) const {
  double log_probability = 0.0;
  visit_observed(
      plans_[plan_of_row_[row]], [&](Var v) { return table_.cells[v * table_.n_rows + row]; },
      [&](std::size_t cell) { log_probability += std::log(cpts[cell]); });
  return log_probability;
}

std::span<const double* const> InstanceBeliefs::factors_of(const Holes& holes,
                                                           const Holes::Instance& instance,
                                                           std::span<const double> cpts) {
  factors.clear();
  for (const std::size_t offset : holes.offsets(instance)) factors.push_back(cpts.data() + offset);
  return factors;
}

double InstanceBeliefs::collect(const Holes& holes, const Holes::Instance& instance,
                                std::span<const double> cpts, const Elimination* shape) {
  if (shape == nullptr) shape = holes.piece_of(instance).elimination.get();
  return beliefs.collect(*shape, factors_of(holes, instance, cpts), Pass::sum);
}

}  // namespace bayesmend
