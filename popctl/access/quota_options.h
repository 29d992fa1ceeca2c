// SPDX-License-Identifier: Apache-2.0
// Options of popctl's commands on quotas.
#pragma once

#include <string>

#include "popctl/command.h"

namespace CLI {
class App;
}

namespace pop::popctl {

/// Options for the quota's subject. `options` outlives `app`, as below.
void addQuotaSubject(CLI::App& app, QuotaOptions& options);

/// Options for the quota's limits.
void addQuotaLimits(CLI::App& app, QuotaOptions& options);

/// The mistake in the options: one is missing, or some do not go together; empty: none. `sets`: they say how
/// much.
std::string quotaMistake(const QuotaOptions& options, bool sets);

}  // namespace pop::popctl
