// SPDX-License-Identifier: Apache-2.0
// A program that uses backends, for tests to start with poprun; its first argument says what it does.
// Errors are reported as tests/testing/popdist_child.cpp does it.
//   check                 every operation, with many types, operators, roots and counts; exit code 1 for a
//                         wrong result
//   sum-forever COUNT     says "ready INSTANCE PID" after the first all-reduce; ignores SIGTERM
//   mismatch              rank 0 sums something else than the others, and all try again
//   contradiction         rank 0 sends more to each than it expects
//   strangers             rank 0 sends to rank 1, which expects something from rank 2
//   absent                rank 0 does not come to a sum whose deadline is near
//   register NAME [late]  registers a backend, sums on it; late: when connected already
//   forked                a forked child destroys a communicator, and the parents go on with it
//   mixed                 instance 0 registers grpc, the others nothing
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "popdist/popdist.hpp"

namespace {

using popdist::Communicator;
using popdist::Context;
using popdist::Operator;
using Arguments = std::vector<std::string>;
using Counts = std::vector<std::size_t>;

int wrong_results = 0;

int reported(const popdist::popdist_error& error) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::printf("error %d peer %d at %lld: %s\n", static_cast<int>(error.code()), error.peer(),
              static_cast<long long>(std::chrono::nanoseconds(now).count()), error.what());
  std::fflush(stdout);
  return static_cast<int>(error.code());
}

// ---- check: small whole numbers, so that every type holds them and every order of adding them gives the
// same

template <typename T>
T number(double value) {
  if constexpr (std::is_same_v<T, popdist::half> || std::is_same_v<T, popdist::bfloat16>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

double sampleOf(int rank, std::size_t index) {
  return 1.0 + static_cast<double>((static_cast<std::size_t>(rank) * 7 + index * 3) % 4);
}

template <typename T>
std::vector<T> samples(int rank, std::size_t first, std::size_t count) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(number<T>(sampleOf(rank, first + i)));
  return values;
}

double folded(Operator op, int ranks, std::size_t index) {
  double result = op == Operator::kSquareAdd ? sampleOf(0, index) * sampleOf(0, index) : sampleOf(0, index);
  for (int rank = 1; rank < ranks; ++rank) {
    const double next = sampleOf(rank, index);
    if (op == Operator::kSum || op == Operator::kMean) result += next;
    if (op == Operator::kMin) result = std::min(result, next);
    if (op == Operator::kMax) result = std::max(result, next);
    if (op == Operator::kProduct) result *= next;
    if (op == Operator::kSquareAdd) result += next * next;
  }
  return result;
}

template <typename T>
std::vector<T> folds(Operator op, int ranks, std::size_t first, std::size_t count) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double exact = folded(op, ranks, first + i);
    if constexpr (std::is_same_v<T, float>)
      values.push_back(op == Operator::kMean ? static_cast<float>(exact / ranks) : static_cast<float>(exact));
    else
      values.push_back(number<T>(op == Operator::kMean ? exact / ranks : exact));
  }
  return values;
}

template <typename T>
void expect(const char* what, const Communicator& world, const std::vector<T>& got,
            const std::vector<T>& expected) {
  const std::size_t bytes = got.size() * sizeof(T);
  if (got.size() == expected.size() && (bytes == 0 || std::memcmp(got.data(), expected.data(), bytes) == 0))
    return;
  ++wrong_results;
  std::fprintf(stderr, "rank %d: %s of %zu %s is wrong\n", world.rank(), what, expected.size(),
               popdist::nameOf(popdist::typeOf<T>()));
}

template <typename T>
void checkReductions(Communicator& world, Operator op, std::size_t count) {
  constexpr popdist::Type kType = popdist::typeOf<T>();
  if (!popdist::supports(op, kType)) return;
  const auto me = static_cast<std::size_t>(world.rank());
  const auto n = static_cast<std::size_t>(world.size());
  const std::vector<T> in = samples<T>(world.rank(), 0, n * count);
  std::vector<T> out(count);
  world.allReduce(in.data(), out.data(), count, kType, op);
  expect("allReduce", world, out, folds<T>(op, world.size(), 0, count));
  std::vector<T> in_place = in;
  world.allReduce(in_place.data(), in_place.data(), n * count, kType, op);
  expect("allReduce in place", world, in_place, folds<T>(op, world.size(), 0, n * count));
  world.reduceScatter(in.data(), out.data(), count, kType, op);
  expect("reduceScatter", world, out, folds<T>(op, world.size(), me * count, count));
  for (int root = 0; root < world.size(); ++root) {
    std::vector<T> result(count);
    world.reduce(in.data(), result.data(), count, kType, op, root);
    if (world.rank() == root) expect("reduce", world, result, folds<T>(op, world.size(), 0, count));
  }
}

