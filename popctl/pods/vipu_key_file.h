// SPDX-License-Identifier: Apache-2.0
// The file with a user's key as V-IPU's clients read it.
#pragma once

#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/access.pb.h"

namespace pop::popctl {

/// The obstacle to writing that file here, as far as can be known before: an old key ends with the new.
Status checkVipuKeyFile(const std::string& user);

/// Ok, or kPermissionDenied: others than the file's owner can read it. Root may share one with a group.
Status checkKeyIsPrivate(const std::string& path);

/// Writes NAME.vipu-cli.hcl here, for this user alone, in place of an old one; returns its name. `address`:
/// of the server that is asked.
Result<std::string> writeVipuKeyFile(const ::popdist::v1::CreateUserReply& reply, const std::string& address);

}  // namespace pop::popctl
