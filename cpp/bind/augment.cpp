#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>

#include "bind/results.hpp"
#include "bind/stop.hpp"
#include "core/augment/bound.hpp"
#include "core/augment/dominance.hpp"
#include "core/augment/enumerate.hpp"
#include "core/augment/exact.hpp"
#include "core/augment/local.hpp"
#include "core/augment/patternclimb.hpp"
#include "core/augment/pricing.hpp"
#include "core/augment/problem.hpp"
#include "core/augment/record.hpp"

namespace bayesmend::bind {
namespace {

using Completion = AugmentProblem::Completion;
using Bytes = In<std::uint8_t, 1>;
using ByteTable = In<std::uint8_t, 2>;
using Ints = In<std::int32_t, 1>;
using Weights = In<std::uint32_t, 1>;

using Terms = In<double, 2>;

Completion copy_of(const Bytes& cells) { return {cells.data(), cells.data() + cells.size()}; }

std::vector<Completion> rows_of(const ByteTable& starts) {
  std::vector<Completion> rows;
  for (std::size_t s = 0; s < starts.shape(0); ++s)
    rows.emplace_back(starts.data() + s * starts.shape(1),
                      starts.data() + (s + 1) * starts.shape(1));
  return rows;
}

Prices prices_of(const AugmentProblem& problem, const In<double, 3>& given) {
  Prices prices(problem);
  for (std::size_t child = 0; child < given.shape(0); ++child)
    for (std::size_t cell = 0; cell < given.shape(1); ++cell)
      for (std::size_t v = 0; v < problem.cells()[cell].card; ++v)
        prices.at(child, cell, v) = given(child, cell, v);
  prices.settle();
  return prices;
}

// A child and its parents.
struct FamilyView {
  Var child;
  std::vector<Var> parents;
};

// What the branch and bound knows of one family: the bound without prices, with them, and with them
// as a slice of the table without decided cells, where that is exact; choices and losses with them.
struct FamilyBoundView {
  double merged, unpriced, priced;
  std::optional<double> restricted;
  bool is_exact;
  std::vector<CellChoice> choices;
  std::vector<CellLoss> losses;
};

class Augmenter {
 public:
  // `drop_threads`: so many look for families that no best pair needs, which are left out; 0: none.
  Augmenter(ByteTable columns, Ints card, const ByteTable& codes, const Weights& weight,
            const ScoreRule& rule, const ByteTable& allowed, const ByteTable& required,
            const Ints& limit, double max_bytes, std::size_t drop_threads,
            const WholeCall& call = {})
      : columns_(std::move(columns)),
        card_(std::move(card)),
        problem_(table_of(columns_, card_), view(codes), view(weight), rule,
                 {view(allowed), view(required), view(limit)}, max_bytes, call.stop()) {
    call.raise_if_stopped();
    if (drop_threads == 0) return;
    drop_dominated(problem_, ExactOptions{.is_relaxed = true}.block_entries(), drop_threads,
                   call.stop());
    call.raise_if_stopped();
  }

  // terms[cell, value]: what a state is worth to each row of the cell's pattern.
  void set_terms(const Terms& terms) { problem_.set_terms(view(terms)); }

  LocalResult mend(const ByteTable& starts, std::size_t locality, double seconds,
                   std::size_t n_threads, nb::object report, const nb::object& kept) const {
    SearchCall call(seconds, std::move(report));
    Keeper keeper = keeper_of(kept);
    const auto completions = rows_of(starts);
    LocalResult result;
    call.run_aside([&](const Stop& stop) {
      result = mend_from(problem_, completions, locality, n_threads, false, stop, call.progress(),
                         keeper);
    });
    return result;
  }

  ExactResult solve(const ByteTable& starts, const ExactOptions& options, double seconds,
                    nb::object report, const nb::object& kept) const {
    SearchCall call(seconds, std::move(report));
    Keeper keeper = keeper_of(kept);
    const auto completions = rows_of(starts);
    ExactResult result;
    call.run_aside([&](const Stop& stop) {
      result = solve_exactly(problem_, completions, options, stop, call.progress(), &keeper);
    });
    // An interrupt that came as the work ended would be raised in place of the answer.
    call.stop().poll();
    if (call.was_interrupted()) result.stopped = StopReason::interrupt;
    return result;
  }

  EnumerationResult enumerate(double seconds, std::size_t n_threads) const {
    SearchCall call(seconds);
    EnumerationResult result;
    call.run_aside(
        [&](const Stop& stop) { result = enumerate_completions(problem_, n_threads, stop); });
    return result;
  }

