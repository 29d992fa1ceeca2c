// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/csv_file.h"

#include <algorithm>
#include <new>
#include <utility>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string withSingleQuotes(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '"') ++i;  // the second of two
  }
  return text;
}

/// Name of UTF-16 or UTF-32, by their mark or the zeros in plain letters; nullptr: neither.
const char* wideEncoding(std::string_view text) {
  using std::string_view_literals::operator""sv;
  const std::string_view begin = text.substr(0, 4);
  if (begin == "\xff\xfe\0\0"sv || begin == "\0\0\xfe\xff"sv) return "UTF-32";
  if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff")) return "UTF-16";
  if (begin.size() < 4 || begin.find('\0') == std::string_view::npos) return nullptr;
  return (begin[0] == '\0') != (begin[1] == '\0') && (begin[0] == '\0') == (begin[2] == '\0') &&
                 (begin[1] == '\0') == (begin[3] == '\0')
             ? "UTF-16"
             : nullptr;
}

pop::Status checkSeparator(char separator) {
  if (separator != '"' && separator != '\n' && separator != '\r' && separator != '\0') return {};
  return pop::invalidArgument("the separator is " + pop::inQuotes(std::string(1, separator)) +
                              ", expected a character such as ',' or a tab");
}

}  // namespace

CsvField CsvScanner::next() {
  is_within_row_ = true;
  const std::size_t blanks = blanksAt(0);
  if (!rest_.substr(blanks).starts_with('"')) return plain();
  rest_.remove_prefix(blanks);
  return quoted();
}

std::size_t CsvScanner::blanksAt(std::size_t begin) const {
  std::size_t end = begin;
  while (end < rest_.size() && (rest_[end] == ' ' || rest_[end] == '\t') && rest_[end] != separator_) ++end;
  return end - begin;
}

CsvField CsvScanner::plain() {
  std::size_t end = 0;
  bool has_quote = false;
  for (; end < rest_.size() && rest_[end] != separator_ && rest_[end] != line_end_; ++end)
    has_quote = has_quote || rest_[end] == '"';
  CsvField field{.text = pop::trimmed(rest_.substr(0, end))};
  if (has_quote) field.mistake = "has a quote within it: put the field in quotes and double those in it";
  rest_.remove_prefix(end);
  takeEnd(field);
  return field;
}

CsvField CsvScanner::quoted() {
  CsvField field{.is_quoted = true};
  std::size_t end = 1;
  while (true) {
    end = rest_.find('"', end);
    if (end == std::string_view::npos) {
      field.text = rest_.substr(1);
      field.mistake = "has no closing quote";
      rest_ = {};
      takeEnd(field);
      return field;
    }
    if (!rest_.substr(end + 1).starts_with('"')) break;
    end += 2;
  }
  field.text = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  rest_.remove_prefix(blanksAt(0));
  if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  if (!rest_.empty() && rest_[0] != separator_ && rest_[0] != line_end_)
    field.mistake = "has text behind its closing quote";
  takeEnd(field);
  return field;
}

void CsvScanner::takeEnd(CsvField& field) {
  field.ends_row = !rest_.starts_with(separator_);
  is_within_row_ = !field.ends_row;
  if (!rest_.empty()) rest_.remove_prefix(1);
}

pop::Result<CsvFile> CsvFile::open(const std::string& path, std::vector<std::string> header, char separator) {
  POP_RETURN_IF_ERROR(checkSeparator(separator));
  POP_ASSIGN_OR_RETURN(FileBytes bytes, FileBytes::open(path));
  CsvFile file(std::move(bytes), std::move(header), separator);
  std::string_view text = file.text();
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const char* const encoding = wideEncoding(file.text())) {
    return pop::invalidArgument(pop::inQuotes(path) + " is text in " + encoding +
                                ", expected UTF-8: iconv -f " + encoding +
                                " -t UTF-8 converts it, and Excel saves it as \"CSV UTF-8\"");
  }
  if (text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos)
    file.line_end_ = '\r';
  CsvScanner scanner(text, separator, file.line_end_);
  if (file.columns_.empty()) POP_RETURN_IF_ERROR(file.readHeader(scanner));
  try {
    const pop::Status indexed = file.indexRows(scanner);
    POP_RETURN_IF_ERROR(file.checkUnchanged());  // it tells more than a mistake in what is left
    POP_RETURN_IF_ERROR(indexed);
  } catch (const std::bad_alloc&) {
    return pop::Status(pop::Code::kResourceExhausted,
                       pop::inQuotes(path) + ": no memory for where its rows begin, 8 bytes each");
  }
  return file;
}

pop::Status CsvFile::readHeader(CsvScanner& scanner) {
  if (scanner.isAtEnd())
    return pop::invalidArgument(pop::inQuotes(path()) + " has no content: its first line names the columns");
  for (bool is_over = false; !is_over;) {
    const CsvField field = scanner.next();
    if (field.mistake != nullptr)
      return pop::invalidArgument(placeAt(0) + ": the column's name " + pop::inQuotes(field.text) + ' ' +
                                  field.mistake);
    columns_.push_back(field.is_quoted ? withSingleQuotes(field.text) : std::string(field.text));
    is_over = field.ends_row;
  }
  if (separator_ == ' ' && columns_.front() == "#") columns_.erase(columns_.begin());  // NumPy's comment
  return {};
}

pop::Status CsvFile::indexRows(CsvScanner& scanner) {
  while (!scanner.isAtEnd()) {
    const std::size_t begin = text().size() - scanner.bytesLeft();
    std::size_t fields = 0;
    for (bool is_over = false; !is_over; ++fields) {
      const CsvField field = scanner.next();
      if (field.mistake != nullptr) {
        const std::string column =
            fields < columns_.size() ? pop::inQuotes(columns_[fields]) : std::to_string(fields + 1);
        return pop::invalidArgument(placeAt(begin) + ", column " + column + ": " +
                                    pop::inQuotes(field.text.substr(0, 40)) + ' ' + field.mistake);
      }
      is_over = field.ends_row;
    }
    if (fields != columns_.size()) {
      return pop::invalidArgument(placeAt(begin) + " has " +
                                  pop::counted(static_cast<std::int64_t>(fields), "field") + ", expected " +
                                  std::to_string(columns_.size()));
    }
    rows_.push_back(begin);
  }
  return {};
}

std::string CsvFile::placeAt(std::size_t offset) const {
  const std::string_view before = text().substr(0, offset);
  return pop::inQuotes(path()) + " line " +
         std::to_string(1 + std::count(before.begin(), before.end(), line_end_));
}

}  // namespace popdist::io
