#include "core/structure/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/require.hpp"
#include "core/base/rng.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// What is so much less than the largest of a sum, as a logarithm, ends it.
constexpr double kNegligible = 40.0;

template <std::size_t kWords>
struct VarSet {
  std::array<std::uint64_t, kWords> words{};

  void add(std::size_t v) { words[v / 64] |= std::uint64_t{1} << (v % 64); }
  bool has(std::size_t v) const { return (words[v / 64] >> (v % 64) & 1) != 0; }
  void add_all(const VarSet& other) {
    for (std::size_t w = 0; w < kWords; ++w) words[w] |= other.words[w];
  }
  bool is_within(const VarSet& other) const {
    std::uint64_t outside = 0;
    for (std::size_t w = 0; w < kWords; ++w) outside |= words[w] & ~other.words[w];
    return outside == 0;
  }
  bool meets(const VarSet& other) const {
    std::uint64_t common = 0;
    for (std::size_t w = 0; w < kWords; ++w) common |= words[w] & other.words[w];
    return common != 0;
  }
};

// The logarithm of a sum whose terms come in descending order.
class FallingSum {
 public:
  void take(double score) {
    if (first_ == kMinusInfinity) first_ = score;
    sum_ += std::exp(score - first_);
  }
  // Whether what follows does not count.
  bool is_done(double score) const { return score < first_ - kNegligible; }
  double log() const { return first_ == kMinusInfinity ? first_ : first_ + std::log(sum_); }

 private:
  double first_ = kMinusInfinity, sum_ = 0.0;
};

double unit(Rng& source) { return static_cast<double>(source.next() >> 11) * 0x1.0p-53; }

// The place of a draw among weights given as logarithms.
std::size_t draw_among(std::vector<double>& logs, Rng& source) {
  const double most = *std::ranges::max_element(logs);
  double total = 0.0;
  for (double& value : logs) value = total += std::exp(value - most);
  const auto place = std::ranges::upper_bound(logs, unit(source) * total);
  return static_cast<std::size_t>(std::min(place - logs.begin(), std::ssize(logs) - 1));
}

// The candidates as masks, and for each child and parent those that have this parent.
template <std::size_t kWords>
class Candidates {
 public:
  using Set = VarSet<kWords>;

