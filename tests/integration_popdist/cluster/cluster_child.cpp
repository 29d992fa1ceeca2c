// SPDX-License-Identifier: Apache-2.0
// A program that finds the others by TF_CONFIG; its first argument says what it does, its second how long it
// waits for the others, in milliseconds. A popdist_error is reported as "error CODE peer PEER: what", and is
// the exit code.
//   together MS       puts, fences, gets, sums and broadcasts; "together INDEX of SIZE" when all is right
//   sum-forever MS    says "ready INDEX PID" after the first all-reduce
//   fence-forever MS  the same with fences
//   abort MS          instance 1 ends the job with 7 while the others sum for ever
//   leave MS          instance 1 ends well before an all-reduce
//   throw MS          instance 1 ends by an exception that it catches
//   leader-leaves MS  instance 0 ends after a fence, the others get a value when they have read a line
//   forked MS         a forked child tries to use the context of its parent, and ends
//   beyond MS         as together, by references that outlive the pointer to the context
//   exit MS           instance 1 ends with 3
//   who MS            says "INDEX of SIZE, offline OFFLINE"
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "popdist/cluster_resolver.hpp"
#include "popdist/popdist.hpp"

namespace {

using popdist::Context;
using popdist::popdist_error;
using ContextPtr = std::shared_ptr<Context>;

void sayReady(const Context& context) {
  std::printf("ready %d %d\n", context.instanceIndex(), ::getpid());
  std::fflush(stdout);
}

void expect(bool right, const char* what) {
  if (!right) throw std::runtime_error(what);
}

void sumOnce(Context& context) {
  std::vector<float> sums(5000, static_cast<float>(context.instanceIndex() + 1));
  context.world().allReduceSum(sums);
  const int n = context.numInstances();
  for (const float sum : sums) expect(sum == static_cast<float>(n * (n + 1) / 2), "a sum is wrong");
}

void together(Context& context) {
  const int own = context.instanceIndex();
  const int n = context.numInstances();
  expect(!context.get("nobody's").has_value(), "a value that nobody put");
  context.put("from " + std::to_string(own), std::string(100'000, static_cast<char>('a' + own)));
  context.put("same", "first");
  context.fence();
  for (int i = 0; i < n; ++i) {
    expect(context.get("from " + std::to_string(i)) == std::string(100'000, static_cast<char>('a' + i)),
           "a value is wrong");
  }
  if (own == n - 1) context.put("same", "second");
  expect(context.get("same") == "first", "a value before its fence");
  context.fence();
  expect(context.get("same") == "second", "a value after its fence");
  sumOnce(context);
  std::vector<int> initial(1000, own);
  context.world().broadcast(initial, 0);
  expect(initial == std::vector<int>(1000, 0), "a broadcast is wrong");
  const auto pair = context.createCommunicator({0, static_cast<unsigned>(n - 1)});
  expect((pair != nullptr) == (own == 0 || own == n - 1), "a communicator of some");
  if (pair) pair->barrier();
  if (pair) context.createCommunicator({0, static_cast<unsigned>(n - 1)}, "pair")->barrier();
  std::printf("together %d of %d\n", own, n);
}

[[noreturn]] void sumForever(Context& context) {
  sumOnce(context);
  sayReady(context);
  while (true) sumOnce(context);
}

[[noreturn]] void fenceForever(Context& context) {
  context.fence();
  sayReady(context);
  while (true) context.fence();
}

void leave(Context& context) {
  if (context.instanceIndex() != 1) sumOnce(context);
}

void throwInOne(Context& context) {
  if (context.instanceIndex() == 1) throw std::runtime_error("on purpose");
  sumOnce(context);
}

void leaderLeaves(Context& context) {
  context.put("last", "words");
  context.fence();
  if (context.instanceIndex() == 0) return;
  sayReady(context);
  expect(std::getchar() == '\n', "no line");
  expect(context.get("last") == "words", "a value of before");
  context.fence();
}

void forked(Context& context) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      context.fence();
    } catch (const popdist_error& error) {
      std::exit(static_cast<int>(error.code()));  // with the objects that it inherited
    }
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  together(context);
}

void who(Context& context) {
  std::printf("%d of %d, offline %d\n", context.instanceIndex(), context.numInstances(),
              context.offline() ? 1 : 0);
}

int reported(const popdist_error& error) {
  std::printf("error %d peer %d: %s\n", static_cast<int>(error.code()), error.peer(), error.what());
  std::fflush(stdout);
  return static_cast<int>(error.code());
}

void run(const std::string& what, Context& context) {
  static const std::map<std::string, void (*)(Context&)> kAll{{"together", together},
                                                              {"sum-forever", sumForever},
                                                              {"fence-forever", fenceForever},
                                                              {"leave", leave},
                                                              {"exit", sumOnce},
                                                              {"throw", throwInOne},
                                                              {"leader-leaves", leaderLeaves},
                                                              {"forked", forked},
                                                              {"who", who},
                                                              {"abort", [](Context& c) {
                                                                 sumOnce(c);
                                                                 if (c.instanceIndex() == 1)
                                                                   c.abort(7, "enough\nof it");
                                                                 sumForever(c);
                                                               }}};
  kAll.at(what)(context);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 64;
  const popdist::train::ClusterOptions options{.timeout = std::chrono::milliseconds(std::stoi(argv[2])),
                                               .replicas_per_instance = argc > 3 ? std::stoi(argv[3]) : 1};
  if (argv[1] == std::string("beyond")) {
    popdist::Communicator& world = popdist::train::contextFor(nullptr, options)->world();
    world.barrier();
    Context& again = *popdist::train::contextFor(nullptr, options);
    expect(&again.world() == &world, "another context");
    together(again);
    return 0;
  }
  const ContextPtr context = popdist::train::contextFor(nullptr, options);
  if (argv[1] == std::string("exit") && context->instanceIndex() == 1) return 3;
  run(argv[1], *context);
  return 0;
} catch (const popdist_error& error) {
  return reported(error);
} catch (const std::exception& error) {
  std::printf("exception: %s\n", error.what());
  return 70;
}
