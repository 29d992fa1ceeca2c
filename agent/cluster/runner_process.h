// SPDX-License-Identifier: Apache-2.0
// One popdist-runner, which runs as a job's user: the job's runner, or a feeder, which has the records of one
// that is gone, or what removes its directory's contents. What it says is its user's, and not decoded here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/service/job_process.h"
#include "agent/service/last_words.h"
#include "common/os/epoll_loop.h"
#include "common/wire/message_stream.h"

namespace pop::agent {

struct RunnerCommand {
  std::string user;            ///< the Unix user
  std::optional<Login> login;  ///< of the user, if it is known
  std::string agent;           ///< popdist-agent
  std::string program;         ///< popdist-runner
  std::string directory;
};

struct RunnerEnd {
  std::optional<int> exit_code;  ///< if it has ended by itself
  std::string how;               ///< "ended with exit code 3 (it said: …)"
};

/// Lives on the loop's thread. Kills the process when it goes.
class RunnerProcess {
 public:
  struct Events {
    /// A valid RunnerReport, encoded. `is_up`: it is the first.
    std::function<void(bool is_up, std::string_view report)> report;
    /// Once, after all that it has said, when nothing that it has started is left. Destroy this object from a
    /// task of its own.
    std::function<void(const RunnerEnd& end)> ended;
  };

  /// Its first message is `order`, a HostOrder, encoded. `loop` and `zombies` outlive it.
  static Result<std::unique_ptr<RunnerProcess>> start(os::EpollLoop& loop, ZombieReaper& zombies,
                                                      const RunnerCommand& command, std::string_view order,
                                                      Events events);
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool isUp() const { return is_up_; }  ///< it has said so

  void send(const google::protobuf::MessageLite& order) { stream_->send(order); }

  /// It has to wait with what it says, until resume().
  void pause();
  void resume();

  /// SIGKILL; its end is told.
  void kill() const { process_.sendKill(); }
  /// The same, if it has not ended within `timeout`: the job may have it stopped.
  void killAfter(std::chrono::milliseconds timeout);

 private:
  RunnerProcess(os::EpollLoop& loop, JobProcess process, Events events);

  void take(const std::string& report);
  void streamEnded(const Status& why);
  void processEnded();
  void awaitStream();
  void conclude();
  void lookIfStopped();

  os::EpollLoop& loop_;
  Events events_;
  JobProcess process_;
  const pid_t pid_;
  std::optional<LastWords> words_;
  std::unique_ptr<wire::MessageStream> stream_;
  std::string why_;  ///< it was ended here
  bool is_up_ = false;
  bool is_paused_ = false;
  bool is_over_ = false;
  std::optional<TimerId> timer_;
  std::optional<TimerId> stop_timer_;  ///< the next look whether it is stopped
  std::optional<TimerId> kill_timer_;
};

}  // namespace pop::agent