  explicit Candidates(const ParentLists& lists)
      : lists_(lists), sets_(lists.n_sets()), first_(lists.n_vars() * lists.n_vars() + 1, 0) {
    const std::size_t n = lists.n_vars();
    for (std::size_t c = 0; c < sets_.size(); ++c)
      for (const Var parent : lists.of(c)) sets_[c].add(parent);
    for_members([&](std::size_t slot, std::size_t) { ++first_[slot + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    with_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for_members([&](std::size_t slot, std::size_t c) {
      with_[next[slot]++] = static_cast<std::uint32_t>(c);
    });
    for (std::size_t v = 0; v < n; ++v) {
      std::size_t c = lists.begin(v);
      while (c < lists.end(v) && !lists.of(c).empty()) ++c;
      alone_.push_back(c < lists.end(v) ? lists.scores[c] : kMinusInfinity);
    }
  }

  std::size_t n_vars() const { return lists_.n_vars(); }
  const ParentLists& lists() const { return lists_; }
  const Set& set(std::size_t c) const { return sets_[c]; }
  // The score of a variable without parents.
  double alone(std::size_t child) const { return alone_[child]; }

  // Calls visit(candidate, score) from the best on, until it returns false.
  template <class Visit>
  void all_of(std::size_t child, Visit&& visit) const {
    for (std::size_t c = lists_.begin(child); c < lists_.end(child); ++c)
      if (!visit(c, lists_.scores[c])) return;
  }
  template <class Visit>
  void with(std::size_t child, std::size_t parent, Visit&& visit) const {
    const std::size_t slot = child * n_vars() + parent;
    for (std::size_t k = first_[slot]; k < first_[slot + 1]; ++k)
      if (!visit(with_[k], lists_.scores[with_[k]])) return;
  }

 private:
  template <class Visit>
  void for_members(Visit&& visit) const {
    for (std::size_t v = 0; v < lists_.n_vars(); ++v)
      for (std::size_t c = lists_.begin(v); c < lists_.end(v); ++c)
        for (const Var parent : lists_.of(c)) visit(v * lists_.n_vars() + parent, c);
  }

  const ParentLists& lists_;
  std::vector<Set> sets_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> with_;
  std::vector<double> alone_;
};

template <std::size_t kWords>
class PartitionChain {
 public:
  using Set = VarSet<kWords>;

  PartitionChain(const Candidates<kWords>& candidates, std::span<const std::uint32_t> start,
                 Rng source)
      : candidates_(candidates), source_(source) {
    layers_.resize(*std::ranges::max_element(start) + 1);
    for (std::size_t v = 0; v < start.size(); ++v) layers_[start[v]].push_back(v);
    std::erase_if(layers_, [](const auto& layer) { return layer.empty(); });
  }

  void step() {
    const std::size_t kind = source_.below(8);
    if (kind < 4)
      relocate(source_.below(candidates_.n_vars()));
    else if (kind == 4)
      swap_two();
    else if (kind == 5)
      split_or_join();
    else
      reverse_arc();
  }

  // A DAG given the partition.
  double draw(std::size_t* choices) {
    double score = 0.0;
    Set placed, last;
    for (const auto& layer : layers_) {
      for (const std::size_t v : layer) {
        choices[v] = draw_family(v, placed, last, &layer == layers_.data());
        score += candidates_.lists().scores[choices[v]];
      }
      last = {};
      for (const std::size_t v : layer) last.add(v);
      placed.add_all(last);
    }
    return score;
  }

  void tell(std::uint32_t* layers) const {
    for (std::size_t k = 0; k < layers_.size(); ++k)
      for (const std::size_t v : layers_[k]) layers[v] = static_cast<std::uint32_t>(k);
  }

 private:
  using Layers = std::vector<std::vector<std::size_t>>;

  // All families of a child with parents in `placed`, one of them at least in `last`.
  double sum(std::size_t child, const Set& placed, const Set& last) const {
    FallingSum found;
    candidates_.all_of(child, [&](std::size_t c, double score) {
      if (found.is_done(score)) return false;
      const Set& set = candidates_.set(c);
      if (set.meets(last) && set.is_within(placed)) found.take(score);
      return true;
    });
    return found.log();
  }

  double sum_layers(const Layers& layers, std::size_t first, std::size_t n) const {
    Set placed, last;
    double total = 0.0;
    for (std::size_t k = 0; k < std::min(first + n, layers.size()); ++k) {
      if (k >= first)
        for (const std::size_t v : layers[k])
          total += k == 0 ? candidates_.alone(v) : sum(v, placed, last);
      last = {};
      for (const std::size_t v : layers[k]) last.add(v);
      placed.add_all(last);
    }
    return total;
  }

  std::size_t draw_family(std::size_t child, const Set& placed, const Set& last, bool is_first) {
    std::vector<double> logs;
    std::vector<std::size_t> fitting;
    candidates_.all_of(child, [&](std::size_t c, double score) {
      if (!logs.empty() && score < logs[0] - kNegligible) return false;
      const bool is_empty = candidates_.lists().of(c).empty();
      if (is_first ? is_empty
                   : candidates_.set(c).meets(last) && candidates_.set(c).is_within(placed)) {
        logs.push_back(score);
        fitting.push_back(c);
      }
      return true;
    });
    return fitting[draw_among(logs, source_)];
  }

  // What a layer is worth without the variable that is moved, and by where that comes before it.
  struct Around {
    double without = 0.0;  // or after it
    double joined = 0.0;   // in the layer before
    double alone = 0.0;    // in a layer between that and this
    double before = 0.0;   // earlier
  };

  // Draws a place for a variable from all there are: in each layer, and alone between any two.
  void relocate(std::size_t moved) {
    for (auto& layer : layers_) std::erase(layer, moved);
    std::erase_if(layers_, [](const auto& layer) { return layer.empty(); });
    const std::size_t n = layers_.size();
    const std::vector<double> own = sum_by_layer(moved);
    const std::vector<Around> around = look_around(moved);
    // Places 2 k: alone before layer k; 2 k + 1: in layer k.
    std::vector<double> before(n + 1, 0.0), after(n + 2, 0.0), logs(2 * n + 1);
    for (std::size_t k = 0; k < n; ++k) before[k + 1] = before[k] + around[k].without;
    for (std::size_t k = n; k-- > 0;) after[k] = after[k + 1] + around[k].before;
    for (std::size_t k = 0; k <= n; ++k) {
      const double next = k < n ? around[k].alone + after[k + 1] : 0.0;
      logs[2 * k] = before[k] + own[k] + next;
      if (k == n) break;
      const double joined = k + 1 < n ? around[k + 1].joined + after[k + 2] : 0.0;
      logs[2 * k + 1] = before[k + 1] + own[k] + joined;
    }
    const std::size_t place = draw_among(logs, source_);
    const auto layer = layers_.begin() + static_cast<std::ptrdiff_t>(place / 2);
    if (place % 2 == 1)
      layer->push_back(moved);
    else
      layers_.insert(layer, {moved});
  }

  // Of the families of a variable, by the number of the first layer that comes after all parents.
  std::vector<double> sum_by_layer(std::size_t child) const {
    std::vector<std::uint32_t> layer_of(candidates_.n_vars(), 0);
    tell(layer_of.data());
    std::vector<FallingSum> sums(layers_.size() + 1);
    candidates_.all_of(child, [&](std::size_t c, double score) {
      std::size_t layer = 0;
      for (const Var parent : candidates_.lists().of(c))
        layer = std::max<std::size_t>(layer, layer_of[parent] + 1);
      if (!sums[layer].is_done(score)) sums[layer].take(score);
      return true;
    });
    std::vector<double> logs;
    logs.reserve(sums.size());
    for (const FallingSum& found : sums) logs.push_back(found.log());
    return logs;
  }

  std::vector<Around> look_around(std::size_t moved) const {
    std::vector<Around> around(layers_.size());
    Set placed, last;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      for (const std::size_t v : layers_[k]) add_around(v, moved, k == 0, placed, last, around[k]);
      last = {};
      for (const std::size_t v : layers_[k]) last.add(v);
      placed.add_all(last);
    }
    return around;
  }

  void add_around(std::size_t child, std::size_t moved, bool is_first, const Set& placed,
                  const Set& last, Around& around) const {
    Set all = placed;
    all.add(moved);
    FallingSum without, with, with_last;
    if (is_first)
      without.take(candidates_.alone(child));
    else
      candidates_.all_of(child, [&](std::size_t c, double score) {
        if (without.is_done(score)) return false;
        const Set& set = candidates_.set(c);
        if (set.meets(last) && set.is_within(placed)) without.take(score);
        return true;
      });
    candidates_.with(child, moved, [&](std::size_t c, double score) {
      if (with_last.is_done(score) && with.is_done(score)) return false;
      const Set& set = candidates_.set(c);
      if (!set.is_within(all)) return true;
      if (!with.is_done(score)) with.take(score);
      if (set.meets(last)) with_last.take(score);
      return true;
    });
    around.without += without.log();
    around.alone += with.log();
    around.joined += log_add(without.log(), with.log());
    around.before += log_add(without.log(), with_last.log());
  }

  static double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kMinusInfinity ? a : a + std::log1p(std::exp(b - a));
  }

  // Two variables of different layers change places.
  void swap_two() {
    const std::size_t n = layers_.size();
    if (n < 2) return;
    std::size_t one = source_.below(candidates_.n_vars());
    std::size_t two = source_.below(candidates_.n_vars());
    auto at = [&](std::size_t v) {
      for (std::size_t k = 0;; ++k)
        for (std::size_t& member : layers_[k])
          if (member == v) return std::pair(k, &member);
    };
    auto [k, first] = at(one);
    auto [l, second] = at(two);
    if (k == l) return;
    if (k > l) std::swap(k, l);
    const double before = sum_layers(layers_, k, l + 2 - k);
    std::swap(*first, *second);
    const double after = sum_layers(layers_, k, l + 2 - k);
    if (!is_taken(after - before)) std::swap(*first, *second);
  }

  // One of all ways to split a layer in two or to join two neighbours, each as likely as any other.
  void split_or_join() {
    const double here = count_ways(layers_);
    double at = unit(source_) * here;
    const auto n_joins = static_cast<double>(layers_.size() - 1);
    Layers changed = layers_;
    std::size_t first = 0;
    const bool is_join = at < n_joins;
    if (is_join) {
      first = static_cast<std::size_t>(at);
      auto& next = changed[first + 1];
      changed[first].insert(changed[first].end(), next.begin(), next.end());
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    } else {
      at -= n_joins;
      while (first + 1 < layers_.size() && at >= splits(layers_[first].size()))
        at -= splits(layers_[first++].size());
      if (layers_[first].size() < 2) return;
      split(changed, first);
    }
    const double before = sum_layers(layers_, first, is_join ? 3 : 2);
    const double after = sum_layers(changed, first, is_join ? 2 : 3);
    if (is_taken(after - before + std::log(here) - std::log(count_ways(changed))))
      layers_ = std::move(changed);
  }

  // A DAG of the partition has an arc reversed and the parents of both its ends drawn anew
  // (Grzegorczyk & Husmeier 2008), and decides on the partition.
  void reverse_arc() {
    const std::size_t n = candidates_.n_vars();
    std::vector<std::size_t> choices(n);
    draw(choices.data());
    std::vector<Set> parents(n);
    for (std::size_t v = 0; v < n; ++v) parents[v] = candidates_.set(choices[v]);
    const auto count_arcs = [&] {
      std::size_t total = 0;
      for (const std::size_t c : choices) total += candidates_.lists().of(c).size();
      return total;
    };
    const std::size_t n_arcs = count_arcs();
    if (n_arcs == 0) return;
    std::size_t arc = source_.below(n_arcs), child = 0;
    while (arc >= candidates_.lists().of(choices[child]).size())
      arc -= candidates_.lists().of(choices[child++]).size();
    const std::size_t parent = candidates_.lists().of(choices[child])[arc];
    const Set old_of_child = parents[child];
    parents[child] = parents[parent] = {};
    const Set below_parent = descendants(parents, parent),
              below_child = descendants(parents, child);
    const Options up = reversible(parent, child, below_parent);
    const Options back = reversible(child, parent, below_child);
    if (up.sets.empty() || back.sets.empty()) return;
    parents[child] = old_of_child;
    const Options old = options(parent, descendants(parents, parent));
    parents[child] = {};
    choices[parent] = up.draw(source_);
    parents[parent] = candidates_.set(choices[parent]);
    const Options fresh = options(child, descendants(parents, child));
    if (fresh.sets.empty()) return;
    choices[child] = fresh.draw(source_);
    parents[child] = candidates_.set(choices[child]);
    const double sizes = std::log(static_cast<double>(n_arcs) / static_cast<double>(count_arcs()));
    if (is_taken(sizes + up.total() + fresh.total() - back.total() - old.total())) layer(parents);
  }

  // Candidates and their scores, the best first.
  struct Options {
    std::vector<std::size_t> sets;
    std::vector<double> logs;
    FallingSum sum;

    bool offer(std::size_t c, double score) {
      if (sum.is_done(score)) return false;
      sets.push_back(c);
      logs.push_back(score);
      sum.take(score);
      return true;
    }
    double total() const { return sum.log(); }
    std::size_t draw(Rng& source) const {
      std::vector<double> falling = logs;
      return sets[draw_among(falling, source)];
    }
  };

  // Candidates of a child that have a parent, and none of those below.
  Options reversible(std::size_t child, std::size_t parent, const Set& below) const {
    Options found;
    candidates_.with(child, parent, [&](std::size_t c, double score) {
      return candidates_.set(c).meets(below) || found.offer(c, score);
    });
    return found;
  }
  Options options(std::size_t child, const Set& below) const {
    Options found;
    candidates_.all_of(child, [&](std::size_t c, double score) {
      return candidates_.set(c).meets(below) || found.offer(c, score);
    });
    return found;
  }

  // A variable and all that descend from it.
  static Set descendants(const std::vector<Set>& parents, std::size_t ancestor) {
    Set below;
    below.add(ancestor);
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (std::size_t v = 0; v < parents.size(); ++v) {
        if (below.has(v) || !parents[v].meets(below)) continue;
        below.add(v);
        has_grown = true;
      }
    }
    return below;
  }