  std::size_t n_families() const { return problem_.families().size(); }
  const AugmentProblem& problem() const { return problem_; }

  FamilyView family(std::size_t number) const {
    const auto members = problem_.members(at(number));
    return {members.back(), {members.begin(), members.end() - 1}};
  }

  // With the cells decided in `fixed` and prices[child, cell, value].
  FamilyBoundView family_bound(std::size_t number, const Bytes& fixed, const In<double, 3>& prices,
                               std::size_t max_entries) const {
    const auto& family = at(number);
    const Completion cells = copy_of(fixed);
    const Prices all_prices = prices_of(problem_, prices);
    const FamilyPrices own_prices(problem_, all_prices, family);
    FamilyBound merged, built, root, restricted;
    FamilyBound::Scratch scratch;
    merged.build(problem_, family, cells, true, max_entries, scratch);
    built.build(problem_, family, cells, false, max_entries, scratch);
    root.build(problem_, family, Completion(cells.size(), AugmentProblem::kFree), false,
               max_entries, scratch);
    const Prices no_prices(problem_);
    FamilyBoundView found{.merged = merged.maximum(),
                          .unpriced = built.maximum({problem_, no_prices, family}, scratch),
                          .priced = built.maximum(own_prices, scratch),
                          .restricted = std::nullopt,
                          .is_exact = built.is_exact(),
                          .choices = {},
                          .losses = {}};
    if (root.is_exact()) {
      restricted.restrict(problem_, family, root, cells, scratch);
      found.restricted = restricted.maximum(own_prices, scratch);
    }
    built.explain(own_prices, scratch, found.choices, found.losses);
    return found;
  }

 private:
  const AugmentProblem::Family& at(std::size_t number) const {
    if (number >= n_families()) throw nb::index_error("no such family");
    return problem_.families()[number];
  }

  ByteTable columns_;
  Ints card_;
  AugmentProblem problem_;
};

// Tables of some families, with their parents as rows of numbers.
class PricedFamilies {
 public:
  PricedFamilies(const Augmenter& augmenter, const Ints& families, const Bytes& fixed,
                 const In<std::int64_t, 1>& max_entries, std::size_t n_threads)
      : problem_(augmenter.problem()), n_threads_(n_threads) {
    const auto numbers = view(families);
    const auto entries = view(max_entries);
    const WholeCall call;
    {
      nb::gil_scoped_release nogil;
      tables_.emplace(problem_, std::vector<std::uint32_t>(numbers.begin(), numbers.end()),
                      copy_of(fixed), std::vector<std::size_t>(entries.begin(), entries.end()),
                      n_threads, call.stop());
    }
    call.raise_if_stopped();
  }

  void refine(const In<std::int64_t, 1>& positions, std::size_t times, std::size_t most) {
    const auto places = view(positions);
    const std::vector<std::size_t> own(places.begin(), places.end());
    run_whole([&](const Stop& stop) {
      tables_->refine(own, times, most, n_threads_, stop);
      return true;
    });
  }
  std::vector<double> maxima(const In<double, 3>& prices) const {
    const Prices own = prices_of(problem_, prices);
    return run_whole([&](const Stop& stop) { return tables_->maxima(own, n_threads_, stop); });
  }
  SharedChoices choose(const In<std::int64_t, 1>& positions, const In<double, 1>& shares,
                       const In<double, 3>& prices) const {
    const auto places = view(positions);
    return tables_->choose(std::vector<std::size_t>(places.begin(), places.end()), view(shares),
                           prices_of(problem_, prices));
  }
  std::vector<std::uint8_t> values_left(const In<double, 1>& slack,
                                        const In<double, 3>& prices) const {
    return tables_->values_left(view(slack), prices_of(problem_, prices));
  }
  std::vector<double> scores(const Bytes& completion) const {
    return tables_->scores(copy_of(completion));
  }
  std::vector<std::size_t> dominators(const In<double, 1>& values) const {
    return tables_->dominators(view(values));
  }
  std::vector<std::size_t> max_entries() const {
    const auto entries = tables_->max_entries();
    return {entries.begin(), entries.end()};
  }
  double n_entries() const { return tables_->n_entries(); }
  std::vector<std::int32_t> children() const {
    std::vector<std::int32_t> children;
    for (const auto f : tables_->families())
      children.push_back(static_cast<std::int32_t>(problem_.families()[f].child));
    return children;
  }
  // One after the other.
  std::vector<std::int32_t> parents() const {
    std::vector<std::int32_t> parents;
    for (const auto f : tables_->families()) {
      const auto members = problem_.members(problem_.families()[f]);
      parents.insert(parents.end(), members.begin(), members.end() - 1);
    }
    return parents;
  }
  std::vector<std::int64_t> parent_offsets() const {
    std::vector<std::int64_t> offsets{0};
    for (const auto f : tables_->families())
      offsets.push_back(offsets.back() +
                        static_cast<std::int64_t>(problem_.families()[f].n_members) - 1);
    return offsets;
  }

