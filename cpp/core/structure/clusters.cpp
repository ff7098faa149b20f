#include "core/structure/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace bayesmend {
namespace {

using Cluster = std::vector<Var>;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr double kPresent = 1e-9;  // smaller weights are noise of the linear programme

// Strongly connected components of the arcs parent -> child with a positive weight.
// A violated cluster that is not strongly connected contains one that is and is
// violated at least as much, so each component can be searched alone.
class Components {
 public:
  Components(const ParentLists& families, std::span<const double> weights)
      : label(families.n_vars(), kNone), children_(families.n_vars()) {
    for (Var i = 0; i < families.n_vars(); ++i) {
      for (std::size_t c = families.begin(i); c < families.end(i); ++c) {
        if (weights[c] <= kPresent) continue;
        for (const auto parent : families.of(c)) {
          children_[parent].push_back(i);
        }
      }
    }
    number_.assign(families.n_vars(), kNone);
    low_.assign(families.n_vars(), 0);
    for (Var i = 0; i < families.n_vars(); ++i) {
      if (number_[i] == kNone) visit(i);
    }
  }

  std::vector<std::uint32_t> label;
  std::vector<Cluster> members;

 private:
  // Tarjan's algorithm with its own stack: thousands of variables may form one path.
  void visit(Var root) {
    std::vector<std::pair<Var, std::size_t>> path{{root, 0}};
    enter(root);
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next < children_[at].size()) {
        const Var child = children_[at][next++];
        if (number_[child] == kNone) {
          enter(child);
          path.emplace_back(child, 0);
        } else if (label[child] == kNone) {
          low_[at] = std::min(low_[at], number_[child]);
        }
        continue;
      }
      const Var done = at;
      if (low_[done] == number_[done]) leave(done);
      path.pop_back();
      if (path.empty()) break;
      const Var above = path.back().first;
      low_[above] = std::min(low_[above], low_[done]);
    }
  }

  void enter(Var node) {
    number_[node] = low_[node] = count_++;
    open_.push_back(node);
  }

  void leave(Var node) {
    Cluster component;
    Var last = node;
    do {
      last = open_.back();
      open_.pop_back();
      label[last] = static_cast<std::uint32_t>(members.size());
      component.push_back(last);
    } while (last != node);
    std::sort(component.begin(), component.end());
    members.push_back(std::move(component));
  }

  std::vector<Cluster> children_;
  std::vector<std::uint32_t> number_, low_;
  std::vector<Var> open_;
  std::uint32_t count_ = 0;
};

// Branch and bound over the clusters inside one component that contain a given root.
//
// The inequality of C is violated exactly when the deficits of its members, 1 minus the
// weight of the candidates that meet C, sum to less than 1. Every variable is in, out or
// open. A candidate is "hit" when a member is in, "dead" when all its members are out; the
// dead weight of the variables that are in bounds their deficits from below.
class ClusterSearch {
 public:
  ClusterSearch(const ParentLists& families, std::span<const double> weights,
                const Cluster& component, std::span<Var> local)
      : component_(component), owned_(component.size()), containing_(component.size()) {
    for (Var v = 0; v < component.size(); ++v) local[component[v]] = v;
    base_.assign(component.size(), 1.0);
    for (Var v = 0; v < component.size(); ++v) {
      const Var i = component[v];
      for (std::size_t c = families.begin(i); c < families.end(i); ++c) {
        if (weights[c] > kPresent) add(v, weights[c], families.of(c), local);
      }
    }
    for (const auto variable : component) local[variable] = kNone;
    state_.assign(component.size(), State::open);
    hits_.assign(sets_.size(), 0);
    gain_.assign(component.size(), 0.0);
  }

  // Searches clusters that contain the root; keeps the best in `found`.
  void run(Var root, std::size_t steps, double target) {
    steps_ = steps;
    best_ = target;
    found.clear();
    include(root);
    descend();
    undo_include(root);
  }

  // No later search considers this variable.
  void discard(std::size_t v) { exclude(v); }

  std::size_t size() const { return component_.size(); }
  double best() const { return best_; }

  Cluster found;  // local indices

 private:
  enum class State : std::uint8_t { open, in, out };
  struct Set {
    double weight;
    Var owner;
    std::uint32_t alive;  // members that are not out
    std::vector<Var> members;
  };

