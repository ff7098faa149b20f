#include "core/structure/posterior.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/bits.hpp"
#include "core/base/rng.hpp"
#include "core/structure/subsets.hpp"

namespace bayesmend {
namespace {

using Mask = std::uint32_t;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// A term that is smaller than the largest one by this factor, as a logarithm, is left out: 2^20 of
// them are less than a rounding error.
constexpr double kNegligible = -50.0;
// Programmes of so few variables are done in one piece.
constexpr std::size_t kFewVars = 14;
constexpr std::size_t kMostHighBits = 8;

Mask bit_of(std::size_t v) { return Mask{1} << v; }

Mask mask_of(std::span<const Var> members) {
  Mask mask = 0;
  for (const Var member : members) mask |= bit_of(member);
  return mask;
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b - a > kNegligible ? a + std::log1p(std::exp(b - a)) : a;
}

double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

// Subsets of some variables, numbered by which of them they have, with the sum of what each has.
struct Subsets {
  std::vector<std::size_t> members;
  std::vector<double> sums;
  std::vector<Mask> masks;

  void clear(double base) {
    members.clear();
    sums.assign(1, base);
    masks.assign(1, 0);
  }
  // Doubles their number: with and without `v`.
  void add(std::size_t v, double value) {
    const std::size_t n = sums.size();
    members.push_back(v);
    sums.resize(2 * n);
    masks.resize(2 * n);
    for (std::size_t t = 0; t < n; ++t) {
      sums[n + t] = sums[t] + value;
      masks[n + t] = masks[t] | bit_of(v);
    }
  }
};

class DagProgram {
 public:
  DagProgram(const ParentLists& lists, std::size_t n_threads)
      : lists_(lists),
        n_vars_(lists.n_vars()),
        n_threads_(resolve_threads(n_threads)),
        half_(std::size_t{1} << (n_vars_ - 1)),
        n_high_(n_vars_ > kFewVars ? std::min(kMostHighBits, n_vars_ - 10) : 0),
        n_low_(n_vars_ - n_high_),
        full_(static_cast<Mask>(2 * half_ - 1)),
        masks_(lists.n_sets()),
        best_(n_vars_, kMinusInfinity) {
    for (std::size_t c = 0; c < masks_.size(); ++c) masks_[c] = mask_of(lists.of(c));
    for (std::size_t v = 0; v < n_vars_; ++v)
      for (std::size_t c = lists.begin(v); c < lists.end(v); ++c)
        best_[v] = std::max(best_[v], lists.scores[c]);
    odd_.assign(1, -1.0);
    for (std::size_t v = 0; v < n_vars_; ++v)
      for (std::size_t t = 0, n = odd_.size(); t < n; ++t) odd_.push_back(-odd_[t]);
  }

  DagAverage run(const DagAverageOptions& options, const Stop& stop) {
    DagAverage found;
    const auto stopped = [&] {
      found.stopped = stop.reason();
      return found;
    };
    if (std::ranges::find(best_, kMinusInfinity) != best_.end()) {
      found.log_total = kMinusInfinity;
      return found;
    }
    if (!sum_families(stop) || !pass_forward(stop)) return stopped();
    found.log_total = forward_[full_];
    if (found.log_total == kMinusInfinity) return found;
    if (!pass_backward(stop) || !sum_around(found, stop) || !draw(found, options, stop))
      return stopped();
    for (const double best : best_) found.log_total += best;
    return found;
  }

 private:
  // Of the families of `child` whose parents are all in `others`, as a logarithm.
  double& of(std::vector<double>& table, std::size_t child, Mask others) const {
    return table[child * half_ + squeeze(others, child)];
  }
  double allowed(std::size_t child, Mask others) const {
    return allowed_[child * half_ + squeeze(others, child)];
  }
  double weight(std::size_t child, std::size_t candidate) const {
    return lists_.scores[candidate] - best_[child];
  }

  template <class Work>
  bool for_variables(const Stop& stop, Work&& work) const {
    const Caller caller = n_vars_ > kFewVars ? Caller::waits : Caller::works;
    const std::size_t n_threads = n_vars_ > kFewVars ? n_threads_ : 1;
    return parallel_for(n_vars_, n_threads, stop, work, caller) && !stop.has_ended();
  }
  // Calls work(high, thread) for all choices of the high variables, smaller sets (or larger ones)
  // first, those of equal size in parallel.
  template <class Work>
  bool for_blocks(bool ascending, const Stop& stop, Work&& work) const {
    std::vector<std::vector<Mask>> sizes(n_high_ + 1);
    for (Mask high = 0; high < bit_of(n_high_); ++high)
      sizes[static_cast<std::size_t>(std::popcount(high))].push_back(high << n_low_);
    if (!ascending) std::ranges::reverse(sizes);
    const Caller caller = n_vars_ > kFewVars ? Caller::waits : Caller::works;
    return std::ranges::all_of(sizes, [&](const auto& equal) {
      const bool is_whole = parallel_for(
          equal.size(), n_threads_, stop,
          [&](std::size_t task, std::size_t thread) {
            if (!stop.has_ended()) work(equal[task], thread);
          },
          caller);
      return is_whole && !stop.has_ended();
    });
  }

