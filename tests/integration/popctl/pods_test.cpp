// SPDX-License-Identifier: Apache-2.0
// Partitions and what they are made from, under popctl's name and V-IPU's, against the daemon's own core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>

#include "common/sys/fd.h"
#include "common/sys/process_end.h"
#include "poprun/daemon/partition_order.h"
#include "tests/integration/popctl/pods_server.h"
#include "tests/testing/file_text.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using Words = std::vector<std::string>;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PodsCommands : public ::testing::Test {
 protected:
  explicit PodsCommands(bool has_pods = true) : server_(has_pods) {}

  PoprunSetup setupOf(const std::string& program, const Words& words, const std::string& server) const {
    return {.options = words,
            .environment = {{"HOME", home_.path()},
                            {"XDG_CONFIG_HOME", ""},
                            {"POPDIST_TLS", ""},
                            {"VIPU_CLI_API_HOST", ""},
                            {"POPDIST_SERVER", server}},
            .program = POP_BIN_DIR "/" + program};
  }
  Outcome runAs(const std::string& program, const Words& words, const std::string& server) const {
    return run(setupOf(program, words, server));
  }
  Outcome popctl(const Words& words) const { return runAs("popctl", words, server_.address()); }
  Outcome vipu(Words words, const std::string& name = "vipu") const {
    words.insert(words.end(), {"--api-host", "127.0.0.1", "--api-port", server_.port()});
    return runAs("names/" + name, words, "nowhere.invalid:1");
  }
  std::string file(const std::string& name) const { return home_.path() + "/.ipuof.conf.d/" + name; }
  bool hasFile(const std::string& name) const { return std::filesystem::exists(file(name)); }
  /// The server hears of a holder's end when that has ended already.
  bool isFreeSoon(const std::string& id) {
    return waitUntil([&] { return server_.partition(id)->holder().empty(); }, Milliseconds(10'000));
  }

  /// True if python3, which gets the JSON as `j`, finds the condition true.
  bool holds(const std::string& json, const std::string& condition) const {
    const std::string path = home_.path() + "/output.json";
    std::ofstream(path) << json;
    const std::string script = "import json; j = json.load(open(\"" + path + "\")); assert " + condition;
    return std::system(("python3 -c '" + script + "'").c_str()) == 0;
  }

  PodsServer server_;
  const TempDir home_;
};

class OnVipusServer : public PodsCommands {
 protected:
  OnVipusServer() : PodsCommands(false) {}
};

TEST_F(PodsCommands, APartitionLivesWithItsFiles) {
  const Outcome created = popctl({"create", "partition", "p16", "--size", "16", "--num-gcds", "2"});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_EQ(created.out, "create partition (p16): success.\n");
  EXPECT_TRUE(hasFile("p16_gcd0_ipuof.conf"));
  EXPECT_TRUE(holds(fileText(file("p16_gcd1_ipuof.conf")), "len(j[\"devices\"]) == 8"));
  EXPECT_EQ(popctl({"get", "partition", "p16", "--gcd", "1", "--ipuof-configs"}).out,
            fileText(file("p16_gcd1_ipuof.conf")));
  EXPECT_EQ(popctl({"reset", "partitions", "p16"}).out, "reset partition (p16): success.\n");
  EXPECT_EQ(popctl({"remove", "partition", "p16"}).out, "remove partition (p16): success.\n");
  EXPECT_FALSE(hasFile("p16_gcd0_ipuof.conf"));
  EXPECT_FALSE(hasFile("p16_gcd1_ipuof.conf"));
  EXPECT_EQ(popctl({"get", "partition", "p16"}).exit_code, 3);
}

TEST_F(PodsCommands, CreateWaitsUntilThePartitionCanBeUsed) {
  server_.setConfigureDelay(std::chrono::seconds(5));
  EXPECT_EQ(popctl({"create", "partition", "p", "--size", "4"}).exit_code, 0);
  EXPECT_EQ(server_.partition("p")->vipu_state(), "ACTIVE/IDLE");
}

TEST_F(PodsCommands, FilesOfOthersStay) {
  ASSERT_EQ(popctl({"create", "partition", "p", "--size", "4"}).exit_code, 0);
  ASSERT_EQ(popctl({"create", "partition", "p_gcd0", "--size", "4"}).exit_code, 0);
  ASSERT_EQ(popctl({"create", "partition", "q", "--size", "4", "--no-ipuof-files"}).exit_code, 0);
  EXPECT_FALSE(hasFile("q_gcd0_ipuof.conf"));
  EXPECT_EQ(popctl({"delete", "partition", "p"}).out, "delete partition (p): success.\n");
  EXPECT_FALSE(hasFile("p_gcd0_ipuof.conf"));
  EXPECT_TRUE(hasFile("p_gcd0_gcd0_ipuof.conf"));
}

TEST_F(PodsCommands, APartitionIsASystemToSimulate) {
  ASSERT_EQ(popctl({"create", "partition", "p", "--size", "16"}).exit_code, 0);
  const Outcome system = popctl({"get", "partition", "p", "--system"});
  EXPECT_THAT(system.out,
              StartsWith("system p; ilds 1; machines 4; machines-per-gateway 1; topology mesh; "));
  const std::string path = home_.path() + "/p.system";
  std::ofstream(path) << system.out;
  EXPECT_THAT(runAs("poprun", {"simulate", "--all-reduce", "1MB", "--system", path}, "").out,
              HasSubstr("on p, 16 replicas"));
  EXPECT_EQ(popctl({"get", "partition", "p", "--system", "--json"}).exit_code, 2);
  EXPECT_EQ(popctl({"get", "partition", "q", "--system"}).exit_code, 3);
}

TEST_F(PodsCommands, WhatCannotBeIsRefusedInTheServersWords) {
  const Outcome odd = popctl({"create", "partition", "p", "--size", "3"});
  EXPECT_EQ(odd.exit_code, 1);
  EXPECT_THAT(odd.err, AllOf(StartsWith("create partition (p): failed: "), HasSubstr("power of two")));
  EXPECT_EQ(popctl({"create", "partition", "p"}).exit_code, 2);
  EXPECT_EQ(popctl({"create", "partition", "p", "--size", "4", "--routing", "odd"}).exit_code, 2);
  EXPECT_EQ(popctl({"remove", "partition", "p"}).exit_code, 3);
  EXPECT_EQ(popctl({"get", "partition", "p", "--gcd", "0"}).exit_code, 2);
}

TEST_F(PodsCommands, AnIndexIsABlockOfIpus) {
  ASSERT_EQ(popctl({"create", "partition", "p", "--size", "8", "--index", "3"}).exit_code, 0);
  EXPECT_EQ(server_.partition("p")->ipus(0).ipu(), 24);
  EXPECT_EQ(popctl({"create", "partition", "q", "--size", "8", "--index", "3"}).exit_code, 1);
  const Outcome beyond = popctl({"create", "partition", "q", "--size", "8", "--index", "8"});
  EXPECT_EQ(beyond.exit_code, 1);
  EXPECT_THAT(beyond.err, HasSubstr("--index 8"));
}

TEST_F(PodsCommands, JsonIsTheServersAnswer) {
  ASSERT_EQ(popctl({"create", "partition", "p", "--size", "4"}).exit_code, 0);
  EXPECT_TRUE(holds(popctl({"list", "partitions", "--json"}).out,
                    "j[\"partitions\"][0][\"spec\"][\"num_gcds\"] == 1"));
  EXPECT_TRUE(holds(popctl({"get", "partition", "p", "--json"}).out, "j[\"owner\"] == \"root\""));
  EXPECT_TRUE(holds(popctl({"get", "partition", "p", "--ipuof-configs", "--json"}).out,
                    "len(j[\"gcd_configs\"][0][\"devices\"]) == 4"));
  EXPECT_TRUE(holds(popctl({"list", "ipu-attrs", "--json"}).out, "len(j[\"entries\"]) == 16"));
  for (const char* noun : {"clusters", "agents", "allocations"})
    EXPECT_TRUE(holds(popctl({"list", noun, "--json"}).out, std::string("j[\"") + noun + "\"]"));
  EXPECT_TRUE(holds(popctl({"remove", "partition", "p", "--json"}).out, "j == {}"));
}

TEST_F(PodsCommands, AClusterIsMadeAndTakenApart) {
  EXPECT_EQ(popctl({"create", "cluster", "c", "--num-ilds", "2", "--machines-per-ild", "1"}).out,
            "create cluster (c): success.\n");
  for (const char* agent : {"a0", "a1"})
    EXPECT_EQ(popctl({"create", "agent", agent, "--cluster", "c", "--host", "h1"}).exit_code, 0);
  EXPECT_EQ(popctl({"create", "agent", "a2", "--cluster", "c"}).exit_code, 1);  // no place is free
  EXPECT_EQ(popctl({"create", "agent", "a2"}).exit_code, 1);                    // which cluster?
  EXPECT_EQ(popctl({"create", "allocation", "x", "--cluster", "c", "--agents", "a0,a1"}).out,
            "create allocation (x): success.\n");
  EXPECT_THAT(popctl({"list", "allocations"}).out, HasSubstr("a0 a1\n"));
  EXPECT_EQ(popctl({"drain", "agent", "a1", "--reason", "new fan"}).out, "drain agent (a1): success.\n");
  EXPECT_THAT(popctl({"list", "agents", "--cluster", "c"}).out,
              AllOf(ContainsRegex("a1 .* Drained .* new fan"), ContainsRegex("a0 .* Up")));
  EXPECT_EQ(popctl({"resume", "agent", "a1"}).exit_code, 0);
  EXPECT_EQ(popctl({"remove", "cluster", "c"}).exit_code, 1);  // it has agents
  EXPECT_EQ(popctl({"remove", "allocation", "x"}).exit_code, 0);
  for (const char* agent : {"a0", "a1"}) EXPECT_EQ(popctl({"remove", "agent", agent}).exit_code, 0);
  EXPECT_EQ(popctl({"remove", "cluster", "c"}).exit_code, 0);
}

TEST_F(PodsCommands, VipusNamesTakeItsOptions) {
  const Outcome version = vipu({"--server-version"});
  EXPECT_EQ(version.exit_code, 0) << version.err;
  EXPECT_EQ(version.out, "version: 0.1.0\nhost: 127.0.0.1:" + server_.port() + "\n");
  EXPECT_EQ(vipu({"create", "partition", "p", "--size", "4", "--api-user-id", "alice"}).out,
            "create partition (p): success.\n");
  EXPECT_THAT(vipu({"list", "partition"}, "vipu-admin").out, HasSubstr("ACTIVE"));
  EXPECT_THAT(vipu({"get", "partition", "p", "--ipuof-configs"}).out, Not(StartsWith("{")));
  EXPECT_EQ(vipu({"--version"}, "vipu-cli").exit_code, 0);
}

TEST_F(PodsCommands, VipusConfigurationFileNamesTheServer) {
  const std::string path = home_.path() + "/alice.hcl";
  std::ofstream(path) << "api-host=\"127.0.0.1\"\napi-port=\"" << server_.port() << "\"\n";
  EXPECT_EQ(runAs("names/vipu", {"--config", path, "list", "partitions"}, "").exit_code, 0);
  EXPECT_EQ(runAs("names/vipu", {"--config", path + "x", "list", "partitions"}, "").exit_code, 2);
}

// The calls of poptorch's manager of partitions.
TEST_F(PodsCommands, VipuCliAnswersInArrays) {
  const auto cli = [this](Words words) {
    words.insert(words.begin(), {"-a", "--showjson"});
    return vipu(words, "vipu-cli");
  };
  EXPECT_EQ(cli({"create", "partition", "p", "--size", "8", "--num-gcds", "2", "--gcd-sync-replicas", "2"})
                .exit_code,
            0);
  EXPECT_TRUE(
      holds(cli({"list", "cluster"}).out, "len(j[0][\"spec\"][\"ipu_link_domains\"][0][\"ipus\"]) == 64"));
  const std::string partitions = cli({"list", "partition"}).out;
  EXPECT_TRUE(holds(partitions, "len(j[0][\"partition\"][\"spec\"][\"ipus\"]) == 8"));
  EXPECT_TRUE(holds(partitions, "j[0][\"partition\"][\"spec\"][\"num_replicas\"] == 2"));
  EXPECT_EQ(cli({"delete", "partition", "p"}).exit_code, 0);
}

/// The process of poprun-daemon that holds a job's partition until letGo().
class Holder {
 public:
  Holder(PoprunSetup setup, const daemon::PartitionOrder& order) : input_(sys::makePipe().value()) {
    EXPECT_TRUE(daemon::send(input_.write_end.get(), order).ok());
    setup.descriptors = {{0, input_.read_end.get()}};
    process_.emplace(setup);
    input_.read_end.reset();
  }
  PoprunProcess& process() { return *process_; }
  void letGo() { input_.write_end.reset(); }
  Outcome outcome() {
    letGo();
    const int exit_code = process_->wait();
    return {.exit_code = exit_code, .out = process_->out(), .err = process_->err()};
  }

 private:
  sys::Pipe input_;
  std::optional<PoprunProcess> process_;
};

/// A partition of four IPUs that stays when the job has ended.
daemon::PartitionOrder orderFor(const std::string& port, const std::string& partition) {
  daemon::PartitionOrder order{.job = {}, .holder = "poprun 4711 on h0"};
  order.job.num_replicas = 4;
  order.job.partition = {.name = partition, .server_host = "127.0.0.1", .remove = false};
  order.job.partition.server_port = std::stoi(port);
  return order;
}

TEST_F(PodsCommands, AJobsPartitionIsMadeHeldAndRemoved) {
  const auto held = [this](const daemon::PartitionOrder& order) {
    return Holder(setupOf("poprun-daemon", {"--hold-partition"}, ""), order).outcome();
  };
  const daemon::PartitionOrder order = orderFor(server_.port(), "p");
  daemon::PartitionOrder removed = order;
  removed.job.partition.remove = true;
  const Outcome made = held(removed);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, StartsWith("p made\nsystem p; ilds 1; machines 1;"));
  EXPECT_FALSE(server_.partition("p").has_value());

  EXPECT_EQ(held(order).exit_code, 0);
  const Outcome again = held(removed);
  EXPECT_THAT(again.out, StartsWith("p\nsystem p;")) << again.err;
  ASSERT_TRUE(server_.partition("p").has_value()) << "it was there before";
  EXPECT_EQ(server_.partition("p")->holder(), "") << "the next job finds it free";

  const Outcome only = held(orderFor(server_.port(), ""));
  EXPECT_THAT(only.err, HasSubstr("Using V-IPU partition p as it is the only one available"));
  daemon::PartitionOrder larger = order;
  larger.job.num_replicas = 8;
  EXPECT_EQ(held(larger).exit_code, 1);
  larger.job.partition.update = true;
  EXPECT_EQ(held(larger).exit_code, 0);
  EXPECT_EQ(server_.partition("p")->size(), 8);
}

