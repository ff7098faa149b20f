#include "core/structure/candidates.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <queue>

#include "core/score/setindex.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Candidate {
  double score;
  std::vector<Var> parents;
};

bool precedes(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.parents.size() != b.parents.size()) return a.parents.size() < b.parents.size();
  return a.parents < b.parents;
}

// A set must beat its subsets by more than rounding.
bool beats(double score, double other) {
  return score > other + 1e-11 * std::abs(score) + 1e-12 ||
         (other == kMinusInfinity && score > other);
}

OwnedParentLists pack(std::vector<std::vector<Candidate>>& lists) {
  OwnedParentLists packed;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end(), precedes);
    for (const auto& candidate : list) {
      packed.scores.push_back(candidate.score);
      packed.members.insert(packed.members.end(), candidate.parents.begin(),
                            candidate.parents.end());
      packed.member_offsets.push_back(packed.members.size());
    }
    packed.offsets.push_back(packed.scores.size());
  }
  return packed;
}

// Numbers the subsets of a given size: C(v_0, 1) + C(v_1, 2) + ... for ascending members.
class Ranks {
 public:
  Ranks(std::size_t n_vars, std::size_t max_size) : width_(max_size + 1) {
    choose_.assign((n_vars + 1) * width_, 0);
    for (std::size_t n = 0; n <= n_vars; ++n) {
      choose_[n * width_] = 1;
      for (std::size_t k = 1; k < width_ && k <= n; ++k)
        choose_[n * width_ + k] = choose(n - 1, k - 1) + choose(n - 1, k);
    }
  }
  std::size_t choose(std::size_t n, std::size_t k) const { return choose_[n * width_ + k]; }
  std::size_t rank(VariableSet set) const {
    std::size_t rank = 0;
    for (std::size_t t = 0; t < set.size(); ++t) rank += choose(set[t], t + 1);
    return rank;
  }
  // Rank of the set without its member at `left_out`.
  std::size_t rank_without(VariableSet set, std::size_t left_out) const {
    std::size_t rank = 0;
    for (std::size_t t = 0, size = 0; t < set.size(); ++t)
      if (t != left_out) rank += choose(set[t], ++size);
    return rank;
  }

 private:
  std::size_t width_;
  std::vector<std::size_t> choose_;
};

// Calls visit for every ascending set of `size` members that starts with `head`.
template <class Visit>
void for_each_set(std::vector<Var>& head, std::size_t size, std::size_t n_vars, Visit&& visit) {
  if (head.size() == size) {
    visit(head);
    return;
  }
  const Var first = head.empty() ? 0 : head.back() + 1;
  const std::size_t missing = size - head.size();
  for (Var v = first; v + missing <= n_vars; ++v) {
    head.push_back(v);
    for_each_set(head, size, n_vars, visit);
    head.pop_back();
  }
}

// Layer by layer: joint tables of t variables give the scores of all families with t - 1 parents.
class Exhaustive {
 public:
  Exhaustive(const FamilyScorer& scorer, const ParentRules& rules, const Stop& stop)
      : scorer_(scorer),
        rules_(rules),
        stop_(stop),
        card_(scorer.counter().table().card),
        n_vars_(scorer.counter().table().n_vars),
        max_parents_(largest_limit(rules, n_vars_)),
        ranks_(n_vars_, max_parents_ + 1),
        n_required_(n_vars_, 0),
        lists_(n_vars_) {
    for (std::size_t c = 0; c < n_vars_; ++c)
      for (std::size_t p = 0; p < n_vars_; ++p) n_required_[c] += rules.required[c * n_vars_ + p];
    for (const auto card : card_) child_cards_.push_back(card);
    std::ranges::sort(child_cards_);
    child_cards_.erase(std::unique(child_cards_.begin(), child_cards_.end()), child_cards_.end());
    if (scorer.rule().kind != ScoreKind::k2)
      child_cards_.resize(std::min<std::size_t>(1, child_cards_.size()));
  }

  OwnedParentLists run(std::size_t n_threads) {
    workers_ = std::vector<Worker>(resolve_threads(n_threads));
    layers_.resize(max_parents_ + 1);
    for (std::size_t size = 0; size <= max_parents_ + 1; ++size)
      if (!run_layer(size)) return {};
    return pack(lists_);
  }

 private:
  // What is remembered of the sets of one size.
  struct Layer {
    std::vector<double> values;  // as parents, per set and distinct child card; NaN: not counted
    std::vector<std::uint32_t> n_occupied;
    std::vector<double> best;          // per set and child: best score of the set or a subset
    std::vector<std::uint8_t> closed;  // per set and child: no superset can be better
  };

