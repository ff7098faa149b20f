#include "core/table/csv.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <deque>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/base/hash.hpp"
#include "core/table/table.hpp"
#include "core/table/utf8.hpp"

// Kept out of the loop over the cells, which then fits the registers.
#if defined(__GNUC__)
#define BAYESMEND_COLD [[gnu::noinline]]
#else
#define BAYESMEND_COLD
#endif

namespace bayesmend {
namespace {

constexpr std::size_t kMaxCoded = 254;
constexpr std::size_t kMaxEntries = 4 * kMaxLabels;  // labels and spellings of missing
constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view trim(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(kBlanks) - first + 1);
}

// Blank lines at the end carry no row.
std::string_view without_last_lines(std::string_view text, char line_end) {
  const auto ends_line = [&](char c) { return c == line_end || (c == '\r' && line_end == '\n'); };
  while (!text.empty() && ends_line(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t first_byte(std::string_view text, const CsvFormat& format) {
  if (format.begin > 0) return std::min(format.begin, text.size());
  return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

std::size_t line_at(std::string_view text, std::size_t position, char line_end) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, line_end));
}

// The first 8 bytes (fewer at the end, then zeros), the first byte lowest.
std::uint64_t load_word(const char* bytes, std::size_t available) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (available >= 8) {
      std::memcpy(&word, bytes, 8);
    } else if (available > 0) {
      std::memcpy(&word, bytes, available);
    }
  } else {
    for (std::size_t i = 0; i < std::min<std::size_t>(available, 8); ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
  }
  return word;
}

// One bit per byte of a block of 64: set where the byte is `a` or `b`.
std::uint64_t find_in_block(const char* block, char a, char b) {
  std::uint64_t bits = 0;
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8(a);
  const __m128i second = _mm_set1_epi8(b);
  for (std::size_t i = 0; i < 4; ++i) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
    const __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(part, first), _mm_cmpeq_epi8(part, second));
    bits |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(hit))} << (16 * i);
  }
#else
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const auto zeros = [](std::uint64_t word) {  // the high bit of each byte that is zero
    return ~(((word & ~(kOnes << 7)) + ~(kOnes << 7)) | word | ~(kOnes << 7));
  };
  const std::uint64_t first = kOnes * static_cast<unsigned char>(a);
  const std::uint64_t second = kOnes * static_cast<unsigned char>(b);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint64_t word = load_word(block + 8 * i, 8);
    const std::uint64_t hits = zeros(word ^ first) | zeros(word ^ second);
    bits |= (((hits >> 7) * 0x0102040810204080) >> 56) << (8 * i);
  }
#endif
  return bits;
}

// Walks from one delimiter or line end to the next, 64 bytes at a time.
class Marks {
 public:
  Marks(std::string_view text, const CsvFormat& format)
      : text_(text), delimiter_(format.delimiter), line_end_(format.line_end) {}

  // Continues at a position; what lies before it is skipped.
  void seek(std::size_t position) {
    block_ = position & ~std::size_t{63};
    load();
    bits_ &= ~std::uint64_t{0} << (position & 63);
  }

  // Position of the next mark, or the size of the text.
  std::size_t next() {
    while (bits_ == 0) {
      if (block_ >= text_.size()) return text_.size();
      block_ += 64;
      load();
    }
    const std::size_t position = block_ + static_cast<std::size_t>(std::countr_zero(bits_));
    bits_ &= bits_ - 1;
    return position;
  }

 private:
  void load() {
    bits_ = 0;
    if (block_ >= text_.size()) return;
    const std::size_t left = text_.size() - block_;
    if (left >= 64) {
      bits_ = find_in_block(text_.data() + block_, delimiter_, line_end_);
      return;
    }
    char last[64] = {};
    std::memcpy(last, text_.data() + block_, left);
    bits_ = find_in_block(last, delimiter_, line_end_) & ((std::uint64_t{1} << left) - 1);
  }

  std::string_view text_;
  char delimiter_;
  char line_end_;
  std::size_t block_ = 0;
  std::uint64_t bits_ = 0;
};

// What a cell is compared by: up to 16 bytes the bytes themselves, else a hash of them.
struct Key {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint32_t length = 0;

  bool is_exact() const { return length <= 16; }
  // Its highest bits are the place in a table.
  std::uint64_t hash() const {
    return (low + high * 0xC2B2AE3D27D4EB4F + length) * 0x9E3779B97F4A7C15;
  }
  bool operator==(const Key& other) const {
    return ((low ^ other.low) | (high ^ other.high) | (length ^ other.length)) == 0;
  }
};

