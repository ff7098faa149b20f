#include "core/augment/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/augment/bound.hpp"
#include "core/augment/branching.hpp"
#include "core/augment/engine.hpp"
#include "core/augment/record.hpp"
#include "core/augment/state.hpp"
#include "core/base/bits.hpp"

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
// How long engines that do so improve a bound: at the root without prices, and for every choice of
// prices there and below.
constexpr std::size_t kFirstSteps = 20, kSteps = 3;
constexpr double kFirstHeat = 16.0, kHeat = 0.5;
// Steps of prices go on with so much of the direction of the last ones; one that does not lower the
// bound shortens those that follow, and a node begins with longer ones than its parent ended with.
constexpr double kMomentum = 0.5, kShorter = 0.7, kLonger = 2.0, kShortest = 1e-3;
// Families are made and maximised as they are needed where that spares more than so many passes of
// the dynamic programme. What is known of them otherwise is rounded up.
constexpr double kLeastPasses = 4.0, kRounding = 1e-9;
// Of a proof, families are dropped together when they are so many of those that are left.
constexpr double kLeastDropped = 0.25;
// A tree that fixes arcs has so much of the work until then to get ahead of the one that fixes
// cells. There prices have to be better: steps are shortened less.
constexpr double kRaceWork = 0.5, kArcShorter = 0.9;
// An arc is in doubt whose share in the best DAGs at different prices is not far from a half; with
// each step, those before count for so much of what they did.
constexpr double kLeastDoubt = 0.3, kFade = 0.8;
// Blocks of tables are made no smaller than this to save memory.
constexpr std::size_t kLeastEntries = 16;

using Completion = AugmentProblem::Completion;

