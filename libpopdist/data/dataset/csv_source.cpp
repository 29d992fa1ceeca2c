// SPDX-License-Identifier: Apache-2.0
// Numbers are read when their row is: a file may have many columns that are not wanted.
#include "libpopdist/data/dataset/file_sources.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/data/dataset/description.h"
#include "libpopdist/data/formats/csv_file.h"
#include "libpopdist/data/formats/csv_value.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

/// Destination of a column's number.
struct Target {
  std::size_t tensor = 0;
  std::size_t offset_bytes = 0;
  Type type = Type::kFloat;
};

class Csv final : public AddressedSource {
 public:
  Csv(CsvFile file, Spec spec, std::vector<std::vector<Target>> targets)
      : AddressedSource(file.rows()),
        file_(std::move(file)),
        spec_(std::move(spec)),
        targets_(std::move(targets)) {}

  const Spec& spec() const override { return spec_; }

  bool read(const Pass&, std::uint64_t index, Row row) const override {
    if (!has(index)) return false;
    CsvScanner scanner = file_.row(index);
    for (std::size_t column = 0; column < targets_.size(); ++column) {
      const CsvField field = scanner.next();
      for (const Target& target : targets_[column]) {
        const CsvReading reading =
            readCsvValue(target.type, field.text, row[target.tensor] + target.offset_bytes);
        if (reading == CsvReading::kDone) continue;
        throwIfError(file_.checkUnchanged(), "Dataset.csv");
        fail(index, column, field.text, target.type, reading);
      }
    }
    throwIfError(file_.checkUnchanged(), "Dataset.csv");
    return true;
  }

  std::string description() const override {
    std::string columns;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      for (const Target& target : targets_[i])
        columns += ", column " + std::to_string(i) + ' ' + pop::inQuotes(file_.columns()[i]) + " in " +
                   pop::inQuotes(spec_[target.tensor].name) + " at byte " +
                   std::to_string(target.offset_bytes);
    }
    return "csv(" + describeFiles({file_.state()}) + ": " + textOf(spec_) + ", separated by " +
           pop::inQuotes(std::string(1, file_.separator())) + shortened(columns) + ')';
  }

 private:
  void fail(std::uint64_t index, std::size_t column, std::string_view text, Type type,
            CsvReading reading) const {
    const std::string what = text.empty() ? "the field is empty, expected " + std::string(nameOf(type))
                                          : pop::inQuotes(text.substr(0, 40)) +
                                                (reading == CsvReading::kBeyond ? " is beyond " : " is no ") +
                                                nameOf(type);
    throwIfError(pop::invalidArgument(file_.placeOf(index) + ", column " +
                                      pop::inQuotes(file_.columns()[column]) + ": " + what),
                 "Dataset.csv");
  }

  CsvFile file_;
  Spec spec_;
  std::vector<std::vector<Target>> targets_;  // one entry for each column, up to the last that is wanted
};

pop::Result<std::size_t> positionOf(const std::string& name, const CsvFile& file) {
  const std::vector<std::string>& columns = file.columns();
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end() && columns.front().starts_with('#') &&
      pop::trimmed(std::string_view(columns.front()).substr(1)) == name)
    return std::size_t{0};  // NumPy writes the names as a comment
  if (found == columns.end()) {
    return pop::Status(pop::Code::kNotFound, pop::inQuotes(file.path()) + " has no column " +
                                                 pop::inQuotes(name) + ", only " +
                                                 pop::printable(pop::join(columns, ", ")));
  }
  if (std::find(found + 1, columns.end(), name) != columns.end())
    return pop::invalidArgument(pop::inQuotes(file.path()) + " has two columns " + pop::inQuotes(name));
  return static_cast<std::size_t>(found - columns.begin());
}

Spec specOf(const std::vector<CsvTensor>& tensors) {
  Spec spec;
  for (const CsvTensor& tensor : tensors)
    spec.push_back(
        {tensor.tensor, tensor.type, tensor.columns.size() == 1 ? Shape{} : Shape{tensor.columns.size()}});
  return spec;
}

}  // namespace

pop::Result<std::unique_ptr<const Node>> csvOf(const std::string& path, const CsvOptions& options) {
  Spec spec = specOf(options.tensors);
  POP_RETURN_IF_ERROR(tensor::checkElementSpec(spec, "the dataset"));
  POP_ASSIGN_OR_RETURN(CsvFile file, CsvFile::open(path, options.header, options.separator));
  std::vector<std::vector<Target>> targets;
  for (std::size_t tensor = 0; tensor < spec.size(); ++tensor) {
    const std::vector<std::string>& columns = options.tensors[tensor].columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      POP_ASSIGN_OR_RETURN(const std::size_t column, positionOf(columns[i], file));
      if (targets.size() <= column) targets.resize(column + 1);
      targets[column].push_back({tensor, i * sizeOf(spec[tensor].type), spec[tensor].type});
    }
  }
  return std::unique_ptr<const Node>(
      std::make_unique<Csv>(std::move(file), std::move(spec), std::move(targets)));
}

}  // namespace popdist::io
