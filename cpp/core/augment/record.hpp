#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/augment/bound.hpp"
#include "core/augment/problem.hpp"
#include "core/base/state.hpp"

namespace bayesmend {

// What a branch and bound leaves for others to check.

// The prices of one moment that are not zero, as steps of Prices::kGrid.
struct PricePoint {
  std::vector<std::uint32_t> children, cells, values, steps;

  PricePoint() = default;
  PricePoint(const AugmentProblem& problem, const Prices& prices);
  std::size_t n_bytes() const { return 16 * steps.size() + sizeof(*this); }
};

// What was found at one node: prices at which families were dropped, in order, and those of its
// bound.
struct NodeRecord {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t parent = kNone;
  std::size_t cell = kNone;  // fixed here; none where the parent was put back as it was
  std::uint8_t value = 0;
  double bound = 0.0;
  std::vector<PricePoint> dropped_at{};
  PricePoint best{};
};

// A node of the tree of a proof: to be looked at with each of its prices in turn. It has children,
// which fix one cell to each of its values, or its bound is not above that of the proof.
struct ProofNode {
  std::size_t parent = NodeRecord::kNone;  // position in the proof, where parents come first
  std::size_t cell = NodeRecord::kNone;
  std::uint8_t value = 0;
  std::vector<PricePoint> points;
};

class ProofRecord {
 public:
  // Keeps nothing beyond so many bytes; 0 for nothing at all.
  explicit ProofRecord(double max_bytes) : max_bytes_(max_bytes), is_kept_(max_bytes > 0.0) {}

  bool is_kept() const { return is_kept_; }
  // Of what was kept, or would have been when it became too much.
  double bytes() const { return bytes_; }
  // Nodes are numbered from 0 in the order of their creation.
  void create(NodeRecord node);
  void expand(std::size_t number, NodeRecord found);
  // The nodes that are needed to show that nothing scores above `target`.
  std::vector<ProofNode> prove(double target) const;
  void save(StateWriter& out) const;
  // What was saved where so many nodes were created.
  void load(StateReader& in, const AugmentProblem& problem, std::size_t n_nodes);

 private:
  void count(double bytes);

  double max_bytes_;
  bool is_kept_;
  double bytes_ = 0.0;
  std::vector<NodeRecord> nodes_;
};

}  // namespace bayesmend
