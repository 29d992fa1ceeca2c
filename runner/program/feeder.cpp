// SPDX-License-Identifier: Apache-2.0
#include "runner/program/feeder.h"

#include <csignal>
#include <utility>

#include "common/sys/process_setup.h"
#include "runner/store/record_store.h"

namespace pop::runner {

Feeder::Feeder(os::EpollLoop& loop, sys::Stdio stdio, const std::string& directory,
               std::uint64_t last_sequence, std::function<void()> leave, std::chrono::milliseconds idle)
    : loop_(loop),
      leave_(std::move(leave)),
      idle_(idle),
      stream_(loop, std::move(stdio), directory,
              {.stop = [](int) {},
               .signal = [](int) {},
               .service_stops = nullptr,
               .retire = leave_,
               .heard = [this] { waitUnlessFollowed(); },
               .idle = [this] { waitUnlessFollowed(); },
               .gone = leave_}) {
  stream_.up(true, last_sequence);
  stream_.noMore();
  waitUnlessFollowed();
}

Feeder::~Feeder() {
  if (timer_) loop_.cancel(*timer_);
}

void Feeder::waitUnlessFollowed() {
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  if (stream_.isFollowed()) return;
  timer_ = loop_.postAfter(idle_, [this] {
    timer_.reset();
    leave_();
  });
}

Status feed(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(const std::uint64_t last_sequence, lastSequenceIn(directory));
  if (last_sequence == 0) return {Code::kNotFound, "there are no records of a job in " + directory};
  POP_RETURN_IF_ERROR(sys::setUpForJobs());
  POP_ASSIGN_OR_RETURN(sys::Stdio stdio, sys::takeStdio());
  os::EpollLoop loop;
  std::signal(SIGHUP, SIG_IGN);
  loop.watchSignals({SIGTERM, SIGINT}, [&loop](const os::Signal&) { loop.stop(); });
  const Feeder feeder(loop, std::move(stdio), directory, last_sequence, [&loop] { loop.stop(); });
  loop.run();
  return {};
}

}  // namespace pop::runner
