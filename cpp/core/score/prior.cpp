#include "core/score/prior.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/base/loggamma.hpp"

namespace bayesmend {

FairPrior::FairPrior(std::span<const ParentChoices> choices) {
  std::unordered_map<std::uint32_t, std::size_t> known;
  for (const auto& [n_optional, n_required] : choices) {
    n_required_.push_back(n_required);
    n_optional_.push_back(n_optional);
    const auto [found, is_new] = known.try_emplace(n_optional, costs_.size());
    first_.push_back(found->second);
    if (!is_new) continue;
    const double whole = log_gamma(n_optional + 1.0);
    for (std::uint32_t k = 0; k <= n_optional; ++k)
      costs_.push_back(std::max(0.0, whole - log_gamma(k + 1.0) - log_gamma(n_optional - k + 1.0)));
  }
}

// The costs rise to the middle and fall from there, so the least is at an end.
double FairPrior::least_cost(Var child, std::size_t least, std::size_t most) const {
  if (first_.empty()) return 0.0;
  const std::size_t possible = n_optional_[child] + std::size_t{n_required_[child]};
  return std::min(cost(child, least), cost(child, std::min(std::max(least, most), possible)));
}

}  // namespace bayesmend
