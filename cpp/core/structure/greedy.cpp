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
        scores_(n_vars_, 0.0),
        gains_(n_vars_ * n_vars_, kMinusInfinity),
        best_add_(n_vars_, kStale),
        last_changed_(n_vars_ * n_vars_, 0),
        // Half of the pairs stay free, or a climb among few variables could not move.
        tabu_length_(std::min(options.tabu_length, n_vars_ * n_vars_ / 4)) {}

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

  // Finds out what adding or removing each parent of these children would change: remembered, or
  // scored anew.
  void refresh(const std::vector<std::size_t>& children) {
    std::vector<std::size_t> unknown;
    for (const auto c : children)
      if (!recall(c)) unknown.push_back(c);
    // A search that is over before that is done has scores of no use, and nothing looks at them.
    if (!score_changes(unknown))
      is_cut_ = true;
    else
      for (const auto c : unknown) remember(c);
  }

  bool score_changes(const std::vector<std::size_t>& children) {
    // Starting threads costs about as much as a hundred small tables.
    const bool is_large = children.size() > 1 || n_vars_ >= 256;
    const std::size_t n_parts =
        is_large ? std::max((n_vars_ + kPart - 1) / kPart, std::size_t{1}) : 1;
    const std::size_t n_threads = is_large ? scratch_.size() : 1;
    return parallel_for(children.size() * n_parts, n_threads, stop_,
                        [&](std::size_t task, std::size_t thread) {
                          const std::size_t part = task % n_parts;
                          refresh_range(children[task / n_parts], n_vars_ * part / n_parts,
                                        n_vars_ * (part + 1) / n_parts, scratch_[thread]);
                        });
  }

  // Restarts meet the same families again and again.
  bool recall(std::size_t child) {
    const auto known = known_.find(parents_[child], child);
    if (!known) return false;
    scores_[child] = known_scores_[*known];
    best_add_[child] = kStale;
    std::copy_n(known_gains_.begin() + static_cast<std::ptrdiff_t>(*known * n_vars_), n_vars_,
                gains_.begin() + static_cast<std::ptrdiff_t>(child * n_vars_));
    return true;
  }
  void remember(std::size_t child) {
    if (known_gains_.size() + n_vars_ > kMostRemembered) return;
    known_.insert(parents_[child], child);
    known_scores_.push_back(scores_[child]);
    const auto row = gains_.begin() + static_cast<std::ptrdiff_t>(child * n_vars_);
    known_gains_.insert(known_gains_.end(), row, row + static_cast<std::ptrdiff_t>(n_vars_));
  }

  void refresh_range(std::size_t child, std::size_t begin, std::size_t end,
                     FamilyScorer::Scratch& scratch) {
    const auto c = child;
    const auto& parents = parents_[child];
    const double now = scorer_.family(c, parents, scratch);
    if (begin == 0) {
      scores_[child] = now;
      best_add_[child] = kStale;
    }
    std::vector<Var> set, added;
    for (std::size_t p = begin; p < end; ++p) {
      gain(p, child) = kMinusInfinity;
      if (std::ranges::binary_search(parents, p)) {
        set.clear();
        for (const auto q : parents)
          if (q != p) set.push_back(q);
        gain(p, child) = scorer_.family(c, set, scratch) - now;
      } else if (may_add(p, child)) {
        added.push_back(p);
      }
    }
    score_additions(child, added, now, scratch);
  }

  // The tables of (parents, child, new parent) share all but their last variable.
  void score_additions(std::size_t child, const std::vector<Var>& added, double now,
                       FamilyScorer::Scratch& scratch) {
    const auto& counter = scorer_.counter();
    std::vector<Var> members, sparse;
    Margin space;
    if (counter.is_weighted()) {
      sparse = added;
    } else {
      const auto sets = with_each(child, added, members);
      scorer_.visit_counts(sets, scratch, [&](std::size_t s, auto counts) {
        if (static_cast<double>(counts.size()) != counter.n_cells(sets[s]))
          sparse.push_back(added[s]);
        else
          gain(added[s], child) = score_whole(child, sets[s], counts, space, scratch) - now;
      });
    }
    for (const Var p : sparse) {
      auto& family = space.parents;
      family.assign(parents_[child].begin(), parents_[child].end());
      family.insert(std::ranges::upper_bound(family, p), p);
      gain(p, child) = scorer_.family(static_cast<Var>(child), family, scratch) - now;
    }
  }

  // The sets (parents, child, new parent), whose members are kept in `members`.
  std::vector<VariableSet> with_each(std::size_t child, const std::vector<Var>& added,
                                     std::vector<Var>& members) const {
    const auto& parents = parents_[child];
    const std::size_t size = parents.size() + 2;
    std::vector<VariableSet> sets;
    members.reserve(added.size() * size);
    for (const Var p : added) {
      members.insert(members.end(), parents.begin(), parents.end());
      members.push_back(static_cast<Var>(child));
      members.push_back(p);
      sets.emplace_back(members.data() + members.size() - size, size);
    }
    return sets;
  }

  struct Margin {
    std::vector<Var> parents;
    std::vector<std::uint32_t> counts;
  };

  // The score of the child given the rest of a set whose whole table was counted: the margin over
  // the child, the last variable but one, is the table of the parents.
  template <class Counts>
  double score_whole(std::size_t child, VariableSet set, const Counts& counts, Margin& margin,
                     FamilyScorer::Scratch& scratch) const {
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
    return scorer_.value(counts, joint_pseudo, n_cells, scratch) -
           scorer_.value(given, given_pseudo, n_cells / card, scratch) -
           scorer_.penalty(static_cast<Var>(child), margin.parents.size(), n_cells) -
           scorer_.unsupported_cost(set, counts, scratch);
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
      for (std::size_t p = 0; p < n_vars_; ++p)
        if (gain(p, c) > most && is_addition(p, c)) most = gain(p, c), best_add_[c] = p;
    }
    const std::size_t first = best_add_[c];
    if (first == kNoParent || gain(first, c) <= best.gain) return;
    if (!ancestry_.holds(c, first) && !is_tabu(first, c)) {
      consider(Kind::add, first, c, gain(first, c));
      return;
    }
    for (std::size_t p = 0; p < n_vars_; ++p)
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
  // Gains that are kept: 128 MB.
  static constexpr std::size_t kMostRemembered = std::size_t{1} << 24;
  static constexpr double kTolerance = 1e-9;
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
  std::vector<double> scores_;
  std::vector<double> gains_;          // [child][parent]: of adding it, or of removing it
  std::vector<std::size_t> best_add_;  // per child, cycles aside
  SetIndex known_{256};                // (parents, child) whose gains are remembered
  std::vector<double> known_scores_, known_gains_;
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