Key key_of(std::string_view cell) {
  Key key;
  key.length = static_cast<std::uint32_t>(std::min<std::size_t>(cell.size(), UINT32_MAX));
  if (cell.size() <= 16) {
    key.low = load_word(cell.data(), cell.size());
    if (cell.size() > 8) key.high = load_word(cell.data() + 8, cell.size() - 8);
    return key;
  }
  key.low = cell.size();
  for (std::size_t i = 0; i < cell.size(); i += 8) {
    key.low = extend_hash(key.low, load_word(cell.data() + i, cell.size() - i));
  }
  return key;
}

constexpr auto kFirstBytes = [] {  // masks of the first 0 to 8 bytes of a word
  std::array<std::uint64_t, 9> masks{};
  for (std::size_t n = 1; n < masks.size(); ++n) masks[n] = masks[n - 1] << 8 | 0xFF;
  return masks;
}();

// The same for a cell of up to 16 bytes within text enough to load 16, without branches.
Key short_key_of(const char* bytes, std::size_t length) {
  const std::size_t n_low = std::min<std::size_t>(length, 8);
  return {load_word(bytes, 8) & kFirstBytes[n_low],
          load_word(bytes + 8, 8) & kFirstBytes[length - n_low],
          static_cast<std::uint32_t>(length)};
}

struct Scanned {
  std::string_view content;  // between the quotes, if any
  std::size_t next = 0;      // after the delimiter or line end
  bool is_quoted = false;
  bool has_doubled_quotes = false;
  bool ends_row = false;
  CsvProblemKind problem = CsvProblemKind::none;
  std::size_t position = 0;  // of the problem
};

// Where an unquoted last cell of a row ends when its line ends at `end`.
std::size_t before_line_end(std::string_view text, std::size_t begin, std::size_t end,
                            const CsvFormat& format) {
  const bool has_return = end > begin && text[end - 1] == '\r' && format.line_end == '\n';
  return has_return ? end - 1 : end;
}

Scanned scan_quoted(std::string_view text, std::size_t begin, const CsvFormat& format) {
  Scanned cell;
  cell.is_quoted = true;
  std::size_t close = begin + 1;
  for (;; close += 2) {
    close = text.find(format.quote, close);
    if (close == std::string_view::npos) {
      cell.problem = CsvProblemKind::open_quote;
      cell.position = begin;
      return cell;
    }
    if (close + 1 >= text.size() || text[close + 1] != format.quote) break;
    cell.has_doubled_quotes = true;
  }
  cell.content = text.substr(begin + 1, close - begin - 1);
  std::size_t end = close + 1;
  if (format.line_end == '\n' && text.substr(end, 2) == "\r\n") ++end;
  cell.next = end + 1;
  cell.ends_row = end >= text.size() || text[end] == format.line_end;
  if (!cell.ends_row && text[end] != format.delimiter) {
    cell.problem = CsvProblemKind::after_quote;
    cell.position = end;
  }
  return cell;
}

Scanned scan_cell(std::string_view text, std::size_t begin, const CsvFormat& format) {
  if (begin < text.size() && text[begin] == format.quote && format.quote != '\0') {
    return scan_quoted(text, begin, format);
  }
  const char stops[] = {format.delimiter, format.line_end};
  std::size_t end = std::min(text.find_first_of(std::string_view(stops, 2), begin), text.size());
  Scanned cell;
  cell.next = end + 1;
  cell.ends_row = end >= text.size() || text[end] != format.delimiter;
  if (cell.ends_row && end < text.size()) end = before_line_end(text, begin, end, format);
  cell.content = text.substr(begin, end - begin);
  return cell;
}

std::string without_doubled_quotes(std::string_view content, char quote) {
  std::string plain;
  plain.reserve(content.size());
  for (std::size_t i = 0; i < content.size(); ++i) {
    plain.push_back(content[i]);
    if (content[i] == quote) ++i;
  }
  return plain;
}

// The text of a cell, which `storage` holds where it differs from what stands there.
std::string_view plain_text(const Scanned& cell, char quote, std::string& storage) {
  if (!cell.has_doubled_quotes) return cell.content;
  storage = without_doubled_quotes(cell.content, quote);
  return storage;
}

bool parse_plain_number(std::string_view cell, double& value) {
#if defined(__cpp_lib_to_chars)
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = std::numeric_limits<double>::infinity();  // reported by the caller, with its line
    return end == cell.data() + cell.size();
  }
  return error == std::errc() && end == cell.data() + cell.size();
#else
  std::istringstream stream{std::string(cell)};
  stream.imbue(std::locale::classic());
  return static_cast<bool>(stream >> value) && stream.eof();
#endif
}

// A cell without blanks around it as a number.
bool parse_number(std::string_view cell, char decimal, double& value) {
  if (cell.starts_with('+')) {
    cell.remove_prefix(1);
    if (cell.starts_with('-')) return false;
  }
  if (decimal == '.') return parse_plain_number(cell, value);
  if (cell.find('.') != std::string_view::npos) return false;
  std::string plain(cell);
  std::replace(plain.begin(), plain.end(), decimal, '.');
  return parse_plain_number(plain, value);
}

