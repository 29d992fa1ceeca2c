// SPDX-License-Identifier: Apache-2.0
// Collectives in real processes, for tests to start with poprun; the first argument says what it does.
//   whole ORDER                 the whole contract, checked; exit code 1 when a result is wrong. ORDER:
//   "ranks"
//                               where the way reduces in order of rank, else "any"
//   sequence ORDER              random cases of it alone
//   mismatches COMPARED         calls that do not fit together, checked. COMPARED: the number of a Compared
//   huge MEMORY COUNT           so many bytes in "private" or "shared" memory, checked
//   reduce FORBIDDEN SECRET     all-reduces of private memory, checked; says "took" and the way of each.
//                               SECRET: the instance whose memory no system call reads; -1: none
//   pull FORBIDDEN              an exchange that is large enough to be pulled, checked; says "taken
//                               ALGORITHM". Instance FORBIDDEN may not read the memory of others, -1: all may
//   move-secret                 broadcasts and the like of memory that no system call reads, checked
//   unreadable                  instance 0 sends to 1 what cannot be read; both say what they are told
//   die WHAT INDEX MICROSECONDS SEED
//                               all repeat WHAT (the number of an operation, "named", "fused" or "groups")
//                               with varying sizes and kinds of memory; INDEX says "ready INDEX PID", and is
//                               killed by a timer so much later. A popdist_error is reported as in
//                               tests/testing/popdist_child.cpp
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/popdist.hpp"
#include "tests/contract/contract_child_parts.h"
#include "tests/contract/run_case.h"
#include "tests/testing/forbidden_call.h"

namespace {

using namespace popdist::contract;
using popdist::Context;

int pull(Context& context, int forbidden) {
  if (context.instanceIndex() == forbidden && !pop::testing::forbidSystemCall(SYS_process_vm_readv)) return 2;
  const Case tested{.operation = Operation::kAllToAll, .count = 300'000};
  for (int call = 0; call < 3; ++call) {
    const std::string wrong = runCase(context, context.world(), tested, Memory::kPrivate, false);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 1;
  }
  std::printf("taken %s\n", context.world().impl().group().path().algorithmTaken());
  return 0;
}

// Memory that its process alone can read, not the system for others. nullptr: there is none.
float* secretMemory(std::size_t bytes) {
  const int file = static_cast<int>(::syscall(SYS_memfd_secret, 0));
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<float*>(memory);
}

// Says which way each of the calls took.
int reduceOften(Context& context, int forbidden, int secret) {
  constexpr std::size_t kCount = 300'000;
  if (context.instanceIndex() == forbidden && !pop::testing::forbidSystemCall(SYS_process_vm_readv)) return 2;
  std::vector<float> own(kCount);
  float* const values = context.instanceIndex() == secret ? secretMemory(kCount * sizeof(float)) : own.data();
  if (values == nullptr) return 3;
  std::string ways;
  for (int call = 0; call < 14; ++call) {
    std::fill_n(values, kCount, static_cast<float>(call + context.instanceIndex()));
    context.world().allReduce(values, values, kCount, popdist::Type::kFloat);
    const int ranks = context.numInstances();
    const auto expected = static_cast<float>(call * ranks + ranks * (ranks - 1) / 2);
    if (std::count(values, values + kCount, expected) != kCount) return 4;
    ways += std::string(" ") + context.world().impl().group().path().algorithmTaken();
  }
  std::printf("took%s\n", ways.c_str());
  return 0;
}

// From memory that the system cannot read for others, moves that might be pulled from it.
int moveSecretOnce(Context& context) {
  constexpr std::size_t kCount = 300'000;
  popdist::Communicator& world = context.world();
  const auto ranks = static_cast<std::size_t>(world.size());
  float* const in = secretMemory(ranks * kCount * sizeof(float));
  if (in == nullptr) return 3;
  const auto fill = [&](int rank) { std::fill_n(in, ranks * kCount, static_cast<float>(10 + rank)); };
  const auto has = [&](const float* from, int rank) {
    return std::count(from, from + kCount, static_cast<float>(10 + rank)) == kCount;
  };
  fill(world.rank());
  world.broadcast(in, kCount, popdist::Type::kFloat, 1);
  if (!has(in, 1)) return 4;
  fill(world.rank());
  std::vector<float> out(ranks * kCount);
  const auto all_have_come = [&] {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!has(out.data() + rank * kCount, static_cast<int>(rank))) return false;
    }
    return true;
  };
  world.allGather(in, out.data(), kCount, popdist::Type::kFloat);
  if (!all_have_come()) return 5;
  world.allToAll(in, out.data(), kCount, popdist::Type::kFloat);
  if (!all_have_come()) return 6;
  world.gather(in, out.data(), kCount, popdist::Type::kFloat, 0);
  if (world.rank() == 0 && !all_have_come()) return 7;
  world.scatter(in, out.data(), kCount, popdist::Type::kFloat, 1);
  return has(out.data(), 1) ? 0 : 8;
}

// So often that calls that find out which way is faster have come to both.
int moveSecret(Context& context) {
  for (int turn = 0; turn < 3; ++turn) {
    if (const int wrong = moveSecretOnce(context); wrong != 0) return wrong;
  }
  return 0;
}

int sendUnreadable(Context& context) try {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const void* const sent = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::vector<std::byte> received(kBytes);
  if (context.instanceIndex() == 0)
    context.world().sendRecv(sent, kBytes, 1, nullptr, 0, popdist::kNobody, popdist::Type::kUint8);
  else
    context.world().sendRecv(nullptr, 0, popdist::kNobody, received.data(), kBytes, 0, popdist::Type::kUint8);
  return 1;
} catch (const popdist::popdist_error& error) {
  report(error);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  Context& context = Context::fromEnvironment();
  if (argv[1] == std::string("die")) return die(context, arguments);
  if (argv[1] == std::string("crowded")) {
    std::printf("%s\n", context.impl().state.oversubscribed() ? "shares cores" : "has a core");
    return 0;
  }
  if (argv[1] == std::string("pull")) return pull(context, std::stoi(arguments.at(0)));
  if (argv[1] == std::string("reduce"))
    return reduceOften(context, std::stoi(arguments.at(0)), std::stoi(arguments.at(1)));
  if (argv[1] == std::string("move-secret")) return moveSecret(context);
  if (argv[1] == std::string("unreadable")) return sendUnreadable(context);
  if (argv[1] == std::string("mismatches"))
    return refuseMismatches(context, static_cast<Compared>(std::stoi(arguments.at(0))));
  if (argv[1] == std::string("sequence")) return holdSequence(context, arguments.at(0) == "any");
  if (argv[1] == std::string("huge"))
    return holdHugeCounts(context, arguments.at(0) == "shared", std::stoull(arguments.at(1)));
  return holdWholly(context, arguments.at(0) == "any");
}
