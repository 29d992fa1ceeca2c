// SPDX-License-Identifier: Apache-2.0
// Measures how quickly an infeed gives shuffled batches of a file of records, beside one thread that only
// copies the same records, and beside PyTorch's DataLoader with no worker and with two. All read the same
// file, from the page cache. JSON lines on stdout, tables on stderr. It only reports: its exit code does not
// depend on the figures.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/command.h"
#include "bench/harness/options.h"
#include "bench/harness/results.h"
#include "bench/harness/session.h"
#include "bench/harness/turn.h"
#include "libpopdist/data/dataset/permutation.h"
#include "libpopdist/data/formats/records.h"
#include "popdist/io.hpp"

namespace pop::bench {
namespace {

namespace io = popdist::io;

constexpr int kRounds = 3;
constexpr std::size_t kFileBytes = std::size_t{256} << 20U;
constexpr const char* kPython = "/usr/bin/python3";  // Debian's, which has python3-torch

struct Case {
  std::size_t sample_bytes;
  std::size_t batch;
};
const Case kCases[] = {{1024, 256}, {16 * 1024, 128}, {64 * 1024, 64}, {1024 * 1024, 16}};

constexpr const char *kBesidePeer = "times the better DataLoader", *kBesideCopy = "times one thread's copy",
                     *kWait = "next() of a batch that is read";
constexpr FigureGoal kGoals[] = {{"1024 B", kBesidePeer, 8, true},  {"16384 B", kBesidePeer, 2.5, true},
                                 {"65536 B", kBesidePeer, 2, true}, {"1048576 B", kBesidePeer, 1.5, true},
                                 {nullptr, kBesideCopy, 0.7, true}, {nullptr, kWait, 5}};

void writeFile(const std::string& path, std::size_t sample_bytes) {
  const std::size_t samples = kFileBytes / sample_bytes;
  io::writeRecords(
      io::Dataset::fromGenerator({{"x", popdist::Type::kUint8, {sample_bytes}}},
                                 [=](std::uint64_t) -> io::Generator {
                                   return [=, next = std::size_t{0}](popdist::TensorRefs sample) mutable {
                                     if (next == samples) return false;
                                     std::memset(sample.data()[0], static_cast<int>(next++), sample_bytes);
                                     return true;
                                   };
                                 }),
      path);
}

/// Pages that nobody has used for seconds may be taken away; the peer's epoch comes right after another one,
/// too.
void touch(const io::RecordFile& file) {
  std::vector<std::byte> page(4096);
  for (std::size_t at = 0; at + page.size() <= kFileBytes; at += page.size())
    std::memcpy(page.data(), file.record(0) + at, page.size());
}

/// GB/s of one thread that copies all records, in a shuffled order, into a batch.
double copyRate(const io::RecordFile& file, const Case& each, std::uint64_t epoch) {
  const std::uint64_t samples = file.header().elements;
  const io::Permutation order(samples);
  const std::uint64_t key = io::Permutation::keyOf(1, epoch);
  std::vector<std::byte> batch(each.sample_bytes * each.batch);
  std::vector<std::uint64_t> indices(samples);
  for (std::uint64_t i = 0; i < samples; ++i) indices[i] = order.at(i, key);
  touch(file);
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < samples; ++i)
    std::memcpy(batch.data() + i % each.batch * each.sample_bytes, file.record(indices[i]),
                each.sample_bytes);
  return static_cast<double>(kFileBytes) / secondsSince(begin) / 1e9;
}

struct InfeedRun {
  double gb_per_s;
  double wait_us;  // median of next() when the batch has been read already
};

InfeedRun infeedRate(io::Infeed& infeed, std::uint64_t epoch) {
  infeed.start({.epoch = epoch});
  while (infeed.next() != nullptr) {
  }
  infeed.start({.epoch = epoch + 1});
  const auto begin = Clock::now();
  std::size_t bytes = 0;
  while (const popdist::Tensors* batch = infeed.next()) bytes += batch->at(0).bytes().size();
  InfeedRun run{static_cast<double>(bytes) / secondsSince(begin) / 1e9, 0};
  std::vector<double> waits_us;
  infeed.start({.epoch = epoch});
  infeed.next();
  for (int i = 0; i < 40; ++i) {
    const auto computed = Clock::now() + std::chrono::milliseconds(20);  // what a model does meanwhile
    while (Clock::now() < computed) {
    }
    const auto asked = Clock::now();
    if (infeed.next() == nullptr) break;
    waits_us.push_back(secondsSince(asked) * 1e6);
  }
  run.wait_us = summarize(waits_us).median;
  return run;
}

/// GB/s of the second epoch; 0: it failed.
double peerRate(const std::string& path, const Case& each, int workers) {
  const Result<RunResult> run =
      pop::bench::run({.argv = {kPython, "-B", DATALOADER_PROGRAM, path, std::to_string(each.sample_bytes),
                                std::to_string(each.batch), std::to_string(workers)},
                       .time_limit = std::chrono::minutes(3)});
  const std::string why = failureOf(run);
  if (why.empty()) return std::stod(run.value().output);
  record(JsonLine("failure").add("contestant", "dataloader").add("workers", workers).add("why", why));
  return 0;
}

std::vector<Figure> measure(const Case& each, const std::string& directory) {
  const std::string path = directory + "/data.records", size = std::to_string(each.sample_bytes) + " B";
  writeFile(path, each.sample_bytes);
  const auto file = io::RecordFile::open(path);
  io::Infeed infeed(io::Dataset::records(path).shuffle(1).batch(each.batch));
  std::vector<double> ours, waits_us, copies, no_workers, two_workers, better;
  const auto add = [&](std::vector<double>& rates, const char* contestant, double gb_per_s) {
    JsonLine line("rate");
    line.add("contestant", contestant).add("sample_bytes", each.sample_bytes).add("gb_per_s", gb_per_s);
    record(line);
    rates.push_back(gb_per_s);
  };
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    showProgress(size + ", round " + std::to_string(round));
    const InfeedRun run = infeedRate(infeed, round);
    add(ours, "infeed", run.gb_per_s);
    waits_us.push_back(run.wait_us);
    add(copies, "copy", copyRate(file.value(), each, round));
    add(no_workers, "dataloader-0", peerRate(path, each, 0));
    add(two_workers, "dataloader-2", peerRate(path, each, 2));
    better.push_back(std::max(no_workers.back(), two_workers.back()));
  }
  std::filesystem::remove(path);
  return {{size, "infeed", "rate", "GB/s", summarize(ours)},
          {size, "copy", "rate", "GB/s", summarize(copies)},
          {size, "dataloader-0", "rate", "GB/s", summarize(no_workers)},
          {size, "dataloader-2", "rate", "GB/s", summarize(two_workers)},
          {size, "infeed", kWait, "us", summarize(waits_us)},
          {size, "infeed", kBesidePeer, "", summarize(ratiosOf(ours, better))},
          {size, "infeed", kBesideCopy, "", summarize(ratiosOf(ours, copies))}};
}

int benchmark() {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted);
  beginSession();
  const ScratchDirectory scratch;
  std::vector<Figure> figures;
  for (const Case& each : kCases)
    std::ranges::move(measure(each, scratch.install(ownDirectory(), {})), std::back_inserter(figures));
  report("", figures, judge(figures, "infeed", kGoals));
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main() {
  return pop::bench::benchmark();
}
