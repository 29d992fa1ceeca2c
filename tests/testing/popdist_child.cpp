// SPDX-License-Identifier: Apache-2.0
// A program that uses libpopdist, for tests to start with poprun; its first argument says what it does.
// A popdist_error is reported as "error CODE peer PEER at NANOSECONDS: what", on the monotonic clock.
//   collectives              checks every collective; exit code 1 when a value is wrong
//   asynchronous             checks asynchronous, tagged and fused collectives
//   async-sum-forever COUNT  as sum-forever, asynchronously
//   sum-forever COUNT        says "ready INSTANCE PID" after the first all-reduce; ignores SIGTERM
//   fence-without INDEX      all say "ready …"; INDEX waits for SIGKILL, the others for INDEX in a fence
//   leave INDEX              INDEX exits with 0 before an all-reduce
//   abort INDEX CODE TEXT    INDEX ends the job while the others sum for ever
//   late-fence INDEX         INDEX does not come to a fence before its deadline
//   retry-fence FIFO         instance 0 gives up a fence with 5 MiB of data 14 times; then 1 ends, too, that
//                            waits for a byte in FIFO
//   fence-of MIB             each puts that much before a fence
//   wait-in CALL MS          all say "ready …"; in CALL (sum, fence, put-fence, async, outfeed) of MS, they
//                            wait for instance 1, which comes after SIGUSR1
//   different-calls INDEX    INDEX is in a fence, the others create a communicator
//   different-communicators INDEX  which asks for that of instance 0, the others for that of 0 and 1
//   second-process           the program starts itself again, as "connect"
//   forked-child             a forked child tries to use the context of its parent
//   report                   each reports its number, waits for SIGUSR1, and reports once more
//   connect [INDEX]          all connect, or INDEX alone
//   train STRATEGY HOW       a training that fails on instance 1: popdist_child_train.h
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "popdist/buffer.hpp"
#include "popdist/popdist.hpp"
#include "tests/testing/popdist_child_async.h"
#include "tests/testing/popdist_child_fences.h"
#include "tests/testing/popdist_child_report.h"
#include "tests/testing/popdist_child_train.h"

namespace {

using popdist::Communicator;
using popdist::Context;
using popdist::Type;
using Arguments = std::vector<std::string>;

Context& context() {
  return Context::fromEnvironment();
}

int reported(const popdist::popdist_error& error) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::printf("error %d peer %d at %lld: %s\n", static_cast<int>(error.code()), error.peer(),
              static_cast<long long>(std::chrono::nanoseconds(now).count()), error.what());
  std::fflush(stdout);
  return static_cast<int>(error.code());
}

void sayReady() {
  std::printf("ready %d %d\n", popdist::getInstanceIndex(), ::getpid());
  std::fflush(stdout);
}

bool isInstance(const std::string& index) {
  return popdist::getInstanceIndex() == std::stoi(index);
}

// ---- collectives

int wrong_values = 0;

void expectValue(const char* what, std::size_t index, std::int64_t value, std::int64_t expected) {
  if (value == expected || ++wrong_values > 3) return;
  std::fprintf(stderr, "%s: element %zu is %lld, not %lld\n", what, index, static_cast<long long>(value),
               static_cast<long long>(expected));
}

std::int64_t sample(std::int64_t rank, std::size_t index) {
  return rank * 1'000'003 + static_cast<std::int64_t>(index);
}