struct Node {
  double bound;
  double estimate;
  std::size_t number;  // of creation, for ties
  NodeRecord record;   // where it comes from
  double step;         // how far prices went last
  Completion fixed;
  std::vector<std::uint32_t> alive;
  std::vector<double> values;  // no alive family is worth more at the prices; of an exact engine
  std::shared_ptr<const Prices> prices;
  std::shared_ptr<const ClusterPrices> clusters;  // of engines that have them
  Decision decision{};
  std::vector<double> arc_shares{};  // by child and parent, where arcs may be fixed
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
  NodeRecord record;
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
         const RootTables& tables, const Branching& branching, const bool& has_arcs)
      : problem_(problem),
        options_(options),
        stop_(stop),
        tables_(tables),
        branching_(branching),
        has_arcs_(has_arcs),
        engine_(make_engine(problem, options.is_relaxed)),
        mender_(problem, stop, 1, options.is_relaxed) {}

  // Bound of every family that may choose its cells for itself, without prices, and the families
  // that survive against the incumbent.
  // Infinity when the time or `max_work` was over first.
  double bound_root(double incumbent, double max_work, std::vector<std::uint32_t>& alive,
                    std::vector<double>& values) {
    incumbent_ = incumbent;
    engine_->load(nullptr);
    engine_->set_steps(kFirstSteps, kFirstHeat);
    const auto families = problem_.families();
    const Completion free(problem_.n_cells(), AugmentProblem::kFree);
    values_.resize(families.size());
    alive.resize(families.size());
    FamilyBound bound;
    for (std::uint32_t f = 0; f < families.size(); ++f) {
      alive[f] = f;
      if (outcome_.work >= max_work || ((f & 63) == 0 && stop_.is_over())) return kInfinity;
      bound.build(problem_, families[f], free, true, options_.block_entries(), scratch_);
      values_[f] = bound.maximum();
      note_made(bound);
    }
    const double total = solve(alive);
    if (std::isfinite(total)) eliminate(alive, false);
    if (engine_->is_exact())
      for (const auto f : alive) values.push_back(values_[f]);
    return total;
  }

  // Prices are improved in so many steps, or until `max_work` is done.
  Outcome expand(const Node& node, double incumbent, std::size_t n_steps, double max_work) {
    outcome_ = {.bound = node.bound, .children = {}, .found = {}, .work = 0.0, .record = {}};
    max_work_ = max_work;
    incumbent_ = incumbent;
    alive_ = node.alive;
    prices_ = *node.prices;
    load_values(node);
    engine_->load(node.clusters.get());
    engine_->set_steps(kSteps, kHeat);
    if (!engine_->is_exact()) mender_.guide(alive_, node.clusters);
    // They are read here and copied twice on the way: much, where a cell has many values.
    outcome_.work += 3.0 * static_cast<double>(prices_.size());
    // Nothing may carry over from the last node: which one that was depends on the threads.
    last_start_.clear();
    if ((!engine_->is_exact() || has_arcs_) && !propagate_arcs()) {
      close();
    } else if (const auto pricing = improve_prices(node, n_steps); pricing != Pricing::closed) {
      split(node, pricing == Pricing::agreed);
    }
    outcome_.record.bound = outcome_.bound;
    return std::move(outcome_);
  }

  // Of the node expanded last: what is alive, and the best prices.
  void tell_root(ExactResult& result) const {
    const auto values = prices_.values();
    result.root_families = alive_;
    result.root_prices.assign(values.begin(), values.end());
  }
  std::shared_ptr<const ClusterPrices> clusters() const { return engine_->prices(); }
  // Whether it matters which arcs are in doubt at a node; a proof fixes cells alone.
  bool counts_arcs(const Node& node) const {
    return engine_->is_exact() && !is_recorded() && (has_arcs_ || node.number == 0);
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
    best_values_ = values_;
    best_is_known_ = is_known_;
    const auto pricing = improve_prices(node, n_steps, best_prices);
    if (is_recorded()) outcome_.record.best = {problem_, best_prices};
    prices_ = std::move(best_prices);
    valued_at_ = prices_;
    values_ = best_values_;
    is_known_ = best_is_known_;
    return pricing;
  }

  Pricing improve_prices(const Node& node, std::size_t n_steps, Prices& best_prices) {
    auto pricing = Pricing::ended;
    step_ = std::min(1.0, kLonger * node.step);
    direction_.assign(prices_.values().size(), 0.0);
    loss_sums_.assign(problem_.n_cells() * prices_.width(), 0.0);
    arc_shares_.clear();
    if (counts_arcs(node)) {
      arc_shares_ = node.arc_shares;
      arc_shares_.resize(problem_.n_vars() * problem_.n_vars(), 0.0);
    }
    n_chosen_ = 0.0;
    for (std::size_t step = 0; pricing != Pricing::agreed; ++step) {
      const double total = evaluate();
      if (total == kInfinity) break;  // out of time
      if (total < outcome_.bound - 1e-9 || step == 0) {
        outcome_.bound = std::min(total, outcome_.bound);
        best_prices = prices_;
        best_values_ = values_;
        best_is_known_ = is_known_;
      } else {
        step_ *= has_arcs_ ? kArcShorter : kShorter;
      }
      if (is_closed()) return Pricing::closed;
      choose();
      const bool is_last =
          step + 1 >= n_steps || step_ < kShortest || outcome_.work >= max_work_ || stop_.is_over();
      // The first incumbent is rarely beaten: below the root, one node in four looks.
      const bool looks =
          node.number == 0 ? step % 16 == 0 || is_last : is_last && node.number % 4 == 0;
      if (looks && mend(node.fixed)) return Pricing::closed;
      // What is dropped at the root is dropped for good.
      if (is_last && node.number == 0 && is_lazy_) {
        for (const auto f : alive_) find_value(f);
        solve(alive_);
      }
      if ((step % 8 == 7 || is_last) && !eliminate(alive_, true)) {
        close();
        return Pricing::closed;
      }
      if (is_last) break;
      if (!update_prices(node.fixed, total)) pricing = Pricing::agreed;
    }
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

  bool is_recorded() const { return options_.max_record_bytes > 0.0; }
  bool is_closed() const { return outcome_.bound <= incumbent_ + options_.gap; }
  void close() { outcome_.bound = std::min(outcome_.bound, incumbent_); }

  // Drops families that would close a cycle with arcs that all families of a variable have; false
  // when a variable has none left.
  bool propagate_arcs() {
    const auto families = problem_.families();
    const std::size_t n_vars = problem_.n_vars();
    std::vector<std::uint64_t> ancestors(n_vars);
    for (bool shrinks = true; shrinks;) {
      ancestors.assign(n_vars, ~std::uint64_t{0});
      std::uint64_t is_there = 0;
      for (const auto f : alive_) {
        ancestors[families[f].child] &= families[f].parents;
        is_there |= std::uint64_t{1} << families[f].child;
      }
      if (static_cast<std::size_t>(std::popcount(is_there)) < n_vars) return false;
      for (std::size_t via = 0; via < n_vars; ++via)
        for (auto& above : ancestors)
          if ((above >> via & 1) != 0) above |= ancestors[via];
      std::vector<std::uint64_t> descendants(n_vars, 0);
      for (std::size_t v = 0; v < n_vars; ++v)
        for_each_bit(ancestors[v], [&](Var above) { descendants[above] |= std::uint64_t{1} << v; });
      shrinks = std::erase_if(alive_, [&](std::uint32_t f) {
                  return (families[f].parents & descendants[families[f].child]) != 0;
                }) > 0;
    }
    return true;
  }

  // What is known of families before any is looked at: what they were worth at the parent, and not
  // all of these have to be made.
  void load_values(const Node& node) {
    const auto families = problem_.families();
    fixed_ = &node.fixed;
    valued_at_ = prices_;
    if (own_bounds_.size() < families.size()) own_bounds_.resize(families.size());
    bounds_.assign(families.size(), nullptr);
    values_.assign(families.size(), kMinusInfinity);
    is_known_.assign(families.size(), 0);
    is_lazy_ = !node.values.empty();
    if (!is_lazy_) return;
    double work = 0.0;
    for (std::size_t a = 0; a < node.alive.size(); ++a) {
      values_[node.alive[a]] = node.values[a];
      work += work_of(tables_.bounds[node.alive[a]]);
    }
    // A proof has to be repeated from prices alone, without what was known before.
    is_lazy_ = !is_recorded() && kLeastPasses * program_work() < work;
  }

  // Of one pass of the dynamic programme: every variable as the last one of every set.
  double program_work() const {
    return kProgramStep * std::ldexp(static_cast<double>(problem_.n_vars()),
                                     static_cast<int>(problem_.n_vars()) - 1);
  }

  // The root's table or a slice of it where that is exact, else a new one, which more fixed cells
  // make tighter.
  const FamilyBound& bound_of(std::uint32_t f) {
    if (bounds_[f] != nullptr) return *bounds_[f];
    const auto& family = problem_.families()[f];
    const auto& at_root = tables_.bounds[f];
    bounds_[f] = &own_bounds_[f];
    if (!at_root.sees(*fixed_))
      bounds_[f] = &at_root;
    else if (at_root.is_exact())
      own_bounds_[f].restrict(problem_, family, at_root, *fixed_, scratch_);
    else
      own_bounds_[f].build(problem_, family, *fixed_, false, tables_.max_entries, scratch_);
    if (bounds_[f] != &at_root) note_made(*bounds_[f]);
    return *bounds_[f];
  }

  void note_made(const FamilyBound& bound) {
    outcome_.work += work_of(bound) + kEntryMade * static_cast<double>(bound.n_entries());
  }

  // Best total of the alive families under the prices; infinity when the time was over first.
  //
  // Families are made and maximised as the best DAG comes to rest on them: of others it is enough
  // that they are not worth more than they were and what prices have added.
  double evaluate() {
    raise_values();
    if (!is_lazy_) {
      for (std::size_t a = 0; a < alive_.size(); ++a) {
        if ((a & 63) == 63 && stop_.is_over()) return kInfinity;
        find_value(alive_[a]);
      }
      return solve(alive_);
    }
    for (;;) {
      const double total = solve(alive_);
      if (!std::isfinite(total)) return total;
      if (stop_.is_over()) return kInfinity;
      engine_->share_out(alive_, values_, shares_);
      bool is_final = true;
      for (const auto& [position, share] : shares_) is_final &= !find_value(alive_[position]);
      if (is_final || total <= incumbent_ + options_.gap) return total;
    }
  }

  // The maximum of a family under the prices; false when it was known.
  bool find_value(std::uint32_t f) {
    if (is_known_[f] != 0) return false;
    const auto& bound = bound_of(f);
    values_[f] = bound.maximum(FamilyPrices(problem_, prices_, problem_.families()[f]), scratch_);
    is_known_[f] = 1;
    outcome_.work += work_of(bound);
    return true;
  }

  // Adds to what families are worth at most what they may gain by prices that have changed.
  void raise_values() {
    const std::size_t n_vars = problem_.n_vars();
    // By child and variable: what copies gain, and what the owner does by the prices of that child.
    std::vector<double> as_copy(n_vars * n_vars, 0.0), as_owner(n_vars * n_vars, 0.0);
    bool is_same = true;
    for (std::size_t c = 0; c < n_vars; ++c) {
      for (std::size_t cell = 0; cell < problem_.n_cells(); ++cell) {
        const auto& info = problem_.cells()[cell];
        double least = kInfinity, most = kMinusInfinity;
        for (std::size_t v = 0; v < info.card; ++v) {
          const double change = prices_.at(c, cell, v) - valued_at_.at(c, cell, v);
          least = std::min(least, change);
          most = std::max(most, change);
        }
        is_same = is_same && least == 0.0 && most == 0.0;
        as_copy[c * n_vars + info.variable] -= least;
        as_owner[c * n_vars + info.variable] += most;
      }
    }
    if (is_same) return;
    outcome_.work += static_cast<double>(prices_.size());
    valued_at_ = prices_;
    if (!is_lazy_) {
      std::ranges::fill(is_known_, 0);
      return;
    }
    for (const auto f : alive_) {
      const auto& family = problem_.families()[f];
      double& value = values_[f];
      for (std::size_t v = 0; v < n_vars; ++v) {
        if (v == family.child) continue;
        value += (family.parents >> v & 1) != 0 ? as_copy[family.child * n_vars + v]
                                                : as_owner[v * n_vars + family.child];
      }
      value += kRounding;
      is_known_[f] = 0;
    }
  }

  double solve(const std::vector<std::uint32_t>& alive) {
    const double total = engine_->bound(alive, values_, incumbent_ + options_.gap, stop_);
    outcome_.work += engine_->take_work();
    return total;
  }

  // Drops the families whose best DAG under values_ does not beat the incumbent, as far as time
  // allows; false when a variable has none left. Call after solve().
  bool eliminate(std::vector<std::uint32_t>& alive, bool is_priced) {
    const auto families = problem_.families();
    const bool is_known = engine_->bound_through(alive, values_, through_, stop_);
    outcome_.work += engine_->take_work();
    if (!is_known) return true;
    const double least = incumbent_ + options_.gap;
    std::vector<std::uint8_t> has_family(problem_.n_vars(), 0);
    for (std::size_t a = 0; a < alive.size(); ++a)
      if (through_[a] > least) has_family[families[alive[a]].child] = 1;
    const bool is_open = std::ranges::find(has_family, 0) == has_family.end();
    const auto n_kept = static_cast<std::size_t>(
        std::ranges::count_if(through_, [&](double through) { return through > least; }));
    if (is_priced && is_recorded() && n_kept < alive.size()) {
      // To check that a few are of no use takes longer than to keep them.
      const auto n_dropped = static_cast<double>(alive.size() - n_kept);
      if (is_open && n_dropped < kLeastDropped * static_cast<double>(alive.size())) return true;
      outcome_.record.dropped_at.emplace_back(problem_, prices_);
    }
    std::size_t kept = 0;
    for (std::size_t a = 0; a < alive.size(); ++a)
      if (through_[a] > least) alive[kept++] = alive[a];
    alive.resize(kept);
    return is_open;
  }

  // Takes the families that the bound rests on, and what these would choose for the cells, each by
  // its share. Call after solve().
  void choose() {
    const std::size_t width = prices_.width(), n_cells = problem_.n_cells();
    losses_.clear();
    copies_.assign(problem_.n_vars() * n_cells * width, 0.0);
    owners_.assign(n_cells * width, 0.0);
    engine_->share_out(alive_, values_, shares_);
    for (const auto& [position, share] : shares_) {
      const auto& family = problem_.families()[alive_[position]];
      const auto members = problem_.members(family);
      choices_.clear();
      const std::size_t n_before = losses_.size();
      bound_of(alive_[position]).explain({problem_, prices_, family}, scratch_, choices_, losses_);
      for (const auto& choice : choices_) {
        const std::size_t at = choice.cell * width + choice.value;
        if (problem_.cells()[choice.cell].variable != family.child) {
          copies_[family.child * n_cells * width + at] += share;
          continue;
        }
        owners_[at] += share;
        for (const auto parent : members.first(members.size() - 1))
          copies_[parent * n_cells * width + at] += share;
      }
      if (share == 1.0) continue;
      for (std::size_t l = n_before; l < losses_.size(); ++l) losses_[l].loss *= share;
    }
    // Where arcs compete with cells, what counts for both is the last prices.
    if (!engine_->is_exact()) {
      std::ranges::fill(loss_sums_, 0.0);
      n_chosen_ = 0.0;
    }
    ++n_chosen_;
    count_arcs();
    for (const auto& each : losses_) loss_sums_[each.cell * width + each.value] += each.loss;
  }

  void count_arcs() {
    if (arc_shares_.empty()) return;
    for (double& share : arc_shares_) share *= kFade;
    for (const auto& [position, share] : shares_) {
      const auto& family = problem_.families()[alive_[position]];
      for_each_bit(family.parents, [&](Var p) {
        arc_shares_[family.child * problem_.n_vars() + p] += (1.0 - kFade) * share;
      });
    }
  }

  // One subgradient step towards the incumbent; false when the chosen families agree and no price
  // is left to lower.
  bool update_prices(const Completion& fixed, double total) {
    const std::size_t n_vars = problem_.n_vars(), n_cells = problem_.n_cells();
    const std::size_t width = prices_.width();
    double norm = 0.0;
    auto for_each = [&](auto&& act) {
      for (std::size_t c = 0; c < n_vars; ++c) {
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
          const auto& info = problem_.cells()[cell];
          if (fixed[cell] != AugmentProblem::kFree || info.variable == c) continue;
          const double* copies = copies_.data() + (c * n_cells + cell) * width;
          const double* owners = owners_.data() + cell * width;
          for (std::size_t v = 0; v < info.card; ++v) {
            const double slope = owners[v] - copies[v];
            double& price = prices_.at(c, cell, v);
            act(price, slope, direction_[(c * n_cells + cell) * width + v]);
          }
        }
      }
    };
    bool can_improve = false;
    for_each([&](double& price, double slope, double& direction) {
      can_improve = can_improve || slope < 0.0 || (slope > 0.0 && price > 0.0);
      direction = slope + kMomentum * direction;
      if (direction > 0.0 && price <= 0.0) direction = 0.0;
      norm += direction * direction;
    });
    if (!can_improve) return false;
    if (norm == 0.0) return true;
    const double step = step_ * std::max(total - incumbent_, 1e-3) / norm;
    for_each([&](double& price, double, double& direction) {
      price = std::max(0.0, price - step * direction);
    });
    prices_.settle();
    outcome_.work += static_cast<double>(prices_.size());
    return true;
  }

  // The owners' choices as a completion, improved: a new incumbent where it beats the last. True
  // when that closes the node.
  bool mend(const Completion& fixed) {
    Completion start(fixed);
    for (std::size_t cell = 0; cell < start.size(); ++cell) {
      if (fixed[cell] != AugmentProblem::kFree) continue;
      const auto owners = std::span(owners_).subspan(cell * prices_.width(), prices_.width());
      start[cell] = static_cast<std::uint8_t>(std::ranges::max_element(owners) - owners.begin());
    }
    if (start != last_start_) {
      last_start_ = start;
      Pair pair = mender_.climb(start, nullptr);
      outcome_.work +=
          static_cast<double>(problem_.families().size()) * kFamilySeen + mender_.take_work();
      if (pair.score > incumbent_ + 1e-9) {
        incumbent_ = pair.score;
        outcome_.found.push_back(std::move(pair));
      }
    }
    if (!engine_->is_exact() && !is_closed()) meet(start);
    return is_closed();
  }

  // Takes the DAG of the bound itself, where it is one, as a pair with this completion: an engine
  // that is not exact need not find it otherwise.
  void meet(const Completion& completion) {
    Pair pair{0.0, std::vector<std::uint32_t>(problem_.n_vars()), completion};
    for (const auto& [position, share] : shares_) {
      if (share != 1.0) return;
      const auto f = alive_[position];
      pair.families[problem_.families()[f].child] = f;
      pair.score += problem_.score(problem_.families()[f], completion, counts_);
    }
    if (pair.score <= incumbent_ + 1e-9 || !is_acyclic(pair.families)) return;
    incumbent_ = pair.score;
    outcome_.found.push_back(std::move(pair));
  }

  bool is_acyclic(const std::vector<std::uint32_t>& families) const {
    std::uint64_t placed = 0;
    for (std::size_t n_placed = 0; n_placed < families.size();) {
      const std::size_t n_before = n_placed;
      for (const auto f : families) {
        const auto& family = problem_.families()[f];
        const auto own = std::uint64_t{1} << family.child;
        if ((placed & own) != 0 || (family.parents & ~placed) != 0) continue;
        placed |= own;
        ++n_placed;
      }
      if (n_placed == n_before) return false;
    }
    return true;
  }

  Node& add_child(const Node& node, double estimate, std::shared_ptr<const Prices> prices) {
    outcome_.work += static_cast<double>(alive_.size() + node.fixed.size());
    outcome_.children.push_back(std::make_unique<Node>(Node{.bound = outcome_.bound,
                                                            .estimate = estimate,
                                                            .number = 0,
                                                            .record = {.parent = node.number},
                                                            .step = step_,
                                                            .fixed = node.fixed,
                                                            .alive = alive_,
                                                            .values = {},
                                                            .prices = std::move(prices),
                                                            .clusters = engine_->prices()}));
    auto& child = *outcome_.children.back();
    child.arc_shares = arc_shares_;
    if (engine_->is_exact())
      for (const auto f : alive_) child.values.push_back(values_[f]);
    return child;
  }

  // The node goes back as its own child: time ran out before it could be split.
  void keep(const Node& node) {
    step_ = node.step;
    for (std::size_t a = 0; a < node.values.size(); ++a) values_[node.alive[a]] = node.values[a];
    add_child(node, outcome_.bound, node.prices);
  }

  // Fixes the cell on which the families that were chosen have most to lose whatever its value, on
  // average over the steps of prices, as the last ones leave them little; or an arc,
  // when no cell is left or families agree on them, so that the structure is all that is open.
  void branch(const Node& node) {
    const std::size_t width = prices_.width();
    for (double& loss : loss_sums_) loss /= n_chosen_;
    const auto losses_of = [&](std::size_t cell) {
      return std::span(loss_sums_).subspan(cell * width, problem_.cells()[cell].card);
    };
    std::size_t best_cell = problem_.n_cells();
    double best_rank = -1.0;
    for (std::size_t cell = 0; cell < problem_.n_cells(); ++cell) {
      if (node.fixed[cell] != AugmentProblem::kFree) continue;
      const double rank = engine_->is_exact() ? branching_.rank(cell, losses_of(cell))
                                              : contention(losses_of(cell));
      if (rank > best_rank) best_rank = rank, best_cell = cell;
    }
    if (!engine_->is_exact() && branch_on_arc(node, best_rank)) return;
    if (best_cell == problem_.n_cells()) return keep(node);  // a leaf, and no time to score it
    const auto prices = std::make_shared<const Prices>(prices_);
    if (engine_->is_exact() && has_arcs_ && branch_on_arc(node, prices)) return;
    const auto losses = losses_of(best_cell);
    const auto likely = std::ranges::min_element(losses) - losses.begin();
    for (std::size_t v = 0; v < losses.size(); ++v) {
      Node& child = add_child(node, outcome_.bound - losses[v], prices);
      child.record.cell = best_cell;
      child.fixed[best_cell] = child.record.value = static_cast<std::uint8_t>(v);
      child.decision = {.kind = std::cmp_equal(v, likely) ? Decision::Kind::likely_value
                                                          : Decision::Kind::other_value,
                        .place = branching_.place_of(best_cell, v)};
    }
  }

  // What the best families of `child` lose with and without `parent`: the bounds of values_.
  std::array<double, 2> arc_losses(Var child, Var parent) const {
    double best[2] = {kMinusInfinity, kMinusInfinity};
    for (std::size_t a = 0; a < alive_.size(); ++a) {
      const auto& family = problem_.families()[alive_[a]];
      if (family.child != child) continue;
      double& most = best[family.parents >> parent & 1];
      most = std::max(most, through_[a]);
    }
    return {outcome_.bound - best[1], outcome_.bound - best[0]};
  }

  // Splits a node by whether one variable is a parent of another, where that is more contended
  // than cells are. False when it is not, or every variable has the one family that it can have.
  bool branch_on_arc(const Node& node, double least_rank) {
    if (!engine_->bound_through(alive_, values_, through_, stop_)) return false;
    std::vector<double> share(problem_.n_vars() * problem_.n_vars(), 0.0);
    for (const auto& [position, part] : shares_) {
      const auto& family = problem_.families()[alive_[position]];
      for_each_bit(family.parents,
                   [&](Var p) { share[family.child * problem_.n_vars() + p] += part; });
    }
    // Any arc that is open serves where nothing else is left to branch on.
    double best_rank = least_rank < 0.0 ? kMinusInfinity : least_rank;
    Var best_child = 0, best_parent = 0;
    bool is_found = false;
    for (Var c = 0; c < problem_.n_vars(); ++c) {
      for (Var p = 0; p < problem_.n_vars(); ++p) {
        const double part = share[c * problem_.n_vars() + p];
        if (part == 0.0 && least_rank >= 0.0) continue;
        const auto losses = arc_losses(c, p);
        if (std::isinf(losses[0]) || std::isinf(losses[1])) continue;  // decided
        // Of arcs that cost nothing either way, those that are there now and then.
        const double rank = contention(losses) + 1e-3 * part * (1.0 - part);
        if (rank <= best_rank) continue;
        best_rank = rank, best_child = c, best_parent = p, is_found = true;
      }
    }
    if (!is_found) return false;
    add_arc_children(node, std::make_shared<const Prices>(prices_), best_child, best_parent,
                     arc_losses(best_child, best_parent));
    return true;
  }

  // The same where the best DAG is not relaxed: the arc that is most in doubt, if one is.
  bool branch_on_arc(const Node& node, const std::shared_ptr<const Prices>& prices) {
    const std::size_t n_vars = problem_.n_vars();
    std::vector<std::uint64_t> some(n_vars, 0), all(n_vars, ~std::uint64_t{0});
    for (const auto f : alive_) {
      const auto& family = problem_.families()[f];
      some[family.child] |= family.parents;
      all[family.child] &= family.parents;
    }
    Var child = 0, parent = 0;
    double best = 0.0;
    for (Var c = 0; c < n_vars; ++c) {
      for_each_bit(some[c] & ~all[c], [&](Var p) {
        const double share = arc_shares_[c * n_vars + p], rest = std::min(share, 1.0 - share);
        if (rest > best) best = rest, child = c, parent = p;
      });
    }
    if (best < kLeastDoubt) return false;
    add_arc_children(node, prices, child, parent, {0.0, 0.0});
    return true;
  }

  // Children of a node with and without an arc, which are thought to lose so much.
  void add_arc_children(const Node& node, const std::shared_ptr<const Prices>& prices, Var child,
                        Var parent, const std::array<double, 2>& losses) {
    const auto families = problem_.families();
    const auto has = [&](std::uint32_t f, Var to, Var from) {
      return families[f].child == to && (families[f].parents >> from & 1) != 0;
    };
    const auto decide = [&](bool is_there, auto&& drops) {
      Node& made = add_child(node, outcome_.bound - losses[is_there ? 0 : 1], prices);
      std::size_t n_kept = 0;
      for (std::size_t a = 0; a < made.alive.size(); ++a) {
        if (drops(made.alive[a])) continue;
        if (!made.values.empty()) made.values[n_kept] = made.values[a];
        made.alive[n_kept++] = made.alive[a];
      }
      made.alive.resize(n_kept);
      if (!made.values.empty()) made.values.resize(n_kept);
    };
    decide(true, [&](std::uint32_t f) {
      return (families[f].child == child && !has(f, child, parent)) || has(f, parent, child);
    });
    decide(false, [&](std::uint32_t f) { return has(f, child, parent); });
  }

  const AugmentProblem& problem_;
  const ExactOptions& options_;
  const Stop& stop_;
  const RootTables& tables_;
  const Branching& branching_;
  const bool& has_arcs_;  // whether they are fixed, too
  std::unique_ptr<DagEngine> engine_;
  Mender mender_;
  Outcome outcome_;  // of the node at hand
  double incumbent_ = kMinusInfinity;
  double max_work_ = kInfinity, step_ = 1.0, n_chosen_ = 0.0;
  Prices prices_, valued_at_;
  const Completion* fixed_ = nullptr;
  std::vector<std::uint32_t> alive_;
  // By family; of alive ones only.
  std::vector<const FamilyBound*> bounds_;  // where they were made
  std::vector<FamilyBound> own_bounds_;
  std::vector<double> values_, best_values_;            // at most, and
  std::vector<std::uint8_t> is_known_, best_is_known_;  // whether that is the maximum itself
  bool is_lazy_ = false;
  std::vector<double> direction_, loss_sums_;  // of prices; of cells by value
  std::vector<DagEngine::Share> shares_;
  std::vector<double> arc_shares_;
  // What is chosen for cells by value, in shares: by the cells' own variables, and by child, or by
  // a family of the cell's own variable that has it as a parent, so that there is nothing to earn.
  std::vector<double> copies_, owners_;
  std::vector<CellChoice> choices_;
  std::vector<CellLoss> losses_;
  Completion last_start_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> through_;
  FamilyBound::Scratch scratch_;
};

