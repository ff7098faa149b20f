#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <stdexcept>
#include <unordered_map>

#include "bind/results.hpp"
#include "bind/stop.hpp"
#include "core/table/csv.hpp"
#include "core/table/patterns.hpp"

namespace bayesmend::bind {
namespace {

std::string_view text_of(const In<std::uint8_t, 1>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_column(const CsvTable& table, std::size_t column) {
  if (column >= table.n_columns || table.problem) throw std::out_of_range("no such column");
}

// The cells of a column as Python strings; those that occur often are one object.
nb::list texts_of(const CsvTable& table, std::size_t column) {
  constexpr std::size_t kMaxShared = 4096;
  std::unordered_map<std::string, nb::object> shared;
  nb::list texts;
  std::string key;
  table.visit_texts(column, [&](std::string_view cell) {
    key.assign(cell);
    const auto found = shared.find(key);
    if (found != shared.end()) {
      texts.append(found->second);
      return;
    }
    nb::object text = nb::str(cell.data(), cell.size());
    texts.append(text);
    if (shared.size() < kMaxShared) shared.emplace(key, std::move(text));
  });
  return texts;
}

void check_columns(const CsvTable& table, std::span<const std::uint64_t> columns,
                   std::size_t n_tables) {
  for (const std::uint64_t column : columns) {
    if (column >= table.n_columns) {
      throw std::out_of_range("no such column");
    }
  }
  if (n_tables != columns.size()) throw std::invalid_argument("one table of codes per column");
}

void bind_csv(nb::module_& m) {
  nb::enum_<CsvProblemKind>(m, "CsvProblemKind", "Why a text could not be read.")
      .value("none", CsvProblemKind::none)
      .value("no_header", CsvProblemKind::no_header)
      .value("ragged", CsvProblemKind::ragged)
      .value("encoding", CsvProblemKind::encoding)
      .value("open_quote", CsvProblemKind::open_quote)
      .value("after_quote", CsvProblemKind::after_quote)
      .value("not_a_number", CsvProblemKind::not_a_number);

  nb::class_<CsvProblem>(m, "CsvProblem", "Where and why a text could not be read.")
      .def_ro("kind", &CsvProblem::kind)
      .def_ro("position", &CsvProblem::position)
      .def_ro("line", &CsvProblem::line)
      .def_ro("column", &CsvProblem::column)
      .def_ro("found", &CsvProblem::found)
      .def_ro("expected", &CsvProblem::expected)
      .def_ro("text", &CsvProblem::text);

  nb::class_<CsvFormat>(m, "CsvFormat", "How a text is laid out.")
      .def(
          "__init__",
          [](CsvFormat* self, char delimiter, char line_end, char quote, char decimal,
             bool has_header, std::size_t begin) {
            new (self) CsvFormat{delimiter, line_end, quote, decimal, has_header, begin};
          },
          "delimiter"_a = ',', "line_end"_a = '\n', "quote"_a = '"', "decimal"_a = '.',
          "has_header"_a = true, "begin"_a = 0);

  nb::class_<CsvProfile>(m, "CsvProfile", "What is known of the observed cells of a column.")
      .def_ro("n_distinct", &CsvProfile::n_distinct)
      .def_ro("is_bound", &CsvProfile::is_bound)
      .def_ro("is_numeric", &CsvProfile::is_numeric);

  nb::class_<CsvHeader>(m, "CsvHeader", "The first line of a delimited text.")
      .def_ro("names", &CsvHeader::names)
      .def_ro("problem", &CsvHeader::problem);

  nb::class_<CsvTable>(m, "CsvTable", "Cells that wait for the order of the states.")
      .def_ro("n_rows", &CsvTable::n_rows)
      .def_ro("problem", &CsvTable::problem)
      .def(
          "labels", [](const CsvTable& t, std::size_t column) { return t.labels.at(column); },
          "column"_a)
      .def(
          "is_truncated",
          [](const CsvTable& t, std::size_t column) { return t.is_truncated.at(column) != 0; },
          "column"_a)
      .def(
          "profile",
          [](const CsvTable& t, std::size_t column, std::size_t n_threads) {
            check_column(t, column);
            nb::gil_scoped_release nogil;
            return t.profile(column, n_threads);
          },
          "column"_a, "n_threads"_a = 0)
      .def(
          "numbers",
          [](const CsvTable& t, std::size_t column, std::size_t n_threads) {
            check_column(t, column);
            CsvProblem wrong;
            std::vector<double> numbers;
            {
              nb::gil_scoped_release nogil;
              numbers = t.read_numbers(column, wrong, n_threads);
            }
            return std::make_pair(own(std::move(numbers)), wrong);
          },
          "column"_a, "n_threads"_a = 0)
      .def(
          "texts",
          [](const CsvTable& t, std::size_t column) {
            check_column(t, column);
            return texts_of(t, column);
          },
          "column"_a)
      .def(
          "marker_counts",
          [](const CsvTable& t, std::size_t column) {
            check_column(t, column);
            const std::size_t n = t.marker_counts.size() / t.n_columns;
            const auto first = t.marker_counts.begin() + static_cast<std::ptrdiff_t>(n * column);
            return std::vector<std::size_t>(first, first + static_cast<std::ptrdiff_t>(n));
          },
          "column"_a)
      .def("forget_cells", &CsvTable::forget_cells)
      .def(
          "codes",
          [](const CsvTable& t, In<std::int64_t, 1> columns, In<std::uint8_t, 2> tables,
             std::size_t n_threads) {
            check_columns(t, view(columns), tables.shape(0));
            if (tables.shape(1) != 256) throw std::invalid_argument("256 codes per column");
            const std::size_t n_columns = columns.size();
            std::vector<std::uint8_t> codes;
            {
              nb::gil_scoped_release nogil;
              codes = t.codes(view(columns), view(tables), n_threads);
            }
            return own(std::move(codes), {n_columns, t.n_rows});
          },
          "columns"_a.noconvert(), "tables"_a.noconvert(), "n_threads"_a = 0);

  m.def(
      "read_csv_header",
      [](In<std::uint8_t, 1> text, const CsvFormat& format) {
        return read_csv_header(text_of(text), format);
      },
      "text"_a.noconvert(), "format"_a);

  m.def(
      "read_csv",
      [](In<std::uint8_t, 1> text, const CsvFormat& format, std::vector<std::string> markers,
         In<std::uint8_t, 1> numeric, std::size_t n_threads, std::size_t chunk_bytes) {
        const CsvOptions options{.format = format,
                                 .markers = std::move(markers),
                                 .numeric = {numeric.data(), numeric.data() + numeric.size()},
                                 .n_threads = n_threads,
                                 .chunk_bytes = chunk_bytes};
        return run_whole([&](const Stop& stop) { return read_csv(text_of(text), options, stop); });
      },
      "text"_a.noconvert(), "format"_a, "markers"_a, "numeric"_a.noconvert(), "n_threads"_a = 0,
      "chunk_bytes"_a = 0, nb::keep_alive<0, 1>());

  m.def(
      "csv_line",
      [](In<std::uint8_t, 1> text, const CsvFormat& format, std::size_t row) {
        return csv_line(text_of(text), format, row);
      },
      "text"_a.noconvert(), "format"_a, "row"_a);

  m.def(
      "csv_line_of_label",
      [](In<std::uint8_t, 1> text, const CsvFormat& format, std::size_t column,
         const std::string& label) {
        return csv_line_of_label(text_of(text), format, column, label);
      },
      "text"_a.noconvert(), "format"_a, "column"_a, "label"_a);

  m.def(
      "csv_end_of_rows",
      [](In<std::uint8_t, 1> text, const CsvFormat& format, std::size_t most) {
        return csv_end_of_rows(text_of(text), format, most);
      },
      "text"_a.noconvert(), "format"_a, "most"_a);

  m.def(
      "without_blanks",
      [](In<std::uint8_t, 1> text, const CsvFormat& format, bool is_blank_run) {
        std::string plain;
        {
          nb::gil_scoped_release nogil;
          plain = without_blanks(text_of(text), format, is_blank_run);
        }
        return own(std::vector<std::uint8_t>(plain.begin(), plain.end()));
      },
      "text"_a.noconvert(), "format"_a, "is_blank_run"_a);

  m.def(
      "write_csv_rows",
      [](In<std::uint8_t, 2> cells, std::size_t first, std::size_t last,
         const std::vector<std::vector<std::string>>& texts, const std::vector<std::string>& extra,
         char delimiter) {
        const std::size_t n_rows = cells.shape(1);
        if (first > last || last > n_rows || texts.size() != cells.shape(0) ||
            (!extra.empty() && extra.size() != last - first)) {
          throw std::invalid_argument("rows, texts and extra must fit the cells");
        }
        std::string rows;
        {
          nb::gil_scoped_release nogil;
          rows = write_csv_rows(view(cells), n_rows, first, last, texts, extra, delimiter);
        }
        return nb::bytes(rows.data(), rows.size());
      },
      "cells"_a.noconvert(), "first"_a, "last"_a, "texts"_a, "extra"_a, "delimiter"_a);
}

void bind_patterns(nb::module_& m) {
  nb::class_<DistinctRows>(m, "DistinctRows", "Distinct rows, in order of first occurrence.")
      .def_prop_ro("first", signed_array_of(&DistinctRows::first), "Where each occurs first.")
      .def_prop_ro("count", signed_array_of(&DistinctRows::count), "How often each occurs.")
      .def_prop_ro("inverse", signed_array_of(&DistinctRows::inverse), "Which one each row is.");
  m.def(
      "distinct_rows",
      [](In<std::uint8_t, 2> cells, std::size_t n_threads) {
        return run_whole([&](const Stop& stop) {
          return distinct_rows(view(cells), cells.shape(0), cells.shape(1), n_threads, stop);
        });
      },
      "cells"_a.noconvert(), "n_threads"_a = 0);
}

}  // namespace

void bind_table(nb::module_& m) {
  bind_csv(m);
  bind_patterns(m);
}

}  // namespace bayesmend::bind
