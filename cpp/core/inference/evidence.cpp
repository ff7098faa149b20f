#include "core/inference/evidence.hpp"

#include <algorithm>

#include "core/base/require.hpp"

namespace bayesmend {
namespace {

// A part of fewer rows is not worth a thread.
constexpr std::size_t kRowsPerPart = 16384;
constexpr std::size_t kInstancesPerTask = 1024;

// One thread's sums.
struct Adder : InstanceBeliefs {
  std::vector<ExactSum> sums;

  void add(const Holes& holes, const Holes::Instance& instance, std::span<const double> cpts,
           double grid) {
    const auto weight = static_cast<std::uint64_t>(instance.weight / grid);
    const double log_sum = collect(holes, instance, cpts);
    if (log_sum == kImpossible) {
      sums.back().add(1, weight);
      return;
    }
    // A probability: above 0 by rounding alone.
    sums[cpts.size()].add(on_grid(std::max(-log_sum, 0.0)), weight);
    const std::size_t n_cliques = holes.piece_of(instance).elimination->tree().cliques.size();
    if (n_cliques > 1) beliefs.distribute();
    for (std::size_t c = 0; c < n_cliques; ++c)
      beliefs.add_factor_marginals(c, weight, holes.offsets(instance), std::span(sums));
  }
};

}  // namespace

Evidence::Evidence(const FamilyGraph& graph, const Table& table, std::span<const double> weights,
                   double grid, std::size_t n_threads, const Stop& stop)
    : grid_(grid), observed_counts_(graph.n_entries(), 0.0) {
  require(table.n_vars == graph.n_vars(), "the table must have one column per variable.");
  require(weights.empty() || weights.size() == table.n_rows, "there must be one weight per row.");
  require(grid > 0.0, "the grid of the weights must be above 0.");
  const std::size_t n_parts =
      std::clamp<std::size_t>(table.n_rows / kRowsPerPart, 1, resolve_threads(n_threads));
  parts_.resize(n_parts);
  const bool is_done = parallel_for(n_parts, n_threads, stop, [&](std::size_t p, std::size_t) {
    const std::size_t first = table.n_rows / n_parts * p;
    const std::size_t last = p + 1 == n_parts ? table.n_rows : first + table.n_rows / n_parts;
    parts_[p] = std::make_unique<Holes>(graph, table, weights, first, last, stop);
  });
  if (!is_done || stop.has_ended()) return;
  for (const auto& part : parts_) {
    for (std::size_t e = 0; e < observed_counts_.size(); ++e)
      observed_counts_[e] += part->observed_counts()[e];
    if (part->size().largest > size_.largest) {
      size_.largest = part->size().largest;
      size_.scope = part->size().scope;
    }
    size_.total = std::max(size_.total, part->size().total);
  }
}

std::size_t Evidence::n_instances() const {
  std::size_t n = 0;
  for (const auto& part : parts_) n += part->instances().size();
  return n;
}

std::vector<ExactSum> Evidence::expect(std::span<const double> cpts, std::size_t n_threads,
                                       const Stop& stop) const {
  struct Task {
    const Holes* part;
    std::size_t first, last;
  };
  std::vector<Task> tasks;
  for (const auto& part : parts_)
    for (std::size_t i = 0; i < part->instances().size(); i += kInstancesPerTask)
      tasks.push_back({part.get(), i, std::min(part->instances().size(), i + kInstancesPerTask)});
  std::vector<Adder> adders(resolve_threads(n_threads));
  adders[0].sums.resize(cpts.size() + 2);
  const bool is_done =
      parallel_for(tasks.size(), n_threads, stop, [&](std::size_t t, std::size_t thread) {
        auto& adder = adders[thread];
        adder.sums.resize(cpts.size() + 2);
        for (std::size_t i = tasks[t].first; i < tasks[t].last; ++i)
          adder.add(*tasks[t].part, tasks[t].part->instances()[i], cpts, grid_);
      });
  if (!is_done) return {};
  auto sums = std::move(adders[0].sums);
  for (std::size_t a = 1; a < adders.size(); ++a)
    for (std::size_t e = 0; e < adders[a].sums.size(); ++e) sums[e].add(adders[a].sums[e]);
  return sums;
}

}  // namespace bayesmend
