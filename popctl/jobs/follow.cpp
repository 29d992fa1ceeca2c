// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/follow.h"

#include <cstdio>
#include <utility>

#include "common/base/text.h"
#include "popctl/rpc/reconnects.h"

namespace pop::popctl {

Status withReconnects(ControllerClient& client,
                      const std::function<Status(const std::function<void()>& received)>& attempt) {
  using SteadyClock = std::chrono::steady_clock;
  Reconnects reconnects(client.server().reconnect);
  while (true) {
    reconnects.began(SteadyClock::now());
    const Status how = attempt([&reconnects] { reconnects.received(); });
    if (!isLost(how) || !reconnects.goesOn(SteadyClock::now(), client.isConnecting())) return how;
    if (reconnects.isNews()) std::fputs(reconnectingText(client.server()).c_str(), stderr);
    client.waitForNextAttempt();
  }
}

Status followChanges(ControllerClient& client, const std::function<bool(const v1::Change&)>& each,
                     Until until) {
  std::uint64_t revision = 0;
  bool stopped = false;
  return withReconnects(client, [&](const std::function<void()>& received) -> Status {
    v1::WatchRequest request;
    request.set_since_revision(revision);
    bool in_snapshot = false;
    const Status how = client.watch(
        request,
        [&](const v1::Change& change) {
          received();
          in_snapshot = change.has_snapshot_begins() || (in_snapshot && !change.has_snapshot_ends());
          // Half a snapshot is none: the next one begins anew.
          if (!in_snapshot) revision = change.revision();
          stopped = !each(change);
          return !stopped;
        },
        until);
    if (until && std::chrono::system_clock::now() >= *until)
      return {Code::kDeadlineExceeded,
              "no answer from " + client.server().address + " within " + client.server().timeout_option};
    return how.ok() && !stopped ? unavailable("the server has ended the stream") : how;
  });
}

Result<v1::JobInfo> waitForEnd(ControllerClient& client, const v1::JobRef& job,
                               std::optional<std::chrono::milliseconds> timeout) {
  std::optional<std::chrono::system_clock::time_point> until;
  if (timeout) until = std::chrono::system_clock::now() + *timeout;
  v1::JobInfo info;
  const Status how = withReconnects(client, [&](const std::function<void()>&) -> Status {
    Result<v1::JobInfo> ended = client.wait(job, until);
    if (!ended.ok()) return ended.status();
    info = std::move(*ended);
    return {};
  });
  if (how.code() == Code::kDeadlineExceeded && timeout)
    return Status(how.code(), "it has not ended within " + secondsText(*timeout) + " s");
  if (isLost(how)) return Status(how.code(), how.message() + "; the job goes on");
  if (!how.ok()) return how;
  return info;
}

}  // namespace pop::popctl
