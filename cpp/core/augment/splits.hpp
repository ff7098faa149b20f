#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bayesmend {

// All ways to share out things that are alike among so many places, by how many each place gets.
//
// A split is known by its rank. The order does not depend on how many things there are: what is not
// elsewhere is in place 0, and splits with fewer things elsewhere come first. So rank 0 has all of
// them in place 0, and of one thing rank p has it in place p.
class Splits {
 public:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  Splits(std::uint32_t n_places, std::uint32_t n_things);

  // How many there are; `limit` where they are more.
  static std::size_t count(std::uint32_t n_places, std::uint32_t n_things, std::size_t limit);

  std::uint32_t n_places() const { return n_places_; }
  std::uint32_t n_things() const { return n_things_; }
  // Splits of at most n_things() things.
  std::uint32_t size(std::uint32_t n_things) const { return below(n_places_ - 1, n_things + 1); }
  // Things in the places 1, 2, ...
  std::span<const std::uint32_t> moved(std::uint32_t rank) const {
    return {moved_.data() + std::size_t{rank} * (n_places_ - 1), n_places_ - 1};
  }
  std::uint32_t rank(std::span<const std::uint32_t> moved) const;
  // Per rank the one with one thing less in place p >= 1, or kNone.
  std::span<const std::uint32_t> without(std::uint32_t p) const {
    const std::size_t n_ranks = size(n_things_);
    return {without_.data() + (p - 1) * n_ranks, n_ranks};
  }

 private:
  // C(n + i - 1, i): splits of less than n things among i places and the one they come from.
  std::uint32_t below(std::uint32_t i, std::uint32_t n) const {
    return below_[i * (n_things_ + std::size_t{2}) + n];
  }

  std::uint32_t n_places_, n_things_;
  std::vector<std::uint32_t> below_, moved_, without_;
};

// Splits that were made before, by number of places.
class SplitTables {
 public:
  // Of at least so many things; valid until more are asked for.
  const Splits& of(std::uint32_t n_places, std::uint32_t n_things) {
    if (tables_.size() <= n_places) tables_.resize(n_places + 1);
    auto& table = tables_[n_places];
    if (table == nullptr || table->n_things() < n_things)
      table = std::make_unique<Splits>(n_places, n_things);
    return *table;
  }

 private:
  std::vector<std::unique_ptr<Splits>> tables_;
};

}  // namespace bayesmend
