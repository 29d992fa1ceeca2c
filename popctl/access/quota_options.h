// SPDX-License-Identifier: Apache-2.0
// Options of popctl's commands on quotas.
#pragma once

#include <string>

#include "popctl/command.h"

namespace CLI {
class App;
}

namespace pop::popctl {

/// Whose quota it is. `options` outlives `app`, as below.
void addQuotaSubject(CLI::App& app, QuotaOptions& options);

/// How much they may have.
void addQuotaLimits(CLI::App& app, QuotaOptions& options);

/// What of the options is missing, or does not go together; empty: nothing. `sets`: they say how much.
std::string quotaMistake(const QuotaOptions& options, bool sets);

}  // namespace pop::popctl
