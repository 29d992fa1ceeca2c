// SPDX-License-Identifier: Apache-2.0
// The commands of the contract's program, as its processes run them; contract_child.cpp describes its
// arguments. Each returns the exit code, and says on stderr what is wrong.
#pragma once

#include <string>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/error.hpp"
#include "tests/contract/mismatches.h"

namespace popdist::contract {

int holdWholly(Context& context, bool exact);
int holdSequence(Context& context, bool exact);
int refuseMismatches(Context& context, Compared compared);
int holdHugeCounts(Context& context, bool shared, std::size_t count);
int die(Context& context, const std::vector<std::string>& arguments);

/// "error CODE peer PEER at NANOSECONDS: what", as tests/testing/popdist_child.cpp does it.
void report(const popdist_error& error);

}  // namespace popdist::contract
