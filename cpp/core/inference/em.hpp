#pragma once

#include <cstddef>
#include <memory>
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
// It asks what is expected under some probabilities and is told, whoever counts.
class Ascent {
 public:
  Ascent(const FamilyGraph& graph, std::span<const double> cpts, double ess, std::size_t max_iter,
         double tol);
  ~Ascent();
  Ascent(const Ascent&) = delete;
  Ascent& operator=(const Ascent&) = delete;

  const FamilyGraph& graph() const { return graph_; }
  const std::vector<double>& asked() const { return asked_; }
  // What is expected under what was asked. True when that was the last question.
  bool tell(std::vector<double> counts, double log_likelihood);
  EmRun& run() { return run_; }

 private:
  class Leaper;

  FamilyGraph graph_;
  double ess_;
  std::size_t max_iter_;
  double tol_;
  std::unique_ptr<Leaper> leaper_;
  std::vector<double> asked_;
  std::size_t n_told_ = 0;
  EmRun run_;
};

EmRun fit_parameters(const Holes& holes, std::span<const double> cpts, double ess,
                     std::size_t max_iter, double tol, std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
