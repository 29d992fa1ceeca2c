// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/formats/csv_file.h"

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

pop::Status checkSeparator(char separator) {
  if (separator != '"' && separator != '\n' && separator != '\r' && separator != '\0') return {};
  return pop::invalidArgument("the separator is " + pop::inQuotes(std::string(1, separator)) +
                              ", expected a character such as ',' or a tab");
}

}  // namespace

CsvField CsvScanner::next() {
  is_within_row_ = true;
  return rest_.starts_with('"') ? quoted() : plain();
}

CsvField CsvScanner::plain() {
  std::size_t end = 0;
  bool has_quote = false;
  for (; end < rest_.size() && rest_[end] != separator_ && rest_[end] != '\n'; ++end)
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
  if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  if (!rest_.empty() && rest_[0] != separator_ && rest_[0] != '\n')
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
  CsvScanner scanner(text, separator);
  if (file.columns_.empty()) POP_RETURN_IF_ERROR(file.readHeader(scanner));
  try {
    POP_RETURN_IF_ERROR(file.indexRows(scanner));
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
         std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

}  // namespace popdist::io
