#include "core/dagprogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/subsetmax.hpp"

namespace bayesmend {
namespace {
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kPollMask = 0xffff;
}  // namespace

DagProgram::DagProgram(std::size_t n_vars)
    : n_vars_(n_vars), half_(std::size_t{1} << (n_vars - 1)) {}

double DagProgram::memory(std::size_t n_vars) {
  return 8.0 * std::ldexp(1.0, static_cast<int>(n_vars) - 1) * (static_cast<double>(n_vars) + 5);
}

void DagProgram::clear() { best_.assign(n_vars_ * half_, kMinusInfinity); }

void DagProgram::offer(std::size_t child, std::uint32_t parents, double score) {
  double& entry = best_[child * half_ + squeeze(parents, child)];
  entry = std::max(entry, score);
}

double DagProgram::solve(const Deadline& deadline) {
  for (std::size_t v = 0; v < n_vars_; ++v) {
    spread_maximum<true>(std::span(best_).subspan(v * half_, half_), n_vars_ - 1);
    if (half_ > kPollMask && deadline.is_over()) return -kMinusInfinity;
  }
  forward_.resize(2 * half_);
  forward_[0] = 0.0;
  for (std::uint32_t subset = 1; subset < 2 * half_; ++subset) {
    if ((subset & kPollMask) == 0 && deadline.is_over()) return -kMinusInfinity;
    double best = kMinusInfinity;
    for (std::uint32_t rest = subset; rest != 0; rest &= rest - 1) {
      const auto sink = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t others = subset & ~(std::uint32_t{1} << sink);
      const double total = forward_[others] + best_[sink * half_ + squeeze(others, sink)];
      best = best < total ? total : best;
    }
    forward_[subset] = best;
  }
  return forward_.back();
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

bool DagProgram::pass_backward(const Deadline& deadline) {
  const auto full = static_cast<std::uint32_t>(2 * half_ - 1);
  backward_.resize(2 * half_);
  backward_[full] = 0.0;
  for (std::uint32_t subset = full; subset-- > 0;) {
    if ((subset & kPollMask) == 0 && subset > 0 && deadline.is_over()) return false;
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
