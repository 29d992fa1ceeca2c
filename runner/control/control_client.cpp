// SPDX-License-Identifier: Apache-2.0
#include "runner/control/control_client.h"

#include <utility>

#include "runner/control/runner_socket.h"

namespace pop::runner {

using ::popdist::v1::RunnerOrder;
using ::popdist::v1::RunnerReport;

std::unique_ptr<wire::MessageStream> speakWithRunner(os::EpollLoop& loop, sys::Fd socket,
                                                     RunnerEvents events) {
  return std::make_unique<wire::MessageStream>(
      loop, std::move(socket), sys::Fd(),
      wire::MessageStream::Events{
          .message =
              [more = std::move(events.more), done = std::move(events.done)](const std::string& message) {
                RunnerReport report;
                if (!report.ParseFromString(message)) return;
                if (report.has_passed_on()) done();
                if (report.has_appended()) more();
              },
          .ended = [gone = std::move(events.gone)](const Status&) { gone(); }});
}

RunnerOrder stopOrder(int signal) {
  RunnerOrder order;
  order.mutable_stop()->set_signal(signal);
  return order;
}

Status stopJob(const std::string& directory, int signal, const std::function<bool()>& lives) {
  os::EpollLoop loop;
  Status answer(Code::kDeadlineExceeded, kNoAnswer);
  std::unique_ptr<wire::MessageStream> runner;
  const auto end = [&](Status status) {
    answer = std::move(status);
    loop.stop();
  };
  std::function<void()> ask = [&] {
    runner.reset();
    Result<sys::Fd> socket = connectToRunner(directory);
    if (!socket.ok() && !lives()) return end(socket.status());
    if (!socket.ok()) return static_cast<void>(loop.postAfter(kUntilNextConnect, ask));
    runner = speakWithRunner(
        loop, std::move(*socket),
        {.more = [] {}, .done = [&] { end({}); }, .gone = [&] { loop.postAfter(kUntilNextConnect, ask); }});
    runner->send(stopOrder(signal));
  };
  ask();
  loop.postAfter(kAnswerTimeout, [&] { loop.stop(); });
  if (answer.code() == Code::kDeadlineExceeded) loop.run();
  return answer;
}

}  // namespace pop::runner
