#include "core/augment/state.hpp"

#include <utility>

namespace bayesmend {
namespace {

void save(StateWriter& out, const PricePoint& point) {
  out.put(point.children);
  out.put(point.cells);
  out.put(point.values);
  out.put(point.steps);
}

PricePoint read_point(StateReader& in, const AugmentProblem& problem) {
  PricePoint point;
  point.children = in.get_all_below<std::uint32_t>(problem.n_vars());
  point.cells = in.get_all_below<std::uint32_t>(problem.n_cells());
  point.values = in.get_all<std::uint32_t>();
  point.steps = in.get_all<std::uint32_t>();
  const std::size_t size = point.children.size();
  StateReader::require(point.cells.size() == size && point.values.size() == size &&
                       point.steps.size() == size);
  for (std::size_t i = 0; i < size; ++i)
    StateReader::require(point.values[i] < problem.cells()[point.cells[i]].card);
  return point;
}

// A number of something, or none.
std::size_t read_number(StateReader& in, std::size_t end) {
  const auto number = in.get<std::size_t>();
  StateReader::require(number < end || number == NodeRecord::kNone);
  return number;
}

}  // namespace

bool is_state_of(std::uint64_t kind, std::string_view state) {
  return !state.empty() && StateReader(state).get<std::uint64_t>() == kind;
}

void save(StateWriter& out, const AugmentProblem::Completion& completion) { out.put(completion); }

AugmentProblem::Completion read_completion(StateReader& in, const AugmentProblem& problem,
                                           bool may_be_free) {
  auto completion = in.get_all<std::uint8_t>();
  StateReader::require(completion.size() == problem.n_cells());
  for (std::size_t cell = 0; cell < completion.size(); ++cell)
    StateReader::require(completion[cell] < problem.cells()[cell].card ||
                         (may_be_free && completion[cell] == AugmentProblem::kFree));
  return completion;
}

void save(StateWriter& out, const Pair& pair) {
  out.put(pair.score);
  out.put(pair.families);
  save(out, pair.completion);
}

Pair read_pair(StateReader& in, const AugmentProblem& problem) {
  Pair pair;
  pair.score = in.get<double>();
  pair.families = in.get_all_below<std::uint32_t>(problem.families().size());
  StateReader::require(pair.families.size() == problem.n_vars());
  for (std::size_t v = 0; v < pair.families.size(); ++v)
    StateReader::require(problem.families()[pair.families[v]].child == v);
  pair.completion = read_completion(in, problem, false);
  return pair;
}

void save(StateWriter& out, const std::vector<TraceEntry>& trace) {
  out.put<std::uint64_t>(trace.size());
  for (const auto& entry : trace) {
    out.put(entry.score);
    out.put(entry.seconds);
    out.put(entry.move);
  }
}

std::vector<TraceEntry> read_trace(StateReader& in) {
  std::vector<TraceEntry> trace(in.get_size(2 * sizeof(double) + sizeof(Move)));
  for (auto& entry : trace) {
    entry.score = in.get<double>();
    entry.seconds = in.get<double>();
    entry.move = in.get_below<Move>(static_cast<std::size_t>(Move::flip) + 1);
  }
  return trace;
}

void save(StateWriter& out, const LocalResult& result) {
  save(out, result.best);
  save(out, result.trace);
  out.put(result.is_certified);
  out.put(result.best_start);
  out.put(result.n_solves);
}

LocalResult read_local_result(StateReader& in, const AugmentProblem& problem) {
  LocalResult result;
  result.best = read_pair(in, problem);
  result.trace = read_trace(in);
  result.is_certified = in.get_flag();
  result.best_start = in.get<std::size_t>();
  result.n_solves = in.get<std::size_t>();
  return result;
}

void save(StateWriter& out, const Prices& prices) {
  std::vector<std::uint32_t> places;
  std::vector<double> values;
  const auto all = prices.values();
  for (std::size_t place = 0; place < all.size(); ++place) {
    if (all[place] == 0.0) continue;
    places.push_back(static_cast<std::uint32_t>(place));
    values.push_back(all[place]);
  }
  out.put(places);
  out.put(values);
}

Prices read_prices(StateReader& in, const AugmentProblem& problem) {
  Prices prices(problem);
  const auto all = prices.values();
  const auto places = in.get_all_below<std::uint32_t>(all.size());
  const auto values = in.get_all<double>();
  StateReader::require(places.size() == values.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    StateReader::require(values[i] >= 0.0 && values[i] < 1e9);
    all[places[i]] = values[i];
  }
  prices.settle();
  return prices;
}

void save(StateWriter& out, const NodeRecord& record) {
  out.put(record.parent);
  out.put(record.cell);
  out.put(record.value);
  out.put(record.bound);
  out.put<std::uint64_t>(record.dropped_at.size());
  for (const auto& point : record.dropped_at) save(out, point);
  save(out, record.best);
}

NodeRecord read_record(StateReader& in, const AugmentProblem& problem, std::size_t n_nodes) {
  NodeRecord record;
  record.parent = read_number(in, n_nodes);
  record.cell = read_number(in, problem.n_cells());
  record.value = in.get<std::uint8_t>();
  StateReader::require(record.cell == NodeRecord::kNone ||
                       record.value < problem.cells()[record.cell].card);
  record.bound = in.get<double>();
  record.dropped_at.resize(in.get_size(4 * sizeof(std::uint64_t)));
  for (auto& point : record.dropped_at) point = read_point(in, problem);
  record.best = read_point(in, problem);
  return record;
}

}  // namespace bayesmend
