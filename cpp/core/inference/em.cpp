#include "core/inference/em.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bayesmend {
namespace {

// Each part of the instances adds up on its own; the parts, which do not depend on the number of
// threads, are then added in order.
constexpr std::size_t kParts = 16;
constexpr std::size_t kFewInstances = 256;
// Where all parts together have more numbers, only as many are held as there are threads.
constexpr std::size_t kManyNumbers = std::size_t{1} << 21;
constexpr auto kPollInterval = std::chrono::milliseconds(20);

struct Part : InstanceBeliefs {
  std::vector<double> counts;
  double log_likelihood = 0.0;

  void add(const Holes& holes, const Holes::Instance& instance, std::span<const double> cpts) {
    const double log_sum = collect(holes, instance, cpts);
    log_likelihood += instance.weight * log_sum;
    if (log_sum == kImpossible) return;
    const std::size_t n_cliques = holes.piece_of(instance).elimination->tree().cliques.size();
    if (n_cliques > 1) beliefs.distribute();
    const auto offsets = holes.offsets(instance);
    for (std::size_t c = 0; c < n_cliques; ++c)
      beliefs.add_factor_marginals(c, instance.weight, offsets, counts);
  }
};

double prior_log_density(const FamilyGraph& graph, std::span<const double> cpts, double ess) {
  double sum = 0.0;
  for (std::size_t i = 0; i < graph.n_vars(); ++i) {
    const std::size_t first = graph.cpt_start[i], last = graph.cpt_start[i + 1];
    const double pseudo_count = ess / static_cast<double>(last - first);
    for (std::size_t e = first; e < last; ++e) sum += pseudo_count * std::log(cpts[e]);
  }
  return sum;
}

}  // namespace

Expectation expect(const Holes& holes, std::span<const double> cpts, std::size_t n_threads,
                   const Stop& stop) {
  const auto& instances = holes.instances();
  const std::size_t n_parts = instances.size() > kFewInstances ? kParts : 1;
  const std::size_t n_held = n_parts * cpts.size() <= kManyNumbers
                                 ? n_parts
                                 : std::min(n_parts, resolve_threads(n_threads));
  std::vector<Part> parts(n_held);
  Expectation result;
  result.counts = holes.observed_counts();
  for (std::size_t e = 0; e < cpts.size(); ++e)
    if (result.counts[e] > 0.0) result.log_likelihood += result.counts[e] * std::log(cpts[e]);
  for (std::size_t first = 0; first < n_parts; first += n_held) {
    const std::size_t n_now = std::min(n_held, n_parts - first);
    result.stopped = !parallel_for(n_now, n_threads, stop, [&](std::size_t k, std::size_t) {
      const std::size_t p = first + k, end = instances.size() * (p + 1) / n_parts;
      parts[k].counts.assign(cpts.size(), 0.0);
      parts[k].log_likelihood = 0.0;
      for (std::size_t i = instances.size() * p / n_parts; i < end; ++i)
        parts[k].add(holes, instances[i], cpts);
    });
    if (result.stopped) return result;
    for (std::size_t k = 0; k < n_now; ++k) {
      result.log_likelihood += parts[k].log_likelihood;
      for (std::size_t e = 0; e < cpts.size(); ++e) result.counts[e] += parts[k].counts[e];
    }
  }
  return result;
}

std::vector<double> maximise(const FamilyGraph& graph, std::span<const double> counts, double ess,
                             std::span<const double> cpts) {
  std::vector<double> result(cpts.begin(), cpts.end());
  for (std::size_t i = 0; i < graph.n_vars(); ++i) {
    const std::size_t card = graph.card[i];
    const std::size_t first = graph.cpt_start[i], last = graph.cpt_start[i + 1];
    const double pseudo_count = ess / static_cast<double>(last - first);
    for (std::size_t row = first; row < last; row += card) {
      double total = 0.0;
      for (std::size_t k = 0; k < card; ++k) total += counts[row + k] + pseudo_count;
      if (total <= 0.0) continue;
      for (std::size_t k = 0; k < card; ++k)
        result[row + k] = (counts[row + k] + pseudo_count) / total;
    }
  }
  return result;
}

// Where to go from a point and the point that a step of EM leads to: there, or, after every two
// steps, further on along them (squared extrapolation; Varadhan and Roland 2008, scheme S3). EM
// creeps where much is missing; a leap that does not gain is taken back.
class Ascent::Leaper {
 public:
  explicit Leaper(const FamilyGraph& graph) : graph_(graph) {}

  bool is_leap() const { return is_leap_; }

