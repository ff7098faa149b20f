#include <nanobind/stl/vector.h>

#include <bit>

#include "bind/stop.hpp"
#include "core/augment/bound.hpp"
#include "core/augment/enumerate.hpp"
#include "core/augment/exact.hpp"
#include "core/augment/local.hpp"
#include "core/augment/patternclimb.hpp"
#include "core/augment/problem.hpp"

namespace bayesmend::bind {
namespace {

nb::list parents_of(const AugmentProblem& problem, const Pair& pair) {
  nb::list parents;
  for (const auto f : pair.families) {
    nb::list members;
    for (std::uint32_t mask = problem.families()[f].parents; mask != 0; mask &= mask - 1)
      members.append(std::countr_zero(mask));
    parents.append(members);
  }
  return parents;
}

nb::list trace_of(const std::vector<TraceEntry>& trace) {
  nb::list entries;
  for (const auto& entry : trace)
    entries.append(nb::make_tuple(entry.score, static_cast<int>(entry.move), entry.seconds));
  return entries;
}

nb::dict pair_dict(const AugmentProblem& problem, Pair&& pair,
                   const std::vector<TraceEntry>& trace) {
  nb::dict answer;
  answer["parents"] = parents_of(problem, pair);
  answer["completion"] = own(std::move(pair.completion));
  answer["score"] = pair.score;
  answer["trace"] = trace_of(trace);
  return answer;
}

std::vector<AugmentProblem::Completion> rows_of(const In<std::uint8_t, 2>& starts) {
  std::vector<AugmentProblem::Completion> rows;
  for (std::size_t s = 0; s < starts.shape(0); ++s)
    rows.emplace_back(starts.data() + s * starts.shape(1),
                      starts.data() + (s + 1) * starts.shape(1));
  return rows;
}

class Augmenter {
 public:
  Augmenter(In<std::uint8_t, 2> columns, In<std::int32_t, 1> card, In<std::uint8_t, 2> codes,
            In<std::uint32_t, 1> weight, int kind, double ess, double arc_penalty,
            In<std::uint8_t, 2> allowed, In<std::uint8_t, 2> required, In<std::int32_t, 1> limit,
            double max_bytes, const WholeCall& call = {})
      : columns_(std::move(columns)),
        card_(std::move(card)),
        problem_(Table{view(columns_), view(card_), columns_.shape(0), columns_.shape(1)},
                 view(codes), view(weight),
                 ScoreRule{static_cast<ScoreKind>(kind), ess, arc_penalty},
                 {view(allowed), view(required), view(limit)}, max_bytes, call.stop()) {
    call.raise_if_stopped();
  }

  // The cells in order: pattern and variable of each.
  nb::tuple cells() const {
    std::vector<std::int64_t> pattern, variable;
    for (const auto& cell : problem_.cells()) {
      pattern.push_back(cell.pattern);
      variable.push_back(cell.variable);
    }
    return nb::make_tuple(own(std::move(pattern)), own(std::move(variable)));
  }

  nb::dict mend(In<std::uint8_t, 2> starts, std::size_t locality, double seconds,
                std::size_t n_threads, nb::object report) {
    SearchCall call(seconds, std::move(report));
    const auto completions = rows_of(starts);
    LocalResult result;
    call.run_aside([&](const Stop& stop) {
      result = mend_from(problem_, completions, locality, n_threads, stop, call.progress());
    });
    nb::dict answer = pair_dict(problem_, std::move(result.best), result.trace);
    answer["is_certified"] = result.is_certified;
    answer["best_start"] = result.best_start;
    answer["n_solves"] = result.n_solves;
    answer["is_stopped"] = call.stop().is_over();
    answer["is_interrupted"] = call.was_interrupted();
    return answer;
  }

  nb::dict solve(In<std::uint8_t, 2> starts, std::size_t locality, double gap, double seconds,
                 std::size_t max_nodes, double max_bytes, std::size_t root_steps,
                 std::size_t node_steps, std::size_t max_entries, std::size_t n_threads,
                 nb::object report) {
    SearchCall call(seconds, std::move(report));
    const auto completions = rows_of(starts);
    LocalResult local;
    ExactResult result;
    double local_seconds = 0.0;
    call.run_aside([&](const Stop& stop) {
      // The first pair may take no more than a part of the time: the bound needs the rest.
      local =
          mend_from(problem_, completions, locality, n_threads, stop.share(0.3), call.progress());
      local_seconds = stop.seconds();
      result = solve_exactly(problem_, local.best,
                             {gap, max_nodes, max_bytes, root_steps, node_steps, max_entries,
                              n_threads, call.progress()},
                             stop, &local.trace);
    });
    nb::dict answer = pair_dict(problem_, std::move(result.best), local.trace);
    answer["bound"] = result.bound;
    answer["root_bound"] = result.root_bound;
    answer["priced_root_bound"] = result.priced_root_bound;
    answer["start_score"] = local.best.score;
    answer["start_is_certified"] = local.is_certified;
    answer["start_seconds"] = local_seconds;
    answer["locality"] = locality;
    answer["n_nodes"] = result.n_nodes;
    answer["n_families"] = result.n_families;
    answer["n_alive"] = result.n_alive;
    answer["ending"] = static_cast<int>(result.ending);
    answer["is_interrupted"] = call.was_interrupted();
    return answer;
  }

