// SPDX-License-Identifier: Apache-2.0
// A job comes back from its record as it was submitted; what no job can be is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/wire/job_codec.h"
#include "proto/popdist/v1/job.pb.h"
#include "tests/unit/common/wire/job_fields.h"
#include "tests/unit/common/wire/job_samples.h"

namespace pop::wire {
namespace {

using ::testing::HasSubstr;
using testing::sampleSpec;
using testing::withEachField;

namespace v1 = ::popdist::v1;

void expectSpecComesBack(const model::JobSpec& spec) {
  const Result<model::JobSpec> decoded = decodeSpec(encode(spec));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_TRUE(decoded.value() == spec);
}

// The sample's programs, and all else at its default.
model::JobSpec plainSpec() {
  model::JobSpec spec;
  spec.programs = sampleSpec().programs;
  spec.num_instances = sampleSpec().num_instances;
  return spec;
}

TEST(SpecCodec, BringsAJobBack) {
  expectSpecComesBack(sampleSpec());
  expectSpecComesBack(plainSpec());
}

TEST(SpecCodec, BringsEachFieldBack) {
  withEachField(plainSpec(), sampleSpec(), expectSpecComesBack);
}

// Sets `field` of the plain job to a value of which one field is as in the sample.
template <typename T>
void expectThatEachFieldComesBack(T model::JobSpec::*field, const T& sample) {
  withEachField(T{}, sample, [&](const T& value) {
    model::JobSpec spec = plainSpec();
    spec.*field = value;
    expectSpecComesBack(spec);
  });
}

TEST(SpecCodec, BringsEachFieldOfAFieldBack) {
  const model::JobSpec sample = sampleSpec();
  expectThatEachFieldComesBack(&model::JobSpec::copies, sample.copies);
  expectThatEachFieldComesBack(&model::JobSpec::partition, sample.partition);
  expectThatEachFieldComesBack(&model::JobSpec::binding, sample.binding);
  expectThatEachFieldComesBack(&model::JobSpec::tf_tasks, sample.tf_tasks);
  expectThatEachFieldComesBack(&model::JobSpec::stdin_policy, sample.stdin_policy);
}

TEST(SpecCodec, BringsEachFieldOfHostsAndProgramsBack) {
  withEachField(model::Host{"node0"}, sampleSpec().hosts.front(), [](const model::Host& host) {
    model::JobSpec spec = plainSpec();
    spec.hosts = {host};
    expectSpecComesBack(spec);
  });
  withEachField(model::Program{.command = {"./serve"}}, sampleSpec().programs.front(),
                [](const model::Program& program) {
                  model::JobSpec spec;
                  spec.programs = {program};
                  spec.num_instances = program.num_instances;
                  spec.num_replicas = 5;
                  expectSpecComesBack(spec);
                });
}

TEST(SpecCodec, BringsEveryChoiceBack) {
  model::JobSpec spec = plainSpec();
  for (int mode = 0; mode <= static_cast<int>(model::BindMode::kDisabled); ++mode) {
    spec.binding.mode = static_cast<model::BindMode>(mode);
    expectSpecComesBack(spec);
  }
  for (int who = 0; who <= static_cast<int>(model::StdinPolicy::Who::kOne); ++who) {
    spec.stdin_policy.who = static_cast<model::StdinPolicy::Who>(who);
    expectSpecComesBack(spec);
  }
  spec.env_families = {};
  expectSpecComesBack(spec);
  spec.partition.reset = true;
  expectSpecComesBack(spec);
}

// A client might write no more than it must.
TEST(SpecCodec, KnowsWhatMissingFieldsMean) {
  v1::JobSpec message;
  message.add_programs()->add_command("./train");
  v1::Program* const second = message.add_programs();
  second->add_command("./train");
  second->set_num_instances(3);
  message.mutable_partition();
  model::JobSpec expected;
  expected.programs = {{.command = {"./train"}}, {.command = {"./train"}, .num_instances = 3}};
  expected.num_instances = 4;
  expected.num_replicas = 4;
  const Result<model::JobSpec> decoded = decodeSpec(message.SerializeAsString());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_TRUE(decoded.value() == expected);
}

// A client writes texts in JSON, where bytes would be base64.
TEST(SpecCodec, TakesTextForWordsAndVariables) {
  v1::JobSpec message;
  v1::Program* const program = message.add_programs();
  for (const char* word : {"./train", "--epochs", "3"}) program->add_words(word);
  v1::Variable* const first = message.add_environment();
  first->set_name("B");
  first->set_value("\xff");
  for (const char* name : {"C", "A", "B", "D"}) (*message.mutable_variables())[name] = "text";
  model::JobSpec expected;
  expected.programs = {{.command = {"./train", "--epochs", "3"}}};
  expected.environment = {{"B", "\xff"}, {"A", "text"}, {"B", "text"}, {"C", "text"}, {"D", "text"}};
  const Result<model::JobSpec> decoded = decodeSpec(message.SerializeAsString());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_TRUE(decoded.value() == expected);
}

struct RefusedSpec {
  const char* mistake;  ///< in the message
  std::function<void(v1::JobSpec&)> make;
};

class SpecRefusal : public ::testing::TestWithParam<RefusedSpec> {};

TEST_P(SpecRefusal, NamesTheMistake) {
  v1::JobSpec message;
  ASSERT_TRUE(message.ParseFromString(encode(sampleSpec())));
  GetParam().make(message);
  const Result<model::JobSpec> decoded = decodeSpec(message.SerializeAsString());
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.code(), Code::kInvalidArgument);
  EXPECT_THAT(decoded.status().message(), HasSubstr(GetParam().mistake));
}

const RefusedSpec kRefusedSpecs[] = {
    {"a job without a program", [](v1::JobSpec& job) { job.clear_programs(); }},
    {"a program without a command", [](v1::JobSpec& job) { job.mutable_programs(1)->clear_command(); }},
    {"both command and words", [](v1::JobSpec& job) { job.mutable_programs(1)->add_words("./train"); }},
    {"'' is not the name of a variable", [](v1::JobSpec& job) { (*job.mutable_variables())[""] = "1"; }},
    {"'A=B' is not the name of a variable",
     [](v1::JobSpec& job) { (*job.mutable_variables())["A=B"] = "1"; }},
    {"num_instances of a program is -1",
     [](v1::JobSpec& job) { job.mutable_programs(0)->set_num_instances(-1); }},
    {"num_instances is 3, and the programs have 4 instances",
     [](v1::JobSpec& job) { job.mutable_programs(0)->set_num_instances(3); }},
    {"the programs have 2147483648 instances",
     [](v1::JobSpec& job) { job.mutable_programs(0)->set_num_instances(2147483647); }},
    {"'-oProxyCommand' is not a host name",
     [](v1::JobSpec& job) { job.mutable_hosts(0)->set_name("-oProxyCommand"); }},
    {"'' is not a host name", [](v1::JobSpec& job) { job.mutable_hosts(0)->clear_name(); }},
    {"'a,b' is not a host name", [](v1::JobSpec& job) { job.mutable_hosts(0)->set_name("a,b"); }},
    {"'a:2' is not a host name", [](v1::JobSpec& job) { job.mutable_hosts(0)->set_name("a:2"); }},
    {"'a[0-65535]' is not a host name",
     [](v1::JobSpec& job) { job.mutable_hosts(0)->set_name("a[0-65535]"); }},
    {"host 'node1' twice", [](v1::JobSpec& job) { job.mutable_hosts(1)->set_name("node1"); }},
    {"slots is -1", [](v1::JobSpec& job) { job.mutable_hosts(0)->set_slots(-1); }},
    {"num_replicas is -1", [](v1::JobSpec& job) { job.set_num_replicas(-1); }},
    {"ipus_per_replica is -1", [](v1::JobSpec& job) { job.set_ipus_per_replica(-1); }},
    {"num_ilds is -1", [](v1::JobSpec& job) { job.set_num_ilds(-1); }},
    {"server_port is -1", [](v1::JobSpec& job) { job.mutable_partition()->set_server_port(-1); }},
    {"server_port is 65536", [](v1::JobSpec& job) { job.mutable_partition()->set_server_port(65536); }},
    {"server_timeout_ms is -1", [](v1::JobSpec& job) { job.mutable_partition()->set_server_timeout_ms(-1); }},
    {"server_timeout_ms is 1500, not whole seconds",
     [](v1::JobSpec& job) { job.mutable_partition()->set_server_timeout_ms(1500); }},
    {"attempts is -1", [](v1::JobSpec& job) { job.mutable_partition()->set_attempts(-1); }},
    {"mode 5 of binding",
     [](v1::JobSpec& job) { job.mutable_binding()->set_mode(static_cast<v1::BindMode>(5)); }},
    {"cores_per_instance is -1", [](v1::JobSpec& job) { job.mutable_binding()->set_cores_per_instance(-1); }},
    {"'x' is not a number", [](v1::JobSpec& job) { job.mutable_binding()->set_explicit_cpus(1, "x"); }},
    {"'' is not a number", [](v1::JobSpec& job) { job.mutable_binding()->set_explicit_cpus(1, ""); }},
    {"sets of more than 33554432 CPUs",
     [](v1::JobSpec& job) {
       for (int sets = 0; sets < 600; ++sets) job.mutable_binding()->add_explicit_cpus("0-65535");
     }},
    {"'java' is not one of", [](v1::JobSpec& job) { job.set_env_families("jax,java"); }},
    {"readers of stdin: 3",
     [](v1::JobSpec& job) { job.mutable_stdin_policy()->set_who(static_cast<v1::StdinReaders>(3)); }},
    {"instance 3 of 3", [](v1::JobSpec& job) { job.mutable_stdin_policy()->set_instance(3); }},
    {"instance -1 of 3", [](v1::JobSpec& job) { job.mutable_stdin_policy()->set_instance(-1); }},
    {"kill_grace_ms is -1", [](v1::JobSpec& job) { job.set_kill_grace_ms(-1); }},
    {"timeout_ms is 1000000000001", [](v1::JobSpec& job) { job.set_timeout_ms(1'000'000'000'001); }},
    {"max_restarts is -1", [](v1::JobSpec& job) { job.set_max_restarts(-1); }},
    {"restart_delay_ms is -1", [](v1::JobSpec& job) { job.set_restart_delay_ms(-1); }},
    {"min_hosts is -1", [](v1::JobSpec& job) { job.set_min_hosts(-1); }},
};
INSTANTIATE_TEST_SUITE_P(Each, SpecRefusal, ::testing::ValuesIn(kRefusedSpecs));

}  // namespace
}  // namespace pop::wire