  void add(Var v, double weight, std::span<const Var> members, std::span<const Var> local) {
    Set set{weight, v, 0, {}};
    for (const auto member : members) {
      const Var u = local[member];
      if (u != kNone) set.members.push_back(u);
    }
    if (set.members.empty()) return;
    base_[v] -= weight;
    set.alive = static_cast<std::uint32_t>(set.members.size());
    const auto id = static_cast<std::uint32_t>(sets_.size());
    owned_[v].push_back(id);
    for (const auto u : set.members) containing_[u].push_back(id);
    sets_.push_back(std::move(set));
  }

  bool is_in(Var v) const { return state_[v] == State::in; }

  void include(Var v) {
    state_[v] = State::in;
    in_.push_back(v);
    for (const auto s : containing_[v]) {
      if (hits_[s]++ == 0 && is_in(sets_[s].owner)) current_ -= sets_[s].weight;
    }
    current_ += own(v, [this](std::size_t s) { return hits_[s] == 0; });
    bound_ += own(v, [this](std::size_t s) { return sets_[s].alive == 0; });
  }

  void undo_include(std::size_t v) {
    bound_ -= own(v, [this](std::size_t s) { return sets_[s].alive == 0; });
    current_ -= own(v, [this](std::size_t s) { return hits_[s] == 0; });
    for (const auto s : containing_[v]) {
      if (--hits_[s] == 0 && is_in(sets_[s].owner)) current_ += sets_[s].weight;
    }
    in_.pop_back();
    state_[v] = State::open;
    if (in_.empty()) current_ = bound_ = 0.0;
  }

  template <class Counts>
  double own(std::size_t v, Counts&& counts) const {
    double deficit = base_[v];
    for (const auto s : owned_[v])
      if (counts(s)) deficit += sets_[s].weight;
    return deficit;
  }

  void exclude(std::size_t v) {
    state_[v] = State::out;
    for (const auto id : containing_[v]) {
      Set& set = sets_[id];
      if (--set.alive == 0 && is_in(set.owner)) bound_ += set.weight;
    }
  }

  void undo_exclude(std::size_t v) {
    for (const auto id : containing_[v]) {
      Set& set = sets_[id];
      if (set.alive++ == 0 && is_in(set.owner)) bound_ -= set.weight;
    }
    state_[v] = State::open;
  }

  // The open variable whose inclusion lowers the deficit most, or kNone.
  Var choose() {
    touched_.clear();
    for (const auto v : in_) {
      for (const auto s : owned_[v]) {
        if (hits_[s] != 0 || sets_[s].alive == 0) continue;
        for (const auto u : sets_[s].members) {
          if (state_[u] != State::open) continue;
          if (gain_[u] == 0.0) touched_.push_back(u);
          gain_[u] += sets_[s].weight;
        }
      }
    }
    Var chosen = kNone;
    double chosen_gain = -std::numeric_limits<double>::infinity();
    for (const auto u : touched_) {
      const double gain = gain_[u] - own(u, [this](std::size_t s) { return hits_[s] == 0; });
      gain_[u] = 0.0;
      if (gain > chosen_gain || (gain == chosen_gain && u < chosen)) {
        chosen = u;
        chosen_gain = gain;
      }
    }
    return chosen;
  }

  void descend() {
    if (steps_ == 0) return;
    --steps_;
    if (in_.size() > 1 && current_ < best_) {
      best_ = current_ - kPresent;
      found = in_;
    }
    if (bound_ >= best_) return;
    const Var v = choose();
    if (v == kNone) return;
    include(v);
    descend();
    undo_include(v);
    exclude(v);
    descend();
    undo_exclude(v);
  }

  const Cluster& component_;
  std::vector<Set> sets_;
  std::vector<std::vector<std::uint32_t>> owned_, containing_;  // sets, by variable
  std::vector<double> base_;  // weight of the candidates without a member in the component
  std::vector<State> state_;
  std::vector<std::uint32_t> hits_;
  std::vector<double> gain_;
  Cluster in_, touched_;
  double current_ = 0.0, bound_ = 0.0, best_ = 0.0;
  std::size_t steps_ = 0;
};

// Sum over the members of their weight that meets the cluster, minus size, plus one.
class Violation {
 public:
  Violation(const ParentLists& families, std::span<const double> weights)
      : families_(families), weights_(weights), in_(families.n_vars(), 0) {}

  double operator()(const Cluster& cluster) {
    for (const auto v : cluster) in_[v] = 1;
    double total = 1.0 - static_cast<double>(cluster.size());
    for (const auto v : cluster)
      for (std::size_t c = families_.begin(v); c < families_.end(v); ++c)
        if (weights_[c] > kPresent && meets(c)) total += weights_[c];
    for (const auto v : cluster) in_[v] = 0;
    return total;
  }

