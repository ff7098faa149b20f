#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/score/counts.hpp"

namespace bayesmend {

// Distinct (set of variables, tag) pairs, numbered in order of arrival.
class SetIndex {
 public:
  explicit SetIndex(std::size_t expected);
  // Number of the pair, new or old. The members must be ascending.
  std::size_t insert(VariableSet set, std::uint32_t tag);
  std::optional<std::size_t> find(VariableSet set, std::uint32_t tag) const;
  std::size_t size() const { return tags_.size(); }
  VariableSet set(std::size_t index) const {
    return {members_.data() + first_[index], first_[index + 1] - first_[index]};
  }
  std::uint32_t tag(std::size_t index) const { return tags_[index]; }
  // Indices in lexicographic order of the sets, then by tag.
  std::vector<std::size_t> sorted() const;

 private:
  // Slot of the pair, or the free slot where it belongs.
  std::size_t slot_of(std::uint64_t hash, VariableSet set, std::uint32_t tag) const;
  void grow();

  std::vector<Var> members_;
  std::vector<std::size_t> first_{0};
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // index + 1, open addressing
};

}  // namespace bayesmend
