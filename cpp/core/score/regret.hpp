#pragma once

#include <cstdint>
#include <vector>

namespace bayesmend {

// The regret of a multinomial: the log of the sum, over all tables of `n_rows` rows, of their
// largest likelihood, which is what the normalised maximum likelihood takes off.
//
// Up to kTabulated cells it is exact: the sum for two cells, then the recurrence
// C(k + 2) = C(k + 1) + n / k C(k) (Kontkanen and Myllymaki 2007), which adds positive numbers
// only. Beyond, it is the approximation of Szpankowski and Weinberger (2012) with the next term of
// its saddle point, which is within 5e-9 there for every number of rows.
//
// As exp(regret) is a polynomial in the number of cells without negative coefficients, the regret
// is convex in the log of that number: regret(r k) - regret(k) never falls as k grows.
//
// Numbers of rows with a fraction, as weights give, have the value on the line between the two
// whole numbers next to them, which keeps all of this.
class Regret {
 public:
  static constexpr std::size_t kTabulated = 4096;

  explicit Regret(double n_rows);

  double operator()(double n_cells) const;
  // What a table of `n_cells` cells pays more than its margin over a variable of `card` states; the
  // limit where there are more cells than a double can say.
  double added(double n_cells, std::uint32_t card) const;

 private:
  double n_rows_;
  double below_, share_above_;  // the whole number of rows, and what is left
  std::vector<double> values_;  // by number of cells
};

}  // namespace bayesmend
