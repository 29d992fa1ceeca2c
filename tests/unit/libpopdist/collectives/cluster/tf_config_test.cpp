// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/tf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>

#include "common/base/text.h"

namespace popdist::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using train::Cluster;
using train::TaskType;

std::string config(const std::string& cluster, const std::string& task) {
  return R"({"cluster":)" + cluster + R"(,"task":)" + task + '}';
}

constexpr const char* kTwo = R"({"worker":["a:1","b:2"]})";
constexpr const char* kFirst = R"({"type":"worker","index":0})";

TEST(TfConfig, NamesWorkersInTheirOrder) {
  const Cluster cluster = parseTfConfig(config(kTwo, R"({"type":"worker","index":1})")).value();
  EXPECT_THAT(cluster.workers, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(cluster.size(), 2);
  EXPECT_EQ(cluster.instanceIndex(), 1);
  EXPECT_FALSE(cluster.isLeader());
  EXPECT_EQ(cluster.taskOf(1), "worker:1");
}

TEST(TfConfig, ChiefIsInstanceZeroAndWorkersFollow) {
  const std::string jobs = R"({"worker":["a:1","b:2"],"chief":["c:3"]})";
  const Cluster chief = parseTfConfig(config(jobs, R"({"type":"chief","index":0})")).value();
  EXPECT_THAT(chief.workers, ElementsAre("c:3", "a:1", "b:2"));
  EXPECT_TRUE(chief.has_chief);
  EXPECT_TRUE(chief.isLeader());
  const Cluster worker = parseTfConfig(config(jobs, kFirst)).value();
  EXPECT_EQ(worker.instanceIndex(), 1);
  EXPECT_FALSE(worker.isLeader()) << "chief:0 leads";
  EXPECT_EQ(worker.taskOf(0), "chief:0");
  EXPECT_EQ(worker.taskOf(2), "worker:1");
}

TEST(TfConfig, ChiefMayBeAlone) {
  const Cluster cluster =
      parseTfConfig(config(R"({"chief":["c:3"]})", R"({"type":"chief","index":0})")).value();
  EXPECT_EQ(cluster.size(), 1);
  EXPECT_TRUE(cluster.isLeader());
}

TEST(TfConfig, EvaluatorIsNoInstance) {
  for (const char* const jobs : {kTwo, R"({"worker":["a:1","b:2"],"evaluator":["e:1"]})"}) {
    const Cluster cluster = parseTfConfig(config(jobs, R"({"type":"evaluator","index":0})")).value();
    EXPECT_TRUE(cluster.isEvaluator());
    EXPECT_EQ(cluster.size(), 2);
    EXPECT_EQ(cluster.instanceIndex(), -1);
    EXPECT_FALSE(cluster.isLeader());
  }
}

TEST(TfConfig, WhatOtherToolsAddIsIgnored) {
  EXPECT_TRUE(
      parseTfConfig(
          R"({"cluster":{"worker":["a:1"],"ps":[]},"environment":"cloud","rpc_layer":"grpc",)"
          R"("job":{"x":1},"task":{"type":"worker","index":0,"cloud":"c","trial":"1"},"sparseCluster":1,)"
          R"("anything":[{}],"Task":2})")
          .ok());
  EXPECT_TRUE(parseTfConfig(config(kTwo, R"({"type":"worker","index":1,"idx":7,"replica":"r"})")).ok());
}

struct Written {
  std::string text;
  std::string read;  // "instance 1 of [a:1 b:2]"
};

void PrintTo(const Written& written, std::ostream* out) {
  *out << written.text;
}

class WrittenByOthers : public ::testing::TestWithParam<Written> {};

TEST_P(WrittenByOthers, IsReadAsTensorFlowReadsIt) {
  pop::Result<Cluster> cluster = parseTfConfig(GetParam().text);
  ASSERT_TRUE(cluster.ok()) << cluster.status().message();
  EXPECT_EQ("instance " + std::to_string(cluster->instanceIndex()) + " of [" +
                pop::join(cluster->workers, " ") + ']',
            GetParam().read);
}

Written indexed(const std::string& index) {
  return {config(kTwo, R"({"type":"worker","index":)" + index + '}'), "instance 1 of [a:1 b:2]"};
}

INSTANTIATE_TEST_SUITE_P(
    Texts, WrittenByOthers,
    ::testing::Values(
        indexed(R"("1")"), indexed(R"(" 1 ")"), indexed(R"("+1")"), indexed(R"("01")"), indexed("1.0"),
        indexed("1e0"),
        Written{config(R"({"worker":{"0":"a:1","1":"b:2"}})", R"({"type":"worker","index":"1"})"),
                "instance 1 of [a:1 b:2]"},
        Written{config(R"({"worker":{"1":"b:2","0":"a:1","10":"k:1","2":"c:1","3":"d:1","4":"e:1","5":"f:1",)"
                       R"("6":"g:1","7":"h:1","8":"i:1","9":"j:1"}})",
                       R"({"type":"worker","index":10})"),
                "instance 10 of [a:1 b:2 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1]"},
        Written{config(R"({"chief":{"0":"c:3"},"worker":["a:1"]})", kFirst), "instance 1 of [c:3 a:1]"},
        // Kubeflow's, and the older AI Platform's
        Written{R"({"cluster":{"master":["j-master-0.ns.svc:2222"],"worker":["j-worker-0.ns.svc:2222"]},)"
                R"("task":{"type":"worker","index":0},"environment":"cloud"})",
                "instance 1 of [j-master-0.ns.svc:2222 j-worker-0.ns.svc:2222]"},
        Written{R"({"cluster":{"master":["cmle-master-0:2222"]},"task":{"type":"master","index":"0"}})",
                "instance 0 of [cmle-master-0:2222]"},
        // Vertex AI's
        Written{R"({"cluster":{"chief":["w0:2222"],"worker":["w1:2222"]},"environment":"cloud",)"
                R"("task":{"type":"chief","index":0,"trial":"1"},"job":"{\"python_module\":\"\"}"})",
                "instance 0 of [w0:2222 w1:2222]"},
        Written{"{}", "instance 0 of []"}, Written{R"({"environment":"cloud"})", "instance 0 of []"},
        Written{R"({"cluster":{},"task":{}})", "instance 0 of []"},
        Written{config("{}", kFirst), "instance 0 of []"}));

