// SPDX-License-Identifier: Apache-2.0
#include "common/wire/report_reader.h"

#include <cstdint>
#include <optional>

#include "common/wire/wire_fields.h"

namespace pop::wire {
namespace {

using fields::CodedInputStream;
using fields::tagOfMessage;
using popdist::v1::FenceReached;
using popdist::v1::Report;

using Sum = std::optional<std::size_t>;

Sum elementsOfList(CodedInputStream& fields) {
  return fields::sumInside(fields,
                           [&](std::uint32_t tag) { return fields::skip(fields, tag) ? Sum(1) : Sum(); });
}

Sum elementsOfFence(CodedInputStream& fields) {
  return fields::sumInside(fields, [&](std::uint32_t tag) {
    if (tag == tagOfMessage(FenceReached::kValuesFieldNumber)) return elementsOfList(fields);
    return fields::skip(fields, tag) ? Sum(0) : Sum();
  });
}

// A description has lists in several places, and a port takes a single byte; the message itself is short.
Sum bytesOfDescription(CodedInputStream& fields, std::uint32_t tag) {
  const int begin = fields.CurrentPosition();
  return fields::skip(fields, tag) ? Sum(static_cast<std::size_t>(fields.CurrentPosition() - begin)) : Sum();
}

// An upper bound for the elements that decoding `message` builds.
Sum mostElements(const std::string& message) {
  CodedInputStream fields(reinterpret_cast<const std::uint8_t*>(message.data()),
                          static_cast<int>(message.size()));
  return fields::sumOfFields(fields, [&](std::uint32_t tag) -> Sum {
    switch (tag) {
      case tagOfMessage(Report::kStacksFieldNumber):
      case tagOfMessage(Report::kValuesFieldNumber):
        return elementsOfList(fields);
      case tagOfMessage(Report::kFenceReachedFieldNumber):
        return elementsOfFence(fields);
      case tagOfMessage(Report::kDescribedFieldNumber):
        return bytesOfDescription(fields, tag);
      default:
        return fields::skip(fields, tag) ? Sum(0) : Sum();
    }
  });
}

}  // namespace

Status readReport(const std::string& message, Report& into) {
  const Sum elements = mostElements(message);
  if (elements && *elements > kMaxReportElements)
    return {Code::kResourceExhausted,
            "a report has more than " + std::to_string(kMaxReportElements) + " elements"};
  if (!elements || !into.ParseFromString(message)) return {Code::kDataLoss, "it sent a malformed report"};
  return {};
}

}  // namespace pop::wire
