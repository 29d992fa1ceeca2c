// SPDX-License-Identifier: Apache-2.0
// The web page that the daemon serves: / and /assets/…, for any client, since it is the same for all and asks
// for the rest itself.
#pragma once

#include <optional>
#include <string>

#include "popdistd/web/http.h"

namespace pop::popdistd {

/// The file at `path`, or that the client has it already (304); none: there is none. From any thread.
std::optional<HttpAnswer> pageAnswer(const HttpRequest& request, const std::string& path);

}  // namespace pop::popdistd