TEST_F(PodsCommands, AHolderWithoutAnOrderSaysWhatToUse) {
  const Outcome empty = runAs("poprun-daemon", {"--hold-partition"}, "");
  EXPECT_EQ(empty.exit_code, 125);
  EXPECT_THAT(empty.err, HasSubstr("poprun --vipu-partition"));
}

TEST_F(PodsCommands, AHolderWaitsForAPopdistdThatIsBeingRestartedToRemoveWhatItMade) {
  daemon::PartitionOrder order = orderFor(server_.port(), "p");
  order.job.partition.remove = true;
  order.job.partition.server_timeout_seconds = 20;
  Holder holder(setupOf("poprun-daemon", {"--hold-partition"}, ""), order);
  ASSERT_TRUE(holder.process().waitFor([&] { return holder.process().out().starts_with("p made\n"); }));
  server_.stop();
  holder.letGo();
  server_.start();
  EXPECT_EQ(holder.process().wait(), 0);
  EXPECT_EQ(holder.process().err(), "");
  EXPECT_FALSE(server_.partition("p").has_value());
}

TEST_F(PodsCommands, AHolderGivesUpItsAttemptsWithItsPoprun) {
  const PoprunSetup setup = setupOf("poprun-daemon", {"--hold-partition"}, "");
  daemon::PartitionOrder order = orderFor(server_.port(), "p");
  Holder first(setup, order);
  ASSERT_TRUE(first.process().waitFor([&] { return first.process().out().starts_with("p made\n"); }));
  order.job.partition.attempts = 1000;
  EXPECT_NE(Holder(setup, order).outcome().exit_code, 0) << "its stdin is at its end";
  EXPECT_NE(server_.partition("p")->holder(), "");
  first.letGo();
  EXPECT_EQ(first.process().wait(), 0);
}

