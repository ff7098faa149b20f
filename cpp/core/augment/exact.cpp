#include "core/augment/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/augment/bound.hpp"
#include "core/structure/subsets.hpp"

namespace bayesmend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMinusInfinity = -kInfinity;
// Nodes taken from the queue together: a constant, so that the search does not depend on the
// number of threads that share them.
constexpr std::size_t kBatch = 8;
// The first pair may take no more than so much of the time: the bound needs the rest.
constexpr double kStartShare = 0.3;
// Work in units of one entry of a family's table that is maximised over: to make such an entry, to
// look at a family at all, and at the prices of one of its cells.
constexpr double kEntryMade = 8.0, kFamilySeen = 30.0, kCellSeen = 2.0;
// A step of the dynamic programme in the same units.
constexpr double kProgramStep = 0.25;
// Blocks of tables are made no smaller than this to save memory.
constexpr std::size_t kLeastEntries = 16;

using Completion = AugmentProblem::Completion;

struct Node {
  double bound;
  double estimate;
  std::size_t number;  // of creation, for ties
  Completion fixed;
  std::vector<std::uint32_t> alive;
  std::shared_ptr<const Prices> prices;
};

struct ByBound {
  bool operator()(const std::unique_ptr<Node>& a, const std::unique_ptr<Node>& b) const {
    if (a->bound != b->bound) return a->bound < b->bound;
    return a->estimate != b->estimate ? a->estimate < b->estimate : a->number > b->number;
  }
};

struct Outcome {
  double bound = kMinusInfinity;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<Pair> found;
  double work = 0.0;
};

// To maximise one family.
double work_of(const FamilyBound& bound) {
  return kFamilySeen + kCellSeen * static_cast<double>(bound.n_cells()) +
         static_cast<double>(bound.n_entries());
}

// The families alive at the root without decided cells.
struct RootTables {
  std::vector<FamilyBound> bounds;  // by family
  std::size_t max_entries = 0;      // of one block
};

// Evaluates one node after the other; each thread has its own.
class Worker {
 public:
  Worker(const AugmentProblem& problem, const ExactOptions& options, const Stop& stop,
         const RootTables& tables)
      : problem_(problem),
        options_(options),
        stop_(stop),
        tables_(tables),
        program_(problem.n_vars()),
        mender_(problem, stop, 1) {}

  // Bound of every family that may choose its cells for itself, without prices, and the families
  // that survive against the incumbent.
  // Infinity when the time or `max_work` was over first.
  double bound_root(double incumbent, double max_work, std::vector<std::uint32_t>& alive) {
    const auto families = problem_.families();
    const Completion free(problem_.n_cells(), AugmentProblem::kFree);
    values_.resize(families.size());
    alive.resize(families.size());
    FamilyBound bound;
    for (std::uint32_t f = 0; f < families.size(); ++f) {
      alive[f] = f;
      if (outcome_.work >= max_work || ((f & 63) == 0 && stop_.is_over())) return kInfinity;
      bound.build(problem_, families[f], free, true, options_.max_entries);
      values_[f] = bound.maximum();
      note_made(bound);
    }
    const double total = solve(alive);
    if (std::isfinite(total)) eliminate(alive, incumbent, nullptr);
    return total;
  }

  // Prices are improved in so many steps, or until `max_work` is done.
  Outcome expand(const Node& node, double incumbent, std::size_t n_steps, double max_work) {
    outcome_ = {.bound = node.bound, .children = {}, .found = {}, .work = 0.0};
    max_work_ = max_work;
    incumbent_ = incumbent;
    alive_ = node.alive;
    prices_ = *node.prices;
    // They are read here and copied twice on the way: much, where a cell has many values.
    outcome_.work += 3.0 * static_cast<double>(prices_.size());
    // Nothing may carry over from the last node: which one that was depends on the threads.
    last_start_.clear();
    if (!build_bounds(node.fixed)) {
      keep(node);
    } else if (const auto pricing = improve_prices(node, n_steps); pricing != Pricing::closed) {
      split(node, pricing == Pricing::agreed);
    }
    return std::move(outcome_);
  }

