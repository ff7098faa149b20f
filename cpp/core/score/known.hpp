#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/require.hpp"
#include "core/score/counts.hpp"

namespace bayesmend {

// Joint counts of some sets of variables, given as they are: of a table that lies elsewhere.
class KnownCounts final : public CountSource {
 public:
  struct Known {
    std::vector<double> counts;  // of the cells that are not zero
    double unsupported = 0.0;
  };

  // The set is ascending.
  void add(std::vector<Var> set, Known known) { known_.emplace(std::move(set), std::move(known)); }

  std::unique_ptr<CountSource::Scratch> make_scratch() const override {
    return std::make_unique<CountSource::Scratch>();
  }
  std::span<const double> count(VariableSet set, CountSource::Scratch& /*scratch*/) const override {
    return find(set).counts;
  }
  double unsupported(VariableSet set, CountSource::Scratch& /*scratch*/) const override {
    return find(set).unsupported;
  }

 private:
  const Known& find(VariableSet set) const {
    std::vector<Var> key(set.begin(), set.end());
    std::ranges::sort(key);
    const auto at = known_.find(key);
    require(at != known_.end(), "the counts of this set of variables are not known.");
    return at->second;
  }

  std::map<std::vector<Var>, Known> known_;
};

}  // namespace bayesmend
