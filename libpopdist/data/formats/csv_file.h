// SPDX-License-Identifier: Apache-2.0
// Files of comma-separated values (RFC 4180): lines of fields, which may be in double quotes and then have
// separators, line ends and doubled quotes in them. Lines end with LF, CR LF, or all with CR. Blanks around a
// field are not of it. Nothing else is let through: a quote within a field, or text behind a closing one, is
// an error, and so is a row with another number of fields than there are columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/formats/file_bytes.h"

namespace popdist::io {

struct CsvField {
  std::string_view
      text;  ///< without its quotes, or without blanks at its ends; doubled quotes stay as they are
  bool is_quoted = false;
  bool ends_row = false;
  const char* mistake = nullptr;  ///< the field's error
};

/// Takes one field after the other off the start of a text.
class CsvScanner {
 public:
  CsvScanner(std::string_view text, char separator, char line_end)
      : rest_(text), separator_(separator), line_end_(line_end) {}

  /// True if there is no further row: a row that was begun always ends with a field that says so.
  bool isAtEnd() const { return rest_.empty() && !is_within_row_; }
  CsvField next();
  std::size_t bytesLeft() const { return rest_.size(); }

 private:
  CsvField plain();
  CsvField quoted();
  /// Number of blanks that no field needs.
  std::size_t blanksAt(std::size_t begin) const;
  /// Takes the separator or line end behind a field.
  void takeEnd(CsvField& field);

  std::string_view rest_;
  char separator_;
  char line_end_;
  bool is_within_row_ = false;
};

/// A whole file and where its rows begin: 8 bytes of memory for each.
class CsvFile {
 public:
  /// Looks at every field, so that rows can be taken to be right. `header` names the columns; if it is empty
  /// the first row does.
  static pop::Result<CsvFile> open(const std::string& path, std::vector<std::string> header, char separator);

  const std::string& path() const { return file_.path(); }
  const FileState& state() const { return file_.state(); }
  /// As FileBytes has it: after rows were read.
  pop::Status checkUnchanged() const { return file_.checkUnchanged(); }
  const std::vector<std::string>& columns() const { return columns_; }
  char separator() const { return separator_; }
  std::uint64_t rows() const { return rows_.size(); }

  /// Scanner of the fields of a row (< rows()): as many as there are columns.
  CsvScanner row(std::uint64_t index) const { return {text().substr(rows_[index]), separator_, line_end_}; }

  /// "'data.csv' line 7", counted from 1.
  std::string placeOf(std::uint64_t row) const { return placeAt(rows_[row]); }

 private:
  CsvFile(FileBytes file, std::vector<std::string> columns, char separator)
      : file_(std::move(file)), columns_(std::move(columns)), separator_(separator) {}

  std::string_view text() const {
    return {reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
  }
  std::string placeAt(std::size_t offset) const;
  pop::Status readHeader(CsvScanner& scanner);
  pop::Status indexRows(CsvScanner& scanner);

  FileBytes file_;
  std::vector<std::string> columns_;
  char separator_;
  char line_end_ = '\n';
  std::vector<std::uint64_t> rows_;  // each one's begin
};

}  // namespace popdist::io
