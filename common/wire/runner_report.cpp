// SPDX-License-Identifier: Apache-2.0
#include "common/wire/runner_report.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdint>
#include <optional>

#include "common/base/text.h"
#include "common/wire/wire_fields.h"

namespace pop::wire {
namespace {

using fields::CodedInputStream;
using fields::tagOfMessage;
using fields::WireFormatLite;
using v1::HostReport;
using v1::JobValue;
using v1::JobValues;
using v1::Records;
using v1::RunnerReport;
using v1::RunnerSaid;
using v1::StreamEnd;

// Limit of one report; a reader builds an object for each. Of the shortest there are as many in 2 MiB.
constexpr std::size_t kMaxRecords = 256 << 10;

std::optional<std::size_t> skipped(CodedInputStream& input, std::uint32_t tag) {
  return fields::skip(input, tag) ? std::optional<std::size_t>(0) : std::nullopt;
}

// Reads a message without messages or texts.
std::optional<std::size_t> flat(CodedInputStream& input) {
  return fields::sumInside(input, [&](std::uint32_t tag) { return skipped(input, tag); });
}

std::optional<std::size_t> recordsIn(CodedInputStream& input) {
  return fields::sumInside(input, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    if (tag != tagOfMessage(Records::kRecordsFieldNumber)) return skipped(input, tag);
    return flat(input) ? std::optional<std::size_t>(1) : std::nullopt;
  });
}

// A reader drops a whole message for one text that is not UTF-8.
std::optional<std::size_t> withText(CodedInputStream& input, int number) {
  return fields::sumInside(input, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    if (tag != tagOfMessage(number)) return skipped(input, tag);
    std::string text;
    const bool is_text = WireFormatLite::ReadBytes(&input, &text) && validUtf8(text) == text;
    return is_text ? std::optional<std::size_t>(0) : std::nullopt;
  });
}

std::optional<std::size_t> valuesIn(CodedInputStream& input) {
  return fields::sumInside(input, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    if (tag != tagOfMessage(JobValues::kValuesFieldNumber)) return skipped(input, tag);
    return withText(input, JobValue::kNameFieldNumber) ? std::optional<std::size_t>(1) : std::nullopt;
  });
}

// The head of a field of so many bytes.
std::string fieldHead(int number, std::size_t bytes) {
  std::string head;
  {
    google::protobuf::io::StringOutputStream stream(&head);
    google::protobuf::io::CodedOutputStream output(&stream);
    output.WriteTag(tagOfMessage(number));
    output.WriteVarint32(static_cast<std::uint32_t>(bytes));
  }
  return head;
}

}  // namespace

Result<RunnerReportOutline> outlineOfRunnerReport(std::string_view report) {
  RunnerReportOutline outline;
  CodedInputStream input(reinterpret_cast<const std::uint8_t*>(report.data()),
                         static_cast<int>(report.size()));
  const std::optional<std::size_t> records = fields::sumOfFields(input, [&](std::uint32_t tag) {
    outline.is_up = tag == tagOfMessage(RunnerReport::kUpFieldNumber);
    if (outline.is_up) return flat(input);
    if (tag == tagOfMessage(RunnerReport::kRecordsFieldNumber)) return recordsIn(input);
    if (tag == tagOfMessage(RunnerReport::kEndFieldNumber))
      return withText(input, StreamEnd::kProblemFieldNumber);
    if (tag == tagOfMessage(RunnerReport::kValuesFieldNumber)) return valuesIn(input);
    return skipped(input, tag);
  });
  if (!records || *records > kMaxRecords) return Status(Code::kDataLoss, "a malformed report");
  return outline;
}

std::string runnerSaid(const v1::RunnerKey& key, std::string_view report) {
  const std::string id = key.SerializeAsString();
  const std::string before = fieldHead(RunnerSaid::kKeyFieldNumber, id.size()) + id +
                             fieldHead(RunnerSaid::kReportFieldNumber, report.size());
  std::string said = fieldHead(HostReport::kSaidFieldNumber, before.size() + report.size());
  said.reserve(said.size() + before.size() + report.size());
  return said.append(before).append(report);
}

}  // namespace pop::wire