// Whether a cell is digits with a sign, decimals and an exponent at most: "nan" and "inf" are
// numbers only where numbers are asked for.
bool reads_as_number(std::string_view cell, char decimal) {
  cell = trim(cell);
  const std::size_t sign = cell.starts_with('+') || cell.starts_with('-') ? 1 : 0;
  if (cell.size() <= sign) return false;
  const char first = cell[sign];
  double value = 0;
  return ((first >= '0' && first <= '9') || first == decimal) && parse_number(cell, decimal, value);
}

// The labels of one column within one chunk.
class Labels {
 public:
  Labels() : slots_(std::size_t{1} << kFirstBits) {}

  // The code of a short cell if it lies at its first place, as nearly all do; else -1. What is
  // found is counted, here and in `find`.
  int find_first(const Key& key) {
    Slot& slot = slots_[key.hash() >> shift_];
    if (slot.key != key || slot.entry == 0) return -1;
    ++slot.count;
    return static_cast<int>(slot.entry & 0xFF);
  }

  // The code of a cell: its position among the labels, or kMissing; -1 when it is new. Cells
  // that no longer fit stay new; `is_truncated` or the number of labels then tells.
  int find(const Key& key, std::string_view cell) {
    for (std::size_t i = key.hash() >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.entry == 0) return -1;
      if (slot.key == key && (key.is_exact() || entries_[(slot.entry >> 8) - 1] == cell)) {
        ++slot.count;
        return static_cast<int>(slot.entry & 0xFF);
      }
    }
  }

  // Adds up how many cells each marker stood in.
  void add_markers(std::size_t* counts) const {
    for (const Slot& slot : slots_) {
      if (slot.entry == 0) continue;
      const int marker = markers_[(slot.entry >> 8) - 1];
      if (marker >= 0) counts[marker] += slot.count;
    }
  }

  // Whether spellings of markers are no longer kept, and so not counted.
  bool is_full() const { return entries_.size() >= kMaxEntries; }

  // Adds a cell, which is a marker or, when that is -1, a label.
  std::uint8_t add(const Key& key, std::string_view cell, int marker) {
    const bool is_missing = marker >= 0;
    if (is_missing ? is_full() : labels.size() >= kMaxLabels) {
      is_truncated = is_truncated || !is_missing;
      return kMissing;
    }
    const auto code = is_missing ? kMissing : static_cast<std::uint8_t>(labels.size());
    if (!is_missing) labels.emplace_back(cell);
    entries_.emplace_back(cell);
    markers_.push_back(marker);
    if (slots_.size() < 4 * entries_.size()) grow();
    place({key, static_cast<std::uint32_t>(entries_.size() << 8 | code), 1});
    // Room to spare until every label lies at its first place, where find_first looks.
    while (is_crowded_ && slots_.size() < 64 * entries_.size()) grow();
    return code;
  }

  std::vector<std::string> labels;
  bool is_truncated = false;

 private:
  static constexpr int kFirstBits = 6;

  struct Slot {
    Key key;
    std::uint32_t entry = 0;  // 0: free; else position + 1 in entries_, then the code
    std::uint32_t count = 0;  // of cells
  };

  void place(const Slot& added) {
    std::size_t i = added.key.hash() >> shift_;
    is_crowded_ = is_crowded_ || slots_[i].entry != 0;
    while (slots_[i].entry != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = added;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    --shift_;
    is_crowded_ = false;
    for (const Slot& kept : old) {
      if (kept.entry != 0) place(kept);
    }
  }

  std::vector<Slot> slots_;
  int shift_ = 64 - kFirstBits;
  bool is_crowded_ = false;  // some label is not at its first place
  std::vector<std::string> entries_;
  std::vector<int> markers_;  // per entry, -1 for a label
};

// The position of the marker that a cell is, or -1.
int find_marker(const std::vector<std::string>& markers, std::string_view cell) {
  const auto found = std::find(markers.begin(), markers.end(), trim(cell));
  return found == markers.end() ? -1 : static_cast<int>(found - markers.begin());
}

struct Chunk {
  std::size_t begin = 0;
  std::size_t end = 0;  // where the last row really ends
  std::size_t n_rows = 0;
  std::size_t capacity = 0;
  std::unique_ptr<std::uint8_t[]> cells;  // column after column, `capacity` apart
  std::vector<Labels> columns;
  std::vector<std::vector<double>> numbers;
  std::vector<std::size_t> marker_counts;
  CsvProblem problem;
};

class ChunkReader {
 public:
  ChunkReader(std::string_view text, const CsvOptions& options, Chunk& chunk)
      : text_(text),
        options_(options),
        format_(options.format),
        chunk_(chunk),
        n_columns_(options.numeric.size()) {}

