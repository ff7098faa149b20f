#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/inference/holes.hpp"

namespace bayesmend {

// Expected counts of the families of a network, in the layout of its conditional probabilities,
// and the log-likelihood of what is observed. The same bits for any number of threads.
struct Expectation {
  std::vector<double> counts;
  double log_likelihood = 0.0;  // minus infinity when a row is impossible
  bool stopped = false;
};
Expectation expect(const Holes& holes, std::span<const double> cpts, std::size_t n_threads,
                   const Stop& stop);

// Relative frequencies with `ess` spread evenly over each table; a parent configuration without
// any count keeps the distribution it has in `cpts`.
std::vector<double> maximise(const FamilyGraph& graph, std::span<const double> counts, double ess,
                             std::span<const double> cpts);

struct EmRun {
  std::vector<double> cpts;
  std::vector<double> counts;     // expected under cpts
  std::vector<double> objective;  // per iteration: never falls
  std::vector<double> log_likelihood;
  bool converged = false;
  StopReason stopped = StopReason::nothing;
};
// Expectation-maximisation from `cpts` until the objective gains less than `tol`: the
// log-likelihood of what is observed, plus, with ess > 0, the log-density of its Dirichlet prior.
EmRun fit_parameters(const Holes& holes, std::span<const double> cpts, double ess,
                     std::size_t max_iter, double tol, std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