  // Since it was last asked or a node was expanded.
  double take_work() { return std::exchange(outcome_.work, 0.0); }

 private:
  // How the search for better prices ended: the bound shows that the node holds nothing better, the
  // chosen families agree, or neither.
  enum class Pricing : std::uint8_t { closed, agreed, ended };

  // Lowers the bound of a node by subgradient steps; leaves the best prices.
  Pricing improve_prices(const Node& node, std::size_t n_steps) {
    Prices best_prices = prices_;
    auto pricing = Pricing::ended;
    double theta = 1.0;  // length of a step
    std::size_t idle = 0;
    for (std::size_t step = 0; pricing != Pricing::agreed; ++step) {
      const double total = evaluate();
      if (total == kInfinity) break;  // out of time
      if (total < outcome_.bound - 1e-9) {
        outcome_.bound = total;
        best_prices = prices_;
        idle = 0;
      } else if (++idle >= 4) {
        theta *= 0.5;
        idle = 0;
      }
      if (is_closed()) return Pricing::closed;
      choose();
      const bool is_last =
          step + 1 >= n_steps || theta < 0.02 || outcome_.work >= max_work_ || stop_.is_over();
      // The first incumbent is rarely beaten: below the root, one node in four looks.
      const bool looks =
          node.number == 0 ? step % 16 == 0 || is_last : is_last && node.number % 4 == 0;
      if (looks && mend(node.fixed)) return Pricing::closed;
      if ((step % 8 == 7 || is_last) && !eliminate(alive_, incumbent_, &bounds_)) {
        close();
        return Pricing::closed;
      }
      if (is_last) break;
      if (!update_prices(node.fixed, total, theta)) pricing = Pricing::agreed;
    }
    prices_ = std::move(best_prices);
    return pricing;
  }

  // Makes children of a node, unless the pair that it stands for closes it.
  void split(const Node& node, bool is_agreed) {
    const double total = evaluate();
    if (total == kMinusInfinity) return close();  // what is alive makes no DAG any more
    if (total == kInfinity) return keep(node);
    choose();
    // A node must not be closed before the pair that it stands for is known.
    const bool is_leaf = std::ranges::find(node.fixed, AugmentProblem::kFree) == node.fixed.end();
    if ((is_agreed || is_leaf) && mend(node.fixed)) return;
    branch(node);
  }

  bool is_closed() const { return outcome_.bound <= incumbent_ + options_.gap; }
  void close() { outcome_.bound = std::min(outcome_.bound, incumbent_); }

  // The root's table or a slice of it where that is exact, else a new one, which more fixed cells
  // make tighter. False when stopped before.
  bool build_bounds(const Completion& fixed) {
    if (own_bounds_.size() < alive_.size()) own_bounds_.resize(alive_.size());
    bounds_.resize(alive_.size());
    for (std::size_t a = 0; a < alive_.size(); ++a) {
      if ((a & 63) == 63 && stop_.is_over()) return false;
      const auto& at_root = tables_.bounds[alive_[a]];
      bounds_[a] = &own_bounds_[a];
      if (!at_root.sees(fixed))
        bounds_[a] = &at_root;
      else if (at_root.is_exact())
        own_bounds_[a].restrict(problem_, problem_.families()[alive_[a]], at_root, fixed);
      else
        own_bounds_[a].build(problem_, problem_.families()[alive_[a]], fixed, false,
                             tables_.max_entries);
      if (bounds_[a] != &at_root) note_made(*bounds_[a]);
    }
    return true;
  }

  void note_made(const FamilyBound& bound) {
    outcome_.work += work_of(bound) + kEntryMade * static_cast<double>(bound.n_entries());
  }

