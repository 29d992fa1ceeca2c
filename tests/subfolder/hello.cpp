// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <popdist/popdist.hpp>

int main() {
  const popdist::Context& context = popdist::Context::fromEnvironment();
  std::printf("instance %d of %d\n", context.instanceIndex(), context.numInstances());
}
