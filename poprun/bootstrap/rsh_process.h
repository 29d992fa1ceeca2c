// SPDX-License-Identifier: Apache-2.0
// A host reached by a program (ssh, or what --rsh names) instead of libssh: the program's stdin and stdout
// are the stream.
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

  RshProcess(os::HelperProgram program, sys::Fd errors, CommandEvents events);
  ~RshProcess() override;

  void prepare(std::vector<pollfd>& fds) override;
  bool step(const pollfd* fds) override;

 private:
  void readErrors();
  int reap();

  os::HelperProgram program_;
  bool may_run_ = true;  ///< as far as we have been told
  sys::Fd errors_;       ///< none once it is closed
  CommandEvents events_;
  LineSplitter lines_;
};

}  // namespace pop