  // Reads the rows that begin in [begin, end).
  void read(std::size_t begin, std::size_t end) {
    chunk_ = Chunk{};
    chunk_.begin = begin;
    chunk_.columns.resize(n_columns_);
    chunk_.numbers.resize(n_columns_);
    chunk_.marker_counts.resize(n_columns_ * options_.markers.size());
    allocate(begin, end);
    std::size_t position = begin;
    Marks marks(text_, format_);
    marks.seek(begin);
    while (position < end && position < text_.size()) {
      if (!read_row(position, marks)) return;
      ++chunk_.n_rows;
    }
    chunk_.end = std::min(position, text_.size());
    for (std::size_t column = 0; column < n_columns_; ++column) {
      const std::size_t first = column * options_.markers.size();
      chunk_.columns[column].add_markers(chunk_.marker_counts.data() + first);
    }
  }

 private:
  void allocate(std::size_t begin, std::size_t end) {
    // A row takes at least as many bytes as it has cells. Of this generous bound only the
    // pages that are written ever take memory.
    chunk_.capacity = (end - begin) / n_columns_ + 1;
    chunk_.cells = std::make_unique_for_overwrite<std::uint8_t[]>(chunk_.capacity * n_columns_);
  }

  bool read_row(std::size_t& position, Marks& marks) {
    const std::size_t row_begin = position;
    // Only a ragged row can outrun the room, and it is reported before it ends.
    const bool has_room = chunk_.n_rows < chunk_.capacity;
    std::uint8_t* cell_at = chunk_.cells.get() + (has_room ? chunk_.n_rows : 0);
    const std::size_t step = has_room ? chunk_.capacity : 0;
    const std::string_view text = text_;  // a store to a cell could change a member
    const char delimiter = format_.delimiter;
    const char quote = format_.quote;
    Labels* labels = chunk_.columns.data();
    const std::size_t last = n_columns_ - 1;
    for (std::size_t column = 0; column <= last; ++column, cell_at += step, ++labels) {
      const std::size_t begin = position;
      int code = -1;
      if (begin + 16 > text.size() || text[begin] == quote) {
        code = read_cell(position, column, row_begin);
        marks.seek(position);
      } else {
        const std::size_t end = marks.next();
        const bool ends_row = end >= text.size() || text[end] != delimiter;
        if (ends_row != (column == last)) return fail_ragged(row_begin) >= 0;
        position = end + 1;
        const std::size_t last_byte = ends_row ? before_line_end(text, begin, end, format_) : end;
        const std::size_t length = last_byte - begin;
        if (length <= 16) code = labels->find_first(short_key_of(text.data() + begin, length));
        if (code < 0) code = store(text.substr(begin, length), column);
      }
      if (code < 0) return false;
      *cell_at = static_cast<std::uint8_t>(code);
    }
    return true;
  }

  // Any cell, quoted or at the end of the text: its code within the chunk, or -1 after a
  // problem.
  BAYESMEND_COLD int read_cell(std::size_t& position, std::size_t column, std::size_t row_begin) {
    const Scanned cell = scan_cell(text_, position, format_);
    if (cell.problem != CsvProblemKind::none) return fail(cell.problem, cell.position, column);
    if (cell.ends_row != (column + 1 == n_columns_)) return fail_ragged(row_begin);
    position = cell.next;
    return store(plain_text(cell, format_.quote, plain_), column, cell.content);
  }

  int store(std::string_view cell, std::size_t column) { return store(cell, column, cell); }

  BAYESMEND_COLD int store(std::string_view cell, std::size_t column, std::string_view raw) {
    if (options_.numeric[column] != 0) return store_number(cell, column, raw);
    Labels& labels = chunk_.columns[column];
    const Key key = key_of(cell);
    const int known = labels.find(key, cell);
    if (known >= 0) return known;
    // Every cell equals a label, so checking the labels checks the whole file.
    const std::size_t wrong = first_invalid_utf8(raw);
    if (wrong != raw.size()) return fail(CsvProblemKind::encoding, byte_of(raw) + wrong, column);
    const int marker = find_marker(options_.markers, cell);
    if (marker >= 0 && labels.is_full()) count_marker(marker, column);
    return labels.add(key, cell, marker);
  }

  void count_marker(int marker, std::size_t column) {
    ++chunk_.marker_counts[column * options_.markers.size() + static_cast<std::size_t>(marker)];
  }

  int store_number(std::string_view cell, std::size_t column, std::string_view raw) {
    const std::string_view trimmed = trim(cell);
    double value = std::numeric_limits<double>::quiet_NaN();
    const int marker = find_marker(options_.markers, cell);
    if (marker >= 0) count_marker(marker, column);
    if (marker < 0 && !parse_number(trimmed, format_.decimal, value)) {
      const std::size_t wrong = first_invalid_utf8(raw);
      if (wrong != raw.size()) return fail(CsvProblemKind::encoding, byte_of(raw) + wrong, column);
      chunk_.problem.text = std::string(cell);
      return fail(CsvProblemKind::not_a_number, byte_of(raw), column);
    }
    chunk_.numbers[column].push_back(value);
    return kMissing;
  }