  // The partition of a DAG: a variable comes one layer after the last of its parents.
  void layer(const std::vector<Set>& parents) {
    layers_.clear();
    Set placed;
    for (std::size_t n_placed = 0; n_placed < parents.size(); n_placed += layers_.back().size()) {
      layers_.emplace_back();
      for (std::size_t v = 0; v < parents.size(); ++v)
        if (!placed.has(v) && parents[v].is_within(placed)) layers_.back().push_back(v);
      for (const std::size_t v : layers_.back()) placed.add(v);
    }
  }

  static double splits(std::size_t size) { return std::ldexp(1.0, static_cast<int>(size)) - 2.0; }
  static double count_ways(const Layers& layers) {
    auto total = static_cast<double>(layers.size() - 1);
    for (const auto& layer : layers) total += splits(layer.size());
    return total;
  }

  void split(Layers& changed, std::size_t place) {
    std::vector<std::size_t> one, two;
    while (one.empty() || two.empty()) {
      one.clear();
      two.clear();
      for (const std::size_t v : changed[place]) (source_.below(2) == 0 ? one : two).push_back(v);
    }
    changed[place] = std::move(one);
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(place) + 1, std::move(two));
  }

  bool is_taken(double gain) { return unit(source_) < std::exp(gain); }

  const Candidates<kWords>& candidates_;
  Rng source_;
  Layers layers_;
};