  // Best total of the alive families under the prices; infinity when the time was over first.
  double evaluate() {
    const auto families = problem_.families();
    values_.resize(families.size());
    for (std::size_t a = 0; a < alive_.size(); ++a) {
      if ((a & 255) == 255 && stop_.is_over()) return kInfinity;
      const FamilyPrices prices(problem_, prices_, families[alive_[a]].child);
      values_[alive_[a]] = bounds_[a]->maximum(prices, scratch_);
      outcome_.work += work_of(*bounds_[a]);
    }
    return solve(alive_);
  }

  double solve(const std::vector<std::uint32_t>& alive) {
    const auto families = problem_.families();
    program_.clear();
    for (const auto f : alive) program_.offer(families[f].child, families[f].parents, values_[f]);
    outcome_.work += program_work();
    return program_.solve(stop_);
  }

  // Of one pass of the dynamic programme: every variable as the last one of every set.
  double program_work() const {
    return kProgramStep * std::ldexp(static_cast<double>(problem_.n_vars()),
                                     static_cast<int>(problem_.n_vars()) - 1);
  }

  // Drops the families whose best DAG under values_ does not beat the incumbent, as far as time
  // allows; false when a variable has none left. Call after solve().
  bool eliminate(std::vector<std::uint32_t>& alive, double incumbent,
                 std::vector<const FamilyBound*>* bounds) {
    const auto families = problem_.families();
    outcome_.work += 2.0 * program_work();
    if (!program_.pass_backward(stop_)) return true;
    std::size_t kept = 0;
    std::size_t around_of = problem_.n_vars();
    bool is_late = false;
    std::vector<std::uint8_t> has_family(problem_.n_vars(), 0);
    for (std::size_t a = 0; a < alive.size(); ++a) {
      const auto& family = families[alive[a]];
      const Var child = family.child;
      if (child != around_of) {
        is_late = is_late || stop_.is_over();
        if (!is_late) program_.around(around_of = child, around_);
      }
      if (!is_late &&
          values_[alive[a]] + around_[squeeze(family.parents, child)] <= incumbent + options_.gap)
        continue;
      has_family[child] = 1;
      if (kept != a) {
        alive[kept] = alive[a];
        if (bounds != nullptr) (*bounds)[kept] = (*bounds)[a];
      }
      ++kept;
    }
    alive.resize(kept);
    if (bounds != nullptr) bounds->resize(kept);
    return std::ranges::find(has_family, 0) == has_family.end();
  }

  // Takes the family that each variable has in the best DAG under values_, and what these would
  // choose for the cells. Call after solve().
  void choose() {
    copies_.clear();
    losses_.clear();
    owner_.assign(problem_.n_cells(), AugmentProblem::kFree);
    const auto chosen = best_families();
    for (Var v = 0; v < problem_.n_vars(); ++v) {
      choices_.clear();
      bounds_[chosen[v]]->explain({problem_, prices_, v}, choices_, losses_);
      for (const auto& choice : choices_) {
        if (problem_.cells()[choice.cell].variable == v)
          owner_[choice.cell] = choice.value;
        else
          copies_.push_back({v, choice.cell, choice.value});
      }
    }
  }

  // Per variable: position in alive_.
  std::vector<std::size_t> best_families() const {
    const auto allowed = program_.predecessors();
    std::vector<std::size_t> chosen(problem_.n_vars(), 0);
    std::vector<double> most(problem_.n_vars(), kMinusInfinity);
    for (std::size_t a = 0; a < alive_.size(); ++a) {
      const auto& family = problem_.families()[alive_[a]];
      double& best = most[family.child];
      if ((family.parents & ~allowed[family.child]) != 0 || values_[alive_[a]] <= best) continue;
      best = values_[alive_[a]];
      chosen[family.child] = a;
    }
    return chosen;
  }

