// SPDX-License-Identifier: Apache-2.0
// The default controller: the job core and this host's agent, both in this process. It needs no daemon and no
// socket.
#pragma once

#include <memory>

#include "agent/job/local_agent.h"
#include "common/ports/controller_port.h"
#include "controller/core/job.h"

namespace pop {

class LocalController final : public Controller {
 public:
  LocalController(os::EpollLoop& loop, keeper::Keeper keeper, OutputSink& sink,
                  agent::OutputPump::Modes modes)
      : loop_(loop), agent_(loop, std::move(keeper), sink, modes) {}

  Status submit(model::JobSpec spec, JobWatch watch) override;
  void stop(int user_signal) override;
  void signal(int signal) override;
  void suspend(std::function<void()> stopped) override;

  Status shutDown() override { return agent_.shutDown(); }

 private:
  os::EpollLoop& loop_;
  agent::LocalAgent agent_;
  std::unique_ptr<Job> job_;
};

}  // namespace pop
