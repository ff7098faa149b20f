#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.hpp"

namespace bayesmend {

// A reader of delimited text that codes cells while it scans them.
//
// It is our own because the base install has no frame library, because an error must name
// the exact line, and because categorical cells need no string per cell: a short cell is one
// 8-byte word, looked up in a small table per column. Text with quotes follows RFC 4180; a
// quote inside an unquoted cell is an ordinary character.

enum class CsvProblemKind : std::uint8_t {
  none,
  no_header,     // nothing but blank lines
  ragged,        // `found` cells instead of `expected`; 0 found is a blank line
  encoding,      // not UTF-8 at `position`
  open_quote,    // a quoted cell that never ends
  after_quote,   // text between a closing quote and the delimiter
  not_a_number,  // `text` in a column that must be numbers
};

struct CsvProblem {
  CsvProblemKind kind = CsvProblemKind::none;
  std::size_t position = 0;  // byte, from 0
  std::size_t line = 0;      // from 1
  std::size_t column = 0;    // from 0
  std::size_t found = 0;
  std::size_t expected = 0;
  std::string text;

  explicit operator bool() const { return kind != CsvProblemKind::none; }
};

struct CsvHeader {
  std::vector<std::string> names;
  CsvProblem problem;
};

struct CsvOptions {
  char delimiter = ',';
  std::vector<std::string> markers;   // of missing cells, compared without blanks around
  std::vector<std::uint8_t> numeric;  // per column: 1 where cells are read as numbers
  std::size_t n_threads = 0;
  std::size_t chunk_bytes = 0;  // 0: chosen by size; the result is the same for any
};

// Labels beyond this many per column are no longer told apart, only known to exist.
inline constexpr std::size_t kMaxLabels = 1024;

// A table that was read: labels by column in order of first occurrence, and the cells, which
// wait for their final codes because the order of the states depends on all labels.
class CsvTable {
 public:
  CsvTable();
  CsvTable(CsvTable&&) noexcept;
  CsvTable& operator=(CsvTable&&) noexcept;
  ~CsvTable();

  CsvProblem problem;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::vector<std::vector<std::string>> labels;
  std::vector<std::uint8_t> is_truncated;    // per column: more labels than kMaxLabels
  std::vector<std::vector<double>> numbers;  // per column, empty unless numeric

  // Codes of the chosen columns, one after the other. tables[256 * k + i] is the code of
  // label i of columns[k]; each of these columns must have at most 254 labels.
  std::vector<std::uint8_t> codes(std::span<const std::uint64_t> columns,
                                  std::span<const std::uint8_t> tables,
                                  std::size_t n_threads) const;

 private:
  friend CsvTable read_csv(std::string_view, const CsvOptions&, const Stop&);
  struct Cells;
  std::unique_ptr<Cells> cells_;
};

CsvHeader read_csv_header(std::string_view text, char delimiter);
CsvTable read_csv(std::string_view text, const CsvOptions& options, const Stop& stop);

// Line (from 1) on which a row (from 0, after the header) begins. For messages: it scans.
std::size_t csv_line(std::string_view text, char delimiter, std::size_t row);

// Line of the first cell of a column, below the header, that holds a label.
std::size_t csv_line_of_label(std::string_view text, char delimiter, std::size_t column,
                              std::string_view label);

// Rows [first, last) as text. texts[v][code] is the text of a state and texts[v].back() that of
// a missing cell; extra, when not empty, holds one more cell per row.
std::string write_csv_rows(std::span<const std::uint8_t> cells, std::size_t n_rows,
                           std::size_t first, std::size_t last,
                           const std::vector<std::vector<std::string>>& texts,
                           const std::vector<std::string>& extra, char delimiter);

}  // namespace bayesmend