  bool sum_families(const Stop& stop) {
    allowed_.assign(n_vars_ * half_, kMinusInfinity);
    return for_variables(stop, [&](std::size_t v, std::size_t) {
      for (std::size_t c = lists_.begin(v); c < lists_.end(v); ++c)
        of(allowed_, v, masks_[c]) = weight(v, c);
      double* values = allowed_.data() + v * half_;
      for (std::size_t step = 1; step < half_ && !stop.has_ended(); step *= 2)
        for (std::size_t start = 0; start < half_; start += 2 * step)
          for (std::size_t k = start; k < start + step; ++k)
            values[k + step] = log_add(values[k + step], values[k]);
    });
  }

  // The weight of the best order of each subset. That of its DAGs is at least as large, and at most
  // n! times: a scale to add them up by.
  void scale_forward() {
    scale_.assign(2 * half_, kMinusInfinity);
    scale_[0] = 0.0;
    for (Mask subset = 1; subset <= full_; ++subset)
      for_each_bit(subset, [&](std::size_t last) {
        const Mask others = subset & ~bit_of(last);
        scale_[subset] = std::max(scale_[subset], scale_[others] + allowed(last, others));
      });
  }
  void scale_backward() {
    scale_.assign(2 * half_, kMinusInfinity);
    scale_[full_] = 0.0;
    for (Mask subset = full_; subset-- > 0;)
      for_each_bit(full_ & ~subset, [&](std::size_t next) {
        scale_[subset] =
            std::max(scale_[subset], scale_[subset | bit_of(next)] + allowed(next, subset));
      });
  }

  // forward_[S]: all DAGs on S.
  bool pass_forward(const Stop& stop) {
    scale_forward();
    forward_.assign(2 * half_, 0.0);
    std::vector<Subsets> rooms(n_threads_);
    return for_blocks(true, stop, [&](Mask block, std::size_t thread) {
      Subsets& room = rooms[thread];
      for (Mask part = block; part != 0;) {
        part = (part - 1) & block;
        for (Mask low = 0; low < bit_of(n_low_) && !stop.has_ended(); ++low)
          add_sinks(part | low, block & ~part, room);
      }
      for (Mask low = 0; low < bit_of(n_low_); ++low) {
        double& entry = forward_[block | low];
        const bool is_empty = (block | low) == 0;
        entry = is_empty      ? 0.0
                : entry > 0.0 ? scale_[block | low] + std::log(entry)
                              : kMinusInfinity;
        add_sinks(block | low, 0, room);
      }
    });
  }

  // Adds to every set that has `subset` and some more variables, `high` and low ones, the DAGs in
  // which these are sinks.
  void add_sinks(Mask subset, Mask high, Subsets& sinks) {
    double base = forward_[subset];
    for_each_bit(high, [&](std::size_t v) { base += allowed(v, subset); });
    if (base == kMinusInfinity) return;
    sinks.clear(base);
    for_each_bit((bit_of(n_low_) - 1) & ~subset, [&](std::size_t v) {
      const double value = allowed(v, subset);
      if (value > kMinusInfinity) sinks.add(v, value);
    });
    const double sign = std::popcount(high) % 2 == 0 ? 1.0 : -1.0;
    for (std::size_t t = high == 0 ? 1 : 0; t < sinks.sums.size(); ++t) {
      const Mask target = subset | high | sinks.masks[t];
      const double size = sinks.sums[t] - scale_[target];
      if (size > kNegligible) forward_[target] += sign * odd_[t] * std::exp(size);
    }
  }

  // backward_[S]: all choices for the rest when S comes first. around_: when the variables that are
  // no descendants of the child are just these, everything but the family of the child itself.
  bool pass_backward(const Stop& stop) {
    scale_backward();
    backward_.assign(2 * half_, kMinusInfinity);
    backward_[full_] = 0.0;
    around_.assign(n_vars_ * half_, kMinusInfinity);
    std::vector<Subsets> rooms(n_threads_);
    return for_blocks(false, stop, [&](Mask block, std::size_t thread) {
      for (Mask low = bit_of(n_low_); low-- > 0 && !stop.has_ended();)
        if ((block | low) != full_) look_on(block | low, rooms[thread]);
    });
  }