  struct Worker {
    FamilyScorer::Scratch joint, parents;  // two, since parents are counted while joint is in use
    std::vector<Var> family_parents;
    std::vector<double> joint_values;  // per member of a set as the child
  };

  using Found = std::vector<std::pair<Var, Candidate>>;

  static std::size_t largest_limit(const ParentRules& rules, std::size_t n_vars) {
    std::uint32_t largest = 0;
    for (const auto limit : rules.limit) largest = std::max(largest, limit);
    return std::min<std::size_t>(largest, n_vars - 1);
  }

  bool run_layer(std::size_t size) {
    if (size <= max_parents_) {
      auto& layer = layers_[size];
      const std::size_t n_sets = ranks_.choose(n_vars_, size);
      layer.values.assign(n_sets * child_cards_.size(), std::numeric_limits<double>::quiet_NaN());
      layer.n_occupied.assign(n_sets, 0);
      if (size < max_parents_) {
        layer.best.assign(n_sets * n_vars_, kMinusInfinity);
        layer.closed.assign(n_sets * n_vars_, 0);
      }
    }
    // One task per pair of first members.
    std::vector<std::vector<Var>> heads;
    std::vector<Var> head;
    for_each_set(head, std::min<std::size_t>(size, 2), n_vars_,
                 [&](const std::vector<Var>& set) { heads.push_back(set); });
    std::vector<Found> found(heads.size());
    const bool finished = parallel_for(
        heads.size(), workers_.size(), stop_,
        [&](std::size_t task, std::size_t thread) {
          run_task(heads[task], size, workers_[thread], found[task]);
        },
        Caller::waits);
    for (auto& list : found)
      for (auto& [child, candidate] : list) lists_[child].push_back(std::move(candidate));
    return finished && !stop_.has_ended();
  }

  void run_task(std::vector<Var> head, std::size_t size, Worker& worker, Found& found) {
    // Long tables in short batches, since a stop is noticed between two of them.
    const std::size_t n_rows = scorer_.counter().table().n_rows;
    const std::size_t batch =
        std::clamp<std::size_t>((std::size_t{1} << 23) / (n_rows + 1), 16, 512);
    std::vector<Var> members;
    std::vector<VariableSet> sets;
    members.reserve(batch * size + 1);
    auto flush = [&] {
      if (!stop_.has_ended()) score_sets(sets, worker, found);
      sets.clear();
      members.clear();
    };
    for_each_set(head, size, n_vars_, [&](const std::vector<Var>& set) {
      if (!has_live_family(set, worker)) return;
      const std::size_t first = members.size();
      members.insert(members.end(), set.begin(), set.end());
      sets.emplace_back(members.data() + first, size);
      if (sets.size() == batch) flush();
    });
    flush();
  }

  bool may_have(Var child, VariableSet joint) const {
    if (joint.size() > rules_.limit[child] + std::size_t{1}) return false;
    for (const auto p : joint)
      if (p != child && !rules_.allowed[child * n_vars_ + p]) return false;
    return true;
  }

  bool has_required(Var child, VariableSet joint) const {
    if (n_required_[child] == 0) return true;
    std::size_t present = 0;
    for (const auto p : joint) present += rules_.required[child * n_vars_ + p];
    return present == n_required_[child];
  }

  // The family of joint[position] given the rest may be a candidate. Leaves its parents in
  // the worker.
  bool is_live(VariableSet joint, std::size_t position, Worker& worker) {
    if (!may_have(joint[position], joint)) return false;
    auto& parents = worker.family_parents;
    copy_without(joint, position, parents);
    if (parents.empty()) return true;
    const Var child = joint[position];
    const auto& below = layers_[parents.size() - 1];
    for (std::size_t q = 0; q < parents.size(); ++q) {
      if (!below.closed[ranks_.rank_without(parents, q) * n_vars_ + child]) continue;
      // What no superset can better holds for the supersets of this one too.
      if (parents.size() < max_parents_)
        layers_[parents.size()].closed[ranks_.rank(parents) * n_vars_ + child] = 1;
      return false;
    }
    return true;
  }

  bool has_live_family(VariableSet set, Worker& worker) {
    if (set.empty()) return true;
    if (!scorer_.counter().has_room(set.first(set.size() - 1), set.back())) return false;
    for (std::size_t p = 0; p < set.size(); ++p)
      if (is_live(set, p, worker)) return true;
    return false;
  }

