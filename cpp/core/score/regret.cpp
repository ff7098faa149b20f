#include "core/score/regret.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace bayesmend {
namespace {

// From so many rows on, the series is exact to the last bits.
constexpr double kSeriesFrom = 1e5;

// exp(regret) of two cells: 1 + 1 + (n - 1) / n + (n - 1) (n - 2) / n^2 + ..., of which about
// 9 sqrt(n) terms matter, or Ramanujan's series.
double two_cells(double n) {
  if (n >= kSeriesFrom) {
    const double root = std::sqrt(std::numbers::pi * n / 2.0);
    return root * (1.0 + 1.0 / (12.0 * n) + 1.0 / (288.0 * n * n)) + 2.0 / 3.0 - 4.0 / (135.0 * n) +
           8.0 / (2835.0 * n * n);
  }
  double sum = 1.0, term = 1.0;
  // Below the limit of the series the rows fit into any integer.
  const auto n_rows = static_cast<std::size_t>(n);
  for (std::size_t k = 0; k < n_rows && term > 1e-18 * sum; ++k) {
    term *= 1.0 - static_cast<double>(k) / n;
    sum += term;
  }
  return sum;
}

// Adds share * regret of 1, 2, ... cells.
void add_exact(double n, double share, std::vector<double>& values) {
  if (n == 0.0 || share == 0.0) return;
  double ratio = two_cells(n);  // C(k + 1) / C(k)
  double value = 0.0;
  for (std::size_t k = 1; k + 1 < values.size(); ++k) {
    value += std::log(ratio);
    values[k + 1] += share * value;
    ratio = 1.0 + n / static_cast<double>(k) / ratio;
  }
}

// The saddle point of the contour integral for [w^n] (1 - w)^(1 - k) e^(n w), with w = 1 - u. All
// powers of u and w that could overflow are divided out.
double approximate(double n, double n_cells) {
  if (n == 0.0) return 0.0;
  const double u = 2.0 / (1.0 + std::sqrt(1.0 + 4.0 * n / n_cells));
  const double w = n * u / n_cells * u;
  const double log_u = w < 0.5 ? std::log1p(-w) : std::log(u);
  const double rows = w < 0.5 ? w - 1.0 - std::log(w) : -u - std::log1p(-u);
  const double first = (1.0 - n_cells) * log_u + n * rows - 0.5 * std::log1p(w);
  const double below = 1.0 + w, odd = 1.0 - w * w / u;
  const double next = 0.75 * (1.0 + w * w * w / (u * u)) / (below * below) -
                      5.0 / 6.0 * odd * odd / (below * below * below) + odd / (u * below * below) -
                      1.0 / (u * below) + 1.0 / 12.0;
  return first + next / n;
}

}  // namespace

Regret::Regret(double n_rows)
    : n_rows_(n_rows),
      below_(std::floor(n_rows)),
      share_above_(n_rows - below_),
      values_(kTabulated + 1, 0.0) {
  add_exact(below_, 1.0 - share_above_, values_);
  add_exact(below_ + 1.0, share_above_, values_);
}

double Regret::operator()(double n_cells) const {
  if (n_cells <= static_cast<double>(kTabulated))
    return values_[static_cast<std::size_t>(std::lround(n_cells))];
  const double value = (1.0 - share_above_) * approximate(below_, n_cells);
  return share_above_ == 0.0 ? value : value + share_above_ * approximate(below_ + 1.0, n_cells);
}

double Regret::added(double n_cells, std::uint32_t card) const {
  // Where cells are many, each row has its own: the limit of the difference.
  if (!std::isfinite(n_cells)) return n_rows_ * std::log(static_cast<double>(card));
  return (*this)(n_cells) - (*this)(n_cells / card);
}

}  // namespace bayesmend
