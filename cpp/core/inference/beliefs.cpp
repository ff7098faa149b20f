#include "core/inference/beliefs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bayesmend {
namespace {

// Tables whose largest entry is below this are computed by logarithms.
constexpr double kSmall = 0x1.0p-400;

}  // namespace

Elimination::Elimination(std::span<const std::uint32_t> card,
                         const std::vector<std::vector<std::uint32_t>>& scopes,
                         const std::vector<std::vector<std::size_t>>& strides,
                         std::span<const std::uint32_t> keep, double max_joint)
    : card_(card.begin(), card.end()),
      tree_(make_clique_tree(card, scopes, keep, max_joint)),
      home_(card.size()),
      home_stride_(card.size()),
      n_words_((card.size() + 63) / 64) {
  if (tree_.n_entries > kMaxTreeEntries) return;  // never to be filled
  members_.assign(tree_.cliques.size() * n_words_, 0);
  for (std::uint32_t c = 0; c < tree_.cliques.size(); ++c) {
    walks_.push_back(make_walk(clique(c), scopes, strides));
    note_positions(c);
    const auto n_entries = static_cast<std::size_t>(clique(c).n_entries);
    const auto n_own = static_cast<std::size_t>(clique(c).n_own_entries);
    table_start_.push_back(table_start_.back() + n_entries);
    message_start_.push_back(message_start_.back() + n_entries / n_own);
  }
}

Elimination::Walk Elimination::make_walk(
    const Clique& clique, const std::vector<std::vector<std::uint32_t>>& scopes,
    const std::vector<std::vector<std::size_t>>& strides) const {
  Walk walk;
  for (const auto v : clique.scope) walk.sizes.push_back(card_[v]);
  walk.strides.assign((clique.factors.size() + clique.children.size()) * walk.sizes.size(), 0);
  auto next = walk.strides.begin();  // of the input at hand
  const auto stride_of = [&](std::uint32_t position) -> std::size_t& {
    return next[std::ranges::find(clique.scope, position) - clique.scope.begin()];
  };
  for (const auto f : clique.factors) {
    for (std::size_t p = 0; p < scopes[f].size(); ++p) stride_of(scopes[f][p]) += strides[f][p];
    next += std::ssize(walk.sizes);
  }
  for (const auto child : clique.children) {
    const auto& below = tree_.cliques[child];
    std::size_t stride = 1;
    for (const auto position : std::span(below.scope).subspan(below.n_own)) {
      stride_of(position) += stride;
      stride *= card_[position];
    }
    next += std::ssize(walk.sizes);
  }
  return walk;
}

void Elimination::note_positions(std::uint32_t c) {
  std::size_t stride = 1;
  for (std::size_t d = 0; d < clique(c).scope.size(); ++d) {
    const auto position = clique(c).scope[d];
    members_[c * n_words_ + position / 64] |= std::uint64_t{1} << (position % 64);
    if (d < clique(c).n_own) {
      home_[position] = c;
      home_stride_[position] = stride;
    }
    stride *= walks_[c].sizes[d];
  }
}

// Calls visit(entry) for the first entry of every run over the first digit, with `offsets_` where
// it lies in the inputs first .. last - 1.
template <class Visit>
void Beliefs::walk_runs(std::size_t c, std::size_t first, std::size_t last, Visit&& visit) const {
  const auto& walk = shape_->walk(c);
  const std::size_t n_digits = walk.sizes.size(), n_inputs = last - first;
  const std::size_t n_entries = table(c).size();
  const std::size_t* strides = walk.strides_of(first);
  odometer_.reset(n_digits);
  offsets_.assign(n_inputs, 0);
  for (std::size_t entry = 0;;) {
    visit(entry);
    entry += walk.sizes[0];
    if (entry == n_entries) return;
    const std::size_t raised = odometer_.raise(walk.sizes, 1, [&](std::size_t d) {
      for (std::size_t i = 0; i < n_inputs; ++i)
        offsets_[i] -= strides[i * n_digits + d] * (walk.sizes[d] - 1);
    });
    for (std::size_t i = 0; i < n_inputs; ++i) offsets_[i] += strides[i * n_digits + raised];
  }
}

