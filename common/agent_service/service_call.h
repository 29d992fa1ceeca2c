// SPDX-License-Identifier: Apache-2.0
// Requests to an agent service: running a job, and questions with one answer.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "common/agent_service/service_stream.h"
#include "common/wire/agent_call.h"

namespace pop::wire {

/// The controller's side of a job's call.
class ServiceCall final : public AgentCall {
 public:
  ServiceCall(os::EpollLoop& loop, ServiceAddress address, Events events);

  void send(v1::Command command) override;
  void close() override { stream_.close(); }

 private:
  void receive(const std::string& message);
  void end(Status how);

  const Events events_;
  bool over_ = false;
  bool exceeds_with_fence_ = false;  ///< the message was too long for the service, which ends the call
  ServiceStream stream_;
};

/// A question on its own connection. Destroying it cancels the question.
class ServiceQuestion {
 public:
  /// `answer`: the encoded answer message, empty without one.
  using Done = std::function<void(const Status& how, const std::string& answer)>;

  /// Calls `done` once, from the loop, within `timeout`: kDeadlineExceeded afterwards.
  ServiceQuestion(os::EpollLoop& loop, ServiceAddress address, const v1::ServiceRequest& request,
                  std::chrono::milliseconds timeout, Done done);
  ~ServiceQuestion();
  ServiceQuestion(const ServiceQuestion&) = delete;
  ServiceQuestion& operator=(const ServiceQuestion&) = delete;

 private:
  void end(const Status& how);

  os::EpollLoop& loop_;
  const Done done_;
  std::string answer_;
  bool over_ = false;
  TimerId timer_;
  std::optional<ServiceStream> stream_;  ///< none: it was answered
};

}  // namespace pop::wire