Words inPartition(const std::string& port, const Words& options) {
  Words words{"--num-instances", "2", "--ipus-per-replica", "2", "--vipu-server-port", port};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

TEST_F(PodsCommands, PoprunRunsAJobInItsPartition) {
  const auto poprun = [this](const Words& options) {
    return runAs("poprun", inPartition(server_.port(), options), "");
  };
  const std::string shows =
      "echo $IPUOF_VIPU_API_PARTITION_ID $IPUOF_VIPU_API_GCD_ID of $IPUOF_VIPU_API_PORT";
  const Outcome made = poprun({"--vipu-partition", "p", "sh", "-c", shows});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  for (const char* gcd : {"p 0 of ", "p 1 of "}) EXPECT_THAT(made.out, HasSubstr(gcd + server_.port()));
  EXPECT_FALSE(server_.partition("p").has_value()) << "it was made for the job";

  const Outcome kept =
      poprun({"--vipu-partition", "p", "--remove-partition", "no", "-v", "sh", "-c", "exit 3"});
  EXPECT_EQ(kept.exit_code, 3) << "the job's own";
  EXPECT_THAT(kept.err, HasSubstr("Creating V-IPU partition p"));
  ASSERT_TRUE(server_.partition("p").has_value());
  EXPECT_TRUE(isFreeSoon("p"));

  const Outcome only = poprun({"sh", "-c", shows});
  EXPECT_THAT(only.out, HasSubstr("p 0 of ")) << only.err;
  EXPECT_THAT(only.err, HasSubstr("Using V-IPU partition p as it is the only one available"));
  ASSERT_TRUE(server_.partition("p").has_value()) << "it was there before";
}

TEST_F(PodsCommands, PoprunCleansUpAfterAHolderThatWasKilled) {
  PoprunSetup setup = setupOf("poprun", inPartition(server_.port(), {"--vipu-partition", "p"}), "");
  setup.program.clear();
  setup.child = {"wait"};
  PoprunProcess poprun(setup);
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  const pid_t holder = childNamed(poprun.pid(), "poprun-daemon");
  ASSERT_GT(holder, 0);
  const sys::Fd end = sys::endOf(holder);
  ASSERT_EQ(::kill(holder, SIGKILL), 0);
  pollfd ended{end.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 20000), 1);
  for (const pid_t each : instances) ::kill(each, SIGUSR1);
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_THAT(poprun.err(), HasSubstr("ended before the job"));
  EXPECT_FALSE(server_.partition("p").has_value());
}