  std::vector<double> step(const std::vector<double>& from, std::vector<double> to) {
    if (is_leap_ && was_limited_) limit_ *= kGrowth;
    is_leap_ = false;
    if (++n_steps_ == 1) {
      first_ = from;
      return to;
    }
    n_steps_ = 0;
    double step = 0.0, bend = 0.0;
    for (std::size_t e = 0; e < to.size(); ++e) {
      const double r = from[e] - first_[e], v = to[e] - from[e] - r;
      step += r * r;
      bend += v * v;
    }
    const double length = bend > 0.0 ? std::sqrt(step / bend) : 0.0;
    was_limited_ = length >= limit_;
    const double a = std::min(length, limit_);
    if (a <= 1.0) return to;
    is_leap_ = true;
    auto leap = extrapolate(from, to, a);
    landing_ = std::move(to);
    return leap;
  }

  // After a leap that did not gain: where the step of EM itself leads.
  std::vector<double> fall_back() {
    is_leap_ = false;
    limit_ = std::max(limit_ / kGrowth, 1.0);
    return std::move(landing_);
  }

 private:
  static constexpr double kGrowth = 4.0;
  // Of a probability at the end of the two steps, so much is left by a leap: none becomes zero.
  static constexpr double kLeast = 0.1;

  std::vector<double> extrapolate(const std::vector<double>& from, const std::vector<double>& to,
                                  double a) const {
    std::vector<double> leap(to.size());
    for (std::size_t i = 0; i < graph_.n_vars(); ++i) {
      const std::size_t card = graph_.card[i];
      for (std::size_t row = graph_.cpt_start[i]; row < graph_.cpt_start[i + 1]; row += card) {
        double total = 0.0;
        for (std::size_t e = row; e < row + card; ++e) {
          const double r = from[e] - first_[e], v = to[e] - from[e] - r;
          leap[e] = std::max(first_[e] + a * (2.0 * r + a * v), kLeast * to[e]);
          total += leap[e];
        }
        for (std::size_t e = row; e < row + card; ++e) leap[e] /= total;
      }
    }
    return leap;
  }

  const FamilyGraph& graph_;
  std::vector<double> first_, landing_;
  std::size_t n_steps_ = 0;
  double limit_ = kGrowth;
  bool is_leap_ = false, was_limited_ = false;
};

Ascent::Ascent(const FamilyGraph& graph, std::span<const double> cpts, double ess,
               std::size_t max_iter, double tol)
    : graph_(graph),
      ess_(ess),
      max_iter_(max_iter),
      tol_(tol),
      leaper_(std::make_unique<Leaper>(graph_)),
      asked_(cpts.begin(), cpts.end()) {}

Ascent::~Ascent() = default;

bool Ascent::tell(std::vector<double> counts, double log_likelihood) {
  const std::size_t iteration = n_told_++;
  double objective = log_likelihood;
  if (ess_ > 0.0) objective += prior_log_density(graph_, asked_, ess_);
  const double gain = iteration == 0 ? objective : objective - run_.objective.back();
  if (leaper_->is_leap() && !(gain >= 0.0)) {
    if (iteration >= max_iter_) return true;
    asked_ = leaper_->fall_back();
    return false;
  }
  run_.converged = iteration > 0 && !leaper_->is_leap() && gain < tol_;
  // At the summit rounding decides: what would fall by its last bits is not taken.
  if (iteration > 0 && gain < 0.0) return true;
  run_.cpts = std::move(asked_);
  run_.counts = std::move(counts);
  run_.log_likelihood.push_back(log_likelihood);
  run_.objective.push_back(objective);
  if (run_.converged || iteration >= max_iter_ || !std::isfinite(log_likelihood)) return true;
  asked_ = leaper_->step(run_.cpts, maximise(graph_, run_.counts, ess_, run_.cpts));
  return false;
}

EmRun fit_parameters(const Holes& holes, std::span<const double> cpts, double ess,
                     std::size_t max_iter, double tol, std::size_t n_threads, const Stop& stop) {
  Ascent ascent(holes.graph(), cpts, ess, max_iter, tol);
  const Stop never;
  auto polled = Stop::Clock::now();
  for (bool is_first = true;; is_first = false) {
    // The first expectation is never stopped: there is always something to return.
    auto found = expect(holes, ascent.asked(), n_threads, is_first ? never : stop);
    bool is_over = found.stopped;
    // Expectations that are over within milliseconds do not poll themselves.
    if (const auto now = Stop::Clock::now(); now - polled > kPollInterval) {
      is_over = is_over || (!is_first && stop.poll());
      polled = now;
    }
    if (is_over) ascent.run().stopped = stop.reason();
    if (is_over || ascent.tell(std::move(found.counts), found.log_likelihood)) break;
  }
  return std::move(ascent.run());
}

}  // namespace bayesmend