  std::size_t byte_of(std::string_view raw) const {
    return static_cast<std::size_t>(raw.data() - text_.data());
  }

  int fail(CsvProblemKind kind, std::size_t position, std::size_t column) {
    chunk_.problem.kind = kind;
    chunk_.problem.position = position;
    chunk_.problem.column = column;
    return -1;
  }

  BAYESMEND_COLD int fail_ragged(std::size_t row_begin) {
    std::size_t found = 0;
    for (std::size_t position = row_begin;;) {
      const Scanned cell = scan_cell(text_, position, format_);
      if (cell.problem != CsvProblemKind::none) return fail(cell.problem, cell.position, found);
      ++found;
      const bool is_blank = found == 1 && cell.content.empty() && !cell.is_quoted;
      if (cell.ends_row && is_blank) found = 0;
      if (cell.ends_row) break;
      position = cell.next;
    }
    chunk_.problem.found = found;
    chunk_.problem.expected = n_columns_;
    return fail(CsvProblemKind::ragged, row_begin, 0);
  }

  std::string_view text_;
  const CsvOptions& options_;
  const CsvFormat format_;
  Chunk& chunk_;
  std::size_t n_columns_;
  std::string plain_;
};

// Where chunks probably begin: after the first line end past equal steps. Within a quoted
// cell that guess is wrong, which shows when the chunk before ends elsewhere.
std::vector<std::size_t> guess_bounds(std::string_view text, std::size_t begin, std::size_t step,
                                      char line_ends) {
  std::vector<std::size_t> bounds{begin};
  for (std::size_t at = begin + step; at < text.size(); at += step) {
    if (at <= bounds.back()) continue;
    const std::size_t line_end = text.find(line_ends, at - 1);
    if (line_end == std::string_view::npos || line_end + 1 >= text.size()) break;
    if (line_end + 1 > bounds.back()) bounds.push_back(line_end + 1);
  }
  bounds.push_back(text.size());
  return bounds;
}

// Enough chunks to keep all threads busy, large enough to carry a table of labels per column.
std::size_t choose_step(const CsvOptions& options, std::size_t n_bytes, std::size_t n_columns) {
  if (options.chunk_bytes > 0) return options.chunk_bytes;
  const std::size_t share = n_bytes / (8 * resolve_threads(options.n_threads)) + 1;
  const std::size_t least = std::max<std::size_t>(std::size_t{1} << 20, n_columns << 14);
  return std::max(least, std::min<std::size_t>(share, std::size_t{1} << 23));
}

// Where the rows begin, or the problem with the header.
std::size_t scan_header(std::string_view text, const CsvFormat& format, CsvHeader& header) {
  std::size_t position = first_byte(text, format);
  if (position >= text.size()) {
    header.problem.kind = CsvProblemKind::no_header;
    return position;
  }
  for (;;) {
    const Scanned cell = scan_cell(text, position, format);
    header.problem.kind = cell.problem;
    header.problem.position = cell.position;
    const std::size_t wrong = first_invalid_utf8(cell.content);
    if (cell.problem == CsvProblemKind::none && wrong != cell.content.size()) {
      header.problem.kind = CsvProblemKind::encoding;
      header.problem.position = static_cast<std::size_t>(cell.content.data() - text.data()) + wrong;
    }
    header.problem.column = header.names.size();
    if (header.problem) break;
    std::string plain;
    header.names.emplace_back(plain_text(cell, format.quote, plain));
    position = cell.next;
    if (cell.ends_row) break;
  }
  if (header.problem) {
    header.problem.line = line_at(text, header.problem.position, format.line_end);
  }
  return std::min(position, text.size());
}

// One column's labels over all chunks, in order of first occurrence.
struct Merged {
  std::vector<std::string> labels;
  std::vector<std::vector<std::uint8_t>> positions;  // per chunk: chunk code -> position
  bool is_truncated = false;
};

Merged merge_labels(const std::vector<Chunk>& chunks, std::size_t column) {
  Merged merged;
  std::unordered_map<std::string_view, std::size_t> position;
  for (const Chunk& chunk : chunks) {
    const Labels& part = chunk.columns[column];
    std::vector<std::uint8_t> positions(256, kMissing);
    merged.is_truncated = merged.is_truncated || part.is_truncated;
    for (std::size_t code = 0; code < part.labels.size(); ++code) {
      const auto [found, is_new] = position.try_emplace(part.labels[code], merged.labels.size());
      if (is_new) merged.labels.push_back(part.labels[code]);
      if (code < kMaxCoded) positions[code] = static_cast<std::uint8_t>(found->second);
    }
    merged.positions.push_back(std::move(positions));
  }
  if (merged.labels.size() > kMaxLabels) {
    merged.labels.resize(kMaxLabels);
    merged.is_truncated = true;
  }
  return merged;
}

}  // namespace

