#include "core/structure/subsets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "core/base/wide.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// Subsets that share all but so many low variables are treated together.
constexpr std::size_t kLowBits = 5;
// Tables of so few variables are filled before threads could start or a clock be worth a look.
constexpr std::size_t kFewVars = 12;

std::uint32_t stretch(std::uint32_t mask, std::size_t gap) {
  const std::uint32_t low = (std::uint32_t{1} << gap) - 1;
  return (mask & low) | ((mask & ~low) << 1);
}

std::uint32_t mask_of(std::span<const Var> members) {
  std::uint32_t mask = 0;
  for (const Var member : members) mask |= std::uint32_t{1} << member;
  return mask;
}

std::size_t lowest_bit(std::uint32_t mask) {
  return static_cast<std::size_t>(std::countr_zero(mask));
}

void max_into(double* target, const double* other, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) target[k] = target[k] < other[k] ? other[k] : target[k];
}

BAYESMEND_WIDE void max_of_sums(double* target, const double* a, const double* b, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const double sum = a[k] + b[k];
    target[k] = target[k] < sum ? sum : target[k];
  }
}

// values[U] becomes the maximum over all subsets (or supersets) of U. Low bits are done block by
// block, so that all but a few passes stay in cache. Leaves the work once `stop` has ended, unless
// it is so little that callers take it for done.
template <bool kSubsets>
void spread_maximum(std::span<double> values, std::size_t n_bits, const Stop& stop) {
  auto pass = [&](std::size_t begin, std::size_t end, std::size_t bit) {
    if (n_bits >= kFewVars && stop.has_ended()) return;
    const std::size_t half = std::size_t{1} << bit;
    for (std::size_t start = begin; start < end; start += 2 * half) {
      double* low = values.data() + start;
      if (kSubsets)
        max_into(low + half, low, half);
      else
        max_into(low, low + half, half);
    }
  };
  const std::size_t block_bits = std::min<std::size_t>(n_bits, 15);
  const std::size_t block = std::size_t{1} << block_bits;
  for (std::size_t start = 0; start < values.size(); start += block)
    for (std::size_t bit = 0; bit < block_bits; ++bit) pass(start, start + block, bit);
  for (std::size_t bit = block_bits; bit < n_bits; ++bit) pass(0, values.size(), bit);
}

}  // namespace

SubsetProgram::SubsetProgram(std::size_t n_vars, std::size_t n_threads)
    : n_vars_(n_vars), half_(std::size_t{1} << (n_vars - 1)), n_threads_(n_threads) {}

double SubsetProgram::memory(std::size_t n_vars, bool through) {
  const double subsets = std::exp2(static_cast<double>(n_vars));  // infinite beyond 1,023
  const double tables = static_cast<double>(n_vars) * subsets / 2 + subsets;
  return 8.0 * (through ? tables + subsets + subsets : tables);
}

template <class Work>
bool SubsetProgram::for_variables(const Stop& stop, Work&& work) const {
  if (n_vars_ <= kFewVars) {
    for (std::size_t v = 0; v < n_vars_; ++v) work(v, std::size_t{0});
    return true;
  }
  // Starting a thread to be free to poll pays only where a variable takes long.
  const Caller caller = n_vars_ > 20 ? Caller::waits : Caller::works;
  return parallel_for(n_vars_, n_threads_, stop, work, caller) && !stop.has_ended();
}

// Calls work(first, n) for runs of n subsets that share their high bits, in an order in which each
// comes after all its subsets (or supersets); those of equal size run in parallel.
template <class Work>
bool SubsetProgram::for_subsets(bool ascending, const Stop& stop, Work&& work) const {
  const std::size_t n_high = n_vars_ > 20 ? 8 : n_vars_ > 16 ? 6 : 0, n_low = n_vars_ - n_high;
  const std::uint32_t n_run = std::uint32_t{1} << n_low;
  if (n_high == 0) {
    work(std::uint32_t{0}, n_run);
    return true;
  }
  std::vector<std::vector<std::uint32_t>> sizes(n_high + 1);
  for (std::uint32_t high = 0; high < std::uint32_t{1} << n_high; ++high)
    sizes[static_cast<std::size_t>(std::popcount(high))].push_back(high);
  if (!ascending) std::ranges::reverse(sizes);
  return std::ranges::all_of(sizes, [&](const auto& equal) {
    return parallel_for(equal.size(), n_threads_, stop,
                        [&](std::size_t task, std::size_t) { work(equal[task] << n_low, n_run); });
  });
}

void SubsetProgram::clear() {
  if (best_ == nullptr) best_ = std::make_unique_for_overwrite<double[]>(n_vars_ * half_);
  std::fill_n(best_.get(), n_vars_ * half_, kMinusInfinity);
}

void SubsetProgram::offer(std::size_t child, std::uint32_t parents, double score) {
  double& entry = best_of(child)[squeeze(parents, child)];
  entry = std::max(entry, score);
}

bool SubsetProgram::offer_all(const ParentLists& lists, const Stop& stop) {
  if (best_ == nullptr) best_ = std::make_unique_for_overwrite<double[]>(n_vars_ * half_);
  return for_variables(stop, [&](std::size_t v, std::size_t) {
    std::fill_n(best_of(v), half_, kMinusInfinity);
    for (std::size_t c = lists.begin(v); c < lists.end(v); ++c)
      offer(v, mask_of(lists.of(c)), lists.scores[c]);
  });
}

