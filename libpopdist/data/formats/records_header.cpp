// SPDX-License-Identifier: Apache-2.0
// The text at the head of a file of records.
#include <charconv>
#include <optional>

#include "common/base/crc32c.h"
#include "common/base/text.h"
#include "libpopdist/data/formats/records.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

constexpr std::string_view kFirstLine = "POPDIST RECORDS 1\n";
constexpr std::string_view kOrigin = "of ";
constexpr std::string_view kChecksums = "checksums ";
constexpr std::string_view kLastLine = "end\n";

pop::Status notRecords(const std::string& name, const std::string& why) {
  return pop::invalidArgument(pop::inQuotes(name) + " is not a file of popdist records: " + why);
}

std::optional<Type> typeNamed(std::string_view name) {
  for (int type = 0; type <= static_cast<int>(Type::kDouble); ++type)
    if (name == nameOf(static_cast<Type>(type))) return static_cast<Type>(type);
  return std::nullopt;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Shape> shapeFrom(std::string_view text) {
  if (text == "-") return Shape{};
  Shape shape;
  for (const std::string& dimension : pop::split(text, ',')) {
    const auto size = number<std::size_t>(dimension);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

/// "tensor TYPE SHAPE NAME", where only the name may have spaces.
std::optional<TensorSpec> tensorFrom(std::string_view line) {
  std::string_view words[3];
  for (std::string_view& word : words) {
    const std::size_t end = line.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    word = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  const auto type = typeNamed(words[1]);
  const auto shape = shapeFrom(words[2]);
  if (words[0] != "tensor" || !type || !shape) return std::nullopt;
  return TensorSpec{std::string(line), *type, *shape};
}

std::string shapeWord(const Shape& shape) {
  std::string text;
  for (const std::size_t dimension : shape) text += (text.empty() ? "" : ",") + std::to_string(dimension);
  return text.empty() ? "-" : text;
}

/// The next line, without its end; nothing if there is none.
std::optional<std::string_view> takeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

std::size_t RecordsHeader::recordBytes() const {
  return tensor::bytesOf(spec);
}

RecordChecksums::RecordChecksums(const RecordsHeader& header) {
  RecordsHeader without_count = header;  // which is known only when all are written
  without_count.elements = 0;
  const std::string text = textOf(without_count).value();
  before_ = pop::crc32c(std::as_bytes(std::span(text)));
  for (const TensorSpec& tensor : header.spec) bytes_.push_back(tensor.bytes());
}

std::uint32_t RecordChecksums::of(std::uint64_t index, const std::byte* const* row) const {
  std::uint32_t sum = beginOf(index);
  for (std::size_t i = 0; i < bytes_.size(); ++i) sum = pop::crc32c({row[i], bytes_[i]}, sum);
  return sum;
}

std::uint32_t RecordChecksums::copy(std::uint64_t index, const std::byte* record,
                                    std::byte* const* row) const {
  std::uint32_t sum = beginOf(index);
  for (std::size_t i = 0; i < bytes_.size(); record += bytes_[i++])
    sum = pop::copyWithCrc32c(row[i], {record, bytes_[i]}, sum);
  return sum;
}

std::uint32_t RecordChecksums::beginOf(std::uint64_t index) const {
  return before_ ^ static_cast<std::uint32_t>(index * 0x9e3779b97f4a7c15U >> 32U);
}

pop::Result<std::string> textOf(const RecordsHeader& header) {
  std::string text(kFirstLine);
  text += "elements " + std::to_string(header.elements) + "\n";
  if (!header.origin.empty()) text += std::string(kOrigin) + header.origin + '\n';
  for (const TensorSpec& tensor : header.spec) {
    if (pop::printable(tensor.name) != tensor.name)
      return pop::invalidArgument("the tensor's name " + pop::inQuotes(tensor.name) +
                                  " has control characters");
    text += "tensor " + std::string(nameOf(tensor.type)) + ' ' + shapeWord(tensor.shape) + ' ' + tensor.name +
            '\n';
  }
  if (header.checksums) text += std::string(kChecksums) + std::to_string(*header.checksums) + '\n';
  text += kLastLine;
  return text;
}

pop::Result<RecordsHeader> parseRecordsHeader(std::string_view text, const std::string& name) {
  if (!text.starts_with(kFirstLine)) return notRecords(name, "it does not begin with POPDIST RECORDS 1");
  text.remove_prefix(kFirstLine.size());
  RecordsHeader header;
  const auto count = takeLine(text);
  const auto elements = count && count->starts_with("elements ")
                            ? number<std::uint64_t>(count->substr(std::string_view("elements ").size()))
                            : std::nullopt;
  if (!elements) return notRecords(name, "its second line is not \"elements N\"");
  header.elements = *elements;
  if (text.starts_with(kOrigin)) {
    const auto origin = takeLine(text);
    if (!origin) return notRecords(name, "its header has no end");
    header.origin = origin->substr(kOrigin.size());
  }
  for (auto line = takeLine(text); line != "end"; line = takeLine(text)) {
    if (!line) return notRecords(name, "its header has no end");
    if (line->starts_with(kChecksums) && !header.checksums) {
      header.checksums = number<std::uint32_t>(line->substr(kChecksums.size()));
      if (header.checksums) continue;
    }
    const auto tensor = tensorFrom(*line);
    if (!tensor) return notRecords(name, "it has the line " + pop::inQuotes(std::string(*line)));
    header.spec.push_back(*tensor);
  }
  const pop::Status possible = tensor::checkElementSpec(header.spec, "it");
  if (!possible.ok()) return notRecords(name, possible.message());
  if (!textOf(header).ok()) return notRecords(name, "a tensor's name has control characters");
  return header;
}

}  // namespace popdist::io
