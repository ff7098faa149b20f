#include "core/structure/greedy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/base/rng.hpp"
#include "core/score/setindex.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Which variables are ancestors of which, kept up to date as arcs come and go.
class Ancestry {
 public:
  explicit Ancestry(std::size_t n_vars)
      : n_vars_(n_vars), n_words_((n_vars + 63) / 64), bits_(n_vars * n_words_, 0) {}

  bool holds(std::size_t ancestor, std::size_t of) const {
    return (bits_[of * n_words_ + ancestor / 64] >> (ancestor % 64)) & 1;
  }

  void rebuild(const std::vector<std::vector<Var>>& parents) {
    std::fill(bits_.begin(), bits_.end(), 0);
    std::vector<std::uint8_t> done(n_vars_, 0);
    for (std::size_t v = 0; v < n_vars_; ++v) visit(v, parents, done);
  }

  void add(std::size_t parent, std::size_t child) {
    for (std::size_t v = 0; v < n_vars_; ++v) {
      if (v != child && !holds(child, v)) continue;
      merge(parent, v);
    }
  }

 private:
  void merge(std::size_t parent, std::size_t into) {
    for (std::size_t w = 0; w < n_words_; ++w)
      bits_[into * n_words_ + w] |= bits_[parent * n_words_ + w];
    bits_[into * n_words_ + parent / 64] |= std::uint64_t{1} << (parent % 64);
  }

  void visit(std::size_t v, const std::vector<std::vector<Var>>& parents,
             std::vector<std::uint8_t>& done) {
    if (done[v]) return;
    done[v] = 1;
    for (const auto p : parents[v]) {
      visit(p, parents, done);
      merge(p, v);
    }
  }

  std::size_t n_vars_, n_words_;
  std::vector<std::uint64_t> bits_;
};

enum class Kind : std::uint8_t { none, add, remove, reverse };

struct Change {
  Kind kind = Kind::none;
  std::size_t parent = 0, child = 0;
  double gain = kMinusInfinity;
};

class Climber {
 public:
  Climber(const FamilyScorer& scorer, const ParentRules& rules, const GreedyOptions& options,
          std::size_t n_threads, const Stop& stop)
      : scorer_(scorer),
        rules_(rules),
        options_(options),
        stop_(stop),
        n_vars_(scorer.counter().table().n_vars),
        scratch_(resolve_threads(n_threads)),
        rng_(options.seed, 0),
        ancestry_(n_vars_),
        choices_(n_vars_),
        promising_(n_vars_),
        scores_(n_vars_, 0.0),
        gains_(n_vars_ * n_vars_, kMinusInfinity),
        best_add_(n_vars_, kStale),
        last_changed_(n_vars_ * n_vars_, 0),
        // Half of the pairs stay free, or a climb among few variables could not move.
        tabu_length_(std::min(options.tabu_length, n_vars_ * n_vars_ / 4)) {
    for (Var c = 0; c < n_vars_; ++c)
      for (Var p = 0; p < n_vars_; ++p)
        if (p != c && rules_.allowed[c * n_vars_ + p]) choices_[c].push_back(p);
  }

  GreedyResult run(const std::vector<std::vector<Var>>& start) {
    best_parents_ = start;
    load(start);
    best_ = is_cut_ ? kMinusInfinity : total_;
    climb();
    std::size_t n_restarts = 0, in_vain = 0;
    while (in_vain < options_.restarts && n_restarts / longest_search() < options_.restarts &&
           !stop_.poll()) {
      const double before = best_;
      load(perturbed(best_parents_));
      climb();
      ++n_restarts;
      in_vain = best_ > before ? 0 : in_vain + 1;
    }
    return {.score = best_,
            .parents = best_parents_,
            .others = others_near_best(),
            .promising = std::move(promising_),
            .n_changes = n_changes_,
            .n_restarts = n_restarts,
            .stopped = stop_.reason()};
  }

 private:
  static constexpr std::size_t kStale = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kNoParent = kStale - 1;

  // How many times the restarts asked for are made at most: climbs among many variables take
  // long, and one of hundreds of changes in a row that gain a little would never end.
  std::size_t longest_search() const {
    return std::clamp<std::size_t>(kManyVars / std::max<std::size_t>(n_vars_, 1), 1, 20);
  }

