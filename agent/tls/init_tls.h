// SPDX-License-Identifier: Apache-2.0
// popdist-agent init-tls: a directory with a certificate authority, and certificates of hosts and users that
// it has signed.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

struct InitTlsRequest {
  std::string directory;
  std::vector<std::string> hosts;  ///< as typed: "node[0-3],10.0.0.1", "h0+h0.example+10.0.0.1": names of one
  std::vector<std::string> users;  ///< as typed: "alice,bob"
  int valid_days = 365;
  int authority_valid_days = 3650;
  bool overwrite = false;  ///< certificates and keys of hosts and users, never the authority
};

struct InitTlsResult {
  std::vector<std::string> written;   ///< paths
  std::vector<std::string> mistakes;  ///< when not empty, nothing has been written
};

/// All or nothing: files appear under their names only once all of them could be written. An authority that
/// is there already signs the new certificates.
InitTlsResult initTls(const InitTlsRequest& request);

/// "node[0-1],h2+10.0.0.2" as {{"node0"}, {"node1"}, {"h2", "10.0.0.2"}}.
Result<std::vector<std::vector<std::string>>> certificateHosts(const std::string& text);

}  // namespace pop::agent
