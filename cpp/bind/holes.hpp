#pragma once

#include <utility>

#include "bind/stop.hpp"
#include "core/inference/holes.hpp"

namespace bayesmend::bind {

// Owns what the core only views: the arrays of the table.
class HoleTable {
 public:
  HoleTable(In<std::int32_t, 1> card, In<std::int64_t, 1> parent_offsets,
            In<std::int32_t, 1> parents, In<std::uint8_t, 2> columns, In<double, 1> weights,
            In<std::uint8_t, 1> targets, const WholeCall& call = {})
      : card_(std::move(card)),
        columns_(std::move(columns)),
        weights_(std::move(weights)),
        holes_(FamilyGraph(view(card_), view(parent_offsets), view(parents)),
               table_of(columns_, card_), view(weights_), view(targets), call.stop()) {
    call.raise_if_stopped();
  }
  HoleTable(const HoleTable&) = delete;
  HoleTable& operator=(const HoleTable&) = delete;

  const Holes& holes() const { return holes_; }
  // The probabilities, when there are as many as the structure needs.
  std::span<const double> check(const In<double, 1>& cpts) const {
    if (cpts.size() != holes_.graph().n_entries())
      throw std::invalid_argument("cpts must have one entry per cell of every table.");
    return view(cpts);
  }

 private:
  In<std::int32_t, 1> card_;
  In<std::uint8_t, 2> columns_;
  In<double, 1> weights_;
  Holes holes_;
};

}  // namespace bayesmend::bind
