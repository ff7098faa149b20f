#include "core/augment/relaxation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/bits.hpp"
#include "core/base/wide.hpp"
#include "core/structure/clusters.hpp"
#include "core/structure/parentlists.hpp"
#include "core/structure/rounding.hpp"

namespace bayesmend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-6;
// Temperatures in nats: the last one, how one follows from the other, and how near the target one
// must be, in parts of what is missing, to go on.
constexpr double kColdest = 0.01, kCooling = 0.5, kNear = 0.1;
// In temperatures: no family that is so far below the best has a share, and no charge changes by
// more at a time.
constexpr double kFarBelow = -40.0, kMostChange = 20.0;
constexpr double kLeastShare = 0.02, kLeastSeparated = 1e-3;
// Of clusters that more than one member of must be free: the least share of a family to begin with,
// and the most members.
constexpr double kLeastGrown = 0.02, kLeastViolation = 0.01;
constexpr int kMostGrown = 7;
// From this temperature on only families near the best of their variable are looked at: so near,
// and so many temperatures more.
constexpr double kNarrowed = 1.0, kNearest = 3.0, kNearTemperatures = 30.0;
constexpr double kRounding = 1e-9;
constexpr int kOldest = 1;
constexpr std::size_t kSeparatingSteps = 2;
// Of each step, in search of cycles.
constexpr std::size_t kDraws = 20;
// Kicks of the search for a DAG, and where it begins anew.
constexpr std::size_t kKicks = 20;
constexpr std::uint64_t kSeed = 20170401;

// reduced[a] += charge where the parents miss the cluster.
BAYESMEND_WIDE void charge(const std::uint64_t* parents, std::size_t n, std::uint64_t cluster,
                           double amount, double* reduced) {
  for (std::size_t a = 0; a < n; ++a) reduced[a] += (parents[a] & cluster) == 0 ? amount : 0.0;
}

}  // namespace

void ClusterRelaxation::load(const ClusterPrices* prices) {
  clusters_.clear();
  for (auto& known : known_) known.clear();
  if (prices == nullptr) return;
  for (std::size_t k = 0; k < prices->clusters.size(); ++k) {
    clusters_.push_back({prices->clusters[k], prices->least[k], prices->charges[k], 0.0, 0});
    known_[prices->least[k]].insert(prices->clusters[k]);
  }
}

std::shared_ptr<const ClusterPrices> ClusterRelaxation::prices() const {
  auto prices = std::make_shared<ClusterPrices>();
  for (const auto& cluster : clusters_) {
    if (cluster.charge <= 0.0) continue;
    prices->clusters.push_back(cluster.members);
    prices->least.push_back(static_cast<std::uint8_t>(cluster.least));
    prices->charges.push_back(cluster.charge);
  }
  return prices;
}

void ClusterRelaxation::compile(Numbers families, Values values) {
  const std::size_t n_vars = problem_.n_vars();
  parents_.resize(families.size());
  values_.resize(families.size());
  reduced_.resize(families.size());
  first_.assign(n_vars + 1, 0);
  for (std::size_t a = 0; a < families.size(); ++a) {
    const auto& family = problem_.families()[families[a]];
    parents_[a] = family.parents;
    values_[a] = values[families[a]];
    ++first_[family.child + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  best_.assign(n_vars, 0);
}

double ClusterRelaxation::total() {
  std::copy(values_.begin(), values_.end(), reduced_.begin());
  double sum = 0.0;
  work_ += static_cast<double>(reduced_.size());
  for (const auto& cluster : clusters_) {
    if (cluster.charge <= 0.0) continue;
    sum -= cluster.least * cluster.charge;
    for_each_bit(cluster.members, [&](Var v) {
      if (cluster.least > 1) {
        for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
          if (is_free(cluster, parents_[a])) reduced_[a] += cluster.charge;
        return;
      }
      charge(parents_.data() + first_[v], first_[v + 1] - first_[v], cluster.members,
             cluster.charge, reduced_.data() + first_[v]);
      work_ += 0.25 * static_cast<double>(first_[v + 1] - first_[v]);
    });
  }
  for (std::size_t v = 0; v < best_.size(); ++v) {
    const auto begin = reduced_.begin();
    const auto found = std::max_element(begin + static_cast<std::ptrdiff_t>(first_[v]),
                                        begin + static_cast<std::ptrdiff_t>(first_[v + 1]));
    best_[v] = static_cast<std::size_t>(found - begin);
    sum += *found;
  }
  return sum;
}

void ClusterRelaxation::add_cluster(std::uint64_t members, int least) {
  if (known_[static_cast<std::size_t>(least)].insert(members).second)
    clusters_.push_back({members, least, 0.0, 0.0, 0});
}

// A shortest cycle of the chosen families through each variable that lies on one.
void ClusterRelaxation::add_cycles(const std::vector<std::size_t>& chosen) {
  const std::size_t n_vars = chosen.size();
  // What can be reached from every variable on the way to its ancestors.
  std::uint64_t open = n_vars == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_vars) - 1;
  for (bool shrinks = true; shrinks;) {
    shrinks = false;
    for_each_bit(open, [&](Var v) {
      if ((parents_[chosen[v]] & open) != 0) return;
      open &= ~(std::uint64_t{1} << v);
      shrinks = true;
    });
  }
  std::vector<Var> from(n_vars), layer, next;
  for_each_bit(open, [&](Var root) {
    std::uint64_t seen = 0;
    layer.assign(1, root);
    bool is_closed = false;
    Var last = root;
    while (!layer.empty() && !is_closed) {
      next.clear();
      for (const auto v : layer) {
        const auto parents = parents_[chosen[v]] & open;
        if ((parents >> root & 1) != 0) {
          is_closed = true;
          last = v;
          break;
        }
        for_each_bit(parents & ~seen, [&](Var parent) {
          seen |= std::uint64_t{1} << parent;
          from[parent] = v;
          next.push_back(parent);
        });
      }
      layer.swap(next);
    }
    if (!is_closed) return;
    std::uint64_t members = std::uint64_t{1} << root;
    for (; last != root; last = from[last]) members |= std::uint64_t{1} << last;
    add_cluster(members);
  });
}

// Draws a family for each variable by the softened values.
void ClusterRelaxation::draw(Rng& random, std::vector<std::size_t>& drawn) const {
  drawn.resize(best_.size());
  for (std::size_t v = 0; v < best_.size(); ++v) {
    double left = 0x1p-53 * static_cast<double>(random.next() >> 11) * sums_[v];
    drawn[v] = best_[v];
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a) {
      left -= soft_[a];
      if (left > 0.0) continue;
      drawn[v] = a;
      break;
    }
  }
}

