// SPDX-License-Identifier: Apache-2.0
// Parses the hosts of a job: "node[1-4,7]:8,other", and host files with one host per line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"

namespace pop::model {

/// Parses "a,b:2", "node[08-11,20]", "rack[0-1]node[0-3]:4", "[::1]:2": in order, ranges expanded; the number
/// after ':' is the slots. A host that is named again has more slots: one, or as many as are said of it.
/// Hosts of 0 slots are left out. kInvalidArgument: an empty name, text that is not a host, or no slot at
/// all.
Result<std::vector<Host>> parseHostList(std::string_view text);

/// Parses a host file as Open MPI does: a host or range per line, as above or followed by "slots=N" (or
/// "cpu", "count") and "max_slots=N", which is the number of slots where it is alone. Comments: "# …", "// …"
/// and
/// "/* … */". kInvalidArgument names `file` and the line.
Result<std::vector<Host>> parseHostfile(std::string_view text, std::string_view file);

/// True for the names of this host, in upper or lower case: localhost, its addresses on the loopback, or
/// `own_name`.
bool isThisHost(std::string_view host, std::string_view own_name);

}  // namespace pop::model
