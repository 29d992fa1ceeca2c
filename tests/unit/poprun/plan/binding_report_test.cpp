// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/binding_report.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

using model::CpuSet;

TEST(BindingReport, SaysWhatEachInstanceGetsAndWhy) {
  const model::JobSpec spec{.hosts = {{"node1"}, {"node2"}},
                            .programs = {{.command = {"./train"}, .num_instances = 4}},
                            .num_instances = 4,
                            .num_replicas = 4};
  const std::vector<model::Bindings> bindings{
      {.instances = {{.cpus = CpuSet({0, 1, 2, 3}), .memory_nodes = CpuSet({0}), .reason = "first"},
                     {.cpus = CpuSet({4}), .memory_nodes = CpuSet({1, 2}), .reason = "second"}}},
      {.instances = {{.reason = "third"}, {.cpus = CpuSet({7}), .reason = "fourth"}}}};
  EXPECT_EQ(bindingReport(spec, model::place(spec), bindings),
            "poprun: instance 0 on node1: cpus 0-3, memory node 0 (first)\n"
            "poprun: instance 1 on node1: cpu 4, memory nodes 1-2 (second)\n"
            "poprun: instance 2 on node2: not bound (third)\n"
            "poprun: instance 3 on node2: cpu 7 (fourth)\n");
}

}  // namespace
}  // namespace pop
