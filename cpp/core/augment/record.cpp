#include "core/augment/record.hpp"

#include <cmath>

#include "core/augment/state.hpp"

namespace bayesmend {

PricePoint::PricePoint(const AugmentProblem& problem, const Prices& prices) {
  for (std::uint32_t child = 0; child < problem.n_vars(); ++child) {
    for (std::uint32_t cell = 0; cell < problem.n_cells(); ++cell) {
      for (std::uint32_t value = 0; value < problem.cells()[cell].card; ++value) {
        const double price = prices.at(child, cell, value);
        if (price == 0.0) continue;
        children.push_back(child);
        cells.push_back(cell);
        values.push_back(value);
        steps.push_back(static_cast<std::uint32_t>(std::lround(price / Prices::kGrid)));
      }
    }
  }
}

void ProofRecord::create(NodeRecord node) {
  if (!is_kept_) return;
  count(sizeof(NodeRecord));
  nodes_.push_back(std::move(node));
}

void ProofRecord::expand(std::size_t number, NodeRecord found) {
  if (!is_kept_) return;
  double bytes = static_cast<double>(found.best.n_bytes());
  for (const auto& point : found.dropped_at) bytes += static_cast<double>(point.n_bytes());
  auto& node = nodes_[number];
  node.bound = found.bound;
  for (auto& point : found.dropped_at) node.dropped_at.push_back(std::move(point));
  node.best = std::move(found.best);
  count(bytes);
}

void ProofRecord::count(double bytes) {
  bytes_ += bytes;
  if (bytes_ <= max_bytes_) return;
  is_kept_ = false;
  nodes_ = {};
}

void ProofRecord::save(StateWriter& out) const {
  out.put(is_kept_);
  out.put(bytes_);
  out.put<std::uint64_t>(nodes_.size());
  for (const auto& node : nodes_) bayesmend::save(out, node);
}

void ProofRecord::load(StateReader& in, const AugmentProblem& problem, std::size_t n_nodes) {
  const bool was_kept = in.get_flag();
  bytes_ = in.get<double>();
  nodes_.resize(in.get_size(2 * sizeof(std::size_t)));
  StateReader::require(!is_kept_ || !was_kept || nodes_.size() == n_nodes);
  for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_[n] = read_record(in, problem, n);
  is_kept_ = is_kept_ && was_kept;
  if (!is_kept_) nodes_ = {};
}

std::vector<ProofNode> ProofRecord::prove(double target) const {
  std::vector<ProofNode> proof;
  // Where each node stands in the proof; one that is not needed, or below such a one, nowhere.
  std::vector<std::size_t> place(nodes_.size(), NodeRecord::kNone);
  const auto is_closed = [&](const NodeRecord& node) { return node.bound <= target; };
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto& node = nodes_[n];
    const bool is_root = node.parent == NodeRecord::kNone;
    if (!is_root) {
      if (is_closed(nodes_[node.parent]) || place[node.parent] == NodeRecord::kNone) continue;
      place[n] = place[node.parent];
    }
    if (is_root || node.cell != NodeRecord::kNone) {
      const std::size_t parent = is_root ? NodeRecord::kNone : place[node.parent];
      place[n] = proof.size();
      proof.push_back({.parent = parent, .cell = node.cell, .value = node.value, .points = {}});
    }
    auto& points = proof[place[n]].points;
    points.insert(points.end(), node.dropped_at.begin(), node.dropped_at.end());
    if (is_closed(node)) points.push_back(node.best);
  }
  return proof;
}

}  // namespace bayesmend