 private:
  bool meets(std::size_t candidate) const {
    const auto members = families_.of(candidate);
    return std::any_of(members.begin(), members.end(), [this](auto m) { return in_[m] != 0; });
  }

  const ParentLists& families_;
  std::span<const double> weights_;
  std::vector<std::uint8_t> in_;
};

double shrink(Cluster& cluster, Violation& violation) {
  double value = violation(cluster);
  for (std::size_t k = cluster.size(); k-- > 0 && cluster.size() > 2;) {
    Cluster smaller = cluster;
    smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(k));
    const double without = violation(smaller);
    if (without < value - kPresent) continue;
    value = without;
    cluster = std::move(smaller);
  }
  return value;
}

struct Scored {
  double violation;
  Cluster cluster;
};

class Separation {
 public:
  Separation(const ParentLists& families, std::span<const double> weights,
             const SeparationLimits& limits, const Stop& stop)
      : families_(families),
        weights_(weights),
        limits_(limits),
        violation_(families, weights),
        local_(families.n_vars(), kNone),
        stop_(stop) {}

  Ragged run() {
    const Components components(families_, weights_);
    search(components, limits_.steps, false);
    if (found_.empty()) search(components, limits_.final_steps, true);
    std::sort(found_.begin(), found_.end(), [](const Scored& a, const Scored& b) {
      if (a.violation != b.violation) return a.violation > b.violation;
      if (a.cluster.size() != b.cluster.size()) return a.cluster.size() < b.cluster.size();
      return a.cluster < b.cluster;
    });
    Ragged result;
    for (std::size_t k = 0; k < std::min(found_.size(), limits_.max_clusters); ++k) {
      const Cluster& cluster = found_[k].cluster;
      result.items.insert(result.items.end(), cluster.begin(), cluster.end());
      result.close();
    }
    return result;
  }

 private:
  // One search per variable; in the final round a variable that was a root is left out of
  // the later ones, which cannot need it.
  void search(const Components& components, std::size_t steps, bool final) {
    for (const Cluster& component : components.members) {
      if (component.size() < 2) continue;
      ClusterSearch search(families_, weights_, component, local_);
      for (Var root = 0; root < search.size(); ++root) {
        if (stop_.is_over() && !(limits_.must_find && found_.empty())) return;
        search.run(root, steps, 1.0 - limits_.min_violation);
        if (!search.found.empty()) keep(search.found, component);
        if (final) search.discard(root);
      }
    }
  }

  void keep(const Cluster& found, const Cluster& component) {
    Cluster cluster;
    for (const auto v : found) cluster.push_back(component[v]);
    std::sort(cluster.begin(), cluster.end());
    const double value = shrink(cluster, violation_);
    const bool known = std::any_of(found_.begin(), found_.end(),
                                   [&](const Scored& s) { return s.cluster == cluster; });
    if (!known && value >= limits_.min_violation) found_.push_back({value, std::move(cluster)});
  }

  const ParentLists& families_;
  std::span<const double> weights_;
  const SeparationLimits& limits_;
  Violation violation_;
  std::vector<Var> local_;
  const Stop& stop_;
  std::vector<Scored> found_;
};

// Adds the inequality of each cluster.
void add_rows(const ParentLists& families, ClusterCuts& cuts) {
  std::vector<std::uint8_t> in(families.n_vars(), 0);
  std::vector<std::uint32_t> meeting, missing;
  for (std::size_t k = 0; k < cuts.clusters.size(); ++k) {
    const auto cluster = cuts.clusters.row(k);
    for (const auto v : cluster) in[v] = 1;
    meeting.clear();
    missing.clear();
    for (const auto v : cluster) {
      for (std::size_t c = families.begin(v); c < families.end(v); ++c) {
        const auto members = families.of(c);
        const bool meets =
            std::any_of(members.begin(), members.end(), [&](auto m) { return in[m] != 0; });
        (meets ? meeting : missing).push_back(static_cast<std::uint32_t>(c));
      }
    }
    for (const auto v : cluster) in[v] = 0;
    const bool misses = missing.size() <= meeting.size();
    const auto& row = misses ? missing : meeting;
    cuts.candidates.items.insert(cuts.candidates.items.end(), row.begin(), row.end());
    cuts.candidates.close();
    cuts.misses.push_back(misses ? 1 : 0);
  }
}

}  // namespace

ClusterCuts violated_clusters(const ParentLists& families, std::span<const double> weights,
                              const SeparationLimits& limits, const Stop& stop) {
  ClusterCuts cuts;
  cuts.clusters = Separation(families, weights, limits, stop).run();
  add_rows(families, cuts);
  return cuts;
}

}  // namespace bayesmend
