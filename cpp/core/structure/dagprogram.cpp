#include "core/structure/dagprogram.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/wide.hpp"
#include "core/structure/subsetmax.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// Subsets that share all but so many low variables are treated together.
constexpr std::size_t kLowBits = 5;
constexpr std::uint32_t kPollMask = 0xffff;

BAYESMEND_WIDE void max_of_sums(double* target, const double* a, const double* b, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const double sum = a[k] + b[k];
    target[k] = target[k] < sum ? sum : target[k];
  }
}

}  // namespace

DagProgram::DagProgram(std::size_t n_vars)
    : n_vars_(n_vars), half_(std::size_t{1} << (n_vars - 1)) {}

void DagProgram::clear() {
  const std::size_t size = n_vars_ * half_;
  if (best_ == nullptr) best_ = std::make_unique_for_overwrite<double[]>(size);
  std::fill_n(best_.get(), size, kMinusInfinity);
}

void DagProgram::offer(std::size_t child, std::uint32_t parents, double score) {
  double& entry = best_[child * half_ + squeeze(parents, child)];
  entry = std::max(entry, score);
}

double DagProgram::solve(const Stop& stop) {
  for (std::size_t v = 0; v < n_vars_; ++v) {
    spread_maximum<true>(std::span(best_.get() + v * half_, half_), n_vars_ - 1);
    if (half_ > kPollMask && stop.is_over()) return -kMinusInfinity;
  }
  forward_.resize(2 * half_);
  const std::size_t low_size = std::min(std::size_t{1} << kLowBits, 2 * half_);
  for (std::uint32_t block = 0; block < 2 * half_; block += static_cast<std::uint32_t>(low_size)) {
    if ((block & kPollMask) == 0 && half_ > kPollMask && stop.is_over()) return -kMinusInfinity;
    fill_forward(block);
  }
  return forward_.back();
}

// Subsets block .. block + 2^kLowBits - 1: high sinks for all of them at once, then low ones.
void DagProgram::fill_forward(std::uint32_t block) {
  const std::size_t n_low = std::min(kLowBits, n_vars_);
  const std::size_t size = std::size_t{1} << n_low;
  double* target = forward_.data() + block;
  std::fill(target, target + size, kMinusInfinity);
  for (std::uint32_t rest = block; rest != 0; rest &= rest - 1) {
    const auto sink = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint32_t others = block & ~(std::uint32_t{1} << sink);
    max_of_sums(target, forward_.data() + others,
                best_.get() + sink * half_ + squeeze(others, sink), size);
  }
  if (block == 0) target[0] = 0.0;
  for (std::uint32_t low = 1; low < size; ++low) {
    double best = target[low];
    for (std::uint32_t rest = low; rest != 0; rest &= rest - 1) {
      const auto sink = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t others = (block | low) & ~(std::uint32_t{1} << sink);
      const double total = forward_[others] + best_[sink * half_ + squeeze(others, sink)];
      best = best < total ? total : best;
    }
    target[low] = best;
  }
}

std::vector<std::uint32_t> DagProgram::predecessors() const {
  std::vector<std::uint32_t> allowed(n_vars_, 0);
  auto subset = static_cast<std::uint32_t>(2 * half_ - 1);
  while (subset != 0) {
    for (std::uint32_t rest = subset; rest != 0; rest &= rest - 1) {
      const auto sink = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t others = subset & ~(std::uint32_t{1} << sink);
      if (forward_[others] + best_[sink * half_ + squeeze(others, sink)] != forward_[subset])
        continue;
      allowed[sink] = others;
      subset = others;
      break;
    }
  }
  return allowed;
}

bool DagProgram::pass_backward(const Stop& stop) {
  const auto full = static_cast<std::uint32_t>(2 * half_ - 1);
  backward_.resize(2 * half_);
  backward_[full] = 0.0;
  for (std::uint32_t subset = full; subset-- > 0;) {
    if ((subset & kPollMask) == 0 && subset > 0 && stop.is_over()) return false;
    double best = kMinusInfinity;
    for (std::uint32_t rest = full & ~subset; rest != 0; rest &= rest - 1) {
      const auto next = static_cast<std::size_t>(std::countr_zero(rest));
      const double total = backward_[subset | (std::uint32_t{1} << next)] +
                           best_[next * half_ + squeeze(subset, next)];
      best = best < total ? total : best;
    }
    backward_[subset] = best;
  }
  return true;
}

void DagProgram::around(std::size_t child, std::vector<double>& target) const {
  target.resize(half_);
  for (std::uint32_t u = 0; u < half_; ++u) {
    const std::uint32_t others = stretch(u, child);
    target[u] = forward_[others] + backward_[others | (std::uint32_t{1} << child)];
  }
  spread_maximum<false>(target, n_vars_ - 1);
}

}  // namespace bayesmend
