// SPDX-License-Identifier: Apache-2.0
// An analysis for people and programs.
#pragma once

#include <string>

#include "scaling/analysis.h"

namespace pop::scaling {

/// Markdown, whose tables read well in a terminal.
std::string reportMarkdown(const Analysis& analysis);

/// The same numbers as one JSON object, in seconds and samples.
std::string reportJson(const Analysis& analysis);

/// Throughput against replicas: measured, theoretical and linear.
std::string reportSvg(const Analysis& analysis);

}  // namespace pop::scaling