class Search {
 public:
  Search(const AugmentProblem& problem, const ExactOptions& options, const Stop& stop,
         Progress* progress, Keeper& keeper)
      : problem_(problem),
        options_(options),
        stop_(stop),
        progress_(progress),
        keeper_(keeper),
        branching_(problem),
        record_(options.max_record_bytes) {
    const std::size_t n_workers = std::min(resolve_threads(options.n_threads), kBatch);
    for (std::size_t w = 0; w < n_workers; ++w)
      workers_.push_back(
          std::make_unique<Worker>(problem, options, stop, tables_, branching_, has_arcs_));
  }

  ExactResult run(LocalResult start) {
    result_.start_score = start.best.score;
    result_.start_is_certified = start.is_certified;
    result_.best = std::move(start.best);
    result_.trace = std::move(start.trace);
    return finish(plant());
  }

  // From where the search was that the keeper knows of.
  ExactResult go_on() {
    load();
    return finish(build_tables(true) ? grow() : why_early());
  }

 private:
  ExactResult finish(StopReason stopped) {
    result_.stopped = stopped;
    // Of no use before there is a root: all of it is to be done again then.
    const bool is_whole = stopped == StopReason::nothing || stopped == StopReason::nodes;
    if (is_whole && n_created_ > 0) keeper_.finish([&] { return state(); });
    if (result_.stopped == StopReason::nothing) result_.bound = closed_bound();
    result_.bound = std::max(result_.bound, result_.best.score);
    result_.proven = std::max(result_.bound, result_.best.score + options_.gap);
    result_.record_bytes = record_.bytes();
    if (record_.is_kept()) result_.proof = record_.prove(result_.proven);
    result_.parents = parents_of(problem_, result_.best);
    return std::move(result_);
  }

