#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bayesmend {

// Candidate parent sets as views of compressed rows: the candidates of variable i are
// offsets[i] .. offsets[i + 1], in descending order of score; the members of candidate c
// are members[member_offsets[c] .. member_offsets[c + 1]], ascending.
struct ParentLists {
  std::span<const std::int64_t> offsets;
  std::span<const double> scores;
  std::span<const std::int64_t> member_offsets;
  std::span<const std::int32_t> members;

  std::size_t n_vars() const { return offsets.size() - 1; }
  std::size_t n_sets() const { return scores.size(); }
  std::size_t begin(std::size_t variable) const {
    return static_cast<std::size_t>(offsets[variable]);
  }
  std::size_t end(std::size_t variable) const {
    return static_cast<std::size_t>(offsets[variable + 1]);
  }
  std::span<const std::int32_t> of(std::size_t candidate) const {
    const auto first = static_cast<std::size_t>(member_offsets[candidate]);
    const auto last = static_cast<std::size_t>(member_offsets[candidate + 1]);
    return members.subspan(first, last - first);
  }
};

// The same, owning its arrays.
struct OwnedParentLists {
  std::vector<std::int64_t> offsets{0};
  std::vector<double> scores;
  std::vector<std::int64_t> member_offsets{0};
  std::vector<std::int32_t> members;

  ParentLists view() const { return {offsets, scores, member_offsets, members}; }
};

}  // namespace bayesmend
