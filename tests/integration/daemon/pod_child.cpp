// SPDX-License-Identifier: Apache-2.0
// Sums a tensor over all replicas, and says on which Pod, and in how much of its time: "pod p16 1250000000
// ps".
#include <cstdint>
#include <cstdio>
#include <vector>

#include "popdist/popdist.hpp"

int main() try {
  constexpr std::size_t kElements = 1 << 20;
  popdist::Context& context = popdist::Context::fromEnvironment();
  popdist::Pod pod(context);
  std::vector<std::vector<float>> memory(static_cast<std::size_t>(pod.numLocalReplicas()),
                                         std::vector<float>(kElements, 1.0F));
  std::vector<float*> tensors;
  for (std::vector<float>& tensor : memory) tensors.push_back(tensor.data());
  pod.allReduceSum(tensors, kElements);
  if (memory.front().back() != static_cast<float>(pod.numReplicas())) return 1;
  std::printf("pod %s %lld ps\n", pod.system().c_str(), static_cast<long long>(pod.time().count()));
  return 0;
} catch (const popdist::popdist_error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
