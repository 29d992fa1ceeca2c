// SPDX-License-Identifier: Apache-2.0
// Who may change a file that decides who we trust.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::sys {

/// Nobody but ourselves and root may write what is at `path`, nor say who may: else kFailedPrecondition, with
/// the path. The error of one that is not there.
Status checkWriters(const std::string& path);

/// The same of a file that is open, so that what is read is what was looked at; and nobody else may put
/// another one at `path`, its name, in the directory of that. Directories above, and those that a link leads
/// through, are not looked at.
Status checkWriters(const Fd& file, const std::string& path);

}  // namespace pop::sys
