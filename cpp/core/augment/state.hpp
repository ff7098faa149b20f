#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/augment/bound.hpp"
#include "core/augment/local.hpp"
#include "core/augment/problem.hpp"
#include "core/augment/record.hpp"
#include "core/base/state.hpp"

namespace bayesmend {

// What a state begins with: of which search it is.
inline constexpr std::uint64_t kLocalState = 0x6c61636f6c01, kTreeState = 0x6565727404;
bool is_state_of(std::uint64_t kind, std::string_view state);

// What searches over pairs keep of themselves. Readers throw std::invalid_argument for what is of
// another problem.

void save(StateWriter& out, const AugmentProblem::Completion& completion);
void save(StateWriter& out, const Pair& pair);
void save(StateWriter& out, const std::vector<TraceEntry>& trace);
void save(StateWriter& out, const LocalResult& result);
void save(StateWriter& out, const Prices& prices);
void save(StateWriter& out, const NodeRecord& record);

// Values of cells; free ones only where that is allowed.
AugmentProblem::Completion read_completion(StateReader& in, const AugmentProblem& problem,
                                           bool may_be_free);
Pair read_pair(StateReader& in, const AugmentProblem& problem);
std::vector<TraceEntry> read_trace(StateReader& in);
LocalResult read_local_result(StateReader& in, const AugmentProblem& problem);
Prices read_prices(StateReader& in, const AugmentProblem& problem);
// Of one of so many nodes.
NodeRecord read_record(StateReader& in, const AugmentProblem& problem, std::size_t n_nodes);

}  // namespace bayesmend