struct CsvTable::Cells {
  std::string_view text;
  CsvOptions options;
  std::vector<Chunk> chunks;
  std::vector<std::vector<std::vector<std::uint8_t>>> positions;  // column, chunk, chunk code

  // Calls visit(row, content, raw) for the cells of a column in a chunk until it gives false;
  // `raw` is what stands in the text, between the quotes, if any.
  template <class Visit>
  void visit_column(std::size_t column, const Chunk& chunk, const Visit& visit) const {
    const CsvFormat& format = options.format;
    const std::size_t last = options.numeric.size() - 1;
    Marks marks(text, format);
    marks.seek(chunk.begin);
    std::string plain;
    for (std::size_t row = 0, position = chunk.begin; row < chunk.n_rows; ++row) {
      for (std::size_t at = 0; at <= last; ++at) {
        const std::size_t begin = position;
        std::string_view raw;
        std::string_view content;
        if (begin < text.size() && text[begin] == format.quote) {
          const Scanned cell = scan_cell(text, begin, format);
          raw = cell.content;
          content = at == column ? plain_text(cell, format.quote, plain) : raw;
          position = cell.next;
          marks.seek(position);
        } else {
          const std::size_t end = marks.next();
          position = end + 1;
          const bool ends_line = at == last && end < text.size();
          const std::size_t cut = ends_line ? before_line_end(text, begin, end, format) : end;
          raw = text.substr(std::min(begin, text.size()), cut - std::min(begin, cut));
          content = raw;
        }
        if (at == column && !visit(row, content, raw)) return;
      }
    }
  }

  std::vector<std::size_t> first_rows() const {
    std::vector<std::size_t> rows;
    for (std::size_t k = 0, row = 0; k < chunks.size(); row += chunks[k++].n_rows) {
      rows.push_back(row);
    }
    return rows;
  }

  bool is_missing(std::string_view cell) const { return find_marker(options.markers, cell) >= 0; }
};

CsvTable::CsvTable() = default;
CsvTable::CsvTable(CsvTable&&) noexcept = default;
CsvTable& CsvTable::operator=(CsvTable&&) noexcept = default;
CsvTable::~CsvTable() = default;

CsvHeader read_csv_header(std::string_view text, const CsvFormat& format) {
  CsvHeader header;
  scan_header(without_last_lines(text, format.line_end), format, header);
  return header;
}

CsvTable read_csv(std::string_view text, const CsvOptions& options, const Stop& stop) {
  CsvTable table;
  const CsvFormat& format = options.format;
  text = without_last_lines(text, format.line_end);
  CsvHeader header;
  std::size_t begin = scan_header(text, format, header);
  table.problem = header.problem;
  if (table.problem) return table;
  table.n_columns = header.names.size();
  if (options.numeric.size() != table.n_columns) {
    throw std::invalid_argument("numeric must have one entry per column");
  }

  if (!format.has_header) begin = first_byte(text, format);

  const std::size_t step = choose_step(options, text.size(), table.n_columns);
  const auto bounds = guess_bounds(text, begin, step, format.line_end);
  table.cells_ = std::make_unique<CsvTable::Cells>();
  table.cells_->text = text;
  table.cells_->options = options;
  auto& chunks = table.cells_->chunks;
  chunks.resize(bounds.size() - 1);
  const bool finished =
      parallel_for(chunks.size(), options.n_threads, stop, [&](std::size_t task, std::size_t) {
        ChunkReader(text, options, chunks[task]).read(bounds[task], bounds[task + 1]);
      });
  if (!finished) return table;
  for (std::size_t k = 0, position = begin; k < chunks.size(); ++k) {
    if (chunks[k].begin != position) {
      ChunkReader(text, options, chunks[k]).read(position, std::max(position, bounds[k + 1]));
    }
    if (chunks[k].problem) {
      table.problem = chunks[k].problem;
      table.problem.line = line_at(text, table.problem.position, format.line_end);
      return table;
    }
    position = chunks[k].end;
    table.n_rows += chunks[k].n_rows;
  }

  table.marker_counts.resize(table.n_columns * options.markers.size());
  for (const Chunk& chunk : chunks) {
    for (std::size_t i = 0; i < table.marker_counts.size(); ++i) {
      table.marker_counts[i] += chunk.marker_counts[i];
    }
  }
  table.numbers.resize(table.n_columns);
  for (std::size_t column = 0; column < table.n_columns; ++column) {
    Merged merged = merge_labels(chunks, column);
    table.labels.push_back(std::move(merged.labels));
    table.is_truncated.push_back(merged.is_truncated ? 1 : 0);
    table.cells_->positions.push_back(std::move(merged.positions));
    if (options.numeric[column] == 0) continue;
    table.numbers[column].reserve(table.n_rows);
    for (Chunk& chunk : chunks) {
      const auto& part = chunk.numbers[column];
      table.numbers[column].insert(table.numbers[column].end(), part.begin(), part.end());
      chunk.numbers[column] = {};
    }
  }
  return table;
}