template <typename T>
void checkMoves(Communicator& world, std::size_t count) {
  constexpr popdist::Type kType = popdist::typeOf<T>();
  const auto me = static_cast<std::size_t>(world.rank());
  const auto n = static_cast<std::size_t>(world.size());
  const std::vector<T> in = samples<T>(world.rank(), 0, n * count);
  std::vector<T> gathered;
  std::vector<T> exchanged;
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::vector<T> block = samples<T>(rank, 0, count);
    const std::vector<T> part = samples<T>(rank, me * count, count);
    gathered.insert(gathered.end(), block.begin(), block.end());
    exchanged.insert(exchanged.end(), part.begin(), part.end());
  }
  std::vector<T> out(n * count);
  world.allGather(in.data(), out.data(), count, kType);
  expect("allGather", world, out, gathered);
  world.allToAll(in.data(), out.data(), count, kType);
  expect("allToAll", world, out, exchanged);
  for (int root = 0; root < world.size(); ++root) {
    std::vector<T> data = in;
    world.broadcast(std::span(data), root);
    expect("broadcast", world, data, samples<T>(root, 0, n * count));
    std::vector<T> all(n * count);
    world.gather(in.data(), all.data(), count, kType, root);
    if (world.rank() == root) expect("gather", world, all, gathered);
    std::vector<T> block(count);
    world.scatter(in.data(), block.data(), count, kType, root);
    expect("scatter", world, block, samples<T>(root, me * count, count));
  }
  world.barrier();
}

// Rank r has r * count elements, and r + s of them go from rank r to rank s: none from 0 to 0.
void checkRagged(Communicator& world, std::size_t count) {
  const auto me = static_cast<std::size_t>(world.rank());
  const auto n = static_cast<std::size_t>(world.size());
  Counts sizes;
  Counts flows;
  std::vector<std::int32_t> gathered;
  std::vector<std::int32_t> exchanged;
  for (std::size_t rank = 0; rank < n; ++rank) {
    sizes.push_back(rank * count);
    flows.push_back((rank + me) * count);
    const auto block = samples<std::int32_t>(static_cast<int>(rank), 0, rank * count);
    gathered.insert(gathered.end(), block.begin(), block.end());
    std::size_t first = 0;  // of what goes from `rank` to this one
    for (std::size_t to = 0; to < me; ++to) first += (rank + to) * count;
    const auto part = samples<std::int32_t>(static_cast<int>(rank), first, flows[rank]);
    exchanged.insert(exchanged.end(), part.begin(), part.end());
  }
  const std::vector<std::int32_t> in = samples<std::int32_t>(world.rank(), 0, 2 * n * n * count + 1);
  std::vector<std::int32_t> out(gathered.size());
  world.allGather(in.data(), out.data(), sizes, popdist::Type::kInt32);
  expect("ragged allGather", world, out, gathered);
  out.resize(exchanged.size());
  world.allToAll(in.data(), flows, out.data(), flows, popdist::Type::kInt32);
  expect("ragged allToAll", world, out, exchanged);
}

// Round a ring of any stride, with a count that the sender's rank decides; the last one keeps out of it.
void checkTransfers(Communicator& world, std::size_t count) {
  constexpr popdist::Type kType = popdist::Type::kInt32;
  const int ring = std::max(1, world.size() - 1);
  const bool outside = world.rank() >= ring;
  const std::vector<std::int32_t> in = samples<std::int32_t>(world.rank(), 0, count + 8);
  for (int stride = 0; stride < ring; ++stride) {
    const int to = outside ? popdist::kNobody : (world.rank() + stride) % ring;
    const int from = outside ? popdist::kNobody : (world.rank() - stride + ring) % ring;
    const auto countOf = [count](int sender) { return count + static_cast<std::size_t>(sender % 8); };
    std::vector<std::int32_t> out(outside ? 0 : countOf(from));
    world.sendRecv(in.data(), countOf(world.rank()), to, out.data(), out.size(), from, kType);
    expect("sendRecv", world, out, outside ? out : samples<std::int32_t>(from, 0, out.size()));
  }
  if (world.size() < 2 || world.rank() > 1) {
    world.sendRecv(nullptr, 0, popdist::kNobody, nullptr, 0, popdist::kNobody, kType);
    return;
  }
  std::vector<std::int32_t> out(count);  // one way
  const bool sends = world.rank() == 0;
  world.sendRecv(in.data(), count, sends ? 1 : popdist::kNobody, out.data(), count,
                 sends ? popdist::kNobody : 0, kType);
  if (!sends) expect("sendRecv", world, out, samples<std::int32_t>(0, 0, count));
}

