// SPDX-License-Identifier: Apache-2.0
#include "poprun/daemon/partition_order.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "common/contract/frame.h"
#include "common/sys/fd.h"
#include "common/wire/job_codec.h"

namespace pop::daemon {
namespace {

constexpr std::uint8_t kHold = 1;
constexpr std::uint8_t kOnlyRemove = 2;
constexpr std::size_t kFields = 3;

Status lost() {
  return {Code::kDataLoss, "poprun starts --hold-partition itself: use poprun --vipu-partition NAME"};
}

Result<contract::Frame> readFrame(int pipe) {
  contract::FrameReader reader;
  while (true) {
    POP_ASSIGN_OR_RETURN(std::optional<contract::Frame> frame, reader.next());
    if (frame) return std::move(*frame);
    std::array<char, 4096> bytes{};
    const std::size_t missing = std::min(reader.missingBytes(), bytes.size());
    const ssize_t got = ::read(pipe, bytes.data(), missing);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return lost();
    reader.append({bytes.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

Status send(int pipe, const PartitionOrder& order) {
  model::JobSpec job;
  job.partition = order.job.partition;
  job.num_instances = order.job.num_instances;
  job.num_replicas = order.job.num_replicas;
  job.ipus_per_replica = order.job.ipus_per_replica;
  job.num_ilds = order.job.num_ilds;
  job.system = order.job.system;
  job.programs = {{.command = {"program"}, .num_instances = job.num_instances}};  // no job is without one
  const contract::Frame frame{order.only_remove ? kOnlyRemove : kHold,
                              {wire::encode(job), order.holder, order.verbose ? "verbose" : ""}};
  POP_ASSIGN_OR_RETURN(const std::string bytes, contract::encode(frame));
  return sys::writeAll(pipe, bytes);
}

Result<PartitionOrder> receive(int pipe) {
  POP_ASSIGN_OR_RETURN(const contract::Frame frame, readFrame(pipe));
  if (frame.fields.size() != kFields) return lost();
  POP_ASSIGN_OR_RETURN(model::JobSpec job, wire::decodeSpec(frame.fields[0]));
  return PartitionOrder{.job = std::move(job),
                        .holder = frame.fields[1],
                        .verbose = !frame.fields[2].empty(),
                        .only_remove = frame.type == kOnlyRemove};
}

}  // namespace pop::daemon