std::vector<std::uint8_t> CsvTable::codes(std::span<const std::uint64_t> columns,
                                          std::span<const std::uint8_t> tables,
                                          std::size_t n_threads) const {
  std::vector<std::uint8_t> result(columns.size() * n_rows);
  if (!cells_) return result;
  const auto& chunks = cells_->chunks;
  const std::vector<std::size_t> first_row = cells_->first_rows();
  const auto recode = [&](std::size_t task, std::size_t) {
    const std::size_t k = task / columns.size();
    const std::size_t at = task % columns.size();
    const auto column = columns[at];
    const auto& positions = cells_->positions[column][k];
    std::uint8_t code[256];
    for (std::size_t i = 0; i < 256; ++i) {
      code[i] = positions[i] == kMissing ? kMissing : tables[256 * at + positions[i]];
    }
    const std::uint8_t* from = chunks[k].cells.get() + column * chunks[k].capacity;
    std::uint8_t* to = result.data() + at * n_rows + first_row[k];
    for (std::size_t row = 0; row < chunks[k].n_rows; ++row) to[row] = code[from[row]];
  };
  parallel_for(chunks.size() * columns.size(), n_threads, {}, recode);
  return result;
}

void CsvTable::forget_cells() {
  if (!cells_) return;
  cells_->positions.clear();
  for (Chunk& chunk : cells_->chunks) {
    chunk.cells.reset();
    chunk.columns = {};
  }
}

CsvProfile CsvTable::profile(std::size_t column, std::size_t n_threads) const {
  CsvProfile profile;
  const auto& known = labels.at(column);
  const char decimal = cells_->options.format.decimal;
  if (is_truncated[column] == 0 && cells_->options.numeric[column] == 0) {
    profile.n_distinct = known.size();
    profile.is_numeric =
        !known.empty() && std::all_of(known.begin(), known.end(),
                                      [&](auto& label) { return reads_as_number(label, decimal); });
    return profile;
  }
  const auto& chunks = cells_->chunks;
  struct Part {
    std::unordered_set<std::string_view> distinct;
    std::deque<std::string> unquoted;  // what the text does not hold as it is
    bool is_numeric = true;
  };
  std::vector<Part> parts(chunks.size());
  parallel_for(chunks.size(), n_threads, {}, [&](std::size_t task, std::size_t) {
    Part& part = parts[task];
    const auto visit = [&](std::size_t, std::string_view cell, std::string_view raw) {
      if (cells_->is_missing(cell)) return true;
      if (part.distinct.size() < kMaxDistinct && !part.distinct.contains(cell)) {
        part.distinct.insert(cell.data() == raw.data() ? raw : part.unquoted.emplace_back(cell));
      }
      part.is_numeric = part.is_numeric && reads_as_number(cell, decimal);
      return true;
    };
    cells_->visit_column(column, chunks[task], visit);
  });
  std::unordered_set<std::string_view> distinct;
  profile.is_numeric = true;
  for (const Part& part : parts) {
    distinct.insert(part.distinct.begin(), part.distinct.end());
    profile.is_numeric = profile.is_numeric && part.is_numeric;
  }
  profile.n_distinct = std::min(distinct.size(), kMaxDistinct);
  profile.is_bound = distinct.size() >= kMaxDistinct;
  profile.is_numeric = profile.is_numeric && !distinct.empty();
  return profile;
}

std::vector<double> CsvTable::read_numbers(std::size_t column, CsvProblem& wrong,
                                           std::size_t n_threads) const {
  if (cells_->options.numeric.at(column) != 0) return numbers[column];
  std::vector<double> result(n_rows, std::numeric_limits<double>::quiet_NaN());
  const auto& chunks = cells_->chunks;
  const std::vector<std::size_t> first_row = cells_->first_rows();
  std::vector<CsvProblem> problems(chunks.size());
  parallel_for(chunks.size(), n_threads, {}, [&](std::size_t task, std::size_t) {
    const auto visit = [&](std::size_t row, std::string_view cell, std::string_view raw) {
      if (cells_->is_missing(cell)) return true;
      double& value = result[first_row[task] + row];
      if (parse_number(trim(cell), cells_->options.format.decimal, value)) return true;
      problems[task].kind = CsvProblemKind::not_a_number;
      problems[task].position = static_cast<std::size_t>(raw.data() - cells_->text.data());
      problems[task].column = column;
      problems[task].text = std::string(cell);
      return false;
    };
    cells_->visit_column(column, chunks[task], visit);
  });
  for (CsvProblem& found : problems) {
    if (!found) continue;
    wrong = std::move(found);
    wrong.line = line_at(cells_->text, wrong.position, cells_->options.format.line_end);
    break;
  }
  return result;
}