void Beliefs::take_inputs(std::size_t c, std::span<const double* const> factors) {
  inputs_.clear();
  for (const auto f : shape_->clique(c).factors) inputs_.push_back(factors[f]);
  for (const auto child : shape_->clique(c).children) inputs_.push_back(message(child).data());
}

void Beliefs::multiply(std::size_t c, std::span<const double* const> factors) {
  const auto& walk = shape_->walk(c);
  take_inputs(c, factors);
  const auto out = entries(c);
  std::ranges::fill(out, 1.0);
  if (walk.sizes.empty()) return;
  walk_runs(c, 0, inputs_.size(), [&](std::size_t entry) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const double* from = inputs_[i] + offsets_[i];
      const std::size_t stride = *walk.strides_of(i);
      for (double& value : out.subspan(entry, walk.sizes[0])) {
        value *= *from;
        from += stride;
      }
    }
  });
  // Beside a larger one, an entry that vanished counts for nothing; if all are small, none may.
  const double top = std::ranges::max(out);
  if (top >= kSmall || (top == 0.0 && !is_possible(c, [](std::size_t) { return true; }))) return;
  add_logs(c, inputs_.size());
  const double log_top = std::ranges::max(out);
  for (double& value : out) value = std::exp(value - log_top);
  log_scale_ += log_top;
}

// Whether some entry among those that count is a product of positive numbers.
template <class Counts>
bool Beliefs::is_possible(std::size_t c, Counts&& counts) const {
  const auto& walk = shape_->walk(c);
  bool found = false;
  walk_runs(c, 0, inputs_.size(), [&](std::size_t entry) {
    for (std::size_t k = 0; k < walk.sizes[0] && !found; ++k) {
      found = counts(entry + k);
      for (std::size_t i = 0; i < inputs_.size() && found; ++i)
        found = input_at(i, k, *walk.strides_of(i)) > 0.0;
    }
  });
  return found;
}

// The logarithms of the product. Of the inputs, those from `n_numbers` on are logarithms already.
void Beliefs::add_logs(std::size_t c, std::size_t n_numbers) {
  const auto& walk = shape_->walk(c);
  const auto out = entries(c);
  std::ranges::fill(out, 0.0);
  if (walk.sizes.empty()) return;
  walk_runs(c, 0, inputs_.size(), [&](std::size_t entry) {
    for (std::size_t k = 0; k < walk.sizes[0]; ++k)
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const double value = input_at(i, k, *walk.strides_of(i));
        out[entry + k] += i < n_numbers ? std::log(value) : value;
      }
  });
}

bool Beliefs::agrees(std::size_t c, std::size_t entry, std::span<const std::uint8_t> clamp) const {
  if (clamp.empty()) return true;
  const auto& clique = shape_->clique(c);
  return std::ranges::all_of(std::span(clique.scope).first(clique.n_own), [&](auto position) {
    const std::size_t state = entry / shape_->home_stride(position) % shape_->card()[position];
    return clamp[position] == kMissing || clamp[position] == state;
  });
}

void Beliefs::apply_clamp(std::size_t c, std::span<const std::uint8_t> clamp, double nothing) {
  if (clamp.empty()) return;
  const auto out = entries(c);
  for (std::size_t entry = 0; entry < out.size(); ++entry)
    if (!agrees(c, entry, clamp)) out[entry] = nothing;
}

// False where states that are possible would get lost.
bool Beliefs::send(std::size_t c, std::span<const std::uint8_t> clamp) {
  const auto n_own = static_cast<std::size_t>(shape_->clique(c).n_own_entries);
  const auto out = message(c);
  double top = 0.0, least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < out.size(); ++s) {
    double value = 0.0;
    for (const double entry : table(c).subspan(s * n_own, n_own)) value = combine(value, entry);
    out[s] = value;
    top = std::max(top, value);
    least = std::min(least, value);
  }
  // What comes from elsewhere may speak for the least likely as strongly as this speaks against it.
  const auto is_lost = [&](std::size_t entry) {
    return out[entry / n_own] < kSmall && agrees(c, entry, clamp);
  };
  if (least < kSmall && is_possible(c, is_lost)) return false;
  log_scale_ += std::log(top);
  for (double& value : out) value /= top;
  return true;
}

