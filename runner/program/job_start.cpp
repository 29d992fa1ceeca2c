// SPDX-License-Identifier: Apache-2.0
#include "runner/program/job_start.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/sys/process_setup.h"
#include "common/sys/taken_stdio.h"
#include "common/wire/job_codec.h"
#include "controller/hosts/hosts_controller.h"
#include "controller/hosts/service_part.h"
#include "controller/local/local_controller.h"
#include "runner/detached_session.h"
#include "runner/program/job_place.h"
#include "runner/program/order_door.h"
#include "runner/store/job_directory.h"

namespace pop::runner {
namespace {

namespace v1 = ::popdist::v1;

Result<model::JobSpec> specOf(const v1::StartRunner& order) {
  POP_ASSIGN_OR_RETURN(model::JobSpec spec, wire::decodeSpec(order.spec()));
  const std::vector<std::string> mistakes = model::findMistakes(spec);
  if (!mistakes.empty()) return invalidArgument(join(mistakes, "; "));
  if (spec.copies != model::CopyRequest())
    return invalidArgument(
        "the job wants files copied to its hosts, which only poprun does: leave `copies` out");
  if (spec.hosts.size() > 1 && (order.agent_port() < 1 || order.agent_port() > 65535))
    return invalidArgument("the job has " + counted(static_cast<std::int64_t>(spec.hosts.size()), "host") +
                           ", and their agent services would be at port " +
                           std::to_string(order.agent_port()));
  spec.stdin_policy = {.who = model::StdinPolicy::Who::kNone};
  return spec;
}

// As poprun's --log-limit: a smaller log would be many tiny files.
LogBound boundOf(const v1::StartRunner& order) {
  constexpr std::int64_t kLeastBytes = 8 << 20;
  LogBound bound;
  if (order.log_limit_bytes() > 0)
    bound.bytes = static_cast<std::uint64_t>(std::max(order.log_limit_bytes(), kLeastBytes));
  return bound;
}

class JobStart {
 public:
  JobStart(std::string directory, const v1::StartRunner& order)
      : directory_(std::move(directory)), order_(order) {}

  Status run(const model::JobSpec& spec) {
    POP_RETURN_IF_ERROR(writeSpec(directory_, wire::encode(spec)));
    POP_ASSIGN_OR_RETURN(const MakeController make_controller, controllerFor(spec));
    const Status ran = run(spec, make_controller);
    // No controller has taken it.
    if (keeper_) static_cast<void>(keeper::endKeeper(std::move(*keeper_)));
    return ran;
  }

 private:
  Status run(const model::JobSpec& spec, const MakeController& make_controller) {
    POP_RETURN_IF_ERROR(sys::setUpForJobs());
    POP_ASSIGN_OR_RETURN(sys::Stdio stdio, sys::takeStdio());
    const MakeDoor make_door = [&](os::EpollLoop& loop, DoorEvents events) -> Result<std::unique_ptr<Door>> {
      return std::unique_ptr<Door>(
          std::make_unique<OrderDoor>(loop, std::move(stdio), directory_, std::move(events)));
    };
    return runDetached(spec, {directory_, boundOf(order_)}, make_controller, make_door).status();
  }

  // The first host is this one, by whatever name.
  Result<MakeController> controllerFor(const model::JobSpec& spec) {
    if (spec.hosts.size() > 1) return hostsController(spec.hosts.size());
    POP_ASSIGN_OR_RETURN(keeper_, keeper::forkKeeper());
    return MakeController(
        [this](os::EpollLoop& loop, OutputSink& sink, const std::function<void(std::string_view)>&) {
          constexpr auto kLines = agent::OutputPump::Mode::kLines;
          return std::make_unique<LocalController>(loop, std::move(*std::exchange(keeper_, std::nullopt)),
                                                   sink, agent::OutputPump::Modes{kLines, kLines});
        });
  }

  Result<MakeController> hostsController(std::size_t num_hosts) {
    ServiceSettings service{.port = order_.agent_port()};
    if (order_.has_credentials()) {
      const v1::JobCredentials& credentials = order_.credentials();
      service.tls_files =
          tls::tlsFilesOf(credentials.authority_pem(), credentials.certificate_pem(), credentials.key_pem());
    }
    POP_ASSIGN_OR_RETURN(ServicePart part, servicePart(service, num_hosts));
    return MakeController([this, part = std::move(part)](os::EpollLoop& loop, OutputSink& sink,
                                                         const std::function<void(std::string_view)>& say) {
      HostAccess access{
          .parts = {}, .service = part, .say = [say](const std::string& line) { say(line + '\n'); }};
      return std::make_unique<HostsController>(loop, sink, HostsSettings{.job_id = order_.agent_job_id()},
                                               std::move(access));
    });
  }

  const std::string directory_;
  const v1::StartRunner& order_;
  std::optional<keeper::Keeper> keeper_;  ///< until the controller has it
};

}  // namespace

Status startJob(const std::string& directory, const v1::StartRunner& order) {
  POP_ASSIGN_OR_RETURN(const model::JobSpec spec, specOf(order));
  POP_ASSIGN_OR_RETURN(const sys::Fd lock, lockJob(directory));
  if (hasJob(directory)) return {Code::kAlreadyExists, "a job has been started in " + directory + " before"};
  const Status ran = JobStart(directory, order).run(spec);
  if (!ran.ok()) static_cast<void>(emptyPlace(directory));
  return ran;
}

}  // namespace pop::runner