  // One subgradient step towards the incumbent; false when the chosen families agree and no price
  // is left to lower.
  bool update_prices(const Completion& fixed, double total, double theta) {
    const std::size_t n_vars = problem_.n_vars(), n_cells = problem_.n_cells();
    copy_at_.assign(n_vars * n_cells, AugmentProblem::kFree);
    for (const auto& copy : copies_) copy_at_[copy.child * n_cells + copy.cell] = copy.value;
    double norm = 0.0;
    auto for_each = [&](auto&& act) {
      for (std::size_t c = 0; c < n_vars; ++c) {
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
          const auto& info = problem_.cells()[cell];
          if (fixed[cell] != AugmentProblem::kFree || info.variable == c) continue;
          const std::uint8_t copy = copy_at_[c * n_cells + cell], owner = owner_[cell];
          for (std::size_t v = 0; v < info.card; ++v) {
            const double slope = static_cast<double>(owner == v) - static_cast<double>(copy == v);
            double& price = prices_.at(c, cell, v);
            if (slope == 0.0 || (slope > 0.0 && price <= 0.0)) continue;
            act(price, slope);
          }
        }
      }
    };
    for_each([&](double&, double slope) { norm += slope * slope; });
    if (norm == 0.0) return false;
    const double step = theta * std::max(total - incumbent_, 1e-3) / norm;
    for_each([&](double& price, double slope) { price = std::max(0.0, price - step * slope); });
    prices_.settle();
    outcome_.work += static_cast<double>(prices_.size());
    return true;
  }

  // The owners' choices as a completion, improved: a new incumbent where it beats the last. True
  // when that closes the node.
  bool mend(const Completion& fixed) {
    Completion start(owner_);
    for (std::size_t cell = 0; cell < start.size(); ++cell)
      if (fixed[cell] != AugmentProblem::kFree) start[cell] = fixed[cell];
    if (start != last_start_) {
      last_start_ = start;
      Pair pair = mender_.climb(start, nullptr);
      outcome_.work +=
          static_cast<double>(problem_.families().size()) * kFamilySeen + 2.0 * program_work();
      if (pair.score > incumbent_ + 1e-9) {
        incumbent_ = pair.score;
        outcome_.found.push_back(std::move(pair));
      }
    }
    return is_closed();
  }

  Node& add_child(const Node& node, double estimate, std::shared_ptr<const Prices> prices) {
    outcome_.work += static_cast<double>(alive_.size() + node.fixed.size());
    outcome_.children.push_back(std::make_unique<Node>(Node{.bound = outcome_.bound,
                                                            .estimate = estimate,
                                                            .number = 0,
                                                            .fixed = node.fixed,
                                                            .alive = alive_,
                                                            .prices = std::move(prices)}));
    return *outcome_.children.back();
  }

  // The node goes back as its own child: time ran out before it could be split.
  void keep(const Node& node) { add_child(node, outcome_.bound, node.prices); }

  // Fixes the cell on which the chosen families have most to lose whatever its value.
  void branch(const Node& node) {
    const std::size_t width = prices_.width();
    std::vector<double> loss(problem_.n_cells() * width, 0.0);
    for (const auto& each : losses_) loss[each.cell * width + each.value] += each.loss;
    const auto losses_of = [&](std::size_t cell) {
      return std::span(loss).subspan(cell * width, problem_.cells()[cell].card);
    };
    std::size_t best_cell = problem_.n_cells();
    double best_rank = -1.0;
    for (std::size_t cell = 0; cell < problem_.n_cells(); ++cell) {
      if (node.fixed[cell] != AugmentProblem::kFree) continue;
      const double rank = contention(losses_of(cell));
      if (rank > best_rank) best_rank = rank, best_cell = cell;
    }
    if (best_cell == problem_.n_cells()) return keep(node);  // a leaf, and no time to score it
    const auto prices = std::make_shared<const Prices>(prices_);
    const auto losses = losses_of(best_cell);
    for (std::size_t v = 0; v < losses.size(); ++v)
      add_child(node, outcome_.bound - losses[v], prices).fixed[best_cell] =
          static_cast<std::uint8_t>(v);
  }

  // High when the two values of a cell that lose least both lose much.
  static double contention(std::span<const double> losses) {
    double least = kInfinity, second = kInfinity;
    for (const double loss : losses) {
      second = std::min(second, std::max(least, loss));
      least = std::min(least, loss);
    }
    if (losses.size() == 1) second = least;
    return (least + 1e-3) * (std::min(second, 1e6) + 1e-3);
  }

  struct Copy {
    Var child;
    std::uint32_t cell;
    std::uint8_t value;
  };

  const AugmentProblem& problem_;
  const ExactOptions& options_;
  const Stop& stop_;
  const RootTables& tables_;
  SubsetProgram program_;
  Mender mender_;
  Outcome outcome_;  // of the node at hand
  double incumbent_ = kMinusInfinity;
  double max_work_ = kInfinity;
  Prices prices_;
  std::vector<std::uint32_t> alive_;
  std::vector<const FamilyBound*> bounds_;  // of the alive families
  std::vector<FamilyBound> own_bounds_;
  std::vector<double> values_;  // of all families; current for the alive ones
  std::vector<Copy> copies_;
  std::vector<CellChoice> choices_;
  std::vector<CellLoss> losses_;
  Completion owner_, last_start_;
  std::vector<std::uint8_t> copy_at_;
  std::vector<double> around_;
  FamilyBound::Scratch scratch_;
};

