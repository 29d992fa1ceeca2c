// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/binding_report.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

using model::CpuSet;

TEST(BindingReport, SaysWhatEachInstanceGetsAndWhy) {
  const std::vector<PlacedInstance> instances{
      {"node1", {.cpus = CpuSet({0, 1, 2, 3}), .memory_nodes = CpuSet({0}), .reason = "first"}},
      {"node1", {.cpus = CpuSet({4}), .memory_nodes = CpuSet({1, 2}), .reason = "second"}},
      {"node2", {.reason = "third"}},
      {"node2", {.cpus = CpuSet({7}), .reason = "fourth"}}};
  EXPECT_EQ(bindingReport(instances),
            "poprun: instance 0 on node1: cpus 0-3, memory node 0 (first)\n"
            "poprun: instance 1 on node1: cpu 4, memory nodes 1-2 (second)\n"
            "poprun: instance 2 on node2: not bound (third)\n"
            "poprun: instance 3 on node2: cpu 7 (fourth)\n");
}

}  // namespace
}  // namespace pop
