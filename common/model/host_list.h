// SPDX-License-Identifier: Apache-2.0
// Parses the hosts of a job: "node[1-4,7]:8,other", and host files with one host per line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"

namespace pop::model {

/// Parses "a,b:2", "node[08-11,20]", "rack[0-1]node[0-3]:4", "[::1]:2": in order, ranges expanded; the number
/// after ':' is the slots. kInvalidArgument: an empty or repeated name, or text that is not a host.
Result<std::vector<Host>> parseHostList(std::string_view text);

/// The meaning of a repeated host name.
enum class Repeated : std::uint8_t {
  kMistake,
  kMoreSlots,  ///< one more, or as many as are said of it
};

/// Parses a host file: a host or range per line, as above or followed by "slots=N"; '#' begins a comment.
/// kInvalidArgument names `file` and the line.
Result<std::vector<Host>> parseHostfile(std::string_view text, std::string_view file,
                                        Repeated repeated = Repeated::kMistake);

/// True for the names of this host: localhost, its addresses on the loopback, or `own_name`.
bool isThisHost(std::string_view host, std::string_view own_name);

}  // namespace pop::model
