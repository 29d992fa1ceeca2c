// SPDX-License-Identifier: Apache-2.0
// A host reached by a program (ssh, or what --rsh names) instead of libssh: the program's stdin and stdout
// are the stream.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/byte_pump.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/bootstrap/ssh/ssh_stream.h"
#include "poprun/bootstrap/ssh/ssh_target.h"

namespace pop {

/// The words of `options.rsh`, else of ssh, that run `command` on `target`.
std::vector<std::string> rshCommand(const SshTarget& target, const SshOptions& options,
                                    const std::string& command);

/// The running program: its stderr is read while it is open; it is ended and reaped at the latest when this
/// is destroyed.
class RshProcess final : public Pumped {
 public:
  struct Started {
    std::unique_ptr<Pumped> process;
    sys::Fd stream;  ///< non-blocking
  };
  static Result<Started> start(const std::vector<std::string>& command, CommandEvents events);

  RshProcess(pid_t pid, sys::Fd errors, CommandEvents events);
  ~RshProcess() override;

  void prepare(std::vector<pollfd>& fds) override;
  bool step(const pollfd* fds) override;

 private:
  void readErrors();
  int reap();

  pid_t pid_;
  sys::Fd end_;     ///< readable from its end on; none from then on, and where the system gives none
  sys::Fd errors_;  ///< none once it is closed
  CommandEvents events_;
  LineSplitter lines_;
};

}  // namespace pop