  bool may_add(std::size_t parent, std::size_t child) const {
    return parent != child && rules_.allowed[child * n_vars_ + parent] &&
           parents_[child].size() < rules_.limit[child];
  }
  bool may_remove(std::size_t parent, std::size_t child) const {
    return !rules_.required[child * n_vars_ + parent];
  }
  double& gain(std::size_t parent, std::size_t child) { return gains_[child * n_vars_ + parent]; }
  double gain(std::size_t parent, std::size_t child) const {
    return gains_[child * n_vars_ + parent];
  }

  void load(const std::vector<std::vector<Var>>& parents) {
    const bool is_first = parents_.empty();
    std::vector<std::size_t> stale;
    for (std::size_t c = 0; c < n_vars_; ++c)
      if (is_first || parents_[c] != parents[c]) stale.push_back(c);
    parents_ = parents;
    ancestry_.rebuild(parents_);
    refresh(stale);
    std::fill(last_changed_.begin(), last_changed_.end(), 0);
    add_up();
  }

  void add_up() {
    total_ = 0.0;
    for (const auto score : scores_) total_ += score;
  }

  // What adding each parent that a child may have, or removing each that it has, would change.
  struct Gains {
    std::size_t child;
    std::vector<Var> parents;
    double score = 0.0;
    std::vector<double> additions = {};  // in the order of choices_
    std::vector<double> removals = {};   // in the order of the parents
  };

  // Finds out what the changes to the parents of these children would gain: remembered, or scored
  // anew.
  void refresh(const std::vector<std::size_t>& children) {
    std::vector<Gains> unknown;
    for (const auto c : children)
      if (!recall(c)) unknown.push_back({.child = c, .parents = parents_[c]});
    if (unknown.empty()) return;
    const std::size_t n_wanted = unknown.size();
    foresee(unknown, children);
    // A search that is over before that is done has scores of no use, and nothing looks at them.
    if (!score_changes(unknown)) {
      is_cut_ = true;
      return;
    }
    for (std::size_t u = 0; u < unknown.size(); ++u) {
      if (u < n_wanted) take(unknown[u]);
      remember(unknown[u], u < n_wanted);
    }
  }

  // Families that a climb will most likely come to are scored at the same time on threads that
  // would be idle: what a change to one child gains does not depend on the parents of others.
  void foresee(std::vector<Gains>& wanted, const std::vector<std::size_t>& stale) const {
    const std::size_t n_at_once = kAhead * scratch_.size();
    if (scratch_.size() == 1 || wanted.size() >= n_at_once || !is_worth_threads(wanted[0].child) ||
        !may_remember(2 * n_at_once))
      return;
    std::vector<Change> likely;
    for (std::size_t c = 0; c < n_vars_; ++c) {
      const std::size_t p = best_add_[c];
      if (p >= kNoParent || gain(p, c) <= kTolerance || !is_addition(p, c) ||
          ancestry_.holds(c, p) || is_tabu(p, c) || std::ranges::find(stale, c) != stale.end())
        continue;
      likely.push_back({Kind::add, p, c, gain(p, c)});
    }
    std::ranges::stable_sort(likely, std::greater{}, &Change::gain);
    std::vector<Change> taken;
    for (const auto& change : likely) {
      if (wanted.size() == n_at_once) return;
      // Of an arc and the one that turns it round, only one can come.
      const auto is_turned = [&](const Change& other) {
        return other.parent == change.child && other.child == change.parent;
      };
      if (std::ranges::any_of(taken, is_turned)) continue;
      taken.push_back(change);
      auto parents = parents_[change.child];
      parents.insert(std::ranges::upper_bound(parents, change.parent),
                     static_cast<Var>(change.parent));
      if (!known_.find(parents, static_cast<std::uint32_t>(change.child)))
        wanted.push_back({.child = change.child, .parents = std::move(parents)});
    }
  }

  // Starting threads costs about as much as a hundred small tables.
  bool is_worth_threads(std::size_t child) const {
    const auto& counter = scorer_.counter();
    const std::size_t per_row = counter.is_expected() ? kExpectedCost : 1;
    return choices_[child].size() * counter.table().n_rows * per_row >= kWorthThreads;
  }