  nb::dict enumerate(double seconds, std::size_t n_threads) {
    SearchCall call(seconds);
    EnumerationResult result;
    call.run_aside(
        [&](const Stop& stop) { result = enumerate_completions(problem_, n_threads, stop); });
    nb::dict answer = pair_dict(problem_, std::move(result.best), {});
    answer["n_completions"] = result.n_completions;
    answer["is_complete"] = result.is_complete;
    return answer;
  }

  std::size_t n_families() const { return problem_.families().size(); }

  // A family: its child and its parents.
  nb::tuple family(std::size_t number) const {
    const auto& family = at(number);
    nb::list parents;
    for (std::uint32_t mask = family.parents; mask != 0; mask &= mask - 1)
      parents.append(std::countr_zero(mask));
    return nb::make_tuple(family.child, parents);
  }

  // What the branch and bound knows of one family, with the cells decided in `fixed` and
  // prices[child, cell, value]: the bound without prices, with them, and with them as a slice of
  // the table without decided cells, where that is exact; choices and losses under prices.
  nb::dict family_bound(std::size_t number, In<std::uint8_t, 1> fixed, In<double, 3> prices,
                        std::size_t max_entries) const {
    const auto& family = at(number);
    const auto child = static_cast<std::size_t>(family.child);
    const AugmentProblem::Completion cells(fixed.data(), fixed.data() + fixed.size());
    const Prices given = prices_of(prices);
    const FamilyPrices priced(problem_, given, child);
    FamilyBound merged, built;
    FamilyBound::Scratch scratch;
    merged.build(problem_, family, cells, true, max_entries);
    built.build(problem_, family, cells, false, max_entries);
    nb::dict answer;
    answer["merged"] = merged.maximum();
    answer["unpriced"] = built.maximum();
    answer["priced"] = built.maximum(priced, scratch);
    answer["is_exact"] = built.is_exact();
    FamilyBound root, restricted;
    root.build(problem_, family, AugmentProblem::Completion(cells.size(), AugmentProblem::kFree),
               false, max_entries);
    if (root.is_exact()) {
      restricted.restrict(root, cells);
      answer["restricted"] = restricted.maximum(priced, scratch);
    }
    std::vector<CellChoice> choices;
    std::vector<CellLoss> losses;
    built.explain(priced, choices, losses);
    nb::dict chosen, lost;
    for (const auto& choice : choices) chosen[nb::int_(choice.cell)] = choice.value;
    for (const auto& loss : losses) lost[nb::make_tuple(loss.cell, loss.value)] = loss.loss;
    answer["choices"] = chosen;
    answer["losses"] = lost;
    return answer;
  }

 private:
  const AugmentProblem::Family& at(std::size_t number) const {
    if (number >= problem_.families().size()) throw nb::index_error("no such family");
    return problem_.families()[number];
  }

  Prices prices_of(const In<double, 3>& prices) const {
    Prices priced(problem_);
    const double* next = prices.data();
    for (std::size_t child = 0; child < prices.shape(0); ++child)
      for (std::size_t cell = 0; cell < prices.shape(1); ++cell)
        for (std::size_t value = 0; value < prices.shape(2); ++value, ++next)
          if (value < static_cast<std::size_t>(problem_.cells()[cell].card))
            priced.at(child, cell, value) = *next;
    priced.settle();
    return priced;
  }