void CsvTable::visit_texts(std::size_t column,
                           const std::function<void(std::string_view)>& visit) const {
  for (const Chunk& chunk : cells_->chunks) {
    cells_->visit_column(column, chunk, [&](std::size_t, std::string_view cell, std::string_view) {
      visit(cell);
      return true;
    });
  }
}

std::size_t csv_line(std::string_view text, const CsvFormat& format, std::size_t row) {
  std::size_t position = first_byte(text, format);
  const std::size_t n_before = row + (format.has_header ? 1 : 0);
  for (std::size_t skipped = 0; skipped < n_before && position < text.size();) {
    const Scanned cell = scan_cell(text, position, format);
    if (cell.problem != CsvProblemKind::none) break;
    position = cell.next;
    if (cell.ends_row) ++skipped;
  }
  return line_at(text, position, format.line_end);
}

std::size_t csv_line_of_label(std::string_view text, const CsvFormat& format, std::size_t column,
                              std::string_view label) {
  std::size_t position = first_byte(text, format);
  std::string plain;
  for (std::size_t at = 0, row = format.has_header ? 0 : 1; position < text.size();) {
    const Scanned cell = scan_cell(text, position, format);
    if (cell.problem != CsvProblemKind::none) break;
    if (row > 0 && at == column && plain_text(cell, format.quote, plain) == label) break;
    position = cell.next;
    at = cell.ends_row ? 0 : at + 1;
    row += cell.ends_row ? 1 : 0;
  }
  return line_at(text, position, format.line_end);
}

std::size_t csv_end_of_rows(std::string_view text, const CsvFormat& format, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t position = first_byte(text, format), n_rows = 0;
       position < text.size() && n_rows < most;) {
    const Scanned cell = scan_cell(text, position, format);
    if (cell.problem == CsvProblemKind::open_quote) break;
    // Text after a closing quote is a problem of its row, which ends where its line does.
    position = cell.next;
    if (cell.problem != CsvProblemKind::none) {
      position = std::min(text.find(format.line_end, cell.position), text.size()) + 1;
    }
    const bool ends_row = cell.ends_row || cell.problem != CsvProblemKind::none;
    if (!ends_row || position > text.size()) continue;
    end = position;
    ++n_rows;
  }
  return end;
}

std::string without_blanks(std::string_view text, const CsvFormat& format, bool is_blank_run) {
  const auto is_blank = [&](char c) {
    return c == ' ' || c == '\v' || c == '\f' ||
           (c == '\t' && (is_blank_run || format.delimiter != c));
  };
  std::string plain;
  plain.reserve(text.size());
  bool begins_cell = true;
  for (std::size_t i = 0; i < text.size();) {
    if (begins_cell && is_blank(text[i])) {
      ++i;
      continue;
    }
    if (begins_cell && text[i] == format.quote) {
      // Up to the closing quote, or all that is left when it is missing.
      std::size_t close = i;
      do {
        close = std::min(text.find(format.quote, close + 1), text.size() - 1) + 1;
      } while (close < text.size() && text[close] == format.quote);
      plain.append(text, i, close - i);
      i = close;
      begins_cell = false;
      continue;
    }
    const char c = text[i++];
    begins_cell = c == format.line_end || (!is_blank_run && c == format.delimiter);
    if (!is_blank_run || !is_blank(c)) {
      plain.push_back(c);
      continue;
    }
    while (i < text.size() && is_blank(text[i])) ++i;
    const bool is_last = i >= text.size() || text[i] == format.line_end || text[i] == '\r';
    begins_cell = true;
    if (!is_last) plain.push_back('\t');
  }
  return plain;
}

std::string write_csv_rows(std::span<const std::uint8_t> cells, std::size_t n_rows,
                           std::size_t first, std::size_t last,
                           const std::vector<std::vector<std::string>>& texts,
                           const std::vector<std::string>& extra, char delimiter) {
  std::string rows;
  rows.reserve((last - first) * (texts.size() + 1) * 4);
  for (std::size_t row = first; row < last; ++row) {
    for (std::size_t variable = 0; variable < texts.size(); ++variable) {
      if (variable > 0) rows.push_back(delimiter);
      const std::uint8_t code = cells[variable * n_rows + row];
      const auto& states = texts[variable];
      rows += code == kMissing ? states.back() : states[code];
    }
    if (!extra.empty()) {
      rows.push_back(delimiter);
      rows += extra[row - first];
    }
    rows.push_back('\n');
  }
  return rows;
}

}  // namespace bayesmend
