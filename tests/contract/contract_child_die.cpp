// SPDX-License-Identifier: Apache-2.0
// An instance that dies in the middle of what all repeat.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "tests/contract/by_name.h"
#include "tests/contract/contract_child_parts.h"
#include "tests/contract/run_case.h"

namespace popdist::contract {
namespace {

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// SIGKILL from the kernel, in the middle of whatever this process does then.
void dieIn(std::int64_t microseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  itimerspec when{};
  when.it_value.tv_sec = microseconds / 1'000'000;
  when.it_value.tv_nsec = microseconds % 1'000'000 * 1000 + 1;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || ::timer_settime(timer, 0, &when, nullptr) != 0)
    ::_exit(99);
}

// A rank with right results goes on until it is told of an end.
void goOn(const std::string& wrong) {
  if (wrong.empty()) return;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  ::_exit(98);
}

[[noreturn]] void repeatOperation(Context& context, Operation operation, std::uint64_t seed) {
  for (std::uint64_t call = seed;; ++call) {
    Case tested = randomCase(call, context.world().size(), 300'000);
    tested.operation = operation;
    tested.type = Type::kFloat;
    tested.op = Operator::kSum;
    tested.ragged = tested.ragged && canBeRagged(operation);
    tested.exact = true;  // messages add in another order
    goOn(runCase(context, context.world(), tested, static_cast<Memory>(call % 3), false));
  }
}

[[noreturn]] void repeatBeside(Context& context, bool fused, std::uint64_t seed) {
  AsyncCommunicator members(context.createCommunicator(everybody(context)));
  for (;; seed += 30) {
    goOn(fused ? runFused(context, members, seed, true) : runByName(context, members, seed, 30, true));
  }
}

// Groups of all, made by their members, one after the other.
[[noreturn]] void repeatGroups(Context& context) {
  while (true) context.createCommunicator(everybody(context), "repeated")->barrier();
}

[[noreturn]] void repeat(Context& context, const std::string& what, std::uint64_t seed) {
  if (what == "fused" || what == "named") repeatBeside(context, what == "fused", seed);
  if (what == "groups") repeatGroups(context);
  repeatOperation(context, static_cast<Operation>(std::stoi(what)), seed);
}

}  // namespace

void report(const popdist_error& error) {
  std::printf("error %d peer %d at %lld: %s\n", static_cast<int>(error.code()), error.peer(),
              static_cast<long long>(now()), error.what());
  std::fflush(stdout);
}

int die(Context& context, const std::vector<std::string>& arguments) {
  ::signal(SIGTERM, SIG_IGN);
  try {
    context.world().synchronize();
    if (context.instanceIndex() == std::stoi(arguments.at(1))) {
      std::printf("ready %d %d\n", context.instanceIndex(), ::getpid());
      const std::int64_t microseconds = std::stoll(arguments.at(2));
      std::printf("dies at %lld\n", static_cast<long long>(now() + microseconds * 1000));
      std::fflush(stdout);
      dieIn(microseconds);
    }
    repeat(context, arguments.at(0), std::stoull(arguments.at(3)));
  } catch (const popdist_error& error) {
    report(error);
    return static_cast<int>(error.code());
  }
}

}  // namespace popdist::contract