  In<std::uint8_t, 2> columns_;
  In<std::int32_t, 1> card_;
  AugmentProblem problem_;
};

// Completions of one table for one given DAG, over any number of variables.
class DagMender {
 public:
  DagMender(In<std::uint8_t, 2> columns, In<std::int32_t, 1> card, In<std::uint8_t, 2> codes,
            In<std::uint32_t, 1> weight, int kind, double ess, double arc_penalty,
            const std::vector<std::vector<std::int32_t>>& parents, double max_bytes)
      : columns_(std::move(columns)),
        card_(std::move(card)),
        problem_(Table{view(columns_), view(card_), columns_.shape(0), columns_.shape(1)},
                 view(codes), view(weight),
                 ScoreRule{static_cast<ScoreKind>(kind), ess, arc_penalty}, parents, max_bytes),
        chosen_(problem_.n_vars()) {
    for (std::size_t v = 0; v < chosen_.size(); ++v) chosen_[v] = static_cast<std::uint32_t>(v);
  }

  nb::tuple improve(In<std::uint8_t, 1> completion, double seconds) {
    SearchCall call(seconds);
    AugmentProblem::Completion cells(completion.data(), completion.data() + completion.size());
    call.run_aside(
        [&](const Stop& stop) { PatternClimber(problem_, stop).improve(chosen_, cells); });
    return nb::make_tuple(own(std::move(cells)), call.was_interrupted());
  }

  nb::tuple margins(In<std::uint8_t, 1> completion) {
    const Stop never;
    const AugmentProblem::Completion cells(completion.data(),
                                           completion.data() + completion.size());
    std::vector<double> losses;
    std::vector<std::uint8_t> runners_up;
    {
      nb::gil_scoped_release nogil;
      for (const auto& margin : PatternClimber(problem_, never).margins(chosen_, cells)) {
        losses.push_back(margin.loss);
        runners_up.push_back(margin.runner_up);
      }
    }
    return nb::make_tuple(own(std::move(losses)), own(std::move(runners_up)));
  }

  double score(In<std::uint8_t, 1> completion) const {
    const AugmentProblem::Completion cells(completion.data(),
                                           completion.data() + completion.size());
    std::vector<std::uint32_t> counts;
    double total = 0.0;
    for (const auto& family : problem_.families()) total += problem_.score(family, cells, counts);
    return total;
  }

 private:
  In<std::uint8_t, 2> columns_;
  In<std::int32_t, 1> card_;
  AugmentProblem problem_;
  std::vector<std::uint32_t> chosen_;
};

}  // namespace

void bind_augment(nb::module_& m) {
  nb::class_<DagMender>(m, "DagMender", "Searches completions of one table for a given DAG.")
      .def(nb::init<In<std::uint8_t, 2>, In<std::int32_t, 1>, In<std::uint8_t, 2>,
                    In<std::uint32_t, 1>, int, double, double,
                    const std::vector<std::vector<std::int32_t>>&, double>(),
           "columns"_a.noconvert(), "card"_a.noconvert(), "codes"_a.noconvert(),
           "weight"_a.noconvert(), "kind"_a, "ess"_a, "arc_penalty"_a, "parents"_a, "max_bytes"_a)
      .def("improve", &DagMender::improve, "completion"_a.noconvert(), "seconds"_a)
      .def("margins", &DagMender::margins, "completion"_a.noconvert())
      .def("score", &DagMender::score, "completion"_a.noconvert());
  nb::class_<Augmenter>(m, "Augmenter", "Searches DAG and completion of one table together.")
      .def(nb::init<In<std::uint8_t, 2>, In<std::int32_t, 1>, In<std::uint8_t, 2>,
                    In<std::uint32_t, 1>, int, double, double, In<std::uint8_t, 2>,
                    In<std::uint8_t, 2>, In<std::int32_t, 1>, double>(),
           "columns"_a.noconvert(), "card"_a.noconvert(), "codes"_a.noconvert(),
           "weight"_a.noconvert(), "kind"_a, "ess"_a, "arc_penalty"_a, "allowed"_a.noconvert(),
           "required"_a.noconvert(), "limit"_a.noconvert(), "max_bytes"_a)
      .def("cells", &Augmenter::cells)
      .def("n_families", &Augmenter::n_families)
      .def("enumerate", &Augmenter::enumerate, "seconds"_a, "n_threads"_a)
      .def("mend", &Augmenter::mend, "starts"_a.noconvert(), "locality"_a, "seconds"_a,
           "n_threads"_a, "report"_a.none())
      .def("solve", &Augmenter::solve, "starts"_a.noconvert(), "locality"_a, "gap"_a, "seconds"_a,
           "max_nodes"_a, "max_bytes"_a, "root_steps"_a, "node_steps"_a, "max_entries"_a,
           "n_threads"_a, "report"_a.none())
      .def("family", &Augmenter::family, "number"_a)
      .def("family_bound", &Augmenter::family_bound, "number"_a, "fixed"_a.noconvert(),
           "prices"_a.noconvert(), "max_entries"_a);
}

}  // namespace bayesmend::bind