 private:
  const AugmentProblem& problem_;
  std::size_t n_threads_;
  std::optional<FamilyTables> tables_;
};

// A completion and how the search for it ended.
struct ImprovedCompletion {
  Completion completion;
  double score;
  StopReason stopped;
};

// Completions of one table for one given DAG, over any number of variables.
class DagMender {
 public:
  DagMender(ByteTable columns, Ints card, const ByteTable& codes, const Weights& weight,
            const ScoreRule& rule, const std::vector<std::vector<Var>>& parents, double max_bytes)
      : columns_(std::move(columns)),
        card_(std::move(card)),
        problem_(table_of(columns_, card_), view(codes), view(weight), rule, parents, max_bytes),
        chosen_(problem_.n_vars()) {
    std::iota(chosen_.begin(), chosen_.end(), 0);
  }

  void set_terms(const Terms& terms) { problem_.set_terms(view(terms)); }

  ImprovedCompletion improve(const Bytes& completion, double seconds) const {
    SearchCall call(seconds);
    Completion cells = copy_of(completion);
    call.run_aside(
        [&](const Stop& stop) { PatternClimber(problem_, stop).improve(chosen_, cells); });
    const double total = score_of(cells);
    return {std::move(cells), total, call.reason()};
  }

  Margins margins(const Bytes& completion) const {
    const Completion cells = copy_of(completion);
    nb::gil_scoped_release nogil;
    const Stop never;
    return PatternClimber(problem_, never).margins(chosen_, cells);
  }

  double score(const Bytes& completion) const { return score_of(copy_of(completion)); }

 private:
  double score_of(const Completion& completion) const {
    std::vector<std::uint32_t> counts;
    double total = 0.0;
    for (const auto& family : problem_.families())
      total += problem_.score(family, completion, counts);
    return total;
  }

