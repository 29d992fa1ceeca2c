// SPDX-License-Identifier: Apache-2.0
// Loops that run on the device: one call of the host for many steps. Values that change from step to step are
// *carried*; streams come by an infeed and go by outfeeds.
//
//   Tensors result = loops::repeat(10, [&](Tensors& carried, const Tensors& batch) {
//     carried.get<int>("counter")[0] += 1;
//     outfeed.enqueue(lossOf(batch));
//   }, Tensors(Tensor::full("counter", {}, 0)), {.infeed = &infeed, .outfeeds = {&outfeed}});
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/infeed.hpp"
#include "popdist/outfeed.hpp"
#include "popdist/tensor.hpp"

namespace popdist::loops {

struct LoopOptions {
  io::Infeed* infeed = nullptr;          ///< the body gets its next element in each iteration
  std::vector<io::Outfeed*> outfeeds{};  ///< that the body enqueues to, at most once each in an iteration
  int replica = 0;                       ///< the one of infeed and outfeeds
};

namespace detail {

/// One iteration after the other, on the host's side of a loop.
class Iterations {
 public:
  /// Throws popdist_error kInvalidArgument when the body takes an input and there is no infeed, or the
  /// reverse.
  Iterations(const char* loop, const LoopOptions& options, bool body_takes_input);
  ~Iterations();
  Iterations(const Iterations&) = delete;
  Iterations& operator=(const Iterations&) = delete;

  /// Begins iteration `index` of `count` (nothing: not known) and returns its input; nullptr for a body
  /// without.
  const Tensors* begin(std::uint64_t index, std::optional<std::uint64_t> count);

 private:
  const char* loop_;
  LoopOptions options_;
  std::deque<io::Outfeed::Loop> loops_;
};

template <typename Body>
inline constexpr bool kTakesInput = std::is_invocable_v<Body&, Tensors&, const Tensors&>;

template <typename Body>
void call(Body& body, Tensors& carried, const Tensors* input) {
  if constexpr (kTakesInput<Body>)
    body(carried, *input);
  else
    body(carried);
}

template <typename Body>
constexpr void checkBody() {
  static_assert(
      kTakesInput<Body> || std::is_invocable_v<Body&, Tensors&>,
      "popdist: the body of a loop takes (Tensors& carried), or (Tensors& carried, const Tensors& input) "
      "with an infeed");
}

void failWithoutEnd(std::uint64_t maximum);

}  // namespace detail

/// Calls `body` `count` times, and returns the carried values. body(Tensors& carried) changes them in place;
/// body(Tensors& carried, const Tensors& input) also gets an element of options.infeed. Runs in the caller's
/// thread. Throws popdist_error kInvalidArgument (an infeed that the body does not take, or none that it
/// does), kOutOfRange (the infeed has fewer elements: repeat() the dataset), kFailedPrecondition (a second
/// enqueue of an outfeed in one iteration), and what body, infeed and outfeeds throw; the carried values are
/// lost then.
template <typename Body>
Tensors repeat(std::uint64_t count, Body body, Tensors carried, const LoopOptions& options = {}) {
  detail::checkBody<Body>();
  detail::Iterations iterations("loops.repeat", options, detail::kTakesInput<Body>);
  for (std::uint64_t i = 0; i < count; ++i) detail::call(body, carried, iterations.begin(i, count));
  return carried;
}

/// As repeat, while condition(const Tensors& carried) holds. The condition does not see the infeed. Throws
/// kDeadlineExceeded besides, when it still holds after `maximum_iterations`.
template <typename Condition, typename Body>
Tensors whileLoop(Condition condition, Body body, Tensors carried, const LoopOptions& options = {},
                  std::optional<std::uint64_t> maximum_iterations = std::nullopt) {
  detail::checkBody<Body>();
  detail::Iterations iterations("loops.whileLoop", options, detail::kTakesInput<Body>);
  for (std::uint64_t i = 0; condition(std::as_const(carried)); ++i) {
    if (i == maximum_iterations) detail::failWithoutEnd(i);
    detail::call(body, carried, iterations.begin(i, std::nullopt));
  }
  return carried;
}

/// `steps` steps in executions of `steps_per_execution`, the last one perhaps shorter: calls
/// execution(first_step, steps) for each, one call of the host, such as of repeat(). Returns the number of
/// executions. Throws popdist_error kInvalidArgument for 0 steps in an execution.
std::uint64_t execute(std::uint64_t steps, std::uint64_t steps_per_execution,
                      const std::function<void(std::uint64_t first_step, std::uint64_t steps)>& execution);

}  // namespace popdist::loops