// The same, when the table and the message are logarithms. What is left in the table are numbers,
// in proportion to each other among those that are added up.
void Beliefs::send_logs(std::size_t c) {
  const auto n_own = static_cast<std::size_t>(shape_->clique(c).n_own_entries);
  const auto out = message(c);
  for (std::size_t s = 0; s < out.size(); ++s) {
    const auto block = entries(c).subspan(s * n_own, n_own);
    const double top = std::ranges::max(block);
    double value = 0.0;
    for (double& entry : block) {
      entry = top == kImpossible ? 0.0 : std::exp(entry - top);
      value = combine(value, entry);
    }
    out[s] = top == kImpossible ? kImpossible : top + std::log(value);
  }
  const double top = std::ranges::max(out);
  log_scale_ += top;
  if (top == kImpossible) return;
  for (double& value : out) value -= top;
}

double Beliefs::collect(const Elimination& shape, std::span<const double* const> factors, Pass pass,
                        std::span<const std::uint8_t> clamp) {
  if (shape.tree().n_entries > kMaxTreeEntries)
    throw std::length_error("the tables of this query do not fit into memory.");
  shape_ = &shape;
  pass_ = pass;
  if (tables_.size() < shape.n_entries()) tables_.resize(shape.n_entries());
  if (messages_.size() < shape.n_message_entries()) messages_.resize(shape.n_message_entries());
  has_logs_ = !collect_numbers(factors, clamp);
  if (has_logs_) collect_logs(factors, clamp);
  return log_scale_;
}

bool Beliefs::collect_numbers(std::span<const double* const> factors,
                              std::span<const std::uint8_t> clamp) {
  log_scale_ = 0.0;
  for (std::size_t c = 0; c < shape_->tree().cliques.size(); ++c) {
    multiply(c, factors);
    apply_clamp(c, clamp, 0.0);
    if (!send(c, clamp)) return false;
    if (log_scale_ == kImpossible) return true;
  }
  return true;
}

void Beliefs::collect_logs(std::span<const double* const> factors,
                           std::span<const std::uint8_t> clamp) {
  log_scale_ = 0.0;
  for (std::size_t c = 0; c < shape_->tree().cliques.size(); ++c) {
    take_inputs(c, factors);
    add_logs(c, shape_->clique(c).factors.size());
    apply_clamp(c, clamp, kImpossible);
    send_logs(c);
    if (log_scale_ == kImpossible) return;
  }
}

void Beliefs::distribute() {
  const auto& cliques = shape_->tree().cliques;
  for (std::size_t c = cliques.size(); c-- > 0;)
    for (std::size_t k = 0; k < cliques[c].children.size(); ++k)
      send_back(c, cliques[c].factors.size() + k, cliques[c].children[k]);
}

// Makes a child, whose message is the given input, agree with a clique that is final.
void Beliefs::send_back(std::size_t c, std::size_t input, std::size_t child) {
  const auto& walk = shape_->walk(c);
  const auto received = message(child);
  const std::size_t stride = *walk.strides_of(input);
  margin_.assign(received.size(), 0.0);
  walk_runs(c, input, input + 1, [&](std::size_t entry) {
    double* cell = &margin_[offsets_[0]];
    for (const double value : table(c).subspan(entry, walk.sizes[0])) {
      *cell = combine(*cell, value);
      cell += stride;
    }
  });
  // A power of two, lest the tables become smaller from clique to clique.
  int exponent = 0;
  std::frexp(std::ranges::max(margin_), &exponent);
  const auto n_own = static_cast<std::size_t>(shape_->clique(child).n_own_entries);
  for (std::size_t s = 0; s < received.size(); ++s) {
    const auto block = entries(child).subspan(s * n_own, n_own);
    double below = received[s];
    if (has_logs_) {  // the message is logarithms, the block is not
      below = 0.0;
      for (const double value : block) below = combine(below, value);
    }
    const double ratio = below > 0.0 ? std::ldexp(margin_[s], -exponent) / below : 0.0;
    for (double& value : block) value *= ratio;
  }
}

void Beliefs::marginal(std::uint32_t position, std::span<double> out) const {
  const auto from = table(shape_->home(position));
  const std::size_t stride = shape_->home_stride(position);
  std::ranges::fill(out, 0.0);
  // Entries come in runs of `stride` with one state of the position.
  for (std::size_t entry = 0, state = 0; entry < from.size(); entry += stride) {
    double& cell = out[state];
    for (const double value : from.subspan(entry, stride)) cell = combine(cell, value);
    if (++state == out.size()) state = 0;
  }
  double scale = 0.0;
  for (const double value : out) scale = combine(scale, value);
  for (double& value : out) value /= scale;
}