  bool score_changes(std::vector<Gains>& rows) {
    struct Task {
      std::size_t row, begin, end;
    };
    std::vector<Task> tasks;
    const bool is_large = rows.size() > 1 || is_worth_threads(rows[0].child);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::size_t n_choices = choices_[rows[r].child].size();
      rows[r].additions.assign(n_choices, kMinusInfinity);
      const std::size_t n_parts = std::max((n_choices + kPart - 1) / kPart, std::size_t{1});
      for (std::size_t part = 0; part < n_parts; ++part)
        tasks.push_back({r, n_choices * part / n_parts, n_choices * (part + 1) / n_parts});
    }
    return parallel_for(tasks.size(), is_large ? scratch_.size() : 1, stop_,
                        [&](std::size_t t, std::size_t thread) {
                          const auto& [row, begin, end] = tasks[t];
                          score_range(rows[row], begin, end, scratch_[thread]);
                        });
  }

  // Restarts meet the same families again and again.
  bool recall(std::size_t child) {
    const auto known = known_.find(parents_[child], static_cast<std::uint32_t>(child));
    if (!known) return false;
    const auto& choices = choices_[child];
    const auto& parents = parents_[child];
    const double* row = known_gains_.data() + known_start_[*known];
    if (!std::exchange(known_is_met_[*known], 1)) note_promising(child, {row, choices.size()});
    scores_[child] = known_scores_[*known];
    best_add_[child] = kStale;
    for (std::size_t i = 0; i < choices.size(); ++i) gain(choices[i], child) = row[i];
    for (std::size_t q = 0; q < parents.size(); ++q)
      gain(parents[q], child) = row[choices.size() + q];
    return true;
  }
  bool may_remember(std::size_t n_rows) const {
    return known_gains_.size() + n_rows * n_vars_ <= options_.max_remembered;
  }
  void remember(const Gains& row, bool is_met) {
    if (!may_remember(1)) return;
    known_.insert(row.parents, static_cast<std::uint32_t>(row.child));
    known_is_met_.push_back(static_cast<char>(is_met));
    known_scores_.push_back(row.score);
    known_gains_.insert(known_gains_.end(), row.additions.begin(), row.additions.end());
    known_gains_.insert(known_gains_.end(), row.removals.begin(), row.removals.end());
    known_start_.push_back(known_gains_.size());
  }
  void take(const Gains& row) {
    scores_[row.child] = row.score;
    best_add_[row.child] = kStale;
    const auto& choices = choices_[row.child];
    for (std::size_t i = 0; i < choices.size(); ++i) gain(choices[i], row.child) = row.additions[i];
    for (std::size_t q = 0; q < row.parents.size(); ++q)
      gain(row.parents[q], row.child) = row.removals[q];
    note_promising(row.child, row.additions);
  }
  // The parents that would gain the most where the search has been, not where it might have gone:
  // that depends on the number of threads.
  void note_promising(std::size_t child, std::span<const double> additions) {
    if (options_.n_promising == 0) return;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < additions.size(); ++i)
      if (additions[i] > kMinusInfinity) order.push_back(i);
    const std::size_t n = std::min(options_.n_promising, order.size());
    std::ranges::partial_sort(
        order, order.begin() + static_cast<std::ptrdiff_t>(n), [&](std::size_t a, std::size_t b) {
          return additions[a] != additions[b] ? additions[a] > additions[b] : a < b;
        });
    auto& list = promising_[child];
    for (std::size_t k = 0; k < n; ++k) {
      const Var p = choices_[child][order[k]];
      if (const auto at = std::ranges::lower_bound(list, p); at == list.end() || *at != p)
        list.insert(at, p);
    }
  }

  // Scores some of the choices of a child and, with the first of them, all that it may lose.
  void score_range(Gains& row, std::size_t begin, std::size_t end, FamilyScorer::Scratch& scratch) {
    const auto child = static_cast<Var>(row.child);
    const double now = scorer_.family(child, row.parents, scratch);
    if (begin == 0) {
      row.score = now;
      std::vector<Var> set;
      for (const auto p : row.parents) {
        set.clear();
        for (const auto q : row.parents)
          if (q != p) set.push_back(q);
        row.removals.push_back(scorer_.family(child, set, scratch) - now);
      }
    }
    if (row.parents.size() >= rules_.limit[row.child]) return;
    const auto& counter = scorer_.counter();
    const auto& card = counter.table().card;
    const double n_cells = counter.n_cells(row.parents) * card[row.child];
    std::vector<std::size_t> added;
    for (std::size_t i = begin; i < end; ++i) {
      const Var p = choices_[row.child][i];
      const bool has_room = n_cells * card[p] <= counter.most_entries();
      if (has_room && !std::ranges::binary_search(row.parents, p)) added.push_back(i);
    }
    score_additions(row, added, now, scratch);
  }

  // The tables of (parents, child, new parent) share all but their last variable.
  void score_additions(Gains& row, const std::vector<std::size_t>& added, double now,
                       FamilyScorer::Scratch& scratch) const {
    const auto& counter = scorer_.counter();
    const auto& choices = choices_[row.child];
    std::vector<Var> members;
    std::vector<std::size_t> sparse;
    Margin space;
    if (counter.is_weighted()) {
      sparse = added;
    } else {
      const auto sets = with_each(row, added, members);
      scorer_.visit_counts(sets, scratch, [&](std::size_t s, auto counts) {
        if (static_cast<double>(counts.size()) != counter.n_cells(sets[s]))
          sparse.push_back(added[s]);
        else
          row.additions[added[s]] = gain_whole(row.child, sets[s], counts, now, space, scratch);
      });
    }
    for (const auto i : sparse) {
      auto& family = space.parents;
      family.assign(row.parents.begin(), row.parents.end());
      family.insert(std::ranges::upper_bound(family, choices[i]), choices[i]);
      row.additions[i] = scorer_.family(static_cast<Var>(row.child), family, scratch) - now;
    }
  }

  // The sets (parents, child, new parent), whose members are kept in `members`.
  std::vector<VariableSet> with_each(const Gains& row, const std::vector<std::size_t>& added,
                                     std::vector<Var>& members) const {
    const std::size_t size = row.parents.size() + 2;
    std::vector<VariableSet> sets;
    members.reserve(added.size() * size);
    for (const auto i : added) {
      members.insert(members.end(), row.parents.begin(), row.parents.end());
      members.push_back(static_cast<Var>(row.child));
      members.push_back(choices_[row.child][i]);
      sets.emplace_back(members.data() + members.size() - size, size);
    }
    return sets;
  }

  struct Margin {
    std::vector<Var> parents;
    std::vector<std::uint32_t> counts;
  };

  // What the score of the child given the rest of a set, whose whole table was counted, is above
  // `now`: the margin over the child, the last variable but one, is the table of the parents. Of a
  // loss beyond hope, what rows without an example would add to it is not computed.
  template <class Counts>
  double gain_whole(std::size_t child, VariableSet set, const Counts& counts, double now,
                    Margin& margin, FamilyScorer::Scratch& scratch) const {
    const auto& table = scorer_.counter().table();
    const auto card = table.card[child], last_card = table.card[set.back()];
    margin.counts.assign(counts.size() / card, 0);
    for (std::size_t j = 0, cell = 0; j < margin.counts.size(); j += last_card)
      for (std::size_t k = 0; k < card; ++k)
        for (std::size_t l = 0; l < last_card; ++l)
          margin.counts[j + l] += static_cast<std::uint32_t>(counts[cell++]);
    margin.parents.assign(set.begin(), set.end() - 2);
    margin.parents.push_back(set.back());
    const double n_cells = scorer_.counter().n_cells(set);
    const std::span<const std::uint32_t> given(margin.counts);
    const double given_pseudo = scorer_.is_sparse()
                                    ? scorer_.sparse_pseudo_count(scorer_.n_occurring(given))
                                    : scorer_.parent_pseudo_count(margin.parents, card);
    const double joint_pseudo =
        scorer_.is_sparse() ? given_pseudo / card : scorer_.joint_pseudo_count(set);
    const double score = scorer_.value(counts, joint_pseudo, n_cells, scratch) -
                         scorer_.value(given, given_pseudo, n_cells / card, scratch) -
                         scorer_.penalty(static_cast<Var>(child), margin.parents.size(), n_cells);
    if (score - now < -kHopeless) return score - now;
    return score - scorer_.unsupported_cost(set, counts, scratch) - now;
  }

  bool is_tabu(std::size_t parent, std::size_t child) const {
    const auto last = last_changed_[std::min(parent, child) * n_vars_ + std::max(parent, child)];
    return last > 0 && n_moves_ - last < tabu_length_;
  }

  bool reversal_is_acyclic(std::size_t parent, std::size_t child) const {
    for (const auto q : parents_[child])
      if (q != parent && ancestry_.holds(parent, q)) return false;
    return true;
  }

  // The best change; a tabu one only when it leads to a new best.
  Change best_change() {
    Change best;
    const double needed = best_ + kTolerance - total_;
    auto consider = [&](Kind kind, std::size_t parent, std::size_t child, double change) {
      if (change > best.gain && (change > needed || !is_tabu(parent, child)))
        best = {kind, parent, child, change};
    };
    for (std::size_t c = 0; c < n_vars_; ++c) {
      for (const auto q : parents_[c]) {
        const auto p = q;
        if (!may_remove(p, c)) continue;
        const double removal = gain(p, c);
        consider(Kind::remove, p, c, removal);
        if (may_add(c, p) && removal + gain(c, p) > best.gain && reversal_is_acyclic(p, c))
          consider(Kind::reverse, p, c, removal + gain(c, p));
      }
      consider_additions(c, best, consider);
    }
    return best;
  }

  template <class Consider>
  void consider_additions(std::size_t c, const Change& best, Consider&& consider) {
    if (best_add_[c] == kStale) {
      best_add_[c] = kNoParent;
      double most = kMinusInfinity;
      for (const auto p : choices_[c])
        if (gain(p, c) > most && is_addition(p, c)) most = gain(p, c), best_add_[c] = p;
    }
    const std::size_t first = best_add_[c];
    if (first == kNoParent || gain(first, c) <= best.gain) return;
    if (!ancestry_.holds(c, first) && !is_tabu(first, c)) {
      consider(Kind::add, first, c, gain(first, c));
      return;
    }
    for (const auto p : choices_[c])
      if (gain(p, c) > best.gain && is_addition(p, c) && !ancestry_.holds(c, p))
        consider(Kind::add, p, c, gain(p, c));
  }

  bool is_addition(std::size_t p, std::size_t c) const {
    return may_add(p, c) && !std::ranges::binary_search(parents_[c], p);
  }

  void insert_parent(std::size_t parent, std::size_t child) {
    auto& parents = parents_[child];
    parents.insert(std::ranges::upper_bound(parents, parent), parent);
  }
  void erase_parent(std::size_t parent, std::size_t child) { std::erase(parents_[child], parent); }

  void apply(const Change& change) {
    const auto [kind, parent, child, change_gain] = change;
    if (kind == Kind::add) {
      insert_parent(parent, child);
      ancestry_.add(parent, child);
      refresh({child});
    } else {
      erase_parent(parent, child);
      if (kind == Kind::reverse) insert_parent(child, parent);
      ancestry_.rebuild(parents_);
      refresh({child});
      if (kind == Kind::reverse) refresh({parent});
    }
    ++n_moves_;
    ++n_changes_;
    last_changed_[std::min(parent, child) * n_vars_ + std::max(parent, child)] = n_moves_;
    add_up();
  }

  void climb() {
    std::size_t idle = 0;
    here_ = {.score = kMinusInfinity, .parents = {}};
    while (!stop_.poll()) {
      if (keep_if_best()) idle = 0;
      if (options_.progress) options_.progress->note(total_);
      const Change change = best_change();
      if (change.kind == Kind::none) break;
      if (change.gain <= kTolerance && ++idle > options_.tabu_moves) break;
      apply(change);
    }
    keep_if_best();
    note_end();
  }

  bool keep_if_best() {
    if (!is_cut_ && total_ > here_.score && total_ > best_ - options_.near)
      here_ = {.score = total_, .parents = parents_};
    if (is_cut_ || total_ <= best_ + kTolerance) return false;
    best_ = total_;
    best_parents_ = parents_;
    return true;
  }

  // Remembers the best DAG of a climb.
  void note_end() {
    if (here_.parents.empty() || here_.score <= best_ - options_.near) return;
    const auto is_same = [&](const FoundDag& end) { return end.parents == here_.parents; };
    if (std::ranges::none_of(ends_, is_same)) ends_.push_back(here_);
    if (ends_.size() > 2 * kMostOthers) leave_nearest();
  }

  void leave_nearest() {
    std::erase_if(ends_, [&](const FoundDag& end) { return end.score <= best_ - options_.near; });
    std::ranges::stable_sort(ends_, std::greater{}, &FoundDag::score);
    if (ends_.size() > kMostOthers) ends_.resize(kMostOthers);
  }

  std::vector<FoundDag> others_near_best() {
    std::erase_if(ends_, [&](const FoundDag& end) { return end.parents == best_parents_; });
    leave_nearest();
    return std::move(ends_);
  }

  // A DAG near `parents` that keeps the rules: some variables without arcs, some new arcs.
  std::vector<std::vector<Var>> perturbed(const std::vector<std::vector<Var>>& parents) {
    const auto current = parents_;  // which the gains belong to
    parents_ = parents;
    ancestry_.rebuild(parents_);
    // Measured on ALARM, HAILFINDER and ANDES: variables taken out and put back find more than
    // as many changes of single arcs.
    const std::size_t n_isolated = 2 + rng_.below(std::max<std::size_t>(7, n_vars_ / 10));
    for (std::size_t k = 0; k < n_isolated; ++k) isolate(rng_.below(n_vars_));
    ancestry_.rebuild(parents_);
    const std::size_t n_added = rng_.below(5);
    for (std::size_t k = 0; k < n_added; ++k) add_some_arc();
    return std::exchange(parents_, current);
  }

  // Takes all arcs of a variable away but the required ones.
  void isolate(std::size_t variable) {
    std::erase_if(parents_[variable], [&](Var p) { return may_remove(p, variable); });
    for (std::size_t c = 0; c < n_vars_; ++c)
      if (may_remove(variable, c)) erase_parent(variable, c);
  }

  void add_some_arc() {
    for (std::size_t attempt = 0; attempt < 20; ++attempt) {
      const std::size_t p = rng_.below(n_vars_), c = rng_.below(n_vars_);
      if (!is_addition(p, c) || ancestry_.holds(c, p)) continue;
      insert_parent(p, c);
      ancestry_.add(p, c);
      return;
    }
  }

  // Parents per task: a stop is noticed between two tasks.
  static constexpr std::size_t kPart = 128;
  // Families scored at a time, per thread, where threads are worth starting: for so many rows.
  static constexpr std::size_t kAhead = 4, kWorthThreads = 200'000;
  // What counting an expected row takes, in rows of a complete table.
  static constexpr std::size_t kExpectedCost = 8;
  static constexpr double kTolerance = 1e-9, kHopeless = 10.0;
  static constexpr std::size_t kManyVars = 1000;
  static constexpr std::size_t kMostOthers = 100;

  const FamilyScorer& scorer_;
  const ParentRules& rules_;
  const GreedyOptions& options_;
  const Stop& stop_;
  std::size_t n_vars_;
  std::vector<FamilyScorer::Scratch> scratch_;
  Rng rng_;
  Ancestry ancestry_;
  std::vector<std::vector<Var>> parents_, best_parents_;
  std::vector<std::vector<Var>> choices_;    // per child, the parents that it may have; ascending
  std::vector<std::vector<Var>> promising_;  // of them, those that gained the most; ascending
  std::vector<double> scores_;
  std::vector<double> gains_;          // [child][parent]: of adding it, or of removing it
  std::vector<std::size_t> best_add_;  // per child, cycles aside
  SetIndex known_{256};                // (parents, child) whose gains are remembered
  std::vector<double> known_scores_, known_gains_;
  std::vector<std::size_t> known_start_{0};  // where the gains of each start
  std::vector<char> known_is_met_;           // whether the search has been there
  std::vector<std::size_t> last_changed_;
  std::size_t tabu_length_;
  double total_ = 0.0, best_ = 0.0;
  FoundDag here_;               // the best of this climb, where it is near the best of all
  std::vector<FoundDag> ends_;  // of all climbs
  std::size_t n_moves_ = 0, n_changes_ = 0;
  bool is_cut_ = false;
};

}  // namespace

GreedyResult climb_greedily(const FamilyScorer& scorer, const ParentRules& rules,
                            const std::vector<std::vector<Var>>& start,
                            const GreedyOptions& options, std::size_t n_threads, const Stop& stop) {
  return Climber(scorer, rules, options, n_threads, stop).run(start);
}

}  // namespace bayesmend
