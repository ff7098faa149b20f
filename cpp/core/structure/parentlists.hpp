#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/variable.hpp"

namespace bayesmend {

// The number of no candidate; -1 as a signed number.
inline constexpr std::size_t kNoSet = std::numeric_limits<std::size_t>::max();

// Candidate parent sets as views of compressed rows: the candidates of variable i are
// offsets[i] .. offsets[i + 1], in descending order of score; the members of candidate c
// are members[member_offsets[c] .. member_offsets[c + 1]], ascending.
struct ParentLists {
  std::span<const std::uint64_t> offsets;
  std::span<const double> scores;
  std::span<const std::uint64_t> member_offsets;
  std::span<const Var> members;

  std::size_t n_vars() const { return offsets.size() - 1; }
  std::size_t n_sets() const { return scores.size(); }
  std::size_t begin(std::size_t variable) const { return offsets[variable]; }
  std::size_t end(std::size_t variable) const { return offsets[variable + 1]; }
  std::span<const Var> of(std::size_t candidate) const {
    const auto first = member_offsets[candidate];
    const auto last = member_offsets[candidate + 1];
    return members.subspan(first, last - first);
  }
};

// The same, owning its arrays.
struct OwnedParentLists {
  std::vector<std::uint64_t> offsets{0};
  std::vector<double> scores;
  std::vector<std::uint64_t> member_offsets{0};
  std::vector<Var> members;
};

}  // namespace bayesmend
