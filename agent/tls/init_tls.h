// SPDX-License-Identifier: Apache-2.0
// popdist-agent init-tls: makes a directory with a certificate authority and the host and user certificates
// that it has signed.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

struct InitTlsRequest {
  std::string directory;
  std::vector<std::string> hosts;  ///< as typed: "node[0-3],10.0.0.1", "h0+h0.example+10.0.0.1": names of one
  std::vector<std::string> users;  ///< as typed: "alice,bob"
  std::vector<std::string> etcd;   ///< likewise: machines of etcd and popdistd, of an authority of its own
  bool issuer = false;             ///< for popdistd, which signs certificates of jobs
  int valid_days = 365;
  int authority_valid_days = 3650;
  bool overwrite = false;  ///< certificates and keys of hosts and users, never the authority
};

struct InitTlsResult {
  std::vector<std::string> written;   ///< paths
  std::vector<std::string> kept;      ///< paths of what was named, is there, and is good
  std::vector<std::string> mistakes;  ///< when not empty, nothing has been written
};

/// All or nothing: files get their names only after all of them were written. An existing authority signs the
/// new certificates. Existing certificates are kept, unless `overwrite`.
InitTlsResult initTls(const InitTlsRequest& request);

/// Parses "node[0-1],h2+10.0.0.2" into {{"node0"}, {"node1"}, {"h2", "10.0.0.2"}}.
Result<std::vector<std::vector<std::string>>> certificateHosts(const std::string& text);

}  // namespace pop::agent
