// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/batch_norm/checks.h"

#include <cmath>

#include "popdist/error.hpp"

namespace popdist::train {
namespace {

void checkLength(const char* what, std::size_t found, std::size_t expected, const std::string& where) {
  if (found == expected) return;
  refuse(where, std::string(what) + " has " + std::to_string(found) + " elements, expected " +
                    std::to_string(expected));
}

void checkInput(std::span<const float> input, std::span<const float> weights, std::size_t channels,
                const std::string& where) {
  const std::size_t positions = input.size() / channels;
  if (input.size() % channels != 0)
    refuse(where, "input has " + std::to_string(input.size()) + " elements, which is no multiple of the " +
                      std::to_string(channels) + " channels");
  if (!weights.empty() && positions % weights.size() != 0)
    refuse(where, std::to_string(weights.size()) + " weights do not divide the input's " +
                      std::to_string(positions) + " positions");
  for (const float weight : weights) {
    if (!(weight >= 0.0F && std::isfinite(weight)))
      refuse(where, "a weight is " + std::to_string(weight) + ", expected a number from 0 on");
  }
}

std::string divisorsOf(int number) {
  std::string text;
  for (int divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0) text += (text.empty() ? "" : ", ") + std::to_string(divisor);
  }
  return text;
}

}  // namespace

void refuse(const std::string& call, const std::string& why) {
  throw popdist_error(ErrorCode::kInvalidArgument, call + ": " + why,
                      {.rank = -1, .peer = -1, .operation = call});
}

pop::Status checkOptions(const BatchNormOptions& options, int replicas) {
  if (options.channels == 0) return pop::invalidArgument("channels is 0, expected 1 or more");
  if (!(options.epsilon > 0.0F))
    return pop::invalidArgument("epsilon is " + std::to_string(options.epsilon) + ", expected more than 0");
  if (!(options.momentum >= 0.0F && options.momentum <= 1.0F))
    return pop::invalidArgument("momentum is " + std::to_string(options.momentum) + ", expected 0 to 1");
  if (options.span < 1 || replicas % options.span != 0)
    return pop::invalidArgument("span " + std::to_string(options.span) + " does not divide the job's " +
                                std::to_string(replicas) + " replicas: take one of " + divisorsOf(replicas));
  return {};
}

void checkArguments(const BatchNormForward& of, std::size_t channels, const std::string& where) {
  checkInput(of.input, of.weights, channels, where);
  checkLength("output", of.output.size(), of.input.size(), where);
  checkLength("gamma", of.gamma.size(), channels, where);
  checkLength("beta", of.beta.size(), channels, where);
}

void checkArguments(const BatchNormBackward& of, std::size_t channels, const std::string& where) {
  checkInput(of.input, of.weights, channels, where);
  checkLength("d_output", of.d_output.size(), of.input.size(), where);
  checkLength("d_input", of.d_input.size(), of.input.size(), where);
  checkLength("gamma", of.gamma.size(), channels, where);
  checkLength("d_gamma", of.d_gamma.size(), channels, where);
  checkLength("d_beta", of.d_beta.size(), channels, where);
  checkLength("saved", of.saved->mean.size(), channels, where);
}

}  // namespace popdist::train
