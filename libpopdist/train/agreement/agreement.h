// SPDX-License-Identifier: Apache-2.0
// Checks that all instances make the same call with the same arguments: otherwise their weights would diverge
// without an error, or they would wait for each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/context.hpp"

namespace popdist::train {

/// Something that is the same on all instances, or should be.
struct Fact {
  std::string name;
  std::string text;
  std::string advice = "give all instances the same";
};
using Facts = std::vector<Fact>;

/// Collective, at the beginning of a call that all instances make: of `function`, the public one. `mine` is
/// OK, or what is wrong with this instance's arguments, and `facts` are then not looked at. Throws `mine`;
/// where it is OK, popdist_error kFailedPrecondition on all instances with the first of these that is so:
/// another instance makes another call, or refuses its arguments; a fact differs. The text names the first
/// two instances that differ and what they have. Costs an all-reduce of 16 bytes. After an error all can go
/// on.
void requireSame(Context& context, const pop::Status& mine, const Facts& facts, const char* function);
void requireSame(Context& context, const Facts& facts, const char* function);
void requireSound(Context& context, const pop::Status& mine, const char* function);

/// Runs `body`, this instance's part of a call of `function`. Its exception is thrown on, after all others
/// have been told of it: they get popdist_error with the exception's type and text, and those of the
/// exceptions nested in it, in the call that they wait in or in their next one. Nothing of the library can be
/// called together any more then, before internal::prepareOwnCalls().
void together(Context& context, const char* function, const std::function<void()>& body);

}  // namespace popdist::train