TEST_F(PodsCommands, PoprunSaysWhyThereIsNoPartition) {
  const auto poprun = [this](const Words& options) {
    return runAs("poprun", inPartition(server_.port(), options), "");
  };
  const Outcome none = poprun({"echo", "ran"});
  EXPECT_EQ(none.exit_code, 125);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("name one with --vipu-partition"));
  const Outcome large = poprun({"--vipu-partition", "p", "--ipus-per-replica", "64", "echo", "ran"});
  EXPECT_EQ(large.exit_code, 125);
  EXPECT_EQ(large.out, "");
  const Outcome nobody =
      runAs("poprun", {"--vipu-server-port", "1", "--vipu-server-timeout", "1", "true"}, "");
  EXPECT_EQ(nobody.exit_code, 125);
  EXPECT_THAT(nobody.err, HasSubstr("localhost:1"));
  const Outcome detached = poprun({"--detach", "--vipu-partition", "p", "true"});
  EXPECT_THAT(detached.err, HasSubstr("--controller"));
}

TEST_F(OnVipusServer, AJobsPartitionIsUsedWithoutBeingHeld) {
  daemon::PartitionOrder order = orderFor(server_.port(), "p");
  order.job.partition.remove = true;
  const Outcome used = Holder(setupOf("poprun-daemon", {"--hold-partition"}, ""), order).outcome();
  EXPECT_THAT(used.out, StartsWith("p made\n")) << used.err;
  EXPECT_FALSE(server_.partition("p").has_value());
}

TEST_F(OnVipusServer, PartitionsAreMadeButNotWhatTheyAreMadeFrom) {
  EXPECT_EQ(popctl({"create", "partition", "p", "--size", "4"}).exit_code, 0);
  EXPECT_THAT(popctl({"get", "partition", "p"}).out, HasSubstr("ACTIVE"));
  EXPECT_TRUE(holds(popctl({"get", "partition", "p", "--json"}).out, "j[\"id\"] == \"p\""));
  const Outcome clusters = popctl({"list", "clusters"});
  EXPECT_EQ(clusters.exit_code, 1);
  EXPECT_THAT(clusters.err, HasSubstr("not popdistd"));
}

}  // namespace
}  // namespace pop::testing
