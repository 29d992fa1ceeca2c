// SPDX-License-Identifier: Apache-2.0
#include "common/wire/job_field_reader.h"

#include <optional>
#include <vector>

#include "common/base/text.h"
#include "common/model/host_list.h"
#include "common/wire/codec_parts.h"
#include "common/wire/wire_fields.h"

namespace pop::wire {
namespace {

using fields::CodedInputStream;
using fields::skip;
using fields::sumInside;
using fields::tagOfMessage;

using Sum = std::optional<std::size_t>;

constexpr std::int64_t kMostMs = 1'000'000'000'000;  // 31 years, as for options
constexpr std::int64_t kMaxCpus = 1 << 25;           // 512 for each of 65,536 instances

Sum one(CodedInputStream& fields, std::uint32_t tag) {
  return skip(fields, tag) ? Sum(1) : Sum();
}

Sum elementsOf(CodedInputStream& fields) {
  return sumInside(fields, [&](std::uint32_t tag) { return one(fields, tag); });
}

// Upper bounds for the elements that decoding builds: every field counts, also where it is no list.
Sum elementsOfSpec(CodedInputStream& fields, std::uint32_t tag) {
  switch (tag) {
    case tagOfMessage(v1::JobSpec::kProgramsFieldNumber):
    case tagOfMessage(v1::JobSpec::kCopiesFieldNumber):
    case tagOfMessage(v1::JobSpec::kBindingFieldNumber): {
      const Sum inside = elementsOf(fields);
      return inside ? Sum(*inside + 1) : inside;
    }
    default:
      return one(fields, tag);
  }
}

Sum elementsOfRestarting(CodedInputStream& fields) {
  return sumInside(fields, [&](std::uint32_t tag) {
    return tag == tagOfMessage(v1::Restarting::kFailedFieldNumber) ? elementsOf(fields) : one(fields, tag);
  });
}

Sum elementsOfEvent(CodedInputStream& fields, std::uint32_t tag) {
  switch (tag) {
    case tagOfMessage(v1::JobEvent::kPlacedFieldNumber):
    case tagOfMessage(v1::JobEvent::kOutcomeFieldNumber):
      return elementsOf(fields);
    case tagOfMessage(v1::JobEvent::kRestartingFieldNumber):
      return elementsOfRestarting(fields);
    default:
      return one(fields, tag);
  }
}

template <typename Message, typename Elements>
Status read(std::string_view bytes, const Elements& elementsOfField, Message& into) {
  if (bytes.size() > kMaxRecordBytes)
    return malformed("a record of " + std::to_string(bytes.size()) + " bytes");
  CodedInputStream fields(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  const Sum elements =
      fields::sumOfFields(fields, [&](std::uint32_t tag) { return elementsOfField(fields, tag); });
  if (elements && *elements > kMaxRecordElements)
    return malformed("a record of more than " + std::to_string(kMaxRecordElements) + " elements");
  if (!elements || !into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return malformed("its fields cannot be read");
  return {};
}

// A name of a list that stands for itself: not "node[0-65535]".
bool isHostName(const std::string& name) {
  if (name.find('[') != std::string::npos) return false;
  const Result<std::vector<model::Host>> hosts = model::parseHostList(name);
  return hosts.ok() && hosts.value() == std::vector<model::Host>{{name}};
}

}  // namespace

Status readRecord(std::string_view bytes, v1::JobSpec& into) {
  return read(bytes, elementsOfSpec, into);
}

Status readRecord(std::string_view bytes, v1::JobEvent& into) {
  return read(bytes, elementsOfEvent, into);
}

Status readRecord(std::string_view bytes, v1::Output& into) {
  return read(bytes, one, into);
}

void FieldReader::refuse(const std::string& mistake) {
  if (status_.ok()) status_ = malformed(mistake);
}

int FieldReader::count(const char* field, int value) {
  if (value < 0) refuse(std::string(field) + " is " + std::to_string(value));
  return value;
}

std::chrono::milliseconds FieldReader::time(const char* field, std::int64_t ms) {
  if (ms < 0 || ms > kMostMs) refuse(std::string(field) + " is " + std::to_string(ms));
  return std::chrono::milliseconds(ms);
}

int FieldReader::instance(int value, int num_instances) {
  if (value < 0 || value >= num_instances)
    refuse("instance " + std::to_string(value) + " of " + std::to_string(num_instances));
  return value;
}

const std::string& FieldReader::host(const std::string& name) {
  if (!isHostName(name)) refuse(inQuotes(name) + " is not a host name");
  return name;
}

void FieldReader::countCpus(const model::CpuSet& cpus) {
  num_cpus_ += cpus.size();
  if (num_cpus_ > kMaxCpus) refuse("sets of more than " + std::to_string(kMaxCpus) + " CPUs");
}

}  // namespace pop::wire
