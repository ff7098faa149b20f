// Calls everything in the core that takes threads with 2 to 8 of them, and from several threads at
// once, for the thread sanitizer to watch. Results must be the same for any number of threads.
//
// With the argument `race` it makes a race on purpose, which the sanitizer must report.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/augment/enumerate.hpp"
#include "core/augment/exact.hpp"
#include "core/augment/local.hpp"
#include "core/augment/patternclimb.hpp"
#include "core/augment/problem.hpp"
#include "core/base/rng.hpp"
#include "core/inference/answers.hpp"
#include "core/inference/em.hpp"
#include "core/inference/expected.hpp"
#include "core/inference/weighting.hpp"
#include "core/network/sample.hpp"
#include "core/score/score.hpp"
#include "core/structure/candidates.hpp"
#include "core/structure/clusters.hpp"
#include "core/structure/greedy.hpp"
#include "core/structure/order.hpp"
#include "core/structure/partition.hpp"
#include "core/structure/posterior.hpp"
#include "core/structure/rounding.hpp"
#include "core/structure/subsets.hpp"
#include "core/table/csv.hpp"
#include "core/table/patterns.hpp"

namespace bayesmend {
namespace {

// What an answer is, in one number.
class Print {
 public:
  template <class T>
  Print& add(const std::vector<T>& values) {
    add_bytes(values.data(), values.size() * sizeof(T));
    return *this;
  }
  Print& add(const std::vector<std::vector<Var>>& rows) {
    for (const auto& row : rows) add(row).add(static_cast<double>(row.size()));
    return *this;
  }
  Print& add(double value) {
    add_bytes(&value, sizeof value);
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t k = 0; k < size; ++k) value_ = (value_ ^ bytes[k]) * 1099511628211u;
  }
  std::uint64_t value_ = 14695981039346656037u;
};

// A table in which each variable follows the one before it, with holes, and a network over it.
class Example {
 public:
  Example(std::size_t n_vars, std::size_t n_rows, std::size_t n_incomplete)
      : n_vars_(n_vars), n_rows_(n_rows), n_incomplete_(n_incomplete) {
    Rng rng(7, 0);
    for (std::size_t v = 0; v < n_vars; ++v) card_.push_back(2 + v % 2);
    cells_.resize(n_vars * n_rows);
    for (std::size_t v = 0; v < n_vars; ++v)
      for (std::size_t r = 0; r < n_rows; ++r) {
        const bool follows = v > 0 && rng.below(4) != 0;
        const auto before = v > 0 ? cells_[(v - 1) * n_rows + r] : std::uint8_t{0};
        cells_[v * n_rows + r] = follows ? static_cast<std::uint8_t>(before % card_[v])
                                         : static_cast<std::uint8_t>(rng.below(card_[v]));
      }
    holed_ = cells_;
    for (std::size_t r = 0; r < n_incomplete; ++r)
      for (std::size_t k = 0; k < 1 + r % 3; ++k)
        holed_[((r + 3 * k) % n_vars) * n_rows + r] = kMissing;
    add_network();
    allowed_.assign(n_vars * n_vars, 1);
    for (std::size_t v = 0; v < n_vars; ++v) allowed_[v * n_vars + v] = 0;
    required_.assign(n_vars * n_vars, 0);
    limit_.assign(n_vars, 2);
  }

