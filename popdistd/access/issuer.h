// SPDX-License-Identifier: Apache-2.0
// Certificates with which a job's runner reaches the agent services of the job's hosts, in the user's name,
// for a day. Signed by popdistd's issuer (popdist-agent init-tls --issuer), which can sign nothing else.
#pragma once

#include <functional>
#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

using Issuer = std::function<Result<::popdist::v1::JobCredentials>(const ::popdist::v1::JobRecord& job)>;

/// The issuer in `directory`: ca.pem, issuer.pem, issuer-key.pem. Null: there is none. An error names the
/// file.
Result<Issuer> issuerFrom(const std::string& directory);

}  // namespace pop::popdistd
