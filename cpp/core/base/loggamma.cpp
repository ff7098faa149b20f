#include "core/base/loggamma.hpp"

#include <cmath>

namespace bayesmend {

double stirling_series(double x) {
  const double y = 1.0 / (x * x);
  return (1.0 / 12 +
          y * (-1.0 / 360 +
               y * (1.0 / 1260 + y * (-1.0 / 1680 + y * (1.0 / 1188 + y * (-691.0 / 360360 +
                                                                           y * (1.0 / 156))))))) /
         x;
}

double log_gamma(double x) {
  // The recurrence lifts x to where the series holds.
  double product = 1.0;
  while (x < kStirlingFrom) {
    product *= x;
    x += 1.0;
  }
  constexpr double half_log_two_pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + stirling_series(x) - std::log(product);
}

}  // namespace bayesmend