struct Malformed {
  std::string text;
  std::array<const char*, 3> said;  // key, value, what is expected
};

void PrintTo(const Malformed& malformed, std::ostream* out) {
  *out << malformed.text;
}

class MalformedTfConfig : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedTfConfig, IsRefusedByKeyValueAndWhatIsExpected) {
  const pop::Result<Cluster> cluster = parseTfConfig(GetParam().text);
  ASSERT_EQ(cluster.code(), pop::Code::kInvalidArgument);
  EXPECT_THAT(cluster.status().message(), ::testing::StartsWith("TF_CONFIG: "));
  for (const char* const said : GetParam().said) EXPECT_THAT(cluster.status().message(), HasSubstr(said));
}

Malformed list(const std::string& addresses, const char* at, const char* value, const char* expected) {
  return {config(R"({"worker":)" + addresses + '}', kFirst), {at, value, expected}};
}

Malformed task(const std::string& text, const char* key, const char* value, const char* expected) {
  return {config(R"({"chief":["c:1"],"worker":["a:1","b:2"]})", text), {key, value, expected}};
}

INSTANTIATE_TEST_SUITE_P(
    Texts, MalformedTfConfig,
    ::testing::Values(
        Malformed{"", {"no JSON", "", ""}}, Malformed{"{", {"no JSON", "", ""}},
        Malformed{"[]", {"a list", "cluster", "task"}}, Malformed{"3", {"3", "cluster", "task"}},
        Malformed{config(kTwo, kFirst) + "}", {"no JSON", "", ""}},
        Malformed{R"({"cluster":{"worker":["a:1"]},"cluster":{"worker":["b:1"]}})",
                  {"no JSON", "cluster", ""}},
        Malformed{R"({"task":{"type":"worker","index":0}})", {"'cluster' is missing", "expected", "worker"}},
        Malformed{config("[]", kFirst), {"cluster", "a list", "expected"}},
        Malformed{config("null", kFirst), {"cluster", "null", "expected"}},
        Malformed{config(R"({"worker":[]})", kFirst), {"cluster", "no address", "expected"}},
        Malformed{config(R"({"workers":["a:1"]})", kFirst),
                  {"cluster.workers", "did you mean worker", "chief"}},
        Malformed{config(R"({"worker":["a:1"],"ps":["p:1"]})", kFirst),
                  {"cluster.ps", "1 address", "name chief"}},
        Malformed{config(R"({"worker":["a:1"],"chief":["c:1","d:1"]})", kFirst),
                  {"cluster.chief", "2", "one"}},
        Malformed{config(R"({"worker":["a:1"],"evaluator":["c:1","d:1"]})", kFirst),
                  {"cluster.evaluator", "2", "one"}},
        Malformed{R"({"cluster":{"worker":["a:1"]},"Task":{"type":"worker","index":0}})",
                  {"'task' is missing", "there is 'Task'", "expected"}},
        Malformed{R"({"Cluster":{"worker":["a:1"]}})", {"'cluster' is missing", "there is 'Cluster'", ""}},
        Malformed{config(R"({"chief":["a:1"],"master":["b:1"]})", kFirst),
                  {"a chief and a master", "expected one", ""}},
        list(R"({"0":"a:1","2":"b:1"})", "cluster.worker", "none for index 1", "from 0 on"),
        list(R"({"1":"b:1"})", "cluster.worker", "none for index 0", "from 0 on"),
        list(R"({"0":"a:1","00":"b:1"})", "cluster.worker", "0 twice", "once"),
        list(R"({"a":"a:1"})", "cluster.worker", "'a'", "the index of a task"),
        list(R"({"-1":"a:1"})", "cluster.worker", "'-1'", "the index of a task"),
        list(R"({"0":7})", "cluster.worker[0]", "7", "expected a text"),
        list(R"("a:1")", "cluster.worker", "'a:1'", "expected a list"),
        list(R"(["a:1",2])", "cluster.worker[1]", "2", "expected a text"),
        list(R"(["a"])", "cluster.worker[0]", "'a'", "no port"),
        list(R"(["a:0"])", "cluster.worker[0]", "'a:0'", "from 1 to 65535"),
        list(R"(["a:1","b:65536"])", "cluster.worker[1]", "'b:65536'", "from 1 to 65535"),
        list(R"(["::1:80"])", "cluster.worker[0]", "'::1:80'", "brackets"),
        list(R"(["a:1","A:01"])", "worker:0 and worker:1", "'A:01'", "expected another"),
        Malformed{config(R"({"chief":["a:1"],"worker":["a:1"]})", kFirst),
                  {"chief:0 and worker:0", "'a:1'", "expected another"}},
        Malformed{config(R"({"worker":["a:1"],"evaluator":["a:1"]})", kFirst),
                  {"worker:0 and evaluator:0", "'a:1'", "expected another"}}));

