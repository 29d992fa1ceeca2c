// SPDX-License-Identifier: Apache-2.0
// The plan as JSON, read by python3's own parser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "poprun/plan/explain.h"

namespace pop {
namespace {

// The value of `expression`, `plan` being what python3 has read.
std::string evaluated(const model::JobSpec& spec, const std::string& expression,
                      const HostBindings& bindings = {}) {
  const Result<std::string> json = explainPlanJson(spec, bindings);
  EXPECT_TRUE(json.ok()) << json.status().message();
  if (!json.ok()) return {};
  std::string path = ::testing::TempDir() + "plan-XXXXXX";
  const int fd = ::mkstemp(path.data());
  EXPECT_GE(fd, 0);
  std::fclose(::fdopen(fd, "w"));
  std::ofstream(path) << json.value();
  const std::string command = "python3 -c 'import json; plan = json.load(open(\"" + path +
                              "\", encoding=\"utf-8\")); print(ascii((" + expression + ")), end=\"\")' 2>&1";
  std::FILE* output = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), output))
    text.append(buffer.data(), bytes);
  ::pclose(output);
  std::remove(path.c_str());
  return text;
}

model::JobSpec jobOnTwoHosts() {
  return {.hosts = {{"node1", 2}, {"node2", 2}},
          .programs = {{.command = {"./train", "a b"}, .num_instances = 3},
                       {.command = {"./eval"}, .num_instances = 1, .working_directory = "/eval"}},
          .num_instances = 4,
          .num_replicas = 8,
          .ipus_per_replica = 2,
          .system = "pod16"};
}

TEST(ExplainPlanJson, SaysWhoRunsWhere) {
  const model::JobSpec spec = jobOnTwoHosts();
  EXPECT_EQ(evaluated(spec, "plan[\"version\"], plan[\"num_instances\"], plan[\"system\"]"),
            "(1, 4, 'pod16')");
  EXPECT_EQ(evaluated(spec, "plan[\"hosts\"][1]"), "{'name': 'node2', 'num_instances': 2, 'slots': 2}");
  EXPECT_EQ(evaluated(spec, "plan[\"programs\"][1]"),
            "{'command': ['./eval'], 'working_directory': '/eval', 'instances': {'first': 3, 'count': 1}}");
  EXPECT_EQ(evaluated(spec, "[i[\"host\"] + str(i[\"local_instance\"]) for i in plan[\"instances\"]]"),
            "['node10', 'node11', 'node20', 'node21']");
  EXPECT_EQ(evaluated(spec, "plan[\"instances\"][3][\"replicas\"], plan[\"instances\"][3][\"ipus\"]"),
            "({'first': 6, 'count': 2}, {'first': 12, 'count': 4})");
  EXPECT_EQ(evaluated(spec, "plan[\"instances\"][3][\"program\"], plan[\"instances\"][3][\"ild\"]"),
            "(1, 0)");
}

TEST(ExplainPlanJson, SplitsTheEnvironmentIntoCommonAndOwn) {
  const model::JobSpec spec = jobOnTwoHosts();
  EXPECT_EQ(evaluated(spec, "plan[\"environment\"][\"WORLD_SIZE\"]"), "'4'");
  EXPECT_EQ(evaluated(spec, "[i[\"environment\"][\"RANK\"] for i in plan[\"instances\"]]"),
            "['0', '1', '2', '3']");
  EXPECT_EQ(evaluated(spec, "plan[\"environment\"].keys() & plan[\"instances\"][0][\"environment\"].keys()"),
            "set()");
}

TEST(ExplainPlanJson, HasTheClusterOnceAndItIsJsonItself) {
  const model::JobSpec spec = jobOnTwoHosts();
  EXPECT_EQ(evaluated(spec,
                      "json.loads(plan[\"instances\"][1][\"environment\"][\"TF_CONFIG\"].replace(\"<tf "
                      "cluster>\", plan[\"tf_cluster\"]))[\"cluster\"][\"worker\"][1]"),
            "'<address of node1>:<free port 2 of node1>'");
}

TEST(ExplainPlanJson, SaysNullForWhatIsNotKnown) {
  model::JobSpec spec = jobOnTwoHosts();
  spec.system = "";
  spec.env_families = {};
  EXPECT_EQ(evaluated(spec, "plan[\"system\"], plan[\"tf_cluster\"], plan[\"partition\"]"),
            "(None, None, {'num_ipus': 16, 'name': None, 'server': None})");
  EXPECT_EQ(evaluated(spec, "plan[\"instances\"][0][\"binding\"]"), "None");
}

TEST(ExplainPlanJson, SaysWhatInstancesAreBoundToAndWhy) {
  const model::CpuSet cpus = model::CpuSet::parse("0-3,8").value();
  const model::Binding binding{cpus, {}, 5, "as I say"};
  const HostBindings bindings{model::Bindings{{binding, binding}, {"slow"}}, std::nullopt};
  EXPECT_EQ(evaluated(jobOnTwoHosts(), "plan[\"instances\"][1][\"binding\"], plan[\"warnings\"]", bindings),
            "({'cpus': '0-3,8', 'memory_nodes': '', 'threads': 5, 'reason': 'as I say'}, ['slow'])");
}

TEST(ExplainPlanJson, IsValidWhateverTheUsersTextsHold) {
  model::JobSpec spec = jobOnTwoHosts();
  spec.programs.front().command = {"quote\" \\ \n \x01 caf\xc3\xa9", "\xff\xfe", "\xed\xa0\x80"};
  spec.environment = {{"A\"B", "C:\\x\ty\x7f\xc3"}};
  EXPECT_EQ(evaluated(spec, "plan[\"programs\"][0][\"command\"]"),
            R"(['quote" \\ \n \x01 caf\xe9', '\ufffd\ufffd', '\ufffd\ufffd\ufffd'])");
  EXPECT_EQ(evaluated(spec, "plan[\"environment\"][\"A\\\"B\"]"), R"('C:\\x\ty\x7f\ufffd')");
}

}  // namespace
}  // namespace pop