  StopReason plant() {
    auto root = std::make_unique<Node>();
    result_.n_families = problem_.families().size();
    result_.root_bound =
        workers_[0]->bound_root(result_.best.score, work_left(), root->alive, root->values);
    result_.n_alive = root->alive.size();
    result_.work = workers_[0]->take_work();
    result_.bound = result_.priced_root_bound = result_.root_bound;
    if (std::isinf(result_.root_bound)) return why_early();
    // Families are dropped at the root without prices before all others.
    root->record.bound = result_.root_bound;
    root->record.dropped_at.emplace_back();
    record_.create(root->record);
    if (result_.root_bound <= result_.best.score + options_.gap) return StopReason::nothing;
    root->bound = root->estimate = result_.root_bound;
    root->number = n_created_++;
    root->step = 1.0;
    root->fixed.assign(problem_.n_cells(), AugmentProblem::kFree);
    root_alive_ = root->alive;
    tables_.max_entries = options_.block_entries();
    if (!build_tables()) return why_early();
    root->prices = std::make_shared<const Prices>(problem_);
    root->clusters = workers_[0]->clusters();
    push(std::move(root));
    return grow();
  }

  StopReason grow() {
    while (!queue_.empty()) {
      const double bound = queue_.front()->bound;
      if (bound <= result_.best.score + options_.gap) break;
      result_.bound = std::min(result_.bound, bound);
      if (progress_ != nullptr) progress_->note_bound(result_.bound);
      if (stop_.is_over()) return stop_.reason();
      if (options_.max_nodes > 0 && result_.n_nodes >= options_.max_nodes) return StopReason::nodes;
      if (work_left() <= 0.0) return StopReason::nodes;
      if (bytes_ > options_.max_bytes) return StopReason::memory;
      expand_batch();
      race();
      // A node that time has put back as it was would be there once more than it has to.
      if (!stop_.is_over() && work_left() > 0.0) keeper_.offer([&] { return state(); });
    }
    return StopReason::nothing;
  }