  void look_on(Mask subset, Subsets& next) {
    if (scale_[subset] == kMinusInfinity) return;
    collect_next(subset, next);
    std::vector<double>& terms = next.sums;
    for (std::size_t k = next.members.size(); k-- > 0;) {
      const std::size_t half = std::size_t{1} << k, child = next.members[k];
      double with_child = 0.0;
      for (std::size_t t = 0; t < half; ++t) {
        with_child += terms[half + t];
        terms[t] += terms[half + t];
      }
      if (with_child > 0.0 && forward_[subset] > kMinusInfinity)
        of(around_, child, subset) = forward_[subset] + scale_[subset] + std::log(with_child) -
                                     allowed(child, subset) - forward_[full_];
    }
    if (terms[0] > 0.0) backward_[subset] = scale_[subset] + std::log(terms[0]);
  }

  // The signed terms of all sets of variables that may come next after `subset`, all of them with
  // parents in it, relative to its scale; 0 for no variable.
  void collect_next(Mask subset, Subsets& next) const {
    next.clear(-scale_[subset]);
    for_each_bit(full_ & ~subset, [&](std::size_t v) {
      const double value = allowed(v, subset);
      if (value > kMinusInfinity) next.add(v, value);
    });
    next.sums[0] = 0.0;
    for (std::size_t t = 1; t < next.sums.size(); ++t) {
      const double size = next.sums[t] + backward_[subset | next.masks[t]];
      next.sums[t] = size > kNegligible ? odd_[t] * std::exp(size) : 0.0;
    }
  }

  bool sum_around(DagAverage& found, const Stop& stop) {
    found.families.assign(lists_.n_sets(), 0.0);
    found.arcs.assign(n_vars_ * n_vars_, 0.0);
    found.paths.assign(n_vars_ * n_vars_, 0.0);
    return for_variables(stop, [&](std::size_t v, std::size_t) {
      sum_paths(v, found);
      double* values = around_.data() + v * half_;
      for (std::size_t step = 1; step < half_ && !stop.has_ended(); step *= 2)
        for (std::size_t start = 0; start < half_; start += 2 * step)
          for (std::size_t k = start; k < start + step; ++k)
            values[k] = log_add(values[k], values[k + step]);
      for (std::size_t c = lists_.begin(v); c < lists_.end(v); ++c) {
        const double p = std::min(1.0, std::exp(weight(v, c) + of(around_, v, masks_[c])));
        found.families[c] = p;
        for (const Var parent : lists_.of(c)) found.arcs[parent * n_vars_ + v] += p;
      }
    });
  }

  // A variable that is not among those that do not descend from `ancestor` does.
  void sum_paths(std::size_t ancestor, DagAverage& found) const {
    double* paths = found.paths.data() + ancestor * n_vars_;
    for (std::size_t k = 0; k < half_; ++k) {
      const double p = std::exp(around_[ancestor * half_ + k] + allowed_[ancestor * half_ + k]);
      if (p == 0.0) continue;
      const Mask low = bit_of(ancestor) - 1, others = static_cast<Mask>(k);
      const Mask rest = (others & low) | ((others & ~low) << 1) | bit_of(ancestor);
      for_each_bit(full_ & ~rest, [&](std::size_t v) { paths[v] += p; });
    }
  }

  // Draws that have come to the same variables, of which the last layer is `last`.
  struct Drawn {
    Mask placed, last;
    std::vector<std::size_t> draws;
  };

  bool draw(DagAverage& found, const DagAverageOptions& options, const Stop& stop) const {
    found.draws.assign(options.n_draws * n_vars_, kNoSet);
    std::vector<Rng> sources;
    Drawn all{.placed = 0, .last = 0, .draws = {}};
    for (std::size_t d = 0; d < options.n_draws; ++d) {
      sources.emplace_back(Rng(options.seed, d).next());  // streams of one seed share numbers
      all.draws.push_back(d);
    }
    if (all.draws.empty()) return true;
    const std::vector<Drawn> first = draw_layer(all, sources, found.draws);
    const bool is_whole = parallel_for(
        first.size(), n_threads_, stop,
        [&](std::size_t task, std::size_t) { draw_on(first[task], sources, found.draws, stop); });
    return is_whole && !stop.has_ended();
  }

