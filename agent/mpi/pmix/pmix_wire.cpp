// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix/pmix_wire.h"

#include <utility>

#include "common/base/text.h"

namespace pop::agent {
namespace {

constexpr std::size_t kJobFields = 6;
constexpr std::size_t kHostFields = 3;

std::string programsText(const std::vector<int>& programs) {
  std::vector<std::string> numbers;
  for (const int program : programs) numbers.push_back(std::to_string(program));
  return join(numbers, ",");
}

Result<std::vector<int>> readPrograms(const std::string& text) {
  std::vector<int> programs;
  for (const std::string& number : split(text, ',')) {
    POP_ASSIGN_OR_RETURN(const std::int64_t program, parseInteger(number));
    programs.push_back(static_cast<int>(program));
  }
  return programs;
}

}  // namespace

contract::Frame jobFrame(const PmixJob& job) {
  contract::Frame frame{static_cast<std::uint8_t>(PmixMessage::kJob),
                        {job.name, job.server_name, job.directory, std::to_string(job.num_instances),
                         std::to_string(job.this_host), programsText(job.programs)}};
  for (const PmixHost& host : job.hosts)
    frame.fields.insert(frame.fields.end(),
                        {host.name, std::to_string(host.first_instance), std::to_string(host.count)});
  return frame;
}

Result<PmixJob> readJob(const contract::Frame& frame) {
  const std::size_t fields = frame.fields.size();
  if (frame.type != static_cast<std::uint8_t>(PmixMessage::kJob) || fields < kJobFields ||
      (fields - kJobFields) % kHostFields != 0)
    return Status(Code::kDataLoss, "not a job");
  PmixJob job{.name = frame.fields[0],
              .server_name = frame.fields[1],
              .directory = frame.fields[2],
              .programs = {},
              .hosts = {}};
  POP_ASSIGN_OR_RETURN(job.num_instances, contract::numberField(frame, 3));
  POP_ASSIGN_OR_RETURN(job.this_host, contract::numberField(frame, 4));
  for (std::size_t field = kJobFields; field < fields; field += kHostFields) {
    PmixHost host{.name = frame.fields[field]};
    POP_ASSIGN_OR_RETURN(host.first_instance, contract::numberField(frame, field + 1));
    POP_ASSIGN_OR_RETURN(host.count, contract::numberField(frame, field + 2));
    job.hosts.push_back(std::move(host));
  }
  if (static_cast<std::size_t>(job.this_host) >= job.hosts.size())
    return Status(Code::kDataLoss, "this host is not one of the job's");
  Result<std::vector<int>> programs = readPrograms(frame.fields[5]);
  const PmixHost& here = job.hosts[static_cast<std::size_t>(job.this_host)];
  if (!programs.ok() || programs->size() != static_cast<std::size_t>(here.count))
    return Status(Code::kDataLoss, "not the programs of this host's instances");
  job.programs = std::move(*programs);
  return job;
}

}  // namespace pop::agent
