#pragma once

namespace bayesmend {

// log Gamma(x) for x > 0. Unlike std::lgamma it touches no global state, so threads may
// call it, and it gives the same bits on every platform with the same log().
double log_gamma(double x);

// Where Stirling's series is exact to the last bits.
inline constexpr double kStirlingFrom = 10.0;
// What the series adds to (x - 1/2) log x - x + log(2 pi) / 2, from there on.
double stirling_series(double x);

}  // namespace bayesmend