  std::size_t n_vars() const { return n_vars_; }
  Table complete() const { return {cells_, card_, n_vars_, n_rows_}; }
  Table holed() const { return {holed_, card_, n_vars_, n_rows_}; }
  ParentRules rules() const { return {allowed_, required_, limit_}; }
  FlatNetwork network() const { return {card_, parent_offsets_, parents_, cpt_offsets_, cpts_}; }
  FamilyGraph graph() const { return {card_, parent_offsets_, parents_}; }
  std::span<const double> cpts() const { return cpts_; }
  std::vector<Var> order() const {
    std::vector<Var> order(n_vars_);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // The rows without holes, and the others as patterns of their own.
  AugmentProblem problem(const ScoreRule& rule) {
    whole_.clear();
    for (std::size_t v = 0; v < n_vars_; ++v)
      whole_.insert(whole_.end(),
                    holed_.begin() + static_cast<std::ptrdiff_t>(v * n_rows_ + n_incomplete_),
                    holed_.begin() + static_cast<std::ptrdiff_t>((v + 1) * n_rows_));
    std::vector<std::uint8_t> patterns;
    for (std::size_t r = 0; r < n_incomplete_; ++r)
      for (std::size_t v = 0; v < n_vars_; ++v) patterns.push_back(holed_[v * n_rows_ + r]);
    const std::vector<std::uint32_t> weight(n_incomplete_, 1);
    return {Table{whole_, card_, n_vars_, n_rows_ - n_incomplete_},
            patterns,
            weight,
            rule,
            rules(),
            1e9};
  }

  std::string csv() const {
    std::string text;
    for (std::size_t v = 0; v < n_vars_; ++v) text += (v > 0 ? ",v" : "v") + std::to_string(v);
    for (std::size_t r = 0; r < n_rows_; ++r) {
      text += '\n';
      for (std::size_t v = 0; v < n_vars_; ++v) {
        const auto code = holed_[v * n_rows_ + r];
        text += (v > 0 ? "," : "") + (code == kMissing ? std::string("?") : std::to_string(code));
      }
    }
    return text + '\n';
  }

 private:
  void add_network() {
    Rng rng(8, 0);
    for (std::size_t v = 0; v < n_vars_; ++v) {
      std::size_t n_configs = 1;
      for (std::size_t back = std::min<std::size_t>(v, 2); back > 0; --back) {
        parents_.push_back(static_cast<Var>(v - back));
        n_configs *= card_[v - back];
      }
      parent_offsets_.push_back(parents_.size());
      for (std::size_t j = 0; j < n_configs; ++j) {
        std::vector<double> row;
        for (std::uint32_t k = 0; k < card_[v]; ++k)
          row.push_back(1.0 + static_cast<double>(rng.below(9)));
        const double total = std::accumulate(row.begin(), row.end(), 0.0);
        for (const double share : row) cpts_.push_back(share / total);
      }
      cpt_offsets_.push_back(cpts_.size());
    }
  }

  std::size_t n_vars_, n_rows_, n_incomplete_;
  std::vector<std::uint32_t> card_;
  std::vector<std::uint8_t> cells_, holed_, whole_, allowed_, required_;
  std::vector<std::uint32_t> limit_;
  std::vector<std::uint64_t> parent_offsets_{0}, cpt_offsets_{0};
  std::vector<Var> parents_;
  std::vector<double> cpts_;
};

struct Check {
  std::string name;
  std::function<std::uint64_t(std::size_t n_threads)> run;
};

// What all threads share.
struct World {
  Example small{6, 300, 8};
  Example large{15, 200, 3};  // beyond kParallelVars: threads within a start
  ScoreRule rule{};
  ScoreRule supported{.support = 0.2};
  std::shared_ptr<ShownCells> shown = std::make_shared<ShownCells>();
  std::vector<double> no_weights, weights = std::vector<double>(300, 1.5);
  std::vector<std::uint8_t> no_targets;
  JointCounter counter{small.complete(), no_weights, was_missing(), shown};
  JointCounter large_counter{large.complete(), no_weights};
  JointCounter weighted{small.complete(), weights};
  FamilyScorer scorer{counter, supported};
  FamilyScorer large_scorer{large_counter, rule};
  FamilyScorer weighted_scorer{weighted, rule};
  AugmentProblem problem = small.problem(supported);
  AugmentProblem large_problem = large.problem(rule);
  FamilyGraph graph = small.graph();
  Stop never;
  Holes holes{graph, small.holed(), no_weights, no_targets, never};
  std::string text = small.csv();
  OwnedParentLists large_found = all_candidates(large_scorer, large.rules(), 1, never);
  OwnedParentLists found = all_candidates(scorer, small.rules(), 1, never);