class Search {
 public:
  Search(const AugmentProblem& problem, const ExactOptions& options, const Stop& stop,
         Progress* progress)
      : problem_(problem), options_(options), stop_(stop), progress_(progress) {
    const std::size_t n_workers = std::min(resolve_threads(options.n_threads), kBatch);
    for (std::size_t w = 0; w < n_workers; ++w)
      workers_.push_back(std::make_unique<Worker>(problem, options, stop, tables_));
  }

  ExactResult run(LocalResult start) {
    result_.start_score = start.best.score;
    result_.start_is_certified = start.is_certified;
    result_.best = std::move(start.best);
    result_.trace = std::move(start.trace);
    result_.stopped = search();
    if (result_.stopped == StopReason::nothing) result_.bound = closed_bound();
    result_.bound = std::max(result_.bound, result_.best.score);
    result_.parents = parents_of(problem_, result_.best);
    return std::move(result_);
  }

 private:
  StopReason search() {
    auto root = std::make_unique<Node>();
    result_.n_families = problem_.families().size();
    result_.root_bound = workers_[0]->bound_root(result_.best.score, work_left(), root->alive);
    result_.n_alive = root->alive.size();
    result_.work = workers_[0]->take_work();
    result_.bound = result_.priced_root_bound = result_.root_bound;
    if (std::isinf(result_.root_bound)) return why_early();
    if (result_.root_bound <= result_.best.score + options_.gap) return StopReason::nothing;
    root->bound = root->estimate = result_.root_bound;
    root->number = n_created_++;
    root->fixed.assign(problem_.n_cells(), AugmentProblem::kFree);
    if (!build_tables(*root)) return why_early();
    root->prices = std::make_shared<const Prices>(problem_);
    push(std::move(root));
    while (!queue_.empty()) {
      const double bound = queue_.front()->bound;
      if (bound <= result_.best.score + options_.gap) break;
      result_.bound = bound;
      if (progress_ != nullptr) progress_->note_bound(bound);
      if (stop_.is_over()) return stop_.reason();
      if (options_.max_nodes > 0 && result_.n_nodes >= options_.max_nodes) return StopReason::nodes;
      if (work_left() <= 0.0) return StopReason::nodes;
      if (bytes_ > options_.max_bytes) return StopReason::memory;
      expand_batch();
    }
    return StopReason::nothing;
  }

  // Tables of the families alive at the root, in smaller blocks where they would take too much of
  // the memory; each worker may need as much again. False when stopped before.
  bool build_tables(const Node& root) {
    const double most = options_.max_bytes / (2.0 * (kBatch + 1));
    for (tables_.max_entries = options_.max_entries;; tables_.max_entries /= 4) {
      const bool is_last = tables_.max_entries <= kLeastEntries;
      tables_.bounds.clear();
      tables_.bounds.resize(problem_.families().size());
      double bytes = 0.0;
      for (std::size_t a = 0; a < root.alive.size() && (is_last || bytes <= most); ++a) {
        if (work_left() <= 0.0 || ((a & 63) == 63 && stop_.is_over())) return false;
        auto& bound = tables_.bounds[root.alive[a]];
        bound.build(problem_, problem_.families()[root.alive[a]], root.fixed, false,
                    tables_.max_entries);
        bytes += 8.0 * static_cast<double>(bound.n_entries());
        result_.work += kEntryMade * static_cast<double>(bound.n_entries());
      }
      if (is_last || bytes <= most) return true;
    }
  }

