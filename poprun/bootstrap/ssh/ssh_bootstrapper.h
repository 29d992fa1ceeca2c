// SPDX-License-Identifier: Apache-2.0
// Reaches all hosts over SSH at the same time, and starts an agent on each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "controller/hosts/bootstrapper.h"
#include "poprun/bootstrap/ssh/ssh_options.h"

namespace pop {

class SshBootstrapper final : public Bootstrapper {
 public:
  /// `hosts`: each "[user@]host[:port]"; events use their indices.
  SshBootstrapper(Loop& loop, std::vector<std::string> hosts, SshOptions options, AgentProgram agent);
  /// Closes every stream and connection, and waits for its threads. No event comes after.
  ~SshBootstrapper() override;

  void start(BootstrapEvents events) override;

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace pop
