// SPDX-License-Identifier: Apache-2.0
// Measures how fast the table of partitions creates and removes them, without store and network.
//   bench_partitions [seconds]     64 IPU-Link domains of 64 IPUs with 1,000 living partitions; one JSON line
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/base/json.h"
#include "common/base/random.h"
#include "popdistd/partitions/partition_table.h"

namespace {

using pop::SplitMix64;
using pop::vipu::PartitionTable;
using pop::vipu::Time;
using Clock = std::chrono::steady_clock;

constexpr int kIlds = 64;
constexpr int kLiving = 1000;

void require(const pop::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_partitions: %s\n", status.message().c_str());
  std::exit(1);
}

template <typename T>
void require(const pop::Result<T>& result) {
  require(result.status());
}

void addCluster(PartitionTable& table) {
  require(table.addCluster({.id = "c", .shape = {.ilds = kIlds}}));
  std::vector<std::string> machines;
  for (int number = 0; number < kIlds * pop::vipu::kMaxIldMachines; ++number) {
    pop::vipu::Agent agent{.id = "m" + std::to_string(number), .cluster = "c"};
    agent.ild = number / pop::vipu::kMaxIldMachines;
    agent.position = number % pop::vipu::kMaxIldMachines;
    agent.host = "h" + std::to_string(number / 4);
    machines.push_back(agent.id);
    require(table.addAgent(std::move(agent)));
  }
  require(table.setAllocation({"a", "c", std::move(machines), {}}));
}

void create(PartitionTable& table, const std::string& id, SplitMix64& random, Time now) {
  pop::vipu::CreateRequest request;
  request.requirements.id = id;
  request.requirements.size = 1U << random.below(3);
  request.owner = "bench";
  require(table.create(request, now));
  require(table.configured(id, now));
}

void remove(PartitionTable& table, const std::string& id, Time now) {
  require(table.remove(id, false, now));
  require(table.released(id, now));
}

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::duration<double> limit(argc > 1 ? std::atof(argv[1]) : 2.0);
  SplitMix64 random(1);
  PartitionTable table;
  addCluster(table);
  const Time now{};
  std::vector<std::string> living;
  for (int i = 0; i < kLiving; ++i) {
    living.push_back("p" + std::to_string(i));
    create(table, living.back(), random, now);
  }
  std::int64_t pairs = 0;
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < limit) {
    for (int i = 0; i < 100; ++i, ++pairs) {
      std::string& id = living[random.below(living.size())];
      remove(table, id, now);
      id = "q" + std::to_string(pairs);
      create(table, id, random, now);
    }
  }
  const std::chrono::duration<double> took = Clock::now() - begin;
  pop::JsonObject line;
  line.text("what", "create, configured, remove, released").number("ipus", kIlds * pop::vipu::kMaxIldIpus);
  line.number("living", kLiving).number("pairs", pairs);
  line.number("pairs_per_s", static_cast<std::int64_t>(static_cast<double>(pairs) / took.count()));
  std::printf("%s\n", line.str().c_str());
  return 0;
}
