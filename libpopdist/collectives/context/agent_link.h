// SPDX-License-Identifier: Apache-2.0
// The link to this host's agent: frames on its Unix socket (docs/spec/instance_wire.md). One call at a time;
// a lock keeps threads apart.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "common/contract/env_contract.h"
#include "common/contract/frame.h"
#include "common/contract/instance_wire.h"
#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"
#include "common/sys/forks.h"
#include "common/sys/memfd.h"
#include "libpopdist/collectives/context/host_fence.h"
#include "libpopdist/collectives/context/link.h"

namespace popdist::context {

class AgentLink final : public Link {
 public:
  /// The agent answers a late fence with the names of the missing instances; this is how long that answer may
  /// take to arrive.
  static constexpr std::chrono::milliseconds kAnswerSlack{1000};

  /// Connects and introduces this instance. `answer_slack` is how long after a call's deadline its answer may
  /// arrive.
  static pop::Result<std::unique_ptr<AgentLink>> connect(
      const pop::contract::InstanceEnv& env, std::chrono::milliseconds timeout,
      std::chrono::milliseconds answer_slack = kAnswerSlack);

  LinkError put(const std::string& key, const std::string& value, std::chrono::milliseconds timeout) override;
  LinkError get(const std::string& key, std::chrono::milliseconds timeout,
                std::optional<std::string>& value) override;
  LinkError getAll(const std::string& prefix, std::chrono::milliseconds timeout, Values& values) override;
  LinkError fence(const std::string& tag, std::chrono::milliseconds timeout,
                  const Meanwhile& meanwhile) override;
  void abort(int exit_code, const std::string& message) override;
  transport::SegmentView segment() const override { return {segment_.data(), segment_.size(), &lent_}; }
  HostNetwork network() const override { return network_; }
  int hostCores() const override { return host_cores_; }

 private:
  using Clock = pop::sys::AwakeClock;

  AgentLink(pop::sys::Fd socket, std::chrono::milliseconds answer_slack)
      : answer_slack_(answer_slack), socket_(std::move(socket)) {}
  LinkError usable() const;
  LinkError hello(const pop::contract::InstanceEnv& env, std::chrono::milliseconds timeout);
  LinkError send(pop::contract::InstanceMessage type, std::vector<std::string> fields,
                 Clock::time_point deadline);
  LinkError receive(Clock::time_point deadline, pop::contract::Frame& reply, const Meanwhile& meanwhile = {});
  LinkError ask(pop::contract::InstanceMessage question, const std::string& key,
                std::chrono::milliseconds timeout, pop::contract::InstanceMessage answer,
                pop::contract::Frame& reply);
  LinkError fenceByMessage(const std::string& tag, std::chrono::milliseconds timeout,
                           const Meanwhile& meanwhile);
  LinkError awaitAnswer(std::chrono::milliseconds timeout, const Meanwhile& meanwhile);
  bool hasReceived() const;

  const std::chrono::milliseconds answer_slack_;
  std::mutex call_mutex_;  ///< held from a request to its answer
  std::mutex send_mutex_;  ///< held while a frame is written
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  std::atomic<bool> out_of_step_ = false;  ///< a call timed out: its answer may still come
  bool cut_off_ = false;                   ///< a frame was cut off: nothing can be sent after it
  pop::sys::Fd socket_;
  pop::contract::FrameReader reader_;
  std::vector<pop::sys::Fd> received_fds_;
  pop::sys::Mapping segment_;
  mutable transport::LentPieces lent_;
  HostFence fence_;
  std::atomic<bool> has_put_ = false;  ///< since the last fence
  HostNetwork network_;
  int host_cores_ = 1;
};

}  // namespace popdist::context