  void score_sets(std::span<const VariableSet> sets, Worker& worker, Found& found) {
    scorer_.visit_counts(sets, worker.joint, [&](std::size_t s, auto counts) {
      const VariableSet set = sets[s];
      const double n_cells = scorer_.counter().n_cells(set);
      if (set.size() <= max_parents_) {
        const std::size_t rank = ranks_.rank(set);
        auto& layer = layers_[set.size()];
        layer.n_occupied[rank] = static_cast<std::uint32_t>(scorer_.n_occurring(counts));
        for (std::size_t v = 0; v < child_cards_.size(); ++v)
          layer.values[rank * child_cards_.size() + v] = scorer_.value(
              counts, parent_pseudo_count(set, child_cards_[v], layer.n_occupied[rank]), n_cells,
              worker.joint);
      }
      if (set.empty()) return;
      const bool is_shared = !scorer_.is_sparse();
      const double joint =
          is_shared ? scorer_.value(counts, scorer_.joint_pseudo_count(set), n_cells, worker.joint)
                    : 0.0;
      worker.joint_values.assign(set.size(), joint);
      if (!is_shared) value_for_each_child(set, counts, n_cells, worker);
      const double cost = scorer_.unsupported_cost(set, counts, worker.joint);
      for (std::size_t p = 0; p < set.size(); ++p)
        if (is_live(set, p, worker))
          score_family(set, set[p], worker.joint_values[p] - cost, n_cells, worker, found);
    });
  }

  // Under BDs the value of a joint table depends on which of its variables is the child.
  template <class Counts>
  void value_for_each_child(VariableSet set, const Counts& counts, double n_cells, Worker& worker) {
    for (std::size_t p = 0; p < set.size(); ++p) {
      if (!is_live(set, p, worker)) continue;
      const auto& parents = worker.family_parents;
      const std::uint32_t card = card_[set[p]];
      const auto given = parent_table(parents, ranks_.rank(parents), card, worker);
      worker.joint_values[p] = scorer_.value(
          counts, scorer_.sparse_pseudo_count(given.n_occupied) / card, n_cells, worker.joint);
    }
  }

  double parent_pseudo_count(VariableSet parents, std::uint32_t child_card,
                             std::size_t n_occupied) const {
    return scorer_.is_sparse() ? scorer_.sparse_pseudo_count(n_occupied)
                               : scorer_.parent_pseudo_count(parents, child_card);
  }

  struct ParentTable {
    double value;
    std::uint32_t n_occupied;
  };

  // From the layer, or counted now where no family of theirs needed their joint table.
  ParentTable parent_table(VariableSet parents, std::size_t rank, std::uint32_t child_card,
                           Worker& worker) const {
    const auto& layer = layers_[parents.size()];
    const std::size_t card_class =
        child_cards_.size() == 1
            ? 0
            : static_cast<std::size_t>(std::ranges::lower_bound(child_cards_, child_card) -
                                       child_cards_.begin());
    ParentTable table{layer.values[rank * child_cards_.size() + card_class],
                      layer.n_occupied[rank]};
    if (!std::isnan(table.value)) return table;
    const VariableSet sets[] = {parents};
    scorer_.visit_counts(sets, worker.parents, [&](std::size_t, auto counts) {
      table.n_occupied = static_cast<std::uint32_t>(scorer_.n_occurring(counts));
      table.value =
          scorer_.value(counts, parent_pseudo_count(parents, child_card, table.n_occupied),
                        scorer_.counter().n_cells(parents), worker.parents);
    });
    return table;
  }

  void score_family(VariableSet joint, Var child, double joint_value, double n_cells,
                    Worker& worker, Found& found) {
    const auto& parents = worker.family_parents;
    const std::size_t rank = ranks_.rank(parents);
    const ParentTable given = parent_table(parents, rank, card_[child], worker);
    const double score =
        joint_value - given.value - scorer_.penalty(child, parents.size(), n_cells);
    double best = kMinusInfinity;
    if (!parents.empty()) {
      const auto& below = layers_[parents.size() - 1];
      for (std::size_t q = 0; q < parents.size(); ++q)
        best = std::max(best, below.best[ranks_.rank_without(parents, q) * n_vars_ + child]);
    }
    if (has_required(child, joint)) {
      if (beats(score, best)) found.push_back({child, {score, parents}});
      best = std::max(score, best);
    }
    if (parents.size() == max_parents_) return;
    auto& layer = layers_[parents.size()];
    layer.best[rank * n_vars_ + child] = best;
    layer.closed[rank * n_vars_ + child] =
        scorer_.superset_bound(child, parents.size(), rules_.limit[child], n_cells / card_[child],
                               given.n_occupied) <= best;
  }

