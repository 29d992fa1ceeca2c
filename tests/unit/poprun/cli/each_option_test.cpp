// SPDX-License-Identifier: Apache-2.0
// Each option by itself: where its values go, in both spellings, and that what is written is read back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "poprun/cli/parse.h"
#include "tests/unit/poprun/cli/option_samples.h"

namespace pop {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using Who = model::StdinPolicy::Who;

struct Case {
  const char* option;
  const char* value;  ///< null: a flag
  void (*expected)(Options&);
};

ProgramOptions& program(Options& options) {
  return options.programs.front();
}

const Case kCases[] = {
    {"--help", nullptr, [](Options& o) { o.help = true; }},
    {"--version", nullptr, [](Options& o) { o.version = true; }},
    {"--version-format", "full-json", [](Options& o) { o.version_format = VersionFormat::kFullJson; }},
    {"--verbose", nullptr, [](Options& o) { o.verbosity = 1; }},
    {"--vv", nullptr, [](Options& o) { o.verbosity = 2; }},
    {"--num-instances", "4", [](Options& o) { program(o).num_instances = 4; }},
    {"--num-replicas", "8", [](Options& o) { o.num_replicas = 8; }},
    {"--uneven-replicas", "yes", [](Options& o) { o.uneven_replicas = true; }},
    {"--ipus-per-replica", "2", [](Options& o) { o.ipus_per_replica = 2; }},
    {"--num-ilds", "2", [](Options& o) { o.num_ilds = 2; }},
    {"--system", "pod16", [](Options& o) { o.system = "pod16"; }},
    {"--offline-mode", "on", [](Options& o) { o.offline_mode = true; }},
    {"--host", "a[0-1]:2", [](Options& o) { o.host = "a[0-1]:2"; }},
    {"--hostfile", "f", [](Options& o) { o.hostfile = "f"; }},
    {"--instances-per-host", "4", [](Options& o) { o.per_host.most = 4; }},
    {"--oversubscribe", "yes", [](Options& o) { o.oversubscribe = true; }},
    {"--host-subnet", "10.0.0.0/8", [](Options& o) { o.host_subnet = "10.0.0.0/8"; }},
    {"--synchronise", "/data", [](Options& o) { o.synchronise = {"/data"}; }},
    {"--synchronise-python-venv", "yes", [](Options& o) { o.synchronise_python_venv = true; }},
    {"--synchronise-poplar-sdk", "yes", [](Options& o) { o.synchronise_poplar_sdk = true; }},
    {"--distribute-ssh-key", "yes", [](Options& o) { o.distribute_ssh_key = true; }},
    {"--process-placement", "0-1:3",
     [](Options& o) {
       o.binding.mode = model::BindMode::kExplicit;
       o.binding.explicit_cpus = {model::CpuSet({0, 1}), model::CpuSet({3})};
     }},
    {"--cores-per-instance", "3", [](Options& o) { o.binding.cores_per_instance = 3; }},
    {"--numa-aware", "no", [](Options& o) { o.binding.mode = model::BindMode::kDisabled; }},
    {"--report-bindings", "1", [](Options& o) { o.report_bindings = true; }},
    {"--print-topology", "yes", [](Options& o) { o.print_topology = true; }},
    {"-x", "A=b=c", [](Options& o) { program(o).environment = {"A=b=c"}; }},
    {"--genvall", "yes", [](Options& o) { o.genvall = true; }},
    {"--wdir", "/data", [](Options& o) { program(o).working_directory = "/data"; }},
    {"--env-for", "none", [](Options& o) { o.env_families.clear(); }},
    {"--collectives", "tcp,ring",
     [](Options& o) {
       o.collectives = {"tcp", "ring"};
     }},
    {"--tf-config-tasks", "chief,evaluator",
     [](Options& o) {
       o.tf_tasks = {true, true};
     }},
    {"--executable-cache-path", "c", [](Options& o) { o.executable_cache_path = "c"; }},
    {"--stdin", "all",
     [](Options& o) {
       o.stdin_policy = {Who::kAll, 0};
     }},
    {"--tag-output", "host", [](Options& o) { o.tag_output = TagOutput::kHost; }},
    {"--timestamp-output", "true", [](Options& o) { o.timestamp_output = true; }},
    {"--fold-output", "yes", [](Options& o) { o.fold_output = true; }},
    {"--output-filename", "d", [](Options& o) { o.output_filename = "d"; }},
    {"--only-output-from-instance", "1", [](Options& o) { o.only_output_from_instance = 1; }},
    {"--only-stdout-from-instance", "1", [](Options& o) { o.only_stdout_from_instance = 1; }},
    {"--timeout", "1.5", [](Options& o) { o.timeout = 1500ms; }},
    {"--stack-traces", "yes", [](Options& o) { o.stack_traces = true; }},
    {"--kill-grace", "2m", [](Options& o) { o.kill_grace = 120s; }},
    {"--max-restarts", "3", [](Options& o) { o.max_restarts = 3; }},
    {"--restart-delay", "10", [](Options& o) { o.restart_delay = 10s; }},
    {"--ssh-config", "/etc/cluster/ssh", [](Options& o) { o.hosts.ssh_config = "/etc/cluster/ssh"; }},
    {"--rsh", "ssh -J gate", [](Options& o) { o.hosts.rsh = "ssh -J gate"; }},
    {"--agent-path", "/opt/agent", [](Options& o) { o.hosts.agent_path = "/opt/agent"; }},
    {"--agent-port", "7900", [](Options& o) { o.hosts.agent_port = 7900; }},
    {"--agent-tls", "/etc/tls", [](Options& o) { o.hosts.agent_tls = "/etc/tls"; }},
    {"--connect-timeout", "3", [](Options& o) { o.hosts.connect_timeout = 3s; }},
    {"--host-silence", "8", [](Options& o) { o.hosts.silence = 8s; }},
    {"--min-hosts", "2", [](Options& o) { o.min_hosts = 2; }},
    {"--detach", nullptr, [](Options& o) { o.detached.detach = true; }},
    {"--name", "train-1", [](Options& o) { o.detached.name = "train-1"; }},
    {"--on-hangup", "detach", [](Options& o) { o.detached.on_hangup = OnHangup::kDetach; }},
    {"--log-limit", "1G", [](Options& o) { o.detached.log_limit_bytes = std::int64_t{1} << 30; }},
    {"--jobs", "h1:",
     [](Options& o) {
       o.detached.jobs = {"h1", ""};
     }},
    {"--json", nullptr, [](Options& o) { o.detached.json = true; }},
    {"--attach", "h1:7",
     [](Options& o) {
       o.detached.attach = {"h1", "7"};
     }},
    {"--control", nullptr, [](Options& o) { o.detached.control = true; }},
    {"--logs", "train",
     [](Options& o) {
       o.detached.logs = {"", "train"};
     }},
    {"--follow", nullptr, [](Options& o) { o.detached.follow = true; }},
    {"--cancel", "me@h1:2222:12",
     [](Options& o) {
       o.detached.cancel = {"me@h1:2222", "12"};
     }},
    {"--controller", "head:8090", [](Options& o) { o.controller.server = "head:8090"; }},
    {"--controller-tls", "/etc/tls", [](Options& o) { o.controller.tls = "/etc/tls"; }},
    {"--num-hosts", "3", [](Options& o) { o.controller.num_hosts = 3; }},
    {"--priority", "-2", [](Options& o) { o.controller.priority = -2; }},
    {"--held", nullptr, [](Options& o) { o.controller.held = true; }},
    {"--no-wait", nullptr, [](Options& o) { o.controller.no_wait = true; }},
    {"--scaling-report", "runs.jsonl", [](Options& o) { o.scaling_report = "runs.jsonl"; }},
    {"--scaling-format", "svg", [](Options& o) { o.scaling_format = ScalingFormat::kSvg; }},
    {"--allow-run-as-root", "no", [](Options& o) { o.allow_run_as_root = false; }},
    {"--dry-run", "json", [](Options& o) { o.dry_run = DryRun::kJson; }},
    {"--debug", "yes", [](Options& o) { o.debug = true; }},
    {"--export-config", "f", [](Options& o) { o.export_config = "f"; }},
    {"--overwrite-config", "yes", [](Options& o) { o.overwrite_config = true; }},
    {"--vipu-server-host", "h", [](Options& o) { o.partition.server_host = "h"; }},
    {"--vipu-server-port", "80", [](Options& o) { o.partition.server_port = 80; }},
    {"--vipu-server-timeout", "9", [](Options& o) { o.partition.server_timeout_seconds = 9; }},
    {"--vipu-partition", "p", [](Options& o) { o.partition.name = "p"; }},
    {"--vipu-partition-attempts", "5", [](Options& o) { o.partition.attempts = 5; }},
    {"--vipu-allocation", "a", [](Options& o) { o.partition.allocation = "a"; }},
    {"--vipu-cluster", "c", [](Options& o) { o.partition.allocation = "c"; }},
    {"--update-partition", "yes", [](Options& o) { o.partition.update = true; }},
    {"--reset-partition", "no", [](Options& o) { o.partition.reset = false; }},
    {"--remove-partition", "no", [](Options& o) { o.partition.remove = false; }},
    {"--sync-type", "ST_POD_NATIVE_DEFAULT",
     [](Options& o) { o.partition.sync_type = "ST_POD_NATIVE_DEFAULT"; }},
    {"--mpi-global-args", "-x G", [](Options& o) { program(o).environment = {"G"}; }},
    {"--mpi-local-args", "--tag-output", [](Options& o) { o.tag_output = TagOutput::kMpi; }},
};

Options parsed(const std::vector<std::string>& words) {
  const cli::ParsedOptions result = cli::parseOptions(words);
  EXPECT_THAT(result.mistakes, IsEmpty()) << words.front();
  EXPECT_THAT(result.warnings, IsEmpty()) << words.front();
  return result.options;
}

TEST(EachOption, SetsItsFieldAndNoOther) {
  for (const Case& each : kCases) {
    Options expected;
    expected.programs.front().command = {"x"};
    each.expected(expected);
    const std::string name = each.option;
    if (each.value == nullptr) {
      EXPECT_EQ(parsed({name, "x"}), expected) << name;
      continue;
    }
    EXPECT_EQ(parsed({name, each.value, "x"}), expected) << name;
    EXPECT_EQ(parsed({name + '=' + each.value, "x"}), expected) << name;
  }
}

TEST(EachOption, HasACaseHereButForTheOneThatReadsAFile) {
  for (const cli::OptionRow& row : cli::optionTable()) {
    const bool has = std::any_of(std::begin(kCases), std::end(kCases),
                                 [&](const Case& each) { return each.option == row.name; });
    EXPECT_TRUE(has || row.name == "--import-config") << row.name;
    EXPECT_TRUE(testing::kOptionSamples.contains(row.name)) << row.name << " in option_samples.h";
  }
}

TEST(EachOption, OtherNamesMeanTheSame) {
  for (const auto& [other, name] :
       std::vector<std::pair<std::string, std::string>>{{"-np", "--num-instances"},
                                                        {"-n", "--num-instances"},
                                                        {"--np", "--num-instances"},
                                                        {"-H", "--host"},
                                                        {"-wdir", "--wdir"},
                                                        {"-wd", "--wdir"}}) {
    EXPECT_EQ(parsed({other, "3", "x"}), parsed({name, "3", "x"})) << other;
    EXPECT_EQ(parsed({other + "=3", "x"}), parsed({name, "3", "x"})) << other;
  }
  EXPECT_EQ(parsed({"-vv", "x"}), parsed({"--vv", "x"}));
  EXPECT_EQ(parsed({"-V"}), parsed({"--version"}));
}

TEST(EachOption, IsWrittenAsItIsRead) {
  for (const cli::OptionRow& row : cli::optionTable()) {
    for (const std::string& value : testing::kOptionSamples.at(std::string(row.name))) {
      if (!row.traits.in_config || row.traits.rule == cli::ValueRule::kNone) continue;
      Options first;
      ASSERT_TRUE(row.codec.read({first, first.programs.front()}, value).ok()) << row.name << ' ' << value;
      Options second;
      for (const std::string& text : row.codec.write({first, first.programs.front()})) {
        ASSERT_TRUE(row.codec.read({second, second.programs.front()}, text).ok()) << row.name << ' ' << text;
      }
      const bool another_writes_it = row.name == "--numa-aware" || row.name == "--vipu-cluster";
      if (!another_writes_it) {
        EXPECT_EQ(first, second) << row.name << ' ' << value;
      }
    }
  }
}

TEST(EachOption, NamesAreGivenOnce) {
  std::map<std::string, int> count;
  for (const cli::OptionRow& row : cli::optionTable()) {
    for (const std::string& name : cli::namesOf(row)) EXPECT_EQ(++count[name], 1) << name;
  }
}

TEST(EachOption, RepeatedTheLastCountsButForVariables) {
  EXPECT_EQ(parsed({"--num-replicas", "2", "--num-replicas=3", "x"}).num_replicas, 3);
  EXPECT_THAT(parsed({"-x", "A", "-x", "B=1", "x"}).programs.front().environment,
              ::testing::ElementsAre("A", "B=1"));
}

TEST(EachOption, OfTwoPlacementsThatDifferTheLastCountsWithAWarning) {
  const cli::ParsedOptions newer =
      cli::parseOptions({"--numa-aware", "no", "--process-placement", "compact", "x"});
  EXPECT_EQ(newer.options.binding.mode, model::BindMode::kCompact);
  EXPECT_THAT(newer.warnings,
              ::testing::ElementsAre("--numa-aware no is overridden by --process-placement compact"));
  const cli::ParsedOptions older =
      cli::parseOptions({"--process-placement", "compact", "--numa-aware", "no", "x"});
  EXPECT_EQ(older.options.binding.mode, model::BindMode::kDisabled);
  EXPECT_THAT(older.warnings,
              ::testing::ElementsAre("--process-placement compact is overridden by --numa-aware no"));
  EXPECT_THAT(cli::parseOptions({"--process-placement", "spreadnuma", "--numa-aware", "yes", "x"}).warnings,
              ::testing::IsEmpty());
}

TEST(OptionalValue, IsTheNextWordOnlyIfItIsOne) {
  for (const cli::OptionRow& row : cli::optionTable()) {
    if (row.traits.rule != cli::ValueRule::kOptional || !row.traits.value_end.empty()) continue;
    const std::string name(row.name);
    const Options bare = parsed({name, "./train", "no"});
    EXPECT_THAT(bare.programs.front().command, ::testing::ElementsAre("./train", "no")) << name;
    const Options yes = parsed({name, "yes", "./train", "no"});
    EXPECT_EQ(bare, yes) << name;
    EXPECT_THAT(parsed({name, "-v", "x"}).verbosity, 1) << name;
  }
  EXPECT_EQ(parsed({"--jobs"}).detached.jobs, JobAddress());
  EXPECT_EQ(parsed({"--jobs", "h1:", "--json"}).detached.jobs, (JobAddress{"h1", ""}));
  EXPECT_THAT(parsed({"--jobs", "yes"}).programs.front().command, ::testing::ElementsAre("yes"));
  EXPECT_EQ(parsed({"--jobs", ":", "x"}).programs.size(), 2U) << "separates programs";
  EXPECT_EQ(parsed({"--dry-run", "x"}).dry_run, DryRun::kText);
  EXPECT_EQ(parsed({"--tag-output", "prog"}).tag_output, TagOutput::kInstance);
}

}  // namespace
}  // namespace pop