// Whether what is chosen obeys all clusters and none is paid in vain: then it is the best DAG.
bool ClusterRelaxation::is_settled() const {
  return std::ranges::all_of(clusters_, [&](const Cluster& cluster) {
    int n_free = 0;
    for_each_bit(cluster.members, [&](Var v) { n_free += is_free(cluster, parents_[best_[v]]); });
    return n_free == cluster.least || (n_free > cluster.least && cluster.charge <= 0.0);
  });
}

// Families by how near they come to the best of their variable, at a temperature.
void ClusterRelaxation::soften(double temperature) {
  soft_.resize(reduced_.size());
  sums_.assign(best_.size(), 0.0);
  for (std::size_t v = 0; v < best_.size(); ++v) {
    const double top = reduced_[best_[v]];
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a) {
      const double below = (reduced_[a] - top) / temperature;
      soft_[a] = below < kFarBelow ? 0.0 : std::exp(below);
      sums_[v] += soft_[a];
    }
  }
  work_ += 8.0 * static_cast<double>(reduced_.size());
}

// Sets each charge so that, of the softened families, as many as must be have all parents outside
// of the cluster, or all but a few, in the mean.
void ClusterRelaxation::balance(double temperature) {
  std::array<double, 64> part{};
  for (auto& cluster : clusters_) {
    std::size_t n = 0;
    for_each_bit(cluster.members, [&](Var v) {
      double sum = 0.0;
      for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
        if (is_free(cluster, parents_[a])) sum += soft_[a];
      part[n++] = std::min(1.0, sum / sums_[v]);
      work_ += static_cast<double>(first_[v + 1] - first_[v]);
    });
    // Newton steps for the change y, in temperatures, that makes the mean one.
    double low = std::max(-kMostChange, -cluster.charge / temperature), high = kMostChange, y = 0.0;
    for (int round = 0; round < 12; ++round) {
      const double x = std::exp(y);
      double mean = -cluster.least, slope = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        const double share = part[k] * x / (1.0 - part[k] + part[k] * x);
        mean += share;
        slope += share * (1.0 - share);
      }
      (mean > 0.0 ? high : low) = y;
      if (std::abs(mean) < 1e-3 || high - low < 1e-6) break;
      const double next = y - mean / std::max(slope, 1e-12);
      y = next > low && next < high ? next : 0.5 * (low + high);
    }
    if (y == 0.0) continue;
    cluster.charge = std::max(0.0, cluster.charge + y * temperature);
    const double x = std::exp(y);
    std::size_t k = 0;
    for_each_bit(cluster.members, [&](Var v) {
      for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
        if (is_free(cluster, parents_[a])) soft_[a] *= x;
      sums_[v] *= 1.0 - part[k] + part[k] * x;
      ++k;
    });
  }
}