  void draw_on(const Drawn& drawn, std::vector<Rng>& sources, std::vector<std::size_t>& choices,
               const Stop& stop) const {
    if (drawn.placed == full_ || stop.is_over()) return;
    for (const Drawn& next : draw_layer(drawn, sources, choices))
      draw_on(next, sources, choices, stop);
  }

  // Draws the next layer of each, and the families in it; together again where they agree.
  std::vector<Drawn> draw_layer(const Drawn& drawn, std::vector<Rng>& sources,
                                std::vector<std::size_t>& choices) const {
    Subsets next;
    collect_next(drawn.placed, next);
    // Of all supersets: then no variable beyond the layer has all its parents among those placed.
    for (std::size_t step = 1; step < next.sums.size(); step *= 2)
      for (std::size_t start = 0; start < next.sums.size(); start += 2 * step)
        for (std::size_t t = start; t < start + step; ++t) next.sums[t] += next.sums[t + step];
    // The share of the families of each that have a parent in the last layer.
    std::vector<double> shares(1, 1.0);
    for (const std::size_t v : next.members) {
      const double without =
          drawn.last == 0 ? kMinusInfinity : allowed(v, drawn.placed & ~drawn.last);
      const double share = -std::expm1(without - allowed(v, drawn.placed));
      for (std::size_t t = 0, n = shares.size(); t < n; ++t) shares.push_back(shares[t] * share);
    }
    double total = 0.0;
    next.sums[0] = 0.0;
    for (std::size_t t = 1; t < next.sums.size(); ++t) {
      total += std::max(0.0, odd_[t] * next.sums[t] * shares[t]);
      next.sums[t] = total;
    }
    std::vector<std::pair<Mask, std::size_t>> layers;
    for (const std::size_t d : drawn.draws) {
      const double at = to_unit(sources[d].next()) * total;
      const auto place = std::ranges::upper_bound(next.sums, at);
      const auto t = std::min(place - next.sums.begin(), std::ssize(next.sums) - 1);
      layers.emplace_back(next.masks[static_cast<std::size_t>(t)], d);
      draw_families(drawn, layers.back().first, sources[d], choices.data() + d * n_vars_);
    }
    std::ranges::sort(layers);
    std::vector<Drawn> groups;
    for (const auto& [layer, d] : layers) {
      if (groups.empty() || groups.back().last != layer)
        groups.push_back({.placed = drawn.placed | layer, .last = layer, .draws = {}});
      groups.back().draws.push_back(d);
    }
    return groups;
  }

  void draw_families(const Drawn& drawn, Mask layer, Rng& source, std::size_t* choices) const {
    for_each_bit(layer, [&](std::size_t v) {
      const auto fits = [&](std::size_t c) {
        return (masks_[c] & ~drawn.placed) == 0 &&
               (drawn.last == 0 || (masks_[c] & drawn.last) != 0);
      };
      const double most = allowed(v, drawn.placed);
      double total = 0.0;
      for (std::size_t c = lists_.begin(v); c < lists_.end(v); ++c)
        if (fits(c)) total += std::exp(weight(v, c) - most);
      double at = to_unit(source.next()) * total;
      for (std::size_t c = lists_.begin(v); c < lists_.end(v); ++c) {
        if (!fits(c)) continue;
        choices[v] = c;
        at -= std::exp(weight(v, c) - most);
        if (at < 0.0) break;
      }
    });
  }

  const ParentLists& lists_;
  std::size_t n_vars_, n_threads_, half_, n_high_, n_low_;
  Mask full_;
  std::vector<Mask> masks_;      // of each candidate
  std::vector<double> best_;     // score of each variable, taken off those of its candidates
  std::vector<double> odd_;      // 1 for sets of odd size, -1 for others
  std::vector<double> allowed_;  // per child, by mask of the others: see of()
  std::vector<double> around_;   // the same
  std::vector<double> scale_, forward_, backward_;  // by subset, as logarithms
};

}  // namespace

double dag_average_memory(std::size_t n_vars, std::size_t n_threads) {
  const auto n = static_cast<double>(n_vars);
  const double subsets = std::exp2(static_cast<double>(n_vars));  // infinite beyond 1,023
  const auto threads = static_cast<double>(resolve_threads(n_threads));
  // Two tables per child, four of all subsets, and of each thread sums, masks and shares.
  return 8.0 * subsets * (n + 4.0 + 2.5 * threads);
}

DagAverage average_dags(const ParentLists& lists, const DagAverageOptions& options,
                        std::size_t n_threads, const Stop& stop) {
  if (lists.n_vars() == 0) return {};
  return DagProgram(lists, n_threads).run(options, stop);
}

}  // namespace bayesmend
