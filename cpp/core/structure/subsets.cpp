#include "core/structure/subsets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/structure/subsetmax.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

std::uint32_t mask_of(std::span<const Var> members) {
  std::uint32_t mask = 0;
  for (const auto member : members) mask |= std::uint32_t{1} << member;
  return mask;
}

// Calls work(high) for every value of the high bits, in an order in which each comes after all its
// subsets (or supersets); those of equal size run in parallel.
template <class Work>
bool by_size(std::size_t n_bits, bool ascending, std::size_t n_threads, const Stop& stop,
             Work&& work) {
  std::vector<std::vector<std::uint32_t>> sizes(n_bits + 1);
  for (std::uint32_t high = 0; high < std::uint32_t{1} << n_bits; ++high)
    sizes[static_cast<std::size_t>(std::popcount(high))].push_back(high);
  if (!ascending) std::ranges::reverse(sizes);
  for (const auto& equal : sizes)
    if (!parallel_for(equal.size(), n_threads, stop,
                      [&](std::size_t task, std::size_t) { work(equal[task]); }))
      return false;
  return true;
}

std::size_t high_bits(std::size_t n_vars) { return n_vars > 20 ? 8 : n_vars > 16 ? 6 : 0; }

// Starting a thread to be free to poll pays only where a variable takes long.
Caller caller_for(std::size_t n_vars) { return n_vars > 20 ? Caller::waits : Caller::works; }

}  // namespace

double SubsetProgram::memory(std::size_t n_vars, bool through) {
  const double subsets = std::ldexp(1.0, static_cast<int>(n_vars));
  const double tables = static_cast<double>(n_vars) * subsets / 2 + subsets;
  return 8.0 * (through ? tables + subsets + subsets : tables);
}

bool SubsetProgram::run(const ParentLists& lists, std::size_t n_threads, const Stop& stop) {
  lists_ = lists;
  n_vars_ = lists.n_vars();
  best_parents_.assign(n_vars_, {});
  const bool finished = parallel_for(
      n_vars_, n_threads, stop,
      [&](std::size_t v, std::size_t) {
        auto& best = best_parents_[v];
        best.assign(std::size_t{1} << (n_vars_ - 1), kMinusInfinity);
        for (std::size_t c = lists.begin(v); c < lists.end(v); ++c) {
          auto& entry = best[squeeze(mask_of(lists.of(c)), v)];
          entry = std::max(entry, lists.scores[c]);
        }
        spread_maximum<true>(best, n_vars_ - 1, stop);
      },
      caller_for(n_vars_));
  if (!finished || stop.has_ended()) return false;
  return pass_forward(n_threads, stop);
}

double SubsetProgram::best_parents(std::size_t variable, std::uint32_t others) const {
  return best_parents_[variable][squeeze(others, variable)];
}

bool SubsetProgram::pass_forward(std::size_t n_threads, const Stop& stop) {
  forward_.assign(std::size_t{1} << n_vars_, kMinusInfinity);
  forward_[0] = 0.0;
  const std::size_t n_high = high_bits(n_vars_), n_low = n_vars_ - n_high;
  return by_size(n_high, true, n_threads, stop, [&](std::uint32_t high) {
    const std::uint32_t first = high << n_low;
    for (std::uint32_t low = 0; low < std::uint32_t{1} << n_low; ++low) {
      const std::uint32_t subset = first | low;
      double best = subset == 0 ? 0.0 : kMinusInfinity;
      for (std::uint32_t rest = subset; rest != 0; rest &= rest - 1) {
        const auto sink = static_cast<std::size_t>(std::countr_zero(rest));
        const std::uint32_t others = subset & ~(std::uint32_t{1} << sink);
        best = std::max(best, forward_[others] + best_parents(sink, others));
      }
      forward_[subset] = best;
    }
  });
}

bool SubsetProgram::pass_backward(std::size_t n_threads, const Stop& stop) {
  const auto full = static_cast<std::uint32_t>((std::uint64_t{1} << n_vars_) - 1);
  backward_.assign(std::size_t{1} << n_vars_, kMinusInfinity);
  const std::size_t n_high = high_bits(n_vars_), n_low = n_vars_ - n_high;
  return by_size(n_high, false, n_threads, stop, [&](std::uint32_t high) {
    const std::uint32_t first = high << n_low;
    for (std::uint32_t low = std::uint32_t{1} << n_low; low-- > 0;) {
      const std::uint32_t subset = first | low;
      double best = subset == full ? 0.0 : kMinusInfinity;
      for (std::uint32_t rest = full & ~subset; rest != 0; rest &= rest - 1) {
        const auto next = static_cast<std::size_t>(std::countr_zero(rest));
        best = std::max(
            best, backward_[subset | (std::uint32_t{1} << next)] + best_parents(next, subset));
      }
      backward_[subset] = best;
    }
  });
}

std::vector<std::int64_t> SubsetProgram::choices() const {
  std::vector<std::int64_t> chosen(n_vars_, -1);
  auto subset = static_cast<std::uint32_t>((std::uint64_t{1} << n_vars_) - 1);
  while (subset != 0) {
    std::uint32_t rest = subset;
    for (; rest != 0; rest &= rest - 1) {
      const auto sink = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t others = subset & ~(std::uint32_t{1} << sink);
      if (forward_[others] + best_parents(sink, others) != forward_[subset]) continue;
      for (std::size_t c = lists_.begin(sink); c < lists_.end(sink) && chosen[sink] < 0; ++c)
        if ((mask_of(lists_.of(c)) & ~others) == 0) chosen[sink] = static_cast<std::int64_t>(c);
      subset = others;
      break;
    }
  }
  return chosen;
}

std::vector<double> SubsetProgram::best_through(std::size_t n_threads, const Stop& stop) {
  if (!pass_backward(n_threads, stop)) return {};
  std::vector<double> through(lists_.n_sets());
  auto pass_through = [&](std::size_t v, std::size_t) {
    // around[U]: what the other variables score best when U or more of them precede v.
    std::vector<double> around(std::size_t{1} << (n_vars_ - 1));
    for (std::uint32_t u = 0; u < around.size(); ++u) {
      const std::uint32_t others = stretch(u, v);
      around[u] = forward_[others] + backward_[others | (std::uint32_t{1} << v)];
    }
    spread_maximum<false>(around, n_vars_ - 1, stop);
    for (std::size_t c = lists_.begin(v); c < lists_.end(v); ++c)
      through[c] = lists_.scores[c] + around[squeeze(mask_of(lists_.of(c)), v)];
  };
  if (!parallel_for(n_vars_, n_threads, stop, pass_through, caller_for(n_vars_)) ||
      stop.has_ended())
    return {};
  return through;
}

}  // namespace bayesmend
