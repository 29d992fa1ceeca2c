// SPDX-License-Identifier: Apache-2.0
// HPUs without a trainer: the loop and its collectives by hand.
//
//   poprun --num-instances 2 hpu_by_hand
#include <vector>

#include "fit.h"

int main() try {
  using popdist::Type;
  const auto context = popdist::train::contextFor();
  popdist::train::HpuStrategy strategy(*context);
  const bool is_leader = context->instanceIndex() == 0;

  // The leader's first weights are everybody's.
  std::vector<float> weights(3, is_leader ? 0.5F : 0.0F);
  if (is_leader)
    strategy.broadcastSend(weights.data(), weights.size(), Type::kFloat);
  else
    strategy.broadcastReceive(weights.data(), weights.size(), Type::kFloat);

  popdist::io::Infeed infeed = feed(*context);
  float loss = 0;
  for (std::uint64_t update = 0; update < kUpdates; ++update) {
    std::vector<float> gradient(weights.size());
    loss = static_cast<float>(addGradient(*infeed.next(), weights, gradient));
    strategy.reduce(gradient.data(), gradient.size(), Type::kFloat);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] -= 0.2F * gradient[i] / static_cast<float>(context->numInstances());
  }

  std::vector<float> losses(static_cast<std::size_t>(context->numInstances()));
  strategy.allGather(&loss, losses.data(), 1, Type::kFloat);
  print(*context, weights);
  if (!is_leader) return 0;
  for (const float each : losses) std::printf("last loss: %.6f\n", static_cast<double>(each));
} catch (const std::exception& error) {
  std::fprintf(stderr, "hpu_by_hand: %s\n", error.what());
  return 1;
}
