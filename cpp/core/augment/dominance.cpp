#include "core/augment/dominance.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "core/augment/bound.hpp"
#include "core/base/bits.hpp"
#include "core/base/parallel.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Of the families of one child, those to keep. Terms count for nothing here: they are the same for
// all of them.
class Dominance {
 public:
  Dominance(const AugmentProblem& problem, std::size_t max_entries)
      : problem_(problem),
        max_entries_(max_entries),
        free_(problem.n_cells(), AugmentProblem::kFree) {}

  void look(std::size_t child, const Stop& stop, std::vector<std::uint8_t>& is_kept) {
    const auto families = problem_.families();
    const std::size_t first = problem_.first_family(child), last = problem_.last_family(child);
    std::vector<std::size_t> order(last - first);
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order, {}, [&](std::size_t f) { return families[f].n_members; });
    // By parents: what some family with no more than these scores under every completion.
    std::unordered_map<std::uint64_t, double> least;
    for (std::size_t n = 0; n < order.size(); ++n) {
      if ((n & 63) == 63 && stop.is_over()) return;
      const auto& family = families[order[n]];
      double low = kMinusInfinity;
      for_each_bit(family.parents, [&](Var parent) {
        const auto found = least.find(family.parents & ~(std::uint64_t{1} << parent));
        if (found != least.end()) low = std::max(low, found->second);
      });
      // More rows only lower a score: those without holes may do.
      bool is_dominated = low > kMinusInfinity &&
                          problem_.score_counts(family, problem_.base_counts(family)) <= low;
      if (!is_dominated) {
        bound_.build(problem_, family, free_, false, max_entries_, scratch_);
        const auto [lowest, highest] = bound_.range();
        is_dominated = highest <= low;
        low = std::max(low, lowest);
      }
      // The first one has only the required parents, and is the answer when all else fails.
      if (is_dominated && order[n] != first) is_kept[order[n]] = 0;
      least.emplace(family.parents, low);
    }
  }

 private:
  const AugmentProblem& problem_;
  std::size_t max_entries_;
  AugmentProblem::Completion free_;
  FamilyBound bound_;
  FamilyBound::Scratch scratch_;
};

}  // namespace

void drop_dominated(AugmentProblem& problem, std::size_t max_entries, std::size_t n_threads,
                    const Stop& stop) {
  std::vector<std::uint8_t> is_kept(problem.families().size(), 1);
  parallel_for(problem.n_vars(), n_threads, stop, [&](std::size_t child, std::size_t) {
    Dominance(problem, max_entries).look(child, stop, is_kept);
  });
  problem.keep(is_kept);
}

}  // namespace bayesmend