  ParentLists lists() const {
    return {found.offsets, found.scores, found.member_offsets, found.members};
  }
  ParentLists large_lists() const {
    return {large_found.offsets, large_found.scores, large_found.member_offsets,
            large_found.members};
  }
  std::vector<AugmentProblem::Completion> starts(const AugmentProblem& of) const {
    std::vector<AugmentProblem::Completion> all;
    for (std::uint8_t k = 0; k < 6; ++k) {
      all.emplace_back(of.n_cells());
      for (std::size_t c = 0; c < of.n_cells(); ++c)
        all.back()[c] = static_cast<std::uint8_t>((k * (c + 1) / 2) % of.cells()[c].card);
    }
    return all;
  }
  std::span<const std::uint8_t> was_missing() {
    const auto table = small.holed();
    for (const auto cell : table.cells) flags_.push_back(cell == kMissing);
    return flags_;
  }

 private:
  std::vector<std::uint8_t> flags_;
};

std::uint64_t print_of(const OwnedParentLists& lists) {
  return Print().add(lists.offsets).add(lists.scores).add(lists.members).value();
}

std::uint64_t print_of(const SearchResult& found) {
  return Print().add(found.best.score).add(found.best.completion).add(found.parents).value();
}

void add_tables(std::vector<Check>& checks, const World& world) {
  checks.push_back({"distinct rows", [&](std::size_t n) {
                      const auto table = world.small.complete();
                      const auto rows =
                          distinct_rows(table.cells, table.n_vars, table.n_rows, n, world.never);
                      return Print().add(rows.first).add(rows.count).add(rows.inverse).value();
                    }});
  checks.push_back({"csv", [&](std::size_t n) {
                      const std::size_t n_columns = world.small.n_vars();
                      const CsvOptions options{.format = {},
                                               .markers = {"?"},
                                               .numeric = std::vector<std::uint8_t>(n_columns, 0),
                                               .n_threads = n,
                                               .chunk_bytes = 256};
                      const auto table = read_csv(world.text, options, world.never);
                      std::vector<std::uint64_t> columns(n_columns);
                      std::iota(columns.begin(), columns.end(), 0);
                      std::vector<std::uint8_t> tables(256 * n_columns, kMissing);
                      for (std::size_t k = 0; k < tables.size(); ++k)
                        tables[k] = static_cast<std::uint8_t>(k % 256);
                      CsvProblem wrong;
                      Print print;
                      print.add(table.codes(columns, tables, n)).add(table.marker_counts);
                      for (std::size_t v = 0; v < n_columns; ++v)
                        print.add(static_cast<double>(table.profile(v, n).n_distinct));
                      // Not compared: NaN for what is missing.
                      if (table.read_numbers(0, wrong, n).size() != table.n_rows) std::abort();
                      return print.value();
                    }});
}

void add_structures(std::vector<Check>& checks, const World& world) {
  for (const auto* scorer : {&world.scorer, &world.weighted_scorer}) {
    checks.push_back({"all candidates", [&world, scorer](std::size_t n) {
                        return print_of(
                            all_candidates(*scorer, world.small.rules(), n, world.never));
                      }});
    checks.push_back({"promising candidates", [&world, scorer](std::size_t n) {
                        const std::vector<std::vector<Var>> seeds(world.small.n_vars());
                        return print_of(promising_candidates(*scorer, world.small.rules(), seeds,
                                                             20, 0.0, n, world.never));
                      }});
    checks.push_back({"families", [scorer, &world](std::size_t n) {
                        std::vector<Var> child, parents;
                        std::vector<std::uint64_t> first{0};
                        for (Var v = 0; v < world.small.n_vars(); ++v)
                          for (Var p = 0; p < world.small.n_vars(); ++p) {
                            child.push_back(v);
                            if (p != v) parents.push_back(p);
                            first.push_back(parents.size());
                          }
                        return Print()
                            .add(score_families(*scorer, {child, first, parents}, n, world.never))
                            .value();
                      }});
    checks.push_back({"greedy", [scorer, &world](std::size_t n) {
                        Progress progress;
                        const std::vector<std::vector<Var>> start(world.small.n_vars());
                        const auto found = climb_greedily(*scorer, world.small.rules(), start,
                                                          {.tabu_length = 5,
                                                           .tabu_moves = 5,
                                                           .restarts = 8,
                                                           .max_remembered = 1u << 16,
                                                           .seed = 1,
                                                           .progress = &progress},
                                                          n, world.never);
                        return Print().add(found.score).add(found.parents).value();
                      }});
  }
  checks.push_back(
      {"orders", [&](std::size_t n) {
         Progress progress;
         const auto found = search_orders(
             world.lists(), {},
             {.n_chains = 6, .patience = 5, .max_window = 3, .seed = 1, .progress = &progress}, n,
             world.never);
         return Print().add(found.score).add(found.choices).value();
       }});
  checks.push_back(
      {"subsets", [&](std::size_t n) {
         const auto found = solve_subsets(world.lists(), true, n, world.never);
         return Print().add(found.score).add(found.choices).add(found.best_through).value();
       }});
  checks.push_back({"average over all graphs", [&](std::size_t n) {
                      const auto found = average_dags(world.large_lists(),
                                                      {.n_draws = 20, .seed = 1}, n, world.never);
                      return Print().add(found.arcs).add(found.paths).add(found.draws).value();
                    }});
  checks.push_back({"chains over partitions", [&](std::size_t n) {
                      Progress progress;
                      // All in one layer: the graph without any arc.
                      const std::vector<std::uint32_t> start(4 * world.large.n_vars(), 0);
                      const auto found = sample_partitions(world.large_lists(), start,
                                                           {.n_chains = 4,
                                                            .n_samples = 5,
                                                            .n_steps = 20,
                                                            .burn_in = 20,
                                                            .seed = 1,
                                                            .progress = &progress},
                                                           n, world.never);
                      return Print().add(found.choices).add(found.scores).add(found.layers).value();
                    }});
  checks.push_back(
      {"clusters and rounding", [&](std::size_t) {
         const std::vector<double> half(world.lists().n_sets(), 0.4);
         const auto cuts = violated_clusters(world.lists(), half,
                                             {.max_clusters = 10,
                                              .steps = 50,
                                              .final_steps = 100,
                                              .min_violation = 0.01,
                                              .must_find = false},
                                             world.never);
         const auto chosen =
             order_from_lp(world.lists(), half, {.kicks = 5, .seed = 1}, world.never);
         return Print().add(cuts.clusters.items).add(cuts.misses).add(chosen.chosen).value();
       }});
}

void add_augmentation(std::vector<Check>& checks, const World& world) {
  for (const auto* problem : {&world.problem, &world.large_problem}) {
    checks.push_back({"local search", [&world, problem](std::size_t n) {
                        Progress progress;
                        Keeper nowhere;
                        return print_of(mend_from(*problem, world.starts(*problem), 1, n, false,
                                                  world.never, &progress, nowhere));
                      }});
    checks.push_back({"branch and bound", [&world, problem](std::size_t n) {
                        Progress progress;
                        const ExactOptions options{.max_nodes = 20, .n_threads = n};
                        return print_of(solve_exactly(*problem, world.starts(*problem), options,
                                                      world.never, &progress));
                      }});
    checks.push_back({"branch and bound, relaxed", [&world, problem](std::size_t n) {
                        Progress progress;
                        const ExactOptions options{
                            .max_nodes = 20, .n_threads = n, .is_relaxed = true};
                        return print_of(solve_exactly(*problem, world.starts(*problem), options,
                                                      world.never, &progress));
                      }});
  }
  checks.push_back({"enumeration, cut short", [&](std::size_t n) {
                      const Stop soon(0.2);
                      enumerate_completions(world.problem, n, soon);
                      return std::uint64_t{0};  // where it stops is a matter of time
                    }});
}

void add_inference(std::vector<Check>& checks, const World& world) {
  const auto cpts = world.small.cpts();
  checks.push_back({"evidence and marginals", [&world, cpts](std::size_t n) {
                      return Print()
                          .add(log_evidence(world.holes, cpts, n, world.never))
                          .add(marginals(world.holes, cpts, n, world.never))
                          .add(explain(world.holes, cpts, n, world.never).cells)
                          .add(draw_completions(world.holes, cpts, 3, 1, n, world.never))
                          .value();
                    }});
  checks.push_back({"em", [&world, cpts](std::size_t n) {
                      const auto once = expect(world.holes, cpts, n, world.never);
                      const auto run =
                          fit_parameters(world.holes, cpts, 1.0, 5, 1e-9, n, world.never);
                      return Print().add(once.counts).add(run.cpts).add(run.objective).value();
                    }});
  checks.push_back({"expected counts", [&world, cpts](std::size_t n) {
                      const ExpectedCounts expected(world.holes, cpts, n, 1e8, true, world.never);
                      const JointCounter counter(world.holes.table(), world.holes.total_weight(),
                                                 expected);
                      const FamilyScorer scorer(counter, world.supported);
                      return print_of(all_candidates(scorer, world.small.rules(), n, world.never));
                    }});
  checks.push_back({"weighting", [&world](std::size_t n) {
                      const auto order = world.small.order();
                      const auto weighed = weigh(world.small.network(), order, world.small.holed(),
                                                 std::vector<std::uint8_t>(world.small.n_vars(), 1),
                                                 {}, 200, 1, n, world.never);
                      const auto drawn =
                          weighted_draws(world.small.network(), order, world.small.holed(), 100, 2,
                                         1, n, world.never);
                      return Print().add(weighed.probabilities).add(drawn.cells).value();
                    }});
  checks.push_back({"sampling", [&world](std::size_t n) {
                      const auto network = world.small.network();
                      return Print()
                          .add(sample(network, world.small.order(), 3000, 1, n, world.never))
                          .add(log_likelihood(network, world.small.complete(), n, world.never))
                          .value();
                    }});
}

int check_all() {
  const World world;
  std::vector<Check> checks;
  add_tables(checks, world);
  add_structures(checks, world);
  add_augmentation(checks, world);
  add_inference(checks, world);
  int n_wrong = 0;
  for (const auto& check : checks) {
    const auto alone = check.run(1);
    for (const std::size_t n_threads : {2, 3, 8})
      if (check.run(n_threads) != alone) {
        std::printf("%s: another answer with %zu threads\n", check.name.c_str(), n_threads);
        ++n_wrong;
      }
    // The same objects, used by several callers at once.
    std::vector<std::uint64_t> answers(3);
    std::vector<std::thread> callers;
    for (std::size_t c = 0; c < answers.size(); ++c)
      callers.emplace_back([&, c] { answers[c] = check.run(2); });
    for (auto& caller : callers) caller.join();
    for (const auto answer : answers)
      if (answer != alone) {
        std::printf("%s: another answer beside other callers\n", check.name.c_str());
        ++n_wrong;
      }
  }
  std::printf("%zu checks with 1, 2, 3 and 8 threads, %d wrong\n", checks.size(), n_wrong);
  return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int race() {
  int shared = 0;
  std::thread one([&] {
    for (int k = 0; k < 1000; ++k) ++shared;
  });
  std::thread two([&] {
    for (int k = 0; k < 1000; ++k) ++shared;
  });
  one.join();
  two.join();
  std::printf("%d\n", shared);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bayesmend

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "race") == 0) return bayesmend::race();
  return bayesmend::check_all();
}
