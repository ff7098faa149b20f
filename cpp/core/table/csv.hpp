#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// How a text is laid out.
struct CsvFormat {
  char delimiter = ',';
  char line_end = '\n';  // a '\r' before '\n' belongs to the line end
  char quote = '"';      // '\0': no cell is quoted
  char decimal = '.';    // the mark before the decimals of a number
  bool has_header = true;
  std::size_t begin = 0;  // where the first line that counts begins
};

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
  CsvFormat format;
  std::vector<std::string> markers;   // of missing cells, compared without blanks around
  std::vector<std::uint8_t> numeric;  // per column: 1 where cells are read as numbers
  std::size_t n_threads = 0;
  std::size_t chunk_bytes = 0;  // 0: chosen by size; the result is the same for any
};

// Labels beyond this many per column are no longer told apart, only known to exist.
inline constexpr std::size_t kMaxLabels = 1024;

// Distinct values of a column beyond this many are no longer counted.
inline constexpr std::size_t kMaxDistinct = std::size_t{1} << 20;

// What is known of the observed cells of a column.
struct CsvProfile {
  std::size_t n_distinct = 0;
  bool is_bound = false;    // counting stopped at kMaxDistinct
  bool is_numeric = false;  // all of them read as numbers; false when there are none
};

// A table that was read: labels by column in order of first occurrence, and the cells, which
// wait for their final codes because the order of the states depends on all labels. It refers
// to the text, which must outlive it.
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
  // marker_counts[n_markers * column + k]: cells that the k-th marker made missing.
  std::vector<std::size_t> marker_counts;

  // Codes of the chosen columns, one after the other. tables[256 * k + i] is the code of
  // label i of columns[k]; each of these columns must have at most 254 labels.
  std::vector<std::uint8_t> codes(std::span<const std::uint64_t> columns,
                                  std::span<const std::uint8_t> tables,
                                  std::size_t n_threads) const;
  // Gives up the cells; what follows reads the text once more.
  void forget_cells();

  CsvProfile profile(std::size_t column, std::size_t n_threads) const;
  // A column as numbers, NaN where missing; `wrong` tells of the first cell that is none.
  std::vector<double> read_numbers(std::size_t column, CsvProblem& wrong,
                                   std::size_t n_threads) const;
  // The text of all cells of a column, quotes undone, one after the other.
  void visit_texts(std::size_t column, const std::function<void(std::string_view)>& visit) const;

 private:
  friend CsvTable read_csv(std::string_view, const CsvOptions&, const Stop&);
  struct Cells;
  std::unique_ptr<Cells> cells_;
};

// The cells of the first line, whether they are names or not.
CsvHeader read_csv_header(std::string_view text, const CsvFormat& format);
CsvTable read_csv(std::string_view text, const CsvOptions& options, const Stop& stop);

// Line (from 1) on which a row (from 0, after the header) begins. For messages: it scans.
std::size_t csv_line(std::string_view text, const CsvFormat& format, std::size_t row);

// Line of the first cell of a column, below the header, that holds a label.
std::size_t csv_line_of_label(std::string_view text, const CsvFormat& format, std::size_t column,
                              std::string_view label);

// Where the last row ends that is there to its end, or the row that makes `most` of them; 0 when
// there is none. Rows begin where the text counts, and the header is one.
std::size_t csv_end_of_rows(std::string_view text, const CsvFormat& format, std::size_t most);

// The same text without the blanks that belong to its delimiters: those before cells or, when
// runs of blanks are the delimiters, one tab for each run and none around lines. Lines stay.
std::string without_blanks(std::string_view text, const CsvFormat& format, bool is_blank_run);

// Rows [first, last) as text. texts[v][code] is the text of a state and texts[v].back() that of
// a missing cell; extra, when not empty, holds one more cell per row.
std::string write_csv_rows(std::span<const std::uint8_t> cells, std::size_t n_rows,
                           std::size_t first, std::size_t last,
                           const std::vector<std::vector<std::string>>& texts,
                           const std::vector<std::string>& extra, char delimiter);

}  // namespace bayesmend
