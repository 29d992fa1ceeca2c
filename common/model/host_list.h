// SPDX-License-Identifier: Apache-2.0
// The hosts of a job as the user writes them: "node1,node2".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::model {

/// The names in `text`, in order. kInvalidArgument for an empty or repeated name.
Result<std::vector<std::string>> parseHostList(std::string_view text);

/// True for the names of this host: localhost, its addresses on the loopback, or `own_name`.
bool isThisHost(std::string_view host, std::string_view own_name);

}  // namespace pop::model
