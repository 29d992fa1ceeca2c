// SPDX-License-Identifier: Apache-2.0
// The link to one remote agent: says hello, checks the answer, and carries the numbered messages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/wire/agent_call.h"
#include "popdistd/agents/remote_agent.h"

namespace pop {

/// kFailedPrecondition: the agent there speaks another protocol than we do.
Status checkWelcome(const wire::v1::Welcome& welcome);

/// That there is no answer at all.
Status noWelcome(std::chrono::milliseconds timeout);

/// What BootstrapEvents::ended means, for people.
std::string whyStreamEnded(int exit_code);

class HostLink final : public CommandLink {
 public:
  /// `agent` outlives the link, and has it from the other side's answer on; what it only asks goes with
  /// hello(). `over`: when nothing more comes, or nobody would look at it: destroy the link soon, not during
  /// the call.
  HostLink(Loop& loop, const wire::CallMaker& call, RemoteAgent& agent, std::function<void()> over);
  ~HostLink() override;

  /// For a link that does not come up.
  void explainBy(std::function<Status(const Status& why)> explain) { explain_ = std::move(explain); }

  /// How a job is ended whose stream is lost, where something is left to be told: the agent service.
  using EndJob = std::function<void(wire::v1::EndJobRequest, std::function<void(Status)> done)>;
  void endJobBy(EndJob end_job) { end_job_ = std::move(end_job); }

  /// The stream is lost, and the agent service is being told that the job is over.
  bool isEndingJob() const { return ending_job_; }

  /// As the other side has put it, once it is over; OK as well where we have closed the link.
  const Status& howItEnded() const { return how_ended_; }

  /// The other side has `timeout` to answer.
  void hello(wire::v1::Hello hello, std::chrono::milliseconds timeout);
  void finish();  ///< nothing more will be sent: the agent ends when it is done
  /// What the end of the stream means, for people; before it. Empty: nothing is known of it.
  void brokenBy(std::string why) { why_broken_ = std::move(why); }

  void send(NumberedCommand command) override;
  void close() override;

 private:
  void receive(const wire::v1::Report& report);
  void welcome(const wire::v1::Welcome& welcome);
  void ended(const Status& why);
  void failToComeUp(const Status& why);

  Loop& loop_;
  RemoteAgent& agent_;
  const std::function<void()> over_;
  std::string why_broken_;
  Status how_ended_;
  std::function<Status(const Status& why)> explain_;
  EndJob end_job_;
  std::string job_id_;
  std::string token_;  ///< of the agent service
  bool welcomed_ = false;
  bool ending_job_ = false;
  std::optional<TimerId> timeout_;
  std::unique_ptr<wire::AgentCall> call_;
};

}  // namespace pop