  static void copy_without(VariableSet set, std::size_t left_out, std::vector<Var>& target) {
    target.clear();
    for (std::size_t t = 0; t < set.size(); ++t)
      if (t != left_out) target.push_back(set[t]);
  }
  const FamilyScorer& scorer_;
  const ParentRules& rules_;
  const Stop& stop_;
  std::span<const std::uint32_t> card_;
  std::size_t n_vars_, max_parents_;
  Ranks ranks_;
  std::vector<std::size_t> n_required_;
  std::vector<std::uint32_t> child_cards_;  // distinct; one entry where they do not matter
  std::vector<Layer> layers_;
  std::vector<Worker> workers_;
  std::vector<std::vector<Candidate>> lists_;
};

// Best-first search of the parent sets of one child.
class Promising {
 public:
  Promising(const FamilyScorer& scorer, const ParentRules& rules, Var child,
            FamilyScorer::Scratch& scratch, const Stop& stop)
      : scorer_(scorer), child_(child), scratch_(scratch), stop_(stop), index_(1024) {
    const auto n_vars = scorer.counter().table().n_vars;
    limit_ = std::min<std::size_t>(rules.limit[child], n_vars - 1);
    for (Var p = 0; p < n_vars; ++p) {
      if (rules.required[child * n_vars + p])
        required_.push_back(p);
      else if (rules.allowed[child * n_vars + p] && p != child)
        optional_.push_back(p);
    }
  }

  std::vector<Candidate> run(VariableSet seed, std::size_t max_sets) {
    const std::size_t root = evaluate(required_);
    const double base = scores_[root];
    if (seed.size() > required_.size()) evaluate(seed);
    // These two are scored in any case.
    const Watched watched(stop_);
    const std::size_t n_seeds = evaluate_seed(seed);
    // What each parent would add on its own, best first.
    std::vector<std::pair<double, Var>> gains;
    if (required_.size() < limit_) {
      for (const auto p : optional_) {
        if (stop_.is_over()) break;
        const double gain = scores_[evaluate(with(required_, p))] - base;
        if (gain > kMinusInfinity) gains.emplace_back(gain, p);
      }
    }
    std::sort(gains.begin(), gains.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (std::size_t s = root + 1; s <= n_seeds; ++s)
      if (const auto size = index_.set(s).size(); size > required_.size() + 1 && size < limit_)
        push(s, 0, gains);
    if (required_.size() + 1 < limit_)
      for (std::size_t g = 0; g < gains.size(); ++g)
        push(index_.insert(with(required_, gains[g].second), 0), g + 1, gains);
    while (!queue_.empty() && index_.size() < max_sets && !stop_.is_over()) {
      const Entry entry = queue_.top();
      queue_.pop();
      push(entry.set, entry.cursor + 1, gains);
      const Var added = gains[entry.cursor].second;
      const auto old_set = index_.set(entry.set);
      if (std::ranges::binary_search(old_set, added)) continue;
      const std::size_t before = index_.size();
      const std::size_t set = evaluate(with(old_set, added));
      if (set < before || index_.set(set).size() >= limit_) continue;
      if (scores_[set] == kMinusInfinity) continue;
      push(set, 0, gains);
    }
    return undominated();
  }

 private:
  struct Entry {
    double estimate;
    std::size_t set, cursor;
    bool operator<(const Entry& other) const {
      if (estimate != other.estimate) return estimate < other.estimate;
      return set != other.set ? set > other.set : cursor > other.cursor;
    }
  };

  static std::vector<Var> with(VariableSet set, Var added) {
    std::vector<Var> larger(set.begin(), set.end());
    larger.insert(std::ranges::upper_bound(larger, added), added);
    return larger;
  }

  // Scores the subsets of the seed; returns how many sets that were.
  std::size_t evaluate_seed(VariableSet seed) {
    std::vector<Var> extra;
    std::ranges::set_difference(seed, required_, std::back_inserter(extra));
    // The subsets of a very large seed would take for ever.
    const std::size_t n_subsets = std::size_t{1} << std::min<std::size_t>(extra.size(), 10);
    for (std::size_t bits = n_subsets; --bits > 0 && !stop_.is_over();) {
      std::vector<Var> set(required_);
      for (std::size_t e = 0; e < extra.size(); ++e)
        if (e < 10 && (bits >> e & 1)) set.push_back(extra[e]);
      std::ranges::sort(set);
      evaluate(set);
    }
    return index_.size() - 1;
  }

  std::size_t evaluate(VariableSet parents) {
    const std::size_t before = index_.size();
    const std::size_t set = index_.insert(parents, 0);
    if (set == before) {
      const double score = scorer_.counter().has_room(parents, child_)
                               ? scorer_.family(child_, parents, scratch_)
                               : kMinusInfinity;
      scores_.push_back(stop_.was_cut() ? kMinusInfinity : score);
    }
    return set;
  }

  void push(std::size_t set, std::size_t cursor, const std::vector<std::pair<double, Var>>& gains) {
    if (cursor < gains.size()) queue_.push({scores_[set] + gains[cursor].first, set, cursor});
  }

  // A set stays when it beats every scored subset that holds the required parents.
  std::vector<Candidate> undominated() {
    std::vector<std::size_t> order(index_.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return index_.set(a).size() != index_.set(b).size()
                 ? index_.set(a).size() < index_.set(b).size()
                 : a < b;
    });
    std::vector<double> best(scores_);  // of the set and its subsets
    std::vector<Candidate> kept;
    std::vector<Var> subset;
    for (const auto s : order) {
      const auto set = index_.set(s);
      // The required parents alone are a subset of every set.
      double best_below = s == 0 ? kMinusInfinity : scores_[0];
      // Where one subset was not scored, its own subsets must be asked; of long sets, only the
      // subsets with one member less.
      const std::size_t n_extra = set.size() - required_.size();
      const bool is_short = n_extra <= 8;
      for (std::size_t out = 1; out < (is_short ? std::size_t{1} << n_extra : n_extra + 1); ++out) {
        subset.clear();
        std::size_t extra = 0;
        for (const auto member : set) {
          if (!std::ranges::binary_search(required_, member)) {
            const bool is_out = is_short ? (out >> extra & 1) != 0 : out == extra + 1;
            ++extra;
            if (is_out) continue;
          }
          subset.push_back(member);
        }
        if (const auto found = index_.find(subset, 0))
          best_below = std::max(best_below, best[*found]);
      }
      best[s] = std::max(best[s], best_below);
      if (beats(scores_[s], best_below))
        kept.push_back({scores_[s], std::vector<Var>(set.begin(), set.end())});
    }
    return kept;
  }

