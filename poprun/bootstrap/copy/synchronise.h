// SPDX-License-Identifier: Apache-2.0
// --synchronise: copies files to the same place on other hosts, by rsync over ssh, to many hosts at a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/copy_state.h"
#include "common/os/helper_run.h"

namespace pop {

struct CopySettings {
  std::vector<std::string> hosts;       ///< from parseHostList(), never an option: "h0", "fd00::1"
  std::vector<std::string> paths;       ///< absolute
  std::vector<std::string> rsh{"ssh"};  ///< the remote shell and its options
  std::chrono::seconds connect_timeout{10};
  int at_once = 16;  ///< hosts at a time
  std::function<void(int host, model::CopyState state, int percent)> progress = [](int, model::CopyState,
                                                                                   int) {};
};

/// Returns the errors, each naming its host; empty: all files are on every host. Deletes nothing on the
/// remote side. Blocks; see runInParallel() for signals.
std::vector<std::string> copyToHosts(const CopySettings& settings);

/// The rsync command that copies `paths` to `host`.
std::vector<std::string> copyCommand(const CopySettings& settings, const std::string& host);

/// Why that rsync failed, and what to do.
std::string copyFailure(const std::string& host, const os::HelperEnd& end);

/// The last percentage in the output of rsync --info=progress2; -1: none.
int percentIn(std::string_view progress);

/// `rsh` with options that keep ssh from asking questions and from waiting forever; other remote shells are
/// returned unchanged.
std::vector<std::string> unattended(std::vector<std::string> rsh, std::chrono::seconds connect_timeout);

}  // namespace pop