INSTANTIATE_TEST_SUITE_P(
    Tasks, MalformedTfConfig,
    ::testing::Values(
        Malformed{R"({"cluster":{"worker":["a:1"]}})", {"'task' is missing", "expected", "index"}},
        task("7", "task", "7", "expected"),
        task(R"({"index":0})", "task.type", "missing", "chief, worker or"),
        task(R"({"type":"worker"})", "task.index", "missing", "0 to 1"),
        task(R"({"type":"ps","index":0})", "task.type", "'ps'", "name chief"),
        task(R"({"type":"Worker","index":0})", "task.type", "'Worker'", "chief, worker or"),
        task(R"({"type":3,"index":0})", "task.type", "3", "chief, worker or"),
        task(R"({"type":"worker","index":2})", "task.index", "is 2", "0 to 1"),
        task(R"({"type":"worker","index":-1})", "task.index", "-1", "0 to 1"),
        task(R"({"type":"worker","index":0.5})", "task.index", "0.5", "0 to 1"),
        task(R"({"type":"chief","index":1})", "task.index", "is 1", "expected 0"),
        task(R"({"type":"evaluator","index":1})", "task.index", "is 1", "expected 0"),
        task(R"({"type":"worker","index":"2"})", "task.index", "'2'", "0 to 1"),
        task(R"({"type":"worker","index":"-1"})", "task.index", "'-1'", "0 to 1"),
        task(R"({"type":"worker","index":"1x"})", "task.index", "'1x'", "a whole number, 0 to 1"),
        task(R"({"type":"worker","index":""})", "task.index", "''", "a whole number, 0 to 1"),
        task(R"({"type":"worker","index":true})", "task.index", "true", "a whole number, 0 to 1"),
        task(R"({"type":"worker","index":1e99})", "task.index", "1e+99", "a whole number, 0 to 1"),
        task(R"({"Type":"worker","index":0})", "task.type", "missing", "chief, worker or"),
        Malformed{config("{}", R"({"type":"evaluator","index":0})"), {"no address", "", ""}},
        Malformed{config("{}", R"({"type":"worker","index":1})"), {"no address", "", ""}},
        Malformed{config(kTwo, R"({"type":"chief","index":0})"),
                  {"task.type", "'chief'", "has no 'chief'"}}));

}  // namespace
}  // namespace popdist::cluster