  // Tables of the families alive at the root, in smaller blocks where they would take too much of
  // the memory; each worker may need as much again. False when stopped before. Made again they are
  // as they were, and that work counts once.
  bool build_tables(bool is_again = false) {
    const double most = options_.max_bytes / (2.0 * (kBatch + 1));
    const Completion free(problem_.n_cells(), AugmentProblem::kFree);
    FamilyBound::Scratch scratch;
    for (;; tables_.max_entries /= 4) {
      const bool is_last = is_again || tables_.max_entries <= kLeastEntries;
      tables_.bounds.clear();
      tables_.bounds.resize(problem_.families().size());
      double bytes = 0.0;
      for (std::size_t a = 0; a < root_alive_.size() && (is_last || bytes <= most); ++a) {
        if (!is_again && work_left() <= 0.0) return false;
        if ((a & 63) == 63 && stop_.is_over()) return false;
        auto& bound = tables_.bounds[root_alive_[a]];
        bound.build(problem_, problem_.families()[root_alive_[a]], free, false, tables_.max_entries,
                    scratch);
        bytes += 8.0 * static_cast<double>(bound.n_entries());
        if (!is_again) result_.work += kEntryMade * static_cast<double>(bound.n_entries());
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
    return 12.0 * static_cast<double>(node.alive.size()) + static_cast<double>(node.fixed.size()) +
           8.0 * static_cast<double>(node.arc_shares.size()) +
           4.0 * static_cast<double>(problem_.n_vars() * problem_.n_cells() * 2) + 200.0 +
           (node.clusters == nullptr ? 0.0
                                     : 16.0 * static_cast<double>(node.clusters->charges.size()));
  }

  void expand_batch() {
    std::vector<std::unique_ptr<Node>> nodes;
    const bool is_root = result_.n_nodes == 0;
    while (!queue_.empty() && nodes.size() < kBatch) {
      if (queue_.front()->bound <= result_.best.score + options_.gap) break;
      nodes.push_back(pop());
    }
    const std::size_t root_steps = (options_.is_relaxed ? 2 : 1) * options_.root_steps;
    auto outcomes = expand(nodes, is_root ? root_steps : options_.node_steps);
    if (is_root && !outcomes[0].children.empty() && workers_[0]->counts_arcs(*nodes[0])) {
      root_ = std::make_unique<Node>(*outcomes[0].children[0]);
      root_->fixed = nodes[0]->fixed;
      root_->decision = {};
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      auto& outcome = outcomes[n];
      record_.expand(nodes[n]->number, std::move(outcome.record));
      for (auto& child : outcome.children) {
        child->number = n_created_++;
        child->record.bound = child->bound;
        record_.create(child->record);
        push(std::move(child));
      }
    }
    if (is_root) result_.priced_root_bound = std::max(outcomes[0].bound, closed_bound());
    if (is_root && options_.is_relaxed) workers_[0]->tell_root(result_);
    if (progress_ != nullptr) progress_->note(result_.best.score);
  }

  std::vector<Outcome> expand(const std::vector<std::unique_ptr<Node>>& nodes,
                              std::size_t n_steps) {
    std::vector<Outcome> outcomes(nodes.size());
    const double incumbent = result_.best.score;
    const double max_work = work_left() / static_cast<double>(nodes.size());
    // A single node is not worth a thread of its own.
    const std::size_t n_threads = nodes.size() > 1 ? workers_.size() : 1;
    parallel_for(nodes.size(), n_threads, {}, [&](std::size_t n, std::size_t thread) {
      outcomes[n] = workers_[thread]->expand(*nodes[n], incumbent, n_steps, max_work);
    });
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      ++result_.n_nodes;
      const auto& node = *nodes[n];
      auto& outcome = outcomes[n];
      branching_.note(node.decision, node.bound - node.estimate,
                      node.bound - std::max(outcome.bound, std::min(node.bound, incumbent)));
      result_.work += outcome.work;
      for (auto& pair : outcome.found) accept(std::move(pair));
    }
    return outcomes;
  }

  // Sets the tree aside that fixes cells alone, and begins another at the root that fixes arcs,
  // too; the one with the lower bound is kept.
  void race() {
    const auto is_open = [&] {
      return !queue_.empty() && queue_.front()->bound > result_.best.score + options_.gap;
    };
    if (root_ != nullptr && result_.n_nodes >= options_.race_nodes && is_open()) {
      race_end_ = (1.0 + kRaceWork) * result_.work;
      root_->bound = root_->estimate = result_.bound;
      root_->number = n_created_++;
      root_->step = 1.0;
      aside_.swap(queue_);
      has_arcs_ = true;
      push(std::move(root_));
    }
    if (aside_.empty() || queue_.empty()) return;
    const bool is_ahead = queue_.front()->bound < aside_.front()->bound;
    if (!is_ahead && result_.work < race_end_) return;
    if (!is_ahead) {
      queue_.swap(aside_);
      has_arcs_ = false;
    }
    for (const auto& node : aside_) bytes_ -= node_bytes(*node);
    aside_.clear();
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

  // --- what is kept of it ---

  std::string state() const {
    StateWriter out;
    out.put(kTreeState);
    save_result(out);
    out.put(root_alive_);
    out.put(tables_.max_entries);
    out.put(n_created_);
    out.put(options_.is_relaxed);
    branching_.save(out);
    std::vector<const Node*> nodes;
    for (const auto* list : {&queue_, &aside_})
      for (const auto& node : *list) nodes.push_back(node.get());
    if (root_ != nullptr) nodes.push_back(root_.get());
    out.put(has_arcs_);
    out.put(race_end_);
    out.put<std::uint64_t>(aside_.size());
    out.put(root_ != nullptr);
    std::vector<const Prices*> prices;  // those of nodes are often the same
    std::unordered_map<const Prices*, std::uint32_t> places;
    for (const auto* node : nodes)
      if (places.try_emplace(node->prices.get(), static_cast<std::uint32_t>(prices.size())).second)
        prices.push_back(node->prices.get());
    out.put<std::uint64_t>(prices.size());
    for (const auto* each : prices) save(out, *each);
    out.put<std::uint64_t>(nodes.size());
    for (const auto* node : nodes) {
      if (options_.is_relaxed) {
        out.put(node->clusters->clusters);
        out.put(node->clusters->least);
        out.put(node->clusters->charges);
      }
      out.put(node->bound);
      out.put(node->estimate);
      out.put(node->number);
      out.put(node->decision.kind);
      out.put(node->decision.place);
      save(out, node->fixed);
      out.put(node->step);
      out.put(node->alive);
      out.put(node->values);
      out.put(node->arc_shares);
      out.put(places.at(node->prices.get()));
    }
    record_.save(out);
    return out.take();
  }

  void load() {
    StateReader in(keeper_.earlier());
    StateReader::require(in.get<std::uint64_t>() == kTreeState);
    load_result(in);
    const std::size_t n_families = problem_.families().size();
    root_alive_ = in.get_all_below<std::uint32_t>(n_families);
    tables_.max_entries = in.get<std::size_t>();
    n_created_ = in.get<std::size_t>();
    StateReader::require(in.get_flag() == options_.is_relaxed);
    branching_.load(in);
    has_arcs_ = in.get_flag();
    race_end_ = in.get<double>();
    const auto n_aside = in.get_size(3 * sizeof(double));
    const bool has_root = in.get_flag();
    std::vector<std::shared_ptr<const Prices>> prices(in.get_size(2 * sizeof(std::uint64_t)));
    for (auto& each : prices) each = std::make_shared<const Prices>(read_prices(in, problem_));
    const std::vector<std::uint8_t> is_alive = marked(root_alive_);
    std::vector<std::unique_ptr<Node>> nodes;
    for (auto n_left = in.get_size(3 * sizeof(double)); n_left > 0; --n_left) {
      auto node = std::make_unique<Node>();
      if (options_.is_relaxed) node->clusters = read_clusters(in);
      node->bound = in.get<double>();
      node->estimate = in.get<double>();
      node->number = in.get_below<std::size_t>(n_created_);
      node->decision = branching_.read_decision(in);
      node->fixed = read_completion(in, problem_, true);
      node->step = in.get<double>();
      node->alive = in.get_all_below<std::uint32_t>(n_families);
      node->values = in.get_all<double>();
      StateReader::require(node->values.empty() || node->values.size() == node->alive.size());
      for (const auto f : node->alive) StateReader::require(is_alive[f] != 0);
      node->arc_shares = in.get_all<double>();
      StateReader::require(node->arc_shares.empty() ||
                           node->arc_shares.size() == problem_.n_vars() * problem_.n_vars());
      node->prices = prices[in.get_below<std::uint32_t>(prices.size())];
      nodes.push_back(std::move(node));
    }
    if (has_root) {
      StateReader::require(!nodes.empty());
      root_ = std::move(nodes.back());
      nodes.pop_back();
    }
    StateReader::require(nodes.size() >= n_aside);
    const std::size_t n_open = nodes.size() - n_aside;
    for (std::size_t n = n_open; n < nodes.size(); ++n) push(std::move(nodes[n]));
    aside_.swap(queue_);
    for (std::size_t n = 0; n < n_open; ++n) push(std::move(nodes[n]));
    record_.load(in, problem_, n_created_);
    in.require_end();
  }

  static std::shared_ptr<const ClusterPrices> read_clusters(StateReader& in) {
    auto clusters = std::make_shared<ClusterPrices>();
    clusters->clusters = in.get_all<std::uint64_t>();
    clusters->least = in.get_all<std::uint8_t>();
    clusters->charges = in.get_all<double>();
    StateReader::require(clusters->clusters.size() == clusters->charges.size() &&
                         clusters->least.size() == clusters->charges.size());
    for (const auto least : clusters->least) StateReader::require(least >= 1 && least <= 3);
    for (const double charge : clusters->charges)
      StateReader::require(charge >= 0.0 && charge < 1e9);
    return clusters;
  }

  void save_result(StateWriter& out) const {
    save(out, result_.best);
    save(out, result_.trace);
    out.put(result_.start_score);
    out.put(result_.start_is_certified);
    out.put(result_.bound);
    out.put(result_.root_bound);
    out.put(result_.priced_root_bound);
    out.put(result_.n_nodes);
    out.put(result_.work);
    out.put(result_.n_families);
    out.put(result_.n_alive);
    out.put(result_.root_families);
    out.put(result_.root_prices);
  }

  void load_result(StateReader& in) {
    result_.best = read_pair(in, problem_);
    result_.trace = read_trace(in);
    result_.start_score = in.get<double>();
    result_.start_is_certified = in.get_flag();
    result_.bound = in.get<double>();
    result_.root_bound = in.get<double>();
    result_.priced_root_bound = in.get<double>();
    result_.n_nodes = in.get<std::size_t>();
    result_.work = in.get<double>();
    result_.n_families = in.get<std::size_t>();
    result_.n_alive = in.get<std::size_t>();
    result_.root_families = in.get_all_below<std::uint32_t>(problem_.families().size());
    result_.root_prices = in.get_all<double>();
    StateReader::require(result_.root_prices.empty() ||
                         result_.root_prices.size() == Prices(problem_).values().size());
  }

  std::vector<std::uint8_t> marked(const std::vector<std::uint32_t>& families) const {
    std::vector<std::uint8_t> is_there(problem_.families().size(), 0);
    for (const auto f : families) is_there[f] = 1;
    return is_there;
  }

  const AugmentProblem& problem_;
  const ExactOptions& options_;
  const Stop& stop_;
  Progress* progress_;
  Keeper& keeper_;
  std::vector<std::uint32_t> root_alive_;
  RootTables tables_;
  Branching branching_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Node>> queue_;
  // To begin anew from, with its prices; and what was set aside then, until so much work is done.
  std::unique_ptr<Node> root_;
  std::vector<std::unique_ptr<Node>> aside_;
  double race_end_ = 0.0;
  bool has_arcs_ = false;
  double bytes_ = 0.0;
  std::size_t n_created_ = 0;
  ProofRecord record_;
  ExactResult result_;
};

}  // namespace

ExactResult solve_exactly(const AugmentProblem& problem,
                          const std::vector<AugmentProblem::Completion>& starts,
                          const ExactOptions& options, const Stop& stop, Progress* progress,
                          Keeper* keeper) {
  Keeper none;
  if (keeper == nullptr) keeper = &none;
  Search search(problem, options, stop, progress, *keeper);
  if (is_state_of(kTreeState, keeper->earlier())) return search.go_on();
  return search.run(mend_from(problem, starts, options.locality, options.n_threads,
                              options.is_relaxed, stop.share(kStartShare), progress, *keeper));
}

}  // namespace bayesmend
