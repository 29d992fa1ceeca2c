// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/service_call.h"

#include <utility>

#include "common/wire/report_reader.h"

namespace pop::wire {
namespace {

v1::ServiceRequest toRun() {
  v1::ServiceRequest request;
  request.mutable_run();
  return request;
}

// The service reports only that a message is too long, and even that may not arrive.
Status tooMuchForAFence() {
  return {Code::kResourceExhausted,
          "the job's instances have put more for one fence than the agent service accepts, 64 MiB "
          "(Context::put)"};
}

}  // namespace

ServiceCall::ServiceCall(os::EpollLoop& loop, ServiceAddress address, Events events)
    : events_(std::move(events)),
      stream_(loop, std::move(address), toRun(),
              {.message = [this](const std::string& message) { receive(message); },
               .ended = [this](Status how) { end(std::move(how)); }}) {}

void ServiceCall::send(v1::Command command) {
  exceeds_with_fence_ =
      exceeds_with_fence_ || (command.has_release_fence() && command.ByteSizeLong() > kMaxMessageBytes);
  stream_.send(command);
}

void ServiceCall::receive(const std::string& message) {
  if (over_) return;
  v1::Report report;
  if (Status read = readReport(message, report); !read.ok()) return end(std::move(read));
  events_.report(std::move(report));
}

void ServiceCall::end(Status how) {
  if (std::exchange(over_, true)) return;
  if (exceeds_with_fence_) how = tooMuchForAFence();
  events_.ended(std::move(how));
}

ServiceQuestion::ServiceQuestion(os::EpollLoop& loop, ServiceAddress address,
                                 const v1::ServiceRequest& request, std::chrono::milliseconds timeout,
                                 Done done)
    : loop_(loop), done_(std::move(done)), timer_(loop.postAfter(timeout, [this] {
        end({Code::kDeadlineExceeded, "no answer"});
      })) {
  stream_.emplace(loop, std::move(address), request,
                  ServiceStream::Events{.message = [this](const std::string& message) { answer_ = message; },
                                        .ended = [this](const Status& how) { end(how); }});
}

ServiceQuestion::~ServiceQuestion() {
  loop_.cancel(timer_);
}

void ServiceQuestion::end(const Status& how) {
  if (std::exchange(over_, true)) return;
  loop_.cancel(timer_);
  timer_ = loop_.postAfter({}, [this] { stream_.reset(); });  // the caller may keep this object for longer
  done_(how, answer_);
}

}  // namespace pop::wire