template <class Visit>
void Beliefs::visit_factor_entries(std::size_t c, double total, std::span<const std::size_t> first,
                                   Visit&& visit) const {
  const auto from = table(c);
  const auto& walk = shape_->walk(c);
  const auto& factors = shape_->clique(c).factors;
  double sum = 0.0;
  for (const double entry : from) sum += entry;
  const double scale = total / sum;
  walk_runs(c, 0, factors.size(), [&](std::size_t entry) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      std::size_t place = first[factors[i]] + offsets_[i];
      const std::size_t stride = *walk.strides_of(i);
      for (const double value : from.subspan(entry, walk.sizes[0])) {
        visit(place, scale * value);
        place += stride;
      }
    }
  });
}

void Beliefs::add_factor_marginals(std::size_t c, double weight, std::span<const std::size_t> first,
                                   std::span<double> counts) const {
  visit_factor_entries(c, weight, first,
                       [&](std::size_t place, double value) { counts[place] += value; });
}

void Beliefs::add_factor_marginals(std::size_t c, std::uint64_t weight,
                                   std::span<const std::size_t> first,
                                   std::span<ExactSum> counts) const {
  visit_factor_entries(c, 1.0, first, [&](std::size_t place, double probability) {
    counts[place].add(on_grid(probability), weight);
  });
}

std::span<const double> Beliefs::own_block(std::size_t c,
                                           std::span<const std::uint8_t> states) const {
  const auto& clique = shape_->clique(c);
  const auto n_own = static_cast<std::size_t>(clique.n_own_entries);
  std::size_t stride = n_own, start = 0;
  for (std::size_t d = clique.n_own; d < clique.scope.size(); ++d) {
    start += stride * states[clique.scope[d]];
    stride *= shape_->walk(c).sizes[d];
  }
  return table(c).subspan(start, n_own);
}

void Beliefs::write_states(const Clique& clique, std::size_t entry,
                           std::span<std::uint8_t> states) const {
  for (std::size_t d = 0; d < clique.n_own; ++d) {
    const std::size_t size = shape_->card()[clique.scope[d]];
    states[clique.scope[d]] = static_cast<std::uint8_t>(entry % size);
    entry /= size;
  }
}

bool Beliefs::decode(std::span<std::uint8_t> states) const {
  bool is_unique = true;
  for (std::size_t c = shape_->tree().cliques.size(); c-- > 0;) {
    const auto block = own_block(c, states);
    const double bar = std::ranges::max(block) * (1.0 - kTie);
    const auto chosen = std::ranges::find_if(block, [&](double value) { return value >= bar; });
    is_unique = is_unique &&
                std::none_of(chosen + 1, block.end(), [&](double value) { return value >= bar; });
    write_states(shape_->clique(c), static_cast<std::size_t>(chosen - block.begin()), states);
  }
  return is_unique;
}

double best_states(const Elimination& shape, std::span<const double* const> factors,
                   Beliefs& beliefs, std::span<std::uint8_t> states) {
  const double best = beliefs.collect(shape, factors, Pass::max);
  if (best == kImpossible) return best;
  // In a single clique the first of the best entries is the one wanted.
  if (beliefs.decode(states) || shape.tree().cliques.size() == 1) return best;
  std::vector<std::uint8_t> clamp(states.size(), kMissing);
  std::vector<double> values;
  for (std::uint32_t p = 0; p < states.size(); ++p) {
    // Positions whose best state is unique need no new pass.
    if (p == 0 || clamp[p - 1] != kMissing) {
      beliefs.collect(shape, factors, Pass::max, clamp);
      beliefs.distribute();
    }
    values.assign(shape.card()[p], 0.0);
    beliefs.marginal(p, values);
    const auto is_best = [](double value) { return value >= 1.0 - kTie; };
    const auto first = std::ranges::find_if(values, is_best);
    states[p] = static_cast<std::uint8_t>(first - values.begin());
    if (std::ranges::count_if(values, is_best) > 1) clamp[p] = states[p];
  }
  return best;
}

}  // namespace bayesmend