template <typename T>
void checkType(Communicator& world) {
  for (const std::size_t count : {0U, 1U, 7U, 1000U, 70'001U}) {
    for (const Operator op : {Operator::kSum, Operator::kMean, Operator::kMin, Operator::kMax,
                              Operator::kProduct, Operator::kSquareAdd})
      checkReductions<T>(world, op, count);
    checkMoves<T>(world, count);
  }
}

void checkAll(Communicator& world) {
  checkType<float>(world);
  checkType<double>(world);
  checkType<popdist::half>(world);
  checkType<popdist::bfloat16>(world);
  checkType<std::int32_t>(world);
  checkType<std::uint64_t>(world);
  for (const std::size_t count : {0U, 1U, 1000U, 70'001U}) {
    checkRagged(world, count);
    checkTransfers(world, count);
  }
  checkReductions<float>(world, Operator::kSum, 1'500'000);  // several segments
  checkMoves<float>(world, 700'000);
}

int check(const Arguments&) {
  Context& context = Context::fromEnvironment();
  checkAll(context.world());
  if (context.numInstances() > 2) {
    const auto some = context.createCommunicator({0, 2});
    if (some) checkAll(*some);
  }
  return wrong_results == 0 ? 0 : 1;
}

// ---- what goes wrong

int sumForever(const Arguments& arguments) {
  ::signal(SIGTERM, SIG_IGN);
  Communicator& world = Context::fromEnvironment().world();
  std::vector<float> data(std::stoul(arguments.at(0)));
  world.allReduce(std::span(data));
  std::printf("ready %d %d\n", popdist::getInstanceIndex(), ::getpid());
  std::fflush(stdout);
  while (true) world.allReduce(std::span(data));
}

// `call` must fail on every instance; nobody leaves before all have, and the communicator is of no use then.
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

int contradiction(const Arguments&) {
  return expectFailure([](Communicator& world) {
    const Counts sent(static_cast<std::size_t>(world.size()), world.rank() == 0 ? 3 : 2);
    const Counts received(static_cast<std::size_t>(world.size()), 2);
    std::vector<float> in(64);
    std::vector<float> out(64);
    world.allToAll(in.data(), sent, out.data(), received, popdist::Type::kFloat);
  });
}

int strangers(const Arguments&) {
  return expectFailure([](Communicator& world) {
    std::vector<float> data(100'000);
    const bool sends = world.rank() == 0;
    const bool waits = world.rank() == 1;
    world.sendRecv(data.data(), data.size(), sends ? 1 : popdist::kNobody, data.data(), data.size(),
                   waits ? 2 : popdist::kNobody, popdist::Type::kFloat);
  });
}

int absent(const Arguments&) {
  Context& context = Context::fromEnvironment();
  if (context.world().rank() == 0) {
    context.fence();
    return 0;
  }
  return expectFailure([](Communicator& world) {
    float value = 0;
    world.allReduce(&value, &value, 1, popdist::Type::kFloat, Operator::kSum,
                    {.timeout = std::chrono::seconds(2)});  // ample for who comes
  });
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

int mixed(const Arguments&) {
  if (popdist::getInstanceIndex() == 0) popdist::registerBackend("grpc");
  popdist::initializeBackend();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const Arguments&)> commands{{"check", check},
                                                                  {"sum-forever", sumForever},
                                                                  {"mismatch", mismatch},
                                                                  {"contradiction", contradiction},
                                                                  {"strangers", strangers},
                                                                  {"absent", absent},
                                                                  {"register", registerNamed},
                                                                  {"forked", forked},
                                                                  {"mixed", mixed}};
  const auto command = argc > 1 ? commands.find(argv[1]) : commands.end();
  if (command == commands.end()) return 99;
  try {
    return command->second(Arguments(argv + 2, argv + argc));
  } catch (const popdist::popdist_error& error) {
    return reported(error);
  }
}
