#pragma once

namespace bayesmend {

// log Gamma(x) for x > 0. Unlike std::lgamma it touches no global state, so threads may
// call it, and it gives the same bits on every platform with the same log().
double log_gamma(double x);

}  // namespace bayesmend