// Element `index` of every block of n*count elements, and what it must be.
void checkMoves(Communicator& world, std::size_t count) {
  const auto n = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  std::vector<std::int64_t> in(n * count);
  std::vector<std::int64_t> out(n * count, -1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = sample(world.rank(), i);

  world.allGather(in.data(), out.data(), count, Type::kInt64);
  for (std::size_t i = 0; i < out.size(); ++i) {
    expectValue("allGather", i, out[i], sample(static_cast<std::int64_t>(i / count), i % count));
  }
  world.allToAll(in.data(), out.data(), count, Type::kInt64);
  for (std::size_t i = 0; i < out.size(); ++i) {
    expectValue("allToAll", i, out[i], sample(static_cast<std::int64_t>(i / count), me * count + i % count));
  }
  for (int root = 0; root < world.size(); ++root) {
    std::vector<std::int64_t> data = in;
    world.broadcast(std::span(data), root);
    for (std::size_t i = 0; i < data.size(); ++i) expectValue("broadcast", i, data[i], sample(root, i));
  }
}

void checkSums(Communicator& world, std::size_t count) {
  const auto n = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const auto sum = [&](std::size_t index) {
    std::int64_t total = 0;
    for (int rank = 0; rank < world.size(); ++rank) total += sample(rank, index);
    return total;
  };
  std::vector<std::int64_t> data(n * count);
  std::vector<std::int64_t> own(count, -1);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = sample(world.rank(), i);
  world.reduceScatter(data.data(), own.data(), count, Type::kInt64);
  for (std::size_t i = 0; i < count; ++i) expectValue("reduceScatter", i, own[i], sum(me * count + i));
  world.allReduceSum(std::span(data));
  for (std::size_t i = 0; i < data.size(); ++i) expectValue("allReduceSum", i, data[i], sum(i));
}

// The free functions, on the default communicator and on one of the even instances.
void checkFreeFunctions() {
  float value = 1.0F;
  popdist::collectives::allReduceSum(&value, 1, Type::kFloat);
  expectValue("allReduceSum of the default communicator", 0, static_cast<std::int64_t>(value),
              popdist::getNumInstances());
  std::set<std::uint32_t> even;
  for (int instance = 0; instance < popdist::getNumInstances(); instance += 2) {
    even.insert(static_cast<std::uint32_t>(instance));
  }
  popdist::registerCommunicator(even, "even");
  if (popdist::getInstanceIndex() % 2 == 0) {
    std::int64_t index = popdist::getInstanceIndex();
    popdist::collectives::allReduceSum(&index, 1, Type::kInt64, "even");
    expectValue("allReduceSum of the even instances", 0, index, std::accumulate(even.begin(), even.end(), 0));
  }
  popdist::synchronize();
  popdist::finalizeBackend();
}

// One instance alone makes the call: the others have nothing to end with it.
void checkRefusedTag() {
  popdist::initializeBackend();
  if (popdist::getInstanceIndex() == 0) {
    try {
      popdist::collectives::allReduceSum(nullptr, 4, Type::kFloat, "a tag");
      expectValue("errors of a call without memory", 0, 0, 1);
    } catch (const popdist::popdist_error& error) {
      expectValue("its code", 0, static_cast<int>(error.code()),
                  static_cast<int>(popdist::ErrorCode::kInvalidArgument));
    }
  }
  popdist::finalizeBackend();
  context().world().synchronize();
}

int collectives(const Arguments&) {
  Communicator& world = context().world();
  expectValue("rank", 0, world.rank(), popdist::getInstanceIndex());
  expectValue("size", 0, world.size(), popdist::getNumInstances());
  for (const std::size_t count : {1U, 7U, 1000U, 40'000U}) {
    checkMoves(world, count);
    checkSums(world, count);
    world.synchronize();
  }
  checkFreeFunctions();
  checkRefusedTag();
  return wrong_values == 0 ? 0 : 1;
}

// ---- ends

[[noreturn]] void sumForever(std::size_t count) {
  std::vector<float> data(count);
  for (bool first = true;; first = false) {
    context().world().allReduceSum(std::span(data));
    if (first) sayReady();
  }
}

int asyncSumForeverCommand(const Arguments& arguments) {
  ::signal(SIGTERM, SIG_IGN);
  popdist::testing::asyncSumForever(std::stoul(arguments.at(0)), sayReady);
}

int sumForeverCommand(const Arguments& arguments) {
  ::signal(SIGTERM, SIG_IGN);
  sumForever(std::stoul(arguments.at(0)));
}

int fenceWithout(const Arguments& arguments) {
  ::signal(SIGTERM, SIG_IGN);
  context();
  sayReady();
  if (isInstance(arguments.at(0))) {
    while (true) ::pause();
  }
  context().fence();
  return 0;
}

int leave(const Arguments& arguments) {
  context();
  if (isInstance(arguments.at(0))) return 0;
  std::vector<float> data(10);
  context().world().allReduceSum(std::span(data));
  return 0;
}

int abortCommand(const Arguments& arguments) {
  context().world().synchronize();
  if (isInstance(arguments.at(0))) context().abort(std::stoi(arguments.at(1)), arguments.at(2));
  sumForever(10);
}

int lateFence(const Arguments& arguments) {
  if (!isInstance(arguments.at(0))) {
    context().setTimeout(std::chrono::seconds(3));  // ample for the others to enter
    try {
      context().fence();
    } catch (const popdist::popdist_error& error) {
      reported(error);
    }
    context().setTimeout(std::chrono::seconds(20));
  }
  context().world().synchronize();  // no rank is lost, so the job goes on
  context().put("from " + std::to_string(popdist::getInstanceIndex()), "here");
  context().fence();
  for (int instance = 0; instance < popdist::getNumInstances(); ++instance) {
    if (!context().get("from " + std::to_string(instance))) return 1;
  }
  return 0;
}

// For room in a queue that is full until `go_on` comes.
void waitInOutfeed(std::chrono::milliseconds timeout, const sigset_t& go_on) {
  popdist::io::Outfeed outfeed({.buffer_depth = 1, .enqueue_timeout = timeout});
  outfeed.enqueue("value", 1);
  std::jthread host([&] {
    int signal = 0;
    ::sigwait(&go_on, &signal);
    outfeed.dequeue();
  });
  sayReady();
  outfeed.enqueue("value", 2);
}

int waitIn(const Arguments& arguments) {
  const std::string& call = arguments.at(0);
  const std::chrono::milliseconds timeout(std::stoi(arguments.at(1)));
  sigset_t go_on;
  sigemptyset(&go_on);
  sigaddset(&go_on, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &go_on, nullptr);
  popdist::AsyncCommunicator async(context().createCommunicator({0, 1}));
  context().world().synchronize();
  context().setTimeout(timeout);
  float value = 1;
  if (isInstance("1") && call == "outfeed") {
    waitInOutfeed(timeout, go_on);
  } else {
    sayReady();
    int signal = 0;
    if (isInstance("1")) ::sigwait(&go_on, &signal);
  }
  if (call == "put-fence") context().put("key " + std::to_string(popdist::getInstanceIndex()), "value");
  if (call == "sum") context().world().allReduceSum(std::span(&value, 1));
  if (call == "async") async.allReduce("sum", &value, &value, 1, Type::kFloat).wait();
  if (call == "fence" || call == "put-fence") context().fence();
  context().world().synchronize();
  return 0;
}

int differentCalls(const Arguments& arguments) {
  context();
  try {
    if (isInstance(arguments.at(0))) {
      context().fence();
    } else {
      context().createCommunicator({0, 1});
    }
  } catch (const popdist::popdist_error& error) {
    reported(error);
  }
  return 0;
}

int differentCommunicators(const Arguments& arguments) {
  context();
  try {
    context().createCommunicator(isInstance(arguments.at(0)) ? std::set<unsigned>{0}
                                                             : std::set<unsigned>{0, 1});
  } catch (const popdist::popdist_error& error) {
    reported(error);
  }
  return 0;
}

// ---- connecting

int secondProcess(const Arguments&) {
  context();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "popdist_child", "connect", nullptr);
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  context().world().synchronize();  // the first process goes on
  context().fence();
  return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(popdist::ErrorCode::kAlreadyExists) ? 0
                                                                                                          : 1;
}

// A forked child has the parent's memory, and so its context, but must not use it.
int forkedChild(const Arguments&) {
  Communicator& world = context().world();
  world.synchronize();
  popdist::AsyncCommunicator async(context().createCommunicator({0, 1}));
  const popdist::Pending pending = async.barrier(world.rank() == 0 ? "never" : "neither");
  const pid_t child = ::fork();
  if (child == 0) {
    int refused = 0;
    const std::function<void()> uses[] = {[] { context().put("key", "value"); },
                                          [] { context().get("key"); },
                                          [] { context().fence(); },
                                          [] { context().abort(9, "not its own job"); },
                                          [] {
                                            context().createCommunicator({0, 1});
                                          },
                                          [] { popdist::allocateShared(context(), 64); },
                                          [&] { world.synchronize(); },
                                          [&] { async.barrier("name"); },
                                          [&] { pending.wait(); }};
    for (const auto& use : uses) {
      try {
        use();
      } catch (const popdist::popdist_error& error) {
        refused += error.code() == popdist::ErrorCode::kFailedPrecondition ? 1 : 0;
      }
    }
    ::_exit(refused);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  world.synchronize();  // undisturbed
  context().fence();
  return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 0 : 1;
}

int connect(const Arguments& arguments) {
  if (!arguments.empty() && !isInstance(arguments.at(0))) return 0;
  context();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int(const Arguments&)>> commands{
      {"collectives", collectives},
      {"asynchronous", [](const Arguments&) { return popdist::testing::checkAsynchronous(); }},
      {"async-sum-forever", asyncSumForeverCommand},
      {"sum-forever", sumForeverCommand},
      {"fence-without", fenceWithout},
      {"leave", leave},
      {"abort", abortCommand},
      {"late-fence", lateFence},
      {"retry-fence",
       [](const Arguments& arguments) { return popdist::testing::retryFence(arguments.at(0)); }},
      {"fence-of",
       [](const Arguments& arguments) { return popdist::testing::fenceOf(std::stoul(arguments.at(0))); }},
      {"wait-in", waitIn},
      {"different-calls", differentCalls},
      {"different-communicators", differentCommunicators},
      {"second-process", secondProcess},
      {"forked-child", forkedChild},
      {"report", [](const Arguments&) { return popdist::testing::report(context()); }},
      {"connect", connect},
      {"train", [](const Arguments& given) { return popdist::testing::train(context(), given); }},
  };
  const auto command = commands.find(argc > 1 ? argv[1] : "");
  if (command == commands.end()) {
    std::fprintf(stderr, "popdist_child: no such command\n");
    return 2;
  }
  try {
    return command->second(Arguments(argv + 2, argv + argc));
  } catch (const popdist::popdist_error& error) {
    return reported(error);
  }
}