  const FamilyScorer& scorer_;
  Var child_;
  FamilyScorer::Scratch& scratch_;
  const Stop& stop_;
  SetIndex index_;
  std::vector<double> scores_;
  std::size_t limit_ = 0;
  std::vector<Var> required_, optional_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

OwnedParentLists all_candidates(const FamilyScorer& scorer, const ParentRules& rules,
                                std::size_t n_threads, const Stop& stop) {
  if (scorer.counter().table().n_vars == 0) return {};
  return Exhaustive(scorer, rules, stop).run(n_threads);
}

OwnedParentLists promising_candidates(const FamilyScorer& scorer, const ParentRules& rules,
                                      const std::vector<std::vector<Var>>& seeds,
                                      std::size_t max_sets, double seconds_per_child,
                                      std::size_t n_threads, const Stop& stop) {
  const std::size_t n_vars = scorer.counter().table().n_vars;
  std::vector<std::vector<Candidate>> lists(n_vars);
  std::vector<FamilyScorer::Scratch> scratch(resolve_threads(n_threads));
  const auto threads = static_cast<double>(scratch.size());
  // What a child took beyond its part is missing from those of the children after it.
  const double seconds = seconds_per_child * static_cast<double>(n_vars) / threads;
  constexpr double kNoTime = 1e-9;
  std::atomic<std::size_t> n_begun{0};
  const auto part_of_next = [&] {
    if (!(seconds > 0.0)) return 0.0;
    const auto n_left = static_cast<double>(n_vars - n_begun.fetch_add(1));
    return std::max(kNoTime, (seconds - stop.seconds()) * threads / n_left);
  };
  const bool finished = parallel_for(
      n_vars, scratch.size(), stop,
      [&](std::size_t child, std::size_t thread) {
        const Stop part = stop.part(part_of_next());
        Promising search(scorer, rules, static_cast<Var>(child), scratch[thread], part);
        lists[child] = search.run(seeds[child], max_sets);
      },
      Caller::waits);
  if (!finished) return {};
  return pack(lists);
}

}  // namespace bayesmend
