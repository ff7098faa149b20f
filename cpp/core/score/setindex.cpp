#include "core/score/setindex.hpp"

#include <algorithm>
#include <bit>

#include "core/base/hash.hpp"

namespace bayesmend {
namespace {

std::uint64_t hash_of(VariableSet set, std::uint32_t tag) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ tag;
  for (const auto member : set) hash = extend_hash(hash, std::uint64_t{member} + 1);
  return hash;
}

// The first four members as one number that sorts like them.
std::uint64_t leading_members(VariableSet set) {
  std::uint64_t key = 0;
  for (std::size_t p = 0; p < 4; ++p) {
    const std::uint64_t member =
        p < set.size() ? std::min<std::uint64_t>(std::uint64_t{set[p]} + 1, 0xffff) : 0;
    key = key << 16 | member;
  }
  return key;
}

}  // namespace

SetIndex::SetIndex(std::size_t expected) {
  slots_.assign(std::bit_ceil(std::max<std::size_t>(2 * expected, 64)), 0);
}

void SetIndex::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::size_t i = 0; i < size(); ++i) {
    std::size_t slot = hashes_[i] & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

std::size_t SetIndex::slot_of(std::uint64_t hash, VariableSet members, std::uint32_t tag) const {
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::size_t i = slots_[slot] - 1;
    if (hashes_[i] == hash && tags_[i] == tag && std::ranges::equal(set(i), members)) break;
  }
  return slot;
}

std::optional<std::size_t> SetIndex::find(VariableSet members, std::uint32_t tag) const {
  const std::size_t slot = slot_of(hash_of(members, tag), members, tag);
  if (slots_[slot] == 0) return std::nullopt;
  return slots_[slot] - 1;
}

std::size_t SetIndex::insert(VariableSet members, std::uint32_t tag) {
  const std::uint64_t hash = hash_of(members, tag);
  const std::size_t slot = slot_of(hash, members, tag);
  if (slots_[slot] != 0) return slots_[slot] - 1;
  members_.insert(members_.end(), members.begin(), members.end());
  first_.push_back(members_.size());
  tags_.push_back(tag);
  hashes_.push_back(hash);
  slots_[slot] = static_cast<std::uint32_t>(size());
  if (size() * 2 > slots_.size()) grow();
  return size() - 1;
}

std::vector<std::size_t> SetIndex::sorted() const {
  struct Entry {
    std::uint64_t key;
    std::size_t index;
  };
  std::vector<Entry> entries(size());
  for (std::size_t i = 0; i < size(); ++i) entries[i] = {leading_members(set(i)), i};
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    const auto order = std::lexicographical_compare_three_way(
        set(a.index).begin(), set(a.index).end(), set(b.index).begin(), set(b.index).end());
    return order != 0 ? order < 0 : tags_[a.index] < tags_[b.index];
  });
  std::vector<std::size_t> order(size());
  for (std::size_t i = 0; i < size(); ++i) order[i] = entries[i].index;
  return order;
}

}  // namespace bayesmend
