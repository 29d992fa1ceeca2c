// SPDX-License-Identifier: Apache-2.0
// Texts between the instances of a job, and outcomes in them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/json_reader.h"
#include "common/base/status.h"
#include "popdist/communicator.hpp"

namespace popdist::train {

/// Every member's text, by rank. Collective; two short all-gathers. After an error the communicator is
/// broken.
pop::Result<std::vector<std::string>> exchange(Communicator& communicator, const std::string& own,
                                               std::chrono::milliseconds timeout);

/// A failure as JSON; "{}" for none.
std::string jsonOf(const pop::Status& status);
/// The failure in a member's text, which may have other members beside.
pop::Status statusFrom(const pop::JsonValue& json);

/// The first failure of the members' outcomes, with the instance it is of; all members get the same one. The
/// outer Status is that of exchange().
struct Agreed {
  pop::Status exchanged;
  pop::Status outcome;
  std::vector<pop::JsonValue> values;  ///< one from each member, if nothing failed
};

/// `own` is JSON of an object: jsonOf(Status) or anything without a member "error". `call` names what this
/// instance does: members that do something else have failed with kFailedPrecondition, all of them.
Agreed agree(Communicator& communicator, const std::string& call, const std::string& own,
             std::chrono::milliseconds timeout);

}  // namespace popdist::train