double SubsetProgram::solve(const Stop& stop) {
  const bool is_spread = for_variables(stop, [&](std::size_t v, std::size_t) {
    spread_maximum<true>(std::span(best_of(v), half_), n_vars_ - 1, stop);
  });
  if (!is_spread) return -kMinusInfinity;
  forward_.resize(2 * half_);
  const auto n_block = static_cast<std::uint32_t>(std::min(std::size_t{1} << kLowBits, 2 * half_));
  const bool is_filled = for_subsets(true, stop, [&](std::uint32_t first, std::uint32_t n) {
    for (std::uint32_t block = 0; block < n; block += n_block) fill_forward(first + block);
  });
  return is_filled ? forward_.back() : -kMinusInfinity;
}

// Subsets block .. block + 2^kLowBits - 1: high sinks for all of them at once, then low ones.
void SubsetProgram::fill_forward(std::uint32_t block) {
  const std::size_t size = std::size_t{1} << std::min(kLowBits, n_vars_);
  double* target = forward_.data() + block;
  std::fill(target, target + size, kMinusInfinity);
  for (std::uint32_t rest = block; rest != 0; rest &= rest - 1) {
    const std::size_t sink = lowest_bit(rest);
    const std::uint32_t others = block & ~(std::uint32_t{1} << sink);
    max_of_sums(target, forward_.data() + others, best_of(sink) + squeeze(others, sink), size);
  }
  if (block == 0) target[0] = 0.0;
  for (std::uint32_t low = 1; low < size; ++low) {
    double best = target[low];
    for (std::uint32_t rest = low; rest != 0; rest &= rest - 1) {
      const std::size_t sink = lowest_bit(rest);
      const std::uint32_t others = (block | low) & ~(std::uint32_t{1} << sink);
      const double total = forward_[others] + best_of(sink)[squeeze(others, sink)];
      best = best < total ? total : best;
    }
    target[low] = best;
  }
}

std::vector<std::uint32_t> SubsetProgram::predecessors() const {
  std::vector<std::uint32_t> allowed(n_vars_, 0);
  auto subset = static_cast<std::uint32_t>(2 * half_ - 1);
  while (subset != 0) {
    for (std::uint32_t rest = subset; rest != 0; rest &= rest - 1) {
      const std::size_t sink = lowest_bit(rest);
      const std::uint32_t others = subset & ~(std::uint32_t{1} << sink);
      if (forward_[others] + best_of(sink)[squeeze(others, sink)] != forward_[subset]) continue;
      allowed[sink] = others;
      subset = others;
      break;
    }
  }
  return allowed;
}

bool SubsetProgram::pass_backward(const Stop& stop) {
  const auto full = static_cast<std::uint32_t>(2 * half_ - 1);
  backward_.resize(2 * half_);
  return for_subsets(false, stop, [&](std::uint32_t first, std::uint32_t n) {
    for (std::uint32_t subset = first + n; subset-- > first;) {
      double best = subset == full ? 0.0 : kMinusInfinity;
      for (std::uint32_t rest = full & ~subset; rest != 0; rest &= rest - 1) {
        const std::size_t next = lowest_bit(rest);
        const double total =
            backward_[subset | (std::uint32_t{1} << next)] + best_of(next)[squeeze(subset, next)];
        best = best < total ? total : best;
      }
      backward_[subset] = best;
    }
  });
}

void SubsetProgram::around(std::size_t child, std::vector<double>& target, const Stop& stop) const {
  target.resize(half_);
  for (std::uint32_t u = 0; u < half_; ++u) {
    const std::uint32_t others = stretch(u, child);
    target[u] = forward_[others] + backward_[others | (std::uint32_t{1} << child)];
  }
  spread_maximum<false>(target, n_vars_ - 1, stop);
}

SubsetSolution solve_subsets(const ParentLists& lists, bool through, std::size_t n_threads,
                             const Stop& stop) {
  SubsetSolution found;
  if (lists.n_vars() == 0) return found;
  SubsetProgram program(lists.n_vars(), n_threads);
  const auto stopped = [&] {
    found.stopped = stop.reason();
    return found;
  };
  if (!program.offer_all(lists, stop)) return stopped();
  const double score = program.solve(stop);
  if (score > 0.0 && std::isinf(score)) return stopped();
  found.score = score;
  if (score > kMinusInfinity) {
    const auto allowed = program.predecessors();
    for (std::size_t v = 0; v < lists.n_vars(); ++v) {
      std::size_t c = lists.begin(v);
      while ((mask_of(lists.of(c)) & ~allowed[v]) != 0) ++c;
      found.choices.push_back(c);
    }
  }
  if (!through) return found;
  if (!program.pass_backward(stop)) return stopped();
  found.best_through.resize(lists.n_sets());
  const bool finished = program.for_variables(stop, [&](std::size_t v, std::size_t) {
    std::vector<double> around;
    program.around(v, around, stop);
    for (std::size_t c = lists.begin(v); c < lists.end(v); ++c)
      found.best_through[c] = lists.scores[c] + around[squeeze(mask_of(lists.of(c)), v)];
  });
  return finished ? found : stopped();
}

}  // namespace bayesmend
