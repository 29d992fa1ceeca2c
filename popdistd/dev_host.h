// SPDX-License-Identifier: Apache-2.0
// The additions of popdistd --dev to the daemon: certificates, and an agent service of this machine that
// joins it. The service ends with popdistd, however that ends, and so do its jobs.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/os/helper_program.h"

namespace pop::popdistd {

class DevHost {
 public:
  /// Makes certificates in `directory`, which exists, and a users file with `user`, unless they are there.
  static Result<DevHost> prepare(const std::string& directory, const std::string& user);

  std::string tlsDirectory() const { return directory_ + "/tls"; }

  /// On the main thread, with which the service ends. Starts the agent service, which joins the daemon at
  /// this port, and says on stdout how to use both.
  void start(int port);

 private:
  DevHost(std::string directory, std::string user)
      : directory_(std::move(directory)), user_(std::move(user)) {}

  std::string directory_;
  std::string user_;
  os::HelperProgram service_;
};

}  // namespace pop::popdistd