template <std::size_t kWords>
PartitionSamples sample_with(const ParentLists& lists, std::span<const std::uint32_t> start,
                             const PartitionOptions& options, std::size_t n_threads,
                             const Stop& stop) {
  const Candidates<kWords> candidates(lists);
  const std::size_t n = lists.n_vars(), n_kept = options.n_chains * options.n_samples;
  PartitionSamples found;
  found.choices.resize(n_kept * n);
  found.scores.resize(n_kept);
  found.layers.resize(options.n_chains * n);
  std::vector<std::size_t> done(options.n_chains, 0);
  const auto run = [&](std::size_t chain, std::size_t) {
    PartitionChain<kWords> state(candidates, start.subspan(chain * n, n),
                                 Rng(Rng(options.seed, chain).next()));
    const auto walk = [&](std::size_t n_steps) {
      for (std::size_t k = 0; k < n_steps && !stop.is_over(); ++k) state.step();
    };
    walk(options.burn_in);
    do {
      walk(options.n_steps);
      const std::size_t place = chain * options.n_samples + done[chain];
      if (done[chain] > 0 && stop.has_ended()) break;
      found.scores[place] = state.draw(found.choices.data() + place * n);
      if (options.progress != nullptr) options.progress->note(found.scores[place]);
    } while (++done[chain] < options.n_samples);
    state.tell(found.layers.data() + chain * n);
  };
  // Each chain gives a sample however little time there is; so the chains are told to end, and not
  // left out.
  const Stop watch(0.0, [&] { return stop.poll(), false; });
  parallel_for(options.n_chains, n_threads, watch, run, Caller::waits);
  found.stopped = stop.reason();
  found.n_samples = *std::ranges::min_element(done);
  // The samples of the chains close up.
  for (std::size_t chain = 1; chain < options.n_chains; ++chain) {
    const std::size_t from = chain * options.n_samples, to = chain * found.n_samples;
    std::copy_n(found.scores.data() + from, found.n_samples, found.scores.data() + to);
    std::copy_n(found.choices.data() + from * n, found.n_samples * n,
                found.choices.data() + to * n);
  }
  found.scores.resize(options.n_chains * found.n_samples);
  found.choices.resize(found.scores.size() * n);
  return found;
}

}  // namespace

PartitionSamples sample_partitions(const ParentLists& lists, std::span<const std::uint32_t> start,
                                   const PartitionOptions& options, std::size_t n_threads,
                                   const Stop& stop) {
  const std::size_t n = lists.n_vars();
  require(n > 0 && n <= kMostPartitionVars, "a number of variables from 1 to 256 is needed.");
  require(start.size() == n * options.n_chains,
          "the start needs a layer of each variable in each chain.");
  if (n <= 64) return sample_with<1>(lists, start, options, n_threads, stop);
  if (n <= 128) return sample_with<2>(lists, start, options, n_threads, stop);
  return sample_with<4>(lists, start, options, n_threads, stop);
}

}  // namespace bayesmend
