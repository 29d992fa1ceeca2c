// SPDX-License-Identifier: Apache-2.0
// A program that uses backends, for tests to start with poprun; its first argument says what it does.
// Errors are reported as tests/testing/popdist_child.cpp does it.
//   mismatch              rank 0 sums something else than the others, and all try again
//   late CALL             rank 0 comes to a call (kCalls) when the others have given it up, and calls again
//   sums                  reductions of numbers whose sums depend on their order, and a digest of the results
//   left                  rank 1 exits with 0 before a sum; the others stay when they have been told
//   register NAME [late]  registers a backend, sums on it; late: when connected already
//   forked                a forked child destroys a communicator, and the parents go on with it
//   unmade                the communicator of all instances cannot be made
//   mixed                 instance 0 registers grpc, the others nothing
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "popdist/popdist.hpp"

namespace {

using popdist::Communicator;
using popdist::Context;
using popdist::Operator;
using Arguments = std::vector<std::string>;

int reported(const popdist::popdist_error& error) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::printf("error %d peer %d at %lld: %s\n", static_cast<int>(error.code()), error.peer(),
              static_cast<long long>(std::chrono::nanoseconds(now).count()), error.what());
  std::fflush(stdout);
  return static_cast<int>(error.code());
}

// `call` must fail on every instance; none leaves before all have, and the communicator is of no use then.
int expectFailure(const std::function<void(Communicator&)>& call) {
  Context& context = Context::fromEnvironment();
  int code = 0;
  try {
    call(context.world());
  } catch (const popdist::popdist_error& error) {
    code = reported(error);
  }
  context.fence();
  try {
    context.world().barrier();
  } catch (const popdist::popdist_error& error) {
    if (error.code() == popdist::ErrorCode::kFailedPrecondition) return code == 0 ? 1 : 0;
  }
  return 1;
}

int mismatch(const Arguments&) {
  return expectFailure([](Communicator& world) {
    std::vector<float> data(world.rank() == 0 ? 10 : 20);
    world.allReduce(data.data(), data.data(), data.size(), popdist::Type::kFloat, Operator::kSum,
                    {.tensor = "weights"});
  });
}

constexpr std::size_t kFew = 1;
constexpr std::size_t kMany = std::size_t{8} << 20;  // floats: more than ranks take ahead for each other

void sumOf(Communicator& world, std::size_t count, const popdist::CallOptions& options) {
  std::vector<float> data(count);
  world.allReduce(data.data(), data.data(), count, popdist::Type::kFloat, Operator::kSum, options);
}

void longBroadcast(Communicator& world, const popdist::CallOptions& options) {
  std::vector<float> data(kMany);
  world.broadcast(data.data(), kMany, popdist::Type::kFloat, 0, options);
}

void longReduce(Communicator& world, const popdist::CallOptions& options) {
  std::vector<float> data(kMany);
  world.reduce(data.data(), data.data(), kMany, popdist::Type::kFloat, Operator::kSum, 0, options);
}

const std::map<std::string, void (*)(Communicator&, const popdist::CallOptions&)> kCalls{
    {"sum", [](auto& world, const auto& options) { sumOf(world, kFew, options); }},
    {"long_sum", [](auto& world, const auto& options) { sumOf(world, kMany, options); }},
    {"long_broadcast", longBroadcast},
    {"long_reduce", longReduce}};

int late(const Arguments& arguments) {
  Context& context = Context::fromEnvironment();
  const bool is_late = context.world().rank() == 0;
  popdist::CallOptions options;
  if (is_late)
    context.fence();  // with the one of the others in expectFailure
  else
    options.timeout = std::chrono::seconds(4);  // ample for who comes
  const int failed = expectFailure([&](Communicator& world) {
    kCalls.at(arguments.at(0))(world, options);
    if (is_late) world.barrier();  // it may have found all that it needed
  });
  if (!is_late) context.fence();
  return failed;
}

// A rank's input: bits that make finite numbers of every type, of very different sizes.
std::vector<std::uint8_t> numbersOf(int rank, std::size_t bytes) {
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  std::vector<std::uint8_t> numbers(bytes);
  for (std::uint8_t& each : numbers) each = static_cast<std::uint8_t>(random() >> 8 & 0xb7);
  return numbers;
}

void addTo(std::uint64_t& digest, const std::vector<std::uint8_t>& bytes) {
  for (const std::uint8_t each : bytes) digest = (digest ^ each) * 0x100000001b3;
}

int sums(const Arguments&) {
  Communicator& world = Context::fromEnvironment().world();
  const auto ranks = static_cast<std::size_t>(world.size());
  for (const popdist::Type type :
       {popdist::Type::kFloat, popdist::Type::kDouble, popdist::Type::kHalf, popdist::Type::kBfloat16}) {
    std::uint64_t digest = 0;
    for (const std::size_t count : {1U, 5000U, 40'000U, 700'001U}) {
      const std::size_t bytes = count * popdist::sizeOf(type);
      const std::vector<std::uint8_t> in = numbersOf(world.rank(), bytes * ranks);
      for (const Operator op : {Operator::kSum, Operator::kMean}) {
        std::vector<std::uint8_t> out(bytes);
        world.allReduce(in.data(), out.data(), count, type, op);
        addTo(digest, out);
        world.reduceScatter(in.data(), out.data(), count, type, op);
        addTo(digest, out);
        world.reduce(in.data(), out.data(), count, type, op, 1);
        if (world.rank() == 1) addTo(digest, out);
      }
    }
    std::printf("%s %llx\n", popdist::nameOf(type), static_cast<unsigned long long>(digest));
  }
  return 0;
}

int left(const Arguments&) {
  Communicator& world = Context::fromEnvironment().world();
  world.barrier();
  if (world.rank() == 1) return 0;
  std::vector<float> data(1000);
  try {
    world.allReduce(std::span(data));
  } catch (const popdist::popdist_error& error) {
    reported(error);
  }
  for (;;) ::pause();
}

int registerNamed(const Arguments& arguments) {
  if (arguments.size() > 1) Context::fromEnvironment();
  popdist::registerBackend(arguments.at(0));
  popdist::registerDefaultBackend();
  popdist::registerBackend(arguments.at(0));
  float value = 1;
  Context::fromEnvironment().world().allReduce(std::span(&value, 1));
  return value == static_cast<float>(popdist::getNumInstances()) ? 0 : 1;
}

int forked(const Arguments&) {
  Context& context = Context::fromEnvironment();
  auto all = context.createCommunicator({0, 1});
  all->barrier();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // it would wait for threads that it has not got
    all.reset();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  all->barrier();
  return status == 0 ? 0 : 1;
}

int unmade(const Arguments&) {
  try {
    Context::fromEnvironment();
  } catch (const popdist::popdist_error& error) {
    reported(error);
    return 0;
  }
  return 1;
}

int mixed(const Arguments&) {
  if (popdist::getInstanceIndex() == 0) popdist::registerBackend("grpc");
  popdist::initializeBackend();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const Arguments&)> commands{
      {"mismatch", mismatch},      {"late", late},     {"left", left},     {"sums", sums},
      {"register", registerNamed}, {"forked", forked}, {"unmade", unmade}, {"mixed", mixed}};
  const auto command = argc > 1 ? commands.find(argv[1]) : commands.end();
  if (command == commands.end()) return 99;
  try {
    return command->second(Arguments(argv + 2, argv + argc));
  } catch (const popdist::popdist_error& error) {
    return reported(error);
  }
}