  ByteTable columns_;
  Ints card_;
  AugmentProblem problem_;
  std::vector<std::uint32_t> chosen_;
};

std::optional<std::size_t> or_none(std::size_t number) {
  return number == NodeRecord::kNone ? std::nullopt : std::optional(number);
}

void bind_results(nb::module_& m) {
  nb::enum_<Move>(m, "Move", "Which step led to a score.")
      .value("start", Move::start)
      .value("structure", Move::structure)
      .value("completion", Move::completion)
      .value("flip", Move::flip);
  nb::class_<TraceEntry>(m, "TraceEntry", "A step of a search.")
      .def_ro("score", &TraceEntry::score)
      .def_ro("seconds", &TraceEntry::seconds)
      .def_ro("move", &TraceEntry::move);
  nb::class_<SearchResult>(m, "SearchResult", "The best DAG and completion that a search found.")
      .def_prop_ro("score", [](const SearchResult& self) { return self.best.score; })
      .def_prop_ro("completion",
                   [](nb::handle_t<SearchResult> self) {
                     auto& cells = nb::cast<SearchResult&>(self).best.completion;
                     return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(cells.data(),
                                                                              {cells.size()}, self);
                   })
      .def_ro("parents", &SearchResult::parents)
      .def_ro("trace", &SearchResult::trace)
      .def_ro("stopped", &SearchResult::stopped);
  nb::class_<LocalResult, SearchResult>(m, "LocalResult", "What a local search found.")
      .def_ro("is_certified", &LocalResult::is_certified)
      .def_ro("best_start", &LocalResult::best_start)
      .def_ro("n_solves", &LocalResult::n_solves);
  nb::class_<PricePoint>(m, "PricePoint", "Prices that are not zero, in steps of their grid.")
      .def_ro("children", &PricePoint::children)
      .def_ro("cells", &PricePoint::cells)
      .def_ro("values", &PricePoint::values)
      .def_ro("steps", &PricePoint::steps);
  nb::class_<ProofNode>(m, "ProofNode", "A node of the tree of a proof.")
      .def_prop_ro("parent", [](const ProofNode& self) { return or_none(self.parent); })
      .def_prop_ro("cell", [](const ProofNode& self) { return or_none(self.cell); })
      .def_ro("value", &ProofNode::value)
      .def_ro("points", &ProofNode::points);
  nb::class_<ExactResult, SearchResult>(m, "ExactResult", "What branch and bound found.")
      .def_ro("start_score", &ExactResult::start_score)
      .def_ro("start_is_certified", &ExactResult::start_is_certified)
      .def_ro("bound", &ExactResult::bound)
      .def_ro("root_bound", &ExactResult::root_bound)
      .def_ro("priced_root_bound", &ExactResult::priced_root_bound)
      .def_ro("n_nodes", &ExactResult::n_nodes)
      .def_ro("work", &ExactResult::work)
      .def_ro("n_families", &ExactResult::n_families)
      .def_ro("n_alive", &ExactResult::n_alive)
      .def_prop_ro("root_families", signed_array_of(&ExactResult::root_families))
      .def_prop_ro("root_prices", array_of(&ExactResult::root_prices))
      .def_ro("proof", &ExactResult::proof)
      .def_ro("proven", &ExactResult::proven)
      .def_ro("record_bytes", &ExactResult::record_bytes);
  nb::class_<EnumerationResult, SearchResult>(m, "EnumerationResult", "The best completion of all.")
      .def_ro("n_completions", &EnumerationResult::n_completions)
      .def_ro("is_complete", &EnumerationResult::is_complete);
  nb::class_<ImprovedCompletion>(m, "ImprovedCompletion", "The best completion found for a DAG.")
      .def_prop_ro("completion", array_of(&ImprovedCompletion::completion))
      .def_ro("score", &ImprovedCompletion::score)
      .def_ro("stopped", &ImprovedCompletion::stopped);
  nb::class_<Margins>(m, "Margins", "What each cell would cost in its best other state.")
      .def_prop_ro("losses", array_of(&Margins::losses))
      .def_prop_ro("runners_up", array_of(&Margins::runners_up));
}

void bind_bounds(nb::module_& m) {
  nb::class_<FamilyView>(m, "Family", "A child and its parents.")
      .def_ro("child", &FamilyView::child)
      .def_ro("parents", &FamilyView::parents);
  nb::class_<CellChoice>(m, "CellChoice", "The value that a family would choose for a cell.")
      .def_ro("cell", &CellChoice::cell)
      .def_ro("value", &CellChoice::value);
  nb::class_<CellLoss>(m, "CellLoss", "What a value of a cell would cost a family.")
      .def_ro("cell", &CellLoss::cell)
      .def_ro("value", &CellLoss::value)
      .def_ro("loss", &CellLoss::loss);
  nb::class_<FamilyBoundView>(m, "FamilyBound", "Upper bounds of one family.")
      .def_ro("merged", &FamilyBoundView::merged)
      .def_ro("unpriced", &FamilyBoundView::unpriced)
      .def_ro("priced", &FamilyBoundView::priced)
      .def_ro("restricted", &FamilyBoundView::restricted)
      .def_ro("is_exact", &FamilyBoundView::is_exact)
      .def_ro("choices", &FamilyBoundView::choices)
      .def_ro("losses", &FamilyBoundView::losses);
}

void bind_pricing(nb::module_& m) {
  nb::class_<SharedChoices>(m, "SharedChoices",
                            "What families choose for the cells, by cell and value.")
      .def_prop_ro("copies", array_of(&SharedChoices::copies))
      .def_prop_ro("owners", array_of(&SharedChoices::owners))
      .def_prop_ro("losses", array_of(&SharedChoices::losses));
  nb::class_<PricedFamilies>(m, "PricedFamilies",
                             "Families with some cells decided, and what they are worth.")
      .def(nb::init<const Augmenter&, const Ints&, const Bytes&, const In<std::int64_t, 1>&,
                    std::size_t>(),
           "augmenter"_a, "families"_a.noconvert(), "fixed"_a.noconvert(),
           "max_entries"_a.noconvert(), "n_threads"_a, nb::keep_alive<1, 2>())
      .def("refine", &PricedFamilies::refine, "positions"_a.noconvert(), "times"_a, "most"_a)
      .def(
          "maxima",
          [](const PricedFamilies& self, const In<double, 3>& prices) {
            return own(self.maxima(prices));
          },
          "prices"_a.noconvert())
      .def("choose", &PricedFamilies::choose, "positions"_a.noconvert(), "shares"_a.noconvert(),
           "prices"_a.noconvert())
      .def(
          "values_left",
          [](const PricedFamilies& self, const In<double, 1>& slack, const In<double, 3>& prices) {
            return own(self.values_left(slack, prices));
          },
          "slack"_a.noconvert(), "prices"_a.noconvert())
      .def(
          "scores",
          [](const PricedFamilies& self, const Bytes& completion) {
            return own(self.scores(completion));
          },
          "completion"_a.noconvert())
      .def(
          "dominators",
          [](const PricedFamilies& self, const In<double, 1>& values) {
            return own_signed(self.dominators(values));
          },
          "values"_a.noconvert())
      .def("max_entries", [](const PricedFamilies& self) { return own_signed(self.max_entries()); })
      .def("n_entries", &PricedFamilies::n_entries)
      .def("children", [](const PricedFamilies& self) { return own(self.children()); })
      .def("parents", [](const PricedFamilies& self) { return own(self.parents()); })
      .def("parent_offsets", [](const PricedFamilies& self) { return own(self.parent_offsets()); });
}

void bind_options(nb::module_& m) {
  const ExactOptions defaults;
  nb::class_<ExactOptions>(m, "ExactOptions", "How branch and bound searches.")
      .def(
          "__init__",
          [](ExactOptions* self, std::size_t locality, double gap, std::size_t max_nodes,
             double max_work, double max_bytes, std::size_t n_threads, std::size_t root_steps,
             std::size_t node_steps, std::size_t max_entries, double max_record_bytes,
             bool is_relaxed, std::size_t race_nodes) {
            new (self) ExactOptions{.locality = locality,
                                    .gap = gap,
                                    .max_nodes = max_nodes,
                                    .max_work = max_work,
                                    .max_bytes = max_bytes,
                                    .n_threads = n_threads,
                                    .max_record_bytes = max_record_bytes,
                                    .is_relaxed = is_relaxed,
                                    .root_steps = root_steps,
                                    .node_steps = node_steps,
                                    .max_entries = max_entries,
                                    .race_nodes = race_nodes};
          },
          nb::kw_only(), "locality"_a = defaults.locality, "gap"_a = defaults.gap,
          "max_nodes"_a = defaults.max_nodes, "max_work"_a = defaults.max_work,
          "max_bytes"_a = defaults.max_bytes, "n_threads"_a = defaults.n_threads,
          "root_steps"_a = defaults.root_steps, "node_steps"_a = defaults.node_steps,
          "max_entries"_a = defaults.max_entries, "max_record_bytes"_a = defaults.max_record_bytes,
          "is_relaxed"_a = defaults.is_relaxed, "race_nodes"_a = defaults.race_nodes);
}

}  // namespace

void bind_augment(nb::module_& m) {
  bind_results(m);
  bind_bounds(m);
  bind_options(m);
  nb::class_<DagMender>(m, "DagMender", "Searches completions of one table for a given DAG.")
      .def(nb::init<ByteTable, Ints, const ByteTable&, const Weights&, const ScoreRule&,
                    const std::vector<std::vector<Var>>&, double>(),
           "columns"_a.noconvert(), "card"_a.noconvert(), "codes"_a.noconvert(),
           "weight"_a.noconvert(), "rule"_a, "parents"_a, "max_bytes"_a)
      .def("set_terms", &DagMender::set_terms, "terms"_a.noconvert())
      .def("improve", &DagMender::improve, "completion"_a.noconvert(), "seconds"_a)
      .def("margins", &DagMender::margins, "completion"_a.noconvert())
      .def("score", &DagMender::score, "completion"_a.noconvert());
  nb::class_<Augmenter>(m, "Augmenter", "Searches DAG and completion of one table together.")
      .def(nb::init<ByteTable, Ints, const ByteTable&, const Weights&, const ScoreRule&,
                    const ByteTable&, const ByteTable&, const Ints&, double, std::size_t>(),
           "columns"_a.noconvert(), "card"_a.noconvert(), "codes"_a.noconvert(),
           "weight"_a.noconvert(), "rule"_a, "allowed"_a.noconvert(), "required"_a.noconvert(),
           "limit"_a.noconvert(), "max_bytes"_a, "drop_threads"_a = 0)
      .def("set_terms", &Augmenter::set_terms, "terms"_a.noconvert())
      .def("n_families", &Augmenter::n_families)
      .def("enumerate", &Augmenter::enumerate, "seconds"_a, "n_threads"_a)
      .def("mend", &Augmenter::mend, "starts"_a.noconvert(), "locality"_a, "seconds"_a,
           "n_threads"_a, "report"_a.none(), "kept"_a = nb::none())
      .def("solve", &Augmenter::solve, "starts"_a.noconvert(), "options"_a, "seconds"_a,
           "report"_a.none(), "kept"_a = nb::none())
      .def("family", &Augmenter::family, "number"_a)
      .def("family_bound", &Augmenter::family_bound, "number"_a, "fixed"_a.noconvert(),
           "prices"_a.noconvert(), "max_entries"_a);
  bind_pricing(m);
}

}  // namespace bayesmend::bind
