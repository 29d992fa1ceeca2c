// SPDX-License-Identifier: Apache-2.0
// Calls that go wrong, and what each rank is told.
#pragma once

#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "popdist/buffer.hpp"
#include "popdist/communicator.hpp"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist::contract {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
using Call = std::function<void(Context&, Communicator&)>;

inline constexpr Milliseconds kLongTimeout{20'000};
inline constexpr Milliseconds kInTime{10'000};  // half of the deadline that it is not

struct Reported {
  int code = 0;
  int peer = -1;
  std::string what;
};

inline void PrintTo(const Reported& report, std::ostream* out) {
  *out << "code " << report.code << ", peer " << report.peer << ": " << report.what;
}

inline Reported reportOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return {static_cast<int>(error.code()), error.peer(), error.what()};
  }
  return {};
}

inline Call sumOf(std::size_t count, Operator op = Operator::kSum, Type type = Type::kInt32,
                  const char* tensor = "") {
  return [=](Context&, Communicator& world) {
    std::vector<std::int64_t> data(count);
    world.allReduce(data.data(), data.data(), count, type, op, {.tensor = tensor});
  };
}

inline Call broadcastOf(std::size_t count, int root) {
  return [=](Context&, Communicator& world) {
    std::vector<float> data(count);
    world.broadcast(std::span(data), root);
  };
}

inline Call sharedSumOf(std::size_t count) {
  return [=](Context& context, Communicator& world) {
    const Buffer data(context, count * sizeof(float));
    world.allReduce(data.data(), data.data(), count, Type::kFloat);
  };
}

inline Call gatherOf(std::vector<std::size_t> counts) {
  return [=](Context&, Communicator& world) {
    std::vector<float> all(100'000);
    world.allGather(nullptr, all.data(), counts, Type::kFloat);
  };
}

inline Call inTurn(const Call& first, const Call& second) {
  return [=](Context& context, Communicator& world) {
    first(context, world);
    second(context, world);
  };
}

inline Call exchangeOf(std::vector<std::size_t> to, std::vector<std::size_t> from) {
  return [=](Context&, Communicator& world) {
    std::vector<float> in(1000);
    std::vector<float> out(1000);
    world.allToAll(in.data(), to, out.data(), from, Type::kFloat);
  };
}

inline Call transferOf(std::size_t send_count, int to, std::size_t recv_count, int from,
                       Type type = Type::kFloat) {
  return [=](Context&, Communicator& world) {
    std::vector<std::int64_t> in(send_count);
    std::vector<std::int64_t> out(recv_count);
    world.sendRecv(in.data(), send_count, to, out.data(), recv_count, from, type);
  };
}

}  // namespace popdist::contract
