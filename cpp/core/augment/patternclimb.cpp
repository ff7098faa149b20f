#include "core/augment/patternclimb.hpp"

#include <algorithm>
#include <limits>

namespace bayesmend {
namespace {

constexpr double kTolerance = 1e-9;
// Patterns with more joint states than this are improved cell by cell.
constexpr std::size_t kMaxJointStates = 64;

}  // namespace

PatternClimber::PatternClimber(const AugmentProblem& problem, const Stop& stop)
    : problem_(problem),
      stop_(stop),
      counts_(problem.n_vars()),
      configs_(problem.n_vars()),
      seen_(problem.n_patterns()) {}

void PatternClimber::load(std::span<const std::uint32_t> chosen) {
  chosen_.assign(chosen.begin(), chosen.end());
  for (auto& seen : seen_) seen.clear();
  for (Var v = 0; v < problem_.n_vars(); ++v) {
    const auto& family = problem_.families()[chosen_[v]];
    const auto base = problem_.base_counts(family);
    auto& counts = counts_[v];
    counts.assign(base.begin(), base.end());
    const auto items = problem_.items(family);
    for (std::uint32_t t = 0; t < items.size(); ++t) {
      counts[problem_.cell_of(items[t], completion_)] += items[t].weight;
      const auto pattern = problem_.cells()[problem_.holes(items[t])[0].cell].pattern;
      seen_[pattern].push_back({v, t});
    }
    auto& configs = configs_[v];
    configs.assign(counts.size() / family.child_card, 0);
    for (std::size_t c = 0; c < counts.size(); ++c) configs[c / family.child_card] += counts[c];
  }
}

bool PatternClimber::improve(std::span<const std::uint32_t> chosen,
                             AugmentProblem::Completion& completion) {
  completion_ = completion;
  load(chosen);
  double gain = 0.0;
  const std::size_t n_patterns = problem_.n_patterns();
  for (std::size_t p = 0, idle = 0; idle < n_patterns; p = (p + 1) % n_patterns) {
    if ((p & 63) == 0 && stop_.is_over()) break;
    const double more = improve_pattern(p);
    gain += more;
    idle = more > 0.0 ? 0 : idle + 1;
  }
  completion = completion_;
  return gain > 0.0;
}

double PatternClimber::improve_pattern(std::size_t pattern) {
  const auto cells = problem_.cells_of_pattern(pattern);
  std::size_t n_states = 1;
  for (const auto cell : cells) {
    n_states *= problem_.cells()[cell].card;
    if (n_states > kMaxJointStates) break;
  }
  if (n_states <= kMaxJointStates) return improve_cells(pattern, cells, n_states);
  double gain = 0.0;
  for (std::size_t g = 0; g < cells.size(); ++g)
    gain += improve_cells(pattern, cells.subspan(g, 1), problem_.cells()[cells[g]].card);
  return gain;
}

double PatternClimber::improve_cells(std::size_t pattern, std::span<const std::uint32_t> cells,
                                     std::size_t n_states) {
  std::size_t now = 0;
  for (const auto cell : cells) now = now * problem_.cells()[cell].card + completion_[cell];
  const std::uint32_t n_rows = weight_of(pattern);
  take_out(cells, n_states, n_rows);
  const auto best =
      static_cast<std::size_t>(std::max_element(gains_.begin(), gains_.end()) - gains_.begin());
  const double gain = gains_[best] - gains_[now];
  if (gain > kTolerance) {
    std::size_t state = best;
    for (std::size_t g = cells.size(); g-- > 0;) {
      const std::size_t card = problem_.cells()[cells[g]].card;
      completion_[cells[g]] = static_cast<std::uint8_t>(state % card);
      state /= card;
    }
  }
  put_back(pattern, n_rows);
  return gain > kTolerance ? gain : 0.0;
}

void PatternClimber::take_out(std::span<const std::uint32_t> cells, std::size_t n_states,
                              std::uint32_t n_rows) {
  gains_.assign(n_states, 0.0);
  for (const auto& [v, t] : seen_[problem_.cells()[cells[0]].pattern]) {
    const auto& family = problem_.families()[chosen_[v]];
    const auto& item = problem_.items(family)[t];
    const auto holes = problem_.holes(item);
    const auto base = problem_.base_counts(family);
    const std::uint32_t cell = problem_.cell_of(item, completion_);
    counts_[v][cell] -= n_rows;
    configs_[v][cell / family.child_card] -= n_rows;
    for (std::size_t s = 0; s < n_states; ++s) {
      std::uint32_t target = cell;
      std::size_t rest = s;
      for (std::size_t g = cells.size(); g-- > 0;) {
        const std::size_t card = problem_.cells()[cells[g]].card;
        const auto value = static_cast<std::uint32_t>(rest % card);
        rest /= card;
        for (const auto& hole : holes)
          if (hole.cell == cells[g]) target += hole.stride * (value - completion_[cells[g]]);
      }
      const std::uint32_t x = counts_[v][target], y = configs_[v][target / family.child_card];
      gains_[s] += (*family.joint)(x + n_rows) - (*family.joint)(x) -
                   ((*family.given)(y + n_rows) - (*family.given)(y)) -
                   problem_.row_cost(base[target]) * n_rows;
    }
  }
  if (problem_.has_terms()) add_terms(cells, n_rows);
}

// What each joint state of the cells is worth by their terms.
void PatternClimber::add_terms(std::span<const std::uint32_t> cells, std::uint32_t n_rows) {
  for (std::size_t s = 0; s < gains_.size(); ++s) {
    std::size_t rest = s;
    for (std::size_t g = cells.size(); g-- > 0;) {
      const std::size_t card = problem_.cells()[cells[g]].card;
      gains_[s] += n_rows * problem_.terms_of(cells[g])[rest % card];
      rest /= card;
    }
  }
}

void PatternClimber::put_back(std::size_t pattern, std::uint32_t n_rows) {
  for (const auto& [v, t] : seen_[pattern]) {
    const auto& family = problem_.families()[chosen_[v]];
    const std::uint32_t cell = problem_.cell_of(problem_.items(family)[t], completion_);
    counts_[v][cell] += n_rows;
    configs_[v][cell / family.child_card] += n_rows;
  }
}

std::uint32_t PatternClimber::weight_of(std::size_t pattern) const {
  const auto& [v, t] = seen_[pattern].front();  // a hole is always in the family of its variable
  return problem_.items(problem_.families()[chosen_[v]])[t].weight;
}

Margins PatternClimber::margins(std::span<const std::uint32_t> chosen,
                                const AugmentProblem::Completion& completion) {
  completion_ = completion;
  load(chosen);
  Margins margins{
      .losses = std::vector<double>(problem_.n_cells(), std::numeric_limits<double>::infinity()),
      .runners_up = completion};
  for (std::uint32_t c = 0; c < problem_.n_cells(); ++c) {
    const auto& cell = problem_.cells()[c];
    take_out({&c, 1}, cell.card, 1);
    put_back(cell.pattern, 1);
    for (std::size_t s = 0; s < gains_.size(); ++s) {
      const double loss = gains_[completion_[c]] - gains_[s];
      if (s == completion_[c] || loss >= margins.losses[c]) continue;
      margins.losses[c] = loss;
      margins.runners_up[c] = static_cast<std::uint8_t>(s);
    }
  }
  return margins;
}

}  // namespace bayesmend