double ClusterRelaxation::bound(Numbers families, Values values, double target, const Stop& stop) {
  compile(families, values);
  for (std::size_t v = 0; v < best_.size(); ++v)
    if (first_[v] == first_[v + 1]) return -kInfinity;
  bound_ = kInfinity;
  is_solved_ = false;
  const auto look = [&] {
    const double now = total();
    if (now < bound_) {
      bound_ = now;
      for (auto& cluster : clusters_) cluster.best_charge = cluster.charge;
    }
    add_cycles(best_);
    is_solved_ = is_settled();
    return bound_ <= target || is_solved_ || stop.is_over();
  };
  bool is_over = look();
  Rng random(kSeed);
  std::vector<std::size_t> drawn;
  // Colder where little is missing, so that this is not for want of precision.
  const auto is_cold = [&](double temperature) {
    return temperature < kColdest &&
           (temperature < kNear * (bound_ - target) || temperature < kTolerance);
  };
  whole_ = {};
  double temperature = heat_;
  while (!is_over && !is_cold(temperature)) {
    if (temperature <= kNarrowed) narrow(kNearest + kNearTemperatures * temperature);
    for (std::size_t step = 0; step < n_steps_ && !is_over; ++step) {
      soften(temperature);
      for (std::size_t k = 0; k < kDraws; ++k) {
        draw(random, drawn);
        add_cycles(drawn);
      }
      balance(temperature);
      is_over = look();
    }
    if (!is_over && n_steps_ >= kSeparatingSteps) separate(stop), separate_more();
    forget_free_clusters();
    temperature *= kCooling;
  }
  if (!is_solved_)
    for (auto& cluster : clusters_) cluster.charge = cluster.best_charge;
  if (!whole_.parents.empty()) {
    parents_.swap(whole_.parents);
    values_.swap(whole_.values);
    first_.swap(whole_.first);
    reduced_.resize(values_.size());
    const double now = total();
    is_solved_ = is_solved_ && now <= bound_ + kRounding;
    bound_ = now;
  } else if (!is_solved_) {
    total();
  }
  forget_free_clusters();
  soften(kColdest);
  return bound_;
}

// Leaves only the families that lack no more than `window` against the best of their variable; the
// others wait in whole_.
void ClusterRelaxation::narrow(double window) {
  Lists near;
  near.first.push_back(0);
  for (std::size_t v = 0; v < best_.size(); ++v) {
    const double least = reduced_[best_[v]] - window;
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a) {
      if (reduced_[a] < least) continue;
      near.parents.push_back(parents_[a]);
      near.values.push_back(values_[a]);
    }
    near.first.push_back(near.parents.size());
  }
  parents_.swap(near.parents);
  values_.swap(near.values);
  first_.swap(near.first);
  if (whole_.parents.empty()) whole_ = std::move(near);
  reduced_.resize(values_.size());
  total();
}

// Clusters that the softened families violate in the mean.
void ClusterRelaxation::separate(const Stop& stop) {
  OwnedParentLists lists;
  std::vector<double> weights;
  for (std::size_t v = 0; v < best_.size(); ++v) {
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a) {
      const double share = soft_[a] / sums_[v];
      if (share < kLeastSeparated) continue;
      weights.push_back(share);
      lists.scores.push_back(0.0);
      for_each_bit(parents_[a], [&](Var parent) { lists.members.push_back(parent); });
      lists.member_offsets.push_back(lists.members.size());
    }
    lists.offsets.push_back(weights.size());
  }
  const ParentLists view{lists.offsets, lists.scores, lists.member_offsets, lists.members};
  const SeparationLimits limits{.max_clusters = 100,
                                .steps = 200,
                                .final_steps = 2000,
                                .min_violation = 0.01,
                                .must_find = false};
  const auto found = violated_clusters(view, weights, limits, stop);
  for (std::size_t k = 0; k < found.clusters.size(); ++k) {
    std::uint64_t members = 0;
    for (const auto v : found.clusters.row(k)) members |= std::uint64_t{1} << v;
    add_cluster(members);
  }
}

