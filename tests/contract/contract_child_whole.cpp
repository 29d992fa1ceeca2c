// SPDX-License-Identifier: Apache-2.0
// The whole contract in processes: what is checked is what threads check.
#include <cstdio>
#include <initializer_list>
#include <set>

#include "tests/contract/by_name.h"
#include "tests/contract/contract_child_parts.h"
#include "tests/contract/grids.h"
#include "tests/contract/mismatches.h"

namespace popdist::contract {
namespace {

constexpr std::size_t kSequence = 100;
constexpr std::size_t kNamed = 60;
constexpr std::size_t kOfSome = 20;

std::string holdByName(Context& context, bool exact) {
  AsyncCommunicator members(context.createCommunicator(everybody(context)));
  std::string wrong = runByName(context, members, 500, kNamed, exact);
  return wrong.empty() ? runFused(context, members, 500, exact) : wrong;
}

// Two communicators of some instances at once.
std::string holdOfSome(Context& context, bool exact) {
  std::set<unsigned> even;
  std::set<unsigned> odd;
  for (const unsigned instance : everybody(context)) (instance % 2 == 0 ? even : odd).insert(instance);
  if (odd.empty()) return "";
  const auto first = context.createCommunicator(even);
  const auto second = context.createCommunicator(odd);
  return runSequence(context, membersOf(first ? *first : *second), 2000, kOfSome, exact);
}

// A group of the members alone, under a name that no other instance has; made anew while the first lives.
std::string holdOfMembers(Context& context, bool exact) {
  std::set<unsigned> members;
  for (const unsigned instance : everybody(context)) {
    if (instance % 2 == static_cast<unsigned>(context.instanceIndex()) % 2) members.insert(instance);
  }
  const auto first = context.createCommunicator(members, "parity");
  const auto second = context.createCommunicator(members, "parity");
  std::string wrong = runSequence(context, membersOf(*first), 3000, kOfSome, exact);
  return wrong.empty() ? runSequence(context, membersOf(*second), 4000, kOfSome, exact) : wrong;
}

std::string holdGrids(Context& context, bool exact) {
  const Members all = membersOf(context.world());
  std::size_t calls = 0;
  for (const Grid& grid : allGrids(all.ranks)) {
    std::string wrong = runGrid(context, all, grid, exact, calls);
    if (!wrong.empty()) return wrong;
  }
  if (all.rank == 0) std::printf("%zu calls of %d ranks\n", calls + kSequence + kNamed + kOfSome, all.ranks);
  return "";
}

std::string holdCallsInSequence(Context& context, bool exact) {
  return runSequence(context, membersOf(context.world()), 0, kSequence, exact);
}

int exitCodeOf(const std::string& wrong) {
  if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

using Part = std::string (*)(Context&, bool);
int exitCodeOf(Context& context, bool exact, std::initializer_list<Part> parts) try {
  context.setTimeout(std::chrono::seconds(60));  // the error names late ranks before the test gives up
  std::string wrong;
  for (const Part part : parts) {
    if (wrong.empty()) wrong = part(context, exact);
  }
  return exitCodeOf(wrong);
} catch (const popdist_error& error) {
  return exitCodeOf(error.what());
}

}  // namespace

int holdWholly(Context& context, bool exact) {
  return exitCodeOf(context, exact, {holdCallsInSequence, holdGrids, holdByName, holdOfSome, holdOfMembers});
}

int holdSequence(Context& context, bool exact) {
  return exitCodeOf(context, exact, {holdCallsInSequence});
}

int refuseMismatches(Context& context, Compared compared) {
  context.setTimeout(kLongTimeout);
  std::string wrong;
  for (const Mismatch& mismatch : mismatches()) wrong += runMismatch(context, mismatch, compared);
  return exitCodeOf(wrong);
}

}  // namespace popdist::contract