  // What ended a part of the work for the root that has no result half-way.
  StopReason why_early() const { return stop_.is_over() ? stop_.reason() : StopReason::nodes; }

  double work_left() const {
    return options_.max_work > 0.0 ? options_.max_work - result_.work : kInfinity;
  }

  // The queue is a heap with the highest bound at its front.
  void push(std::unique_ptr<Node> node) {
    bytes_ += node_bytes(*node);
    queue_.push_back(std::move(node));
    std::ranges::push_heap(queue_, ByBound());
  }

  std::unique_ptr<Node> pop() {
    std::ranges::pop_heap(queue_, ByBound());
    auto node = std::move(queue_.back());
    queue_.pop_back();
    bytes_ -= node_bytes(*node);
    return node;
  }

  double node_bytes(const Node& node) const {
    return 4.0 * static_cast<double>(node.alive.size()) + static_cast<double>(node.fixed.size()) +
           4.0 * static_cast<double>(problem_.n_vars() * problem_.n_cells() * 2) + 200.0;
  }

  void expand_batch() {
    std::vector<std::unique_ptr<Node>> nodes;
    const bool is_root = result_.n_nodes == 0;
    while (!queue_.empty() && nodes.size() < kBatch) {
      if (queue_.front()->bound <= result_.best.score + options_.gap) break;
      nodes.push_back(pop());
    }
    std::vector<Outcome> outcomes(nodes.size());
    const double incumbent = result_.best.score;
    const std::size_t n_steps = is_root ? options_.root_steps : options_.node_steps;
    const double max_work = work_left() / static_cast<double>(nodes.size());
    // A single node is not worth a thread of its own.
    const std::size_t n_threads = nodes.size() > 1 ? workers_.size() : 1;
    parallel_for(nodes.size(), n_threads, {}, [&](std::size_t n, std::size_t thread) {
      outcomes[n] = workers_[thread]->expand(*nodes[n], incumbent, n_steps, max_work);
    });
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      ++result_.n_nodes;
      auto& outcome = outcomes[n];
      result_.work += outcome.work;
      for (auto& pair : outcome.found) accept(std::move(pair));
      for (auto& child : outcome.children) {
        child->number = n_created_++;
        push(std::move(child));
      }
    }
    if (is_root) result_.priced_root_bound = std::max(outcomes[0].bound, closed_bound());
    if (progress_ != nullptr) progress_->note(result_.best.score);
  }

  void accept(Pair pair) {
    if (pair.score <= result_.best.score + 1e-9) return;
    result_.best = std::move(pair);
    result_.trace.push_back({result_.best.score, stop_.seconds(), Move::completion});
  }

  // Whatever was closed lies within the gap of the score.
  double closed_bound() const {
    const double score = result_.best.score;
    return options_.gap <= 1e-6 ? score : std::min(result_.root_bound, score + options_.gap);
  }

  const AugmentProblem& problem_;
  const ExactOptions& options_;
  const Stop& stop_;
  Progress* progress_;
  RootTables tables_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Node>> queue_;
  double bytes_ = 0.0;
  std::size_t n_created_ = 0;
  ExactResult result_;
};

}  // namespace

ExactResult solve_exactly(const AugmentProblem& problem,
                          const std::vector<AugmentProblem::Completion>& starts,
                          const ExactOptions& options, const Stop& stop, Progress* progress) {
  auto start = mend_from(problem, starts, options.locality, options.n_threads,
                         stop.share(kStartShare), progress);
  return Search(problem, options, stop, progress).run(std::move(start));
}

}  // namespace bayesmend