// The same where more than one member must be free: sets grown from a family and its child.
void ClusterRelaxation::separate_more() {
  struct Part {
    std::uint64_t parents;
    double share;
  };
  const std::size_t n_vars = best_.size();
  std::vector<std::vector<Part>> parts(n_vars);
  for (std::size_t v = 0; v < n_vars; ++v)
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
      if (soft_[a] >= kLeastGrown * sums_[v] && std::popcount(parents_[a]) > 1)
        parts[v].push_back({parents_[a], soft_[a] / sums_[v]});
  const auto violation = [&](std::uint64_t set, int least) {
    double sum = least - std::popcount(set);
    for_each_bit(set, [&](Var v) {
      for (const auto& part : parts[v])
        if (std::popcount(part.parents & set) >= least) sum += part.share;
    });
    return sum;
  };
  for (int least = 2; least <= kMostLeast; ++least) {
    for (std::size_t v = 0; v < n_vars; ++v) {
      for (const auto& part : parts[v]) {
        if (std::popcount(part.parents) < least) continue;
        std::uint64_t set = part.parents | std::uint64_t{1} << v;
        double now = violation(set, least);
        while (std::popcount(set) < kMostGrown) {
          double most = -kInfinity;
          Var best = 0;
          for (Var u = 0; u < n_vars; ++u) {
            if ((set >> u & 1) != 0 || parts[u].empty()) continue;
            const double then = violation(set | std::uint64_t{1} << u, least);
            if (then > most) most = then, best = u;
          }
          if (most == -kInfinity || (now > kLeastViolation && most <= now)) break;
          set |= std::uint64_t{1} << best;
          now = most;
        }
        if (now > kLeastViolation) add_cluster(set, least);
      }
    }
  }
}

void ClusterRelaxation::forget_free_clusters() {
  std::erase_if(clusters_, [&](const Cluster& cluster) {
    return cluster.age > kOldest && cluster.charge <= 0.0 && cluster.best_charge <= 0.0;
  });
  for (auto& cluster : clusters_) ++cluster.age;
  for (auto& known : known_) known.clear();
  for (const auto& cluster : clusters_)
    known_[static_cast<std::size_t>(cluster.least)].insert(cluster.members);
}

bool ClusterRelaxation::bound_through(Numbers families, Values /*values*/,
                                      std::vector<double>& through, const Stop& /*stop*/) {
  through.resize(families.size());
  for (std::size_t v = 0; v < best_.size(); ++v)
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
      through[a] = bound_ - (reduced_[best_[v]] - reduced_[a]);
  return true;
}

void ClusterRelaxation::share_out(Numbers /*families*/, Values /*values*/,
                                  std::vector<Share>& shares) const {
  shares.clear();
  for (std::size_t v = 0; v < best_.size(); ++v) {
    if (is_solved_) {
      shares.push_back({best_[v], 1.0});
      continue;
    }
    double sum = 0.0;
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
      if (soft_[a] >= kLeastShare * sums_[v]) sum += soft_[a];
    for (std::size_t a = first_[v]; a < first_[v + 1]; ++a)
      if (soft_[a] >= kLeastShare * sums_[v]) shares.push_back({a, soft_[a] / sum});
  }
}

// Local search over orders, from the shares of the last bound where it was for as many families.
double ClusterRelaxation::find(Numbers families, Values values, std::vector<std::uint32_t>& chosen,
                               const Stop& stop) {
  const std::size_t n_vars = problem_.n_vars();
  OwnedParentLists lists;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> own;
  std::vector<std::uint64_t> kept;
  const bool has_shares = soft_.size() == families.size();
  std::vector<double> weights;
  std::vector<std::size_t> positions;
  for (std::size_t begin = 0, v = 0; v < n_vars; ++v) {
    std::size_t end = begin;
    while (end < families.size() && problem_.families()[families[end]].child == v) ++end;
    if (begin == end) return -kInfinity;
    positions.resize(end - begin);
    std::iota(positions.begin(), positions.end(), begin);
    std::ranges::stable_sort(positions, [&](std::size_t a, std::size_t b) {
      return values[families[a]] > values[families[b]];
    });
    kept.clear();
    for (const auto a : positions) {
      const auto& family = problem_.families()[families[a]];
      // A family is of no use beside one with fewer parents that is worth as much.
      if (std::ranges::any_of(kept, [&](std::uint64_t k) { return (k & ~family.parents) == 0; }))
        continue;
      kept.push_back(family.parents);
      numbers.push_back(families[a]);
      weights.push_back(has_shares ? soft_[a] / sums_[v] : 0.0);
      lists.scores.push_back(values[families[a]]);
      const auto members = problem_.members(family);
      lists.members.insert(lists.members.end(), members.begin(), members.end() - 1);
      lists.member_offsets.push_back(lists.members.size());
    }
    lists.offsets.push_back(numbers.size());
    begin = end;
  }
  work_ += 8.0 * static_cast<double>(families.size());
  if (stop.is_over()) return kInfinity;
  const ParentLists view{lists.offsets, lists.scores, lists.member_offsets, lists.members};
  const auto found = order_from_lp(view, weights, {.kicks = kKicks, .seed = kSeed}, stop);
  work_ += 100.0 * static_cast<double>(numbers.size());
  double sum = 0.0;
  chosen.resize(n_vars);
  for (std::size_t v = 0; v < n_vars; ++v) {
    if (found.chosen[v] == kNoSet) return -kInfinity;
    chosen[v] = numbers[found.chosen[v]];
    sum += values[chosen[v]];
  }
  return sum;
}

}  // namespace bayesmend
