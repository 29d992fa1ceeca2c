// SPDX-License-Identifier: Apache-2.0
// Reaches a host by a program (ssh, or the one that --rsh names) instead of libssh: the program's stdin and
// stdout are the stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/os/helper_program.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/byte_pump.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/bootstrap/ssh/ssh_stream.h"
#include "poprun/bootstrap/ssh/ssh_target.h"

namespace pop {

/// The command line of `options.rsh`, or of ssh if it is empty, that runs `command` on `target`.
std::vector<std::string> rshCommand(const SshTarget& target, const SshOptions& options,
                                    const std::string& command);

/// The running program. Its stderr is read while it is open; the destructor ends and reaps the program if it
/// still runs.
class RshProcess final : public Pumped {
 public:
  struct Started {
    std::unique_ptr<Pumped> process;
    sys::Fd stream;  ///< non-blocking
  };
  static Result<Started> start(const std::vector<std::string>& command, CommandEvents events);

  RshProcess(os::HelperProgram program, sys::Fd errors, CommandEvents events);
  ~RshProcess() override;

  void prepare(std::vector<pollfd>& fds) override;
  bool step(const pollfd* fds) override;

 private:
  void readErrors();
  int reap();

  os::HelperProgram program_;
  bool may_run_ = true;  ///< no end has been reported yet
  sys::Fd errors_;       ///< invalid once it is closed
  CommandEvents events_;
  LineSplitter lines_;
};

}  // namespace pop
