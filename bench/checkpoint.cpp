// SPDX-License-Identifier: Apache-2.0
// Measures what a checkpoint of 256 MiB costs a training: how long save() stops it, beside one copy of the
// state; when it is on the disk, beside a plain write of as many bytes; and what is left of the rate of a
// loop that keeps both cores busy. Beside it PyTorch's torch.save, which stops the training until it is done.
// JSON lines on stdout, tables on stderr. It only reports: its exit code does not depend on the figures.
//   bench_checkpoint [DIRECTORY]   on the disk to measure; without it, where temporary files go
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/command.h"
#include "bench/harness/options.h"
#include "bench/harness/results.h"
#include "bench/harness/session.h"
#include "bench/harness/turn.h"
#include "common/sys/fd.h"
#include "popdist/checkpoint.hpp"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"

namespace pop::bench {
namespace {

namespace train = popdist::train;
using popdist::testing::ThreadGroup;

constexpr std::size_t kMib = std::size_t{1} << 20U;
constexpr std::size_t kStateMib = 256;
constexpr int kRounds = 9;
constexpr int kLoopRounds = 7;
constexpr std::chrono::seconds kWindow{4};  // of the loop, with and without saves
constexpr std::chrono::seconds kBetweenSaves{2};
constexpr const char* kPython = "/usr/bin/python3";  // Debian's, which has python3-torch

popdist::Tensors stateOf(std::size_t mib) {
  std::vector<popdist::Tensor> tensors;
  for (int i = 0; i < 16; ++i)
    tensors.push_back(popdist::Tensor::full("layer." + std::to_string(i), {mib * kMib / 64}, 0.5F));
  return popdist::Tensors(std::move(tensors));
}

/// As a program would copy its state by hand: to memory that has been used before.
double copySeconds(const popdist::Tensors& state, std::vector<std::byte>& into) {
  const auto begin = Clock::now();
  std::size_t at = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::memcpy(into.data() + at, state.at(i).bytes().data(), state.at(i).bytes().size());
    at += state.at(i).bytes().size();
  }
  return secondsSince(begin);
}

/// Write time of a new file, past the page cache, and fsync. 0: the file system refuses.
double rawWriteSeconds(const std::string& path) {
  constexpr std::size_t kBytes = kStateMib * kMib;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  const auto* const bytes = static_cast<const std::byte*>(memory);
  const auto begin = Clock::now();
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600));
  bool is_written = file.valid();
  for (std::size_t at = 0; at < kBytes && is_written; at += 4 * kMib)
    is_written =
        ::pwrite(file.get(), bytes + at, 4 * kMib, static_cast<off_t>(at)) == static_cast<ssize_t>(4 * kMib);
  is_written = is_written && ::fsync(file.get()) == 0;
  const double seconds = secondsSince(begin);
  ::munmap(memory, kBytes);
  ::unlink(path.c_str());
  return is_written ? seconds : 0;
}

struct Saves {
  std::vector<double> copy, pause, durable, raw, load;
};

/// One instance with the whole state; contestants take turns.
Saves measureSaves(const std::string& directory) {
  Saves saves;
  popdist::Tensors state = stateOf(kStateMib);
  std::vector<std::byte> copy(kStateMib * kMib, std::byte{1});
  const auto pieces = train::Piece::of(state);
  train::Checkpoints checkpoints(popdist::Context::fromEnvironment(),
                                 {.directory = directory + "/saves", .keep = 1});
  checkpoints.prepare(pieces);
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    showProgress("saves, round " + std::to_string(round));
    saves.copy.push_back(copySeconds(state, copy));
    saves.raw.push_back(rawWriteSeconds(directory + "/raw"));
    const auto begin = Clock::now();
    checkpoints.save(pieces, {.step = round});
    saves.pause.push_back(secondsSince(begin));
    checkpoints.wait();
    saves.durable.push_back(secondsSince(begin));
    const auto loading = Clock::now();
    train::Checkpoint::newest(directory + "/saves").load(pieces);
    saves.load.push_back(secondsSince(loading));
  }
  return saves;
}

/// A step of a training: what one core computes in about a millisecond, then a sum over both instances.
void trainStep(popdist::Context& context, std::vector<float>& values, std::vector<float>& gradient) {
  for (int pass = 0; pass < 64; ++pass)
    for (float& value : values) value = value * 0.999F + 0.001F;
  context.world().allReduce(values.data(), gradient.data(), gradient.size(), popdist::Type::kFloat);
}

/// Steps a second of two instances that keep both cores busy; every save is of 2 x 128 MiB.
double stepsPerSecond(popdist::Context& context, train::Checkpoints* checkpoints,
                      std::span<const train::Piece> pieces, std::uint64_t& saved) {
  std::vector<float> values(16 * 1024, 1.0F);
  std::vector<float> gradient(4 * 1024);
  std::uint64_t steps = 0;
  context.world().barrier();
  const auto begin = Clock::now();
  auto next = begin;
  int is_over = 0;
  while (is_over == 0) {
    trainStep(context, values, gradient);
    // Instance 0's clock decides for both.
    int word = Clock::now() - begin >= kWindow ? 1 : Clock::now() >= next ? 2 : 0;
    context.world().broadcast(&word, 1, popdist::Type::kInt32, 0);
    is_over = word & 1;
    if (word == 2) {
      next += kBetweenSaves;
      if (checkpoints != nullptr) checkpoints->save(pieces, {.step = ++saved});
    }
    ++steps;
  }
  return static_cast<double>(steps) / secondsSince(begin);
}

struct Loops {
  std::vector<double> without, with;
};

Loops measureLoops(const std::string& directory) {
  Loops loops;
  std::vector<popdist::Tensors> states;
  for (int instance = 0; instance < 2; ++instance) states.push_back(stateOf(kStateMib / 2));
  for (int round = 1; round <= kLoopRounds; ++round) {
    showProgress("loops, round " + std::to_string(round));
    ThreadGroup(2).run([&](popdist::Context& context) {
      const auto instance = static_cast<std::size_t>(context.instanceIndex());
      std::vector<train::Piece> pieces = train::Piece::of(states[instance]);
      for (train::Piece& piece : pieces) piece.name += "/" + std::to_string(instance);
      train::Checkpoints checkpoints(context,
                                     {.directory = directory + "/loop" + std::to_string(round), .keep = 1});
      checkpoints.prepare(pieces);
      std::uint64_t saved = 0;
      const double without = stepsPerSecond(context, nullptr, pieces, saved);
      const double with = stepsPerSecond(context, &checkpoints, pieces, saved);
      checkpoints.wait();
      if (instance != 0) return;
      loops.without.push_back(without);
      loops.with.push_back(with);
      record(JsonLine("loop").add("steps_per_s_without", without).add("steps_per_s_with", with));
    });
    std::filesystem::remove_all(directory + "/loop" + std::to_string(round));
  }
  return loops;
}

struct Peer {
  std::vector<double> save, durable;
};

Peer measurePeer(const std::string& directory) {
  Peer peer;
  showProgress("torch.save");
  const Result<RunResult> run = pop::bench::run({.argv = {kPython, "-B", TORCH_SAVE_PROGRAM, directory,
                                                          std::to_string(kStateMib), std::to_string(kRounds)},
                                                 .time_limit = std::chrono::minutes(3)});
  if (const std::string why = failureOf(run); !why.empty()) {
    record(JsonLine("failure").add("contestant", "torch.save").add("why", why));
    return peer;
  }
  std::istringstream lines(run.value().output);
  for (double save = 0, durable = 0; lines >> save >> durable;) {
    peer.save.push_back(save);
    peer.durable.push_back(durable);
  }
  return peer;
}

constexpr const char *kPause = "save() / copy of the state", *kDurable = "complete / raw write and fsync",
                     *kLoop = "loop with a save every 2 s / without";
constexpr FigureGoal kGoals[] = {
    {nullptr, kPause, 1.5}, {nullptr, kDurable, 2}, {nullptr, kLoop, 0.95, true}};

Figure timesOf(const char* contestant, const char* what, std::vector<double> seconds) {
  for (double& each : seconds) {
    record(JsonLine("time").add("what", what).add("seconds", each));
    each *= 1e3;
  }
  return {"256 MiB", contestant, what, "ms", summarize(seconds)};
}

Figure ratioOf(const char* what, const std::vector<double>& above, const std::vector<double>& below) {
  return {"256 MiB", "popdist", what, "", summarize(ratiosOf(above, below))};
}

int benchmark(const std::string& parent) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted);
  beginSession();
  const testing::TempDir directory(parent);
  const Peer peer = measurePeer(directory.path());
  const Saves saves = measureSaves(directory.path());
  const Loops loops = measureLoops(directory.path());
  const std::vector<Figure> figures{timesOf("memcpy", "copy of the state", saves.copy),
                                    timesOf("popdist", "save() returns", saves.pause),
                                    timesOf("disk", "raw write and fsync", saves.raw),
                                    timesOf("popdist", "checkpoint is complete", saves.durable),
                                    timesOf("popdist", "load from the page cache or disk", saves.load),
                                    timesOf("torch.save", "returns", peer.save),
                                    timesOf("torch.save", "and fsync", peer.durable),
                                    ratioOf(kPause, saves.pause, saves.copy),
                                    ratioOf(kDurable, saves.durable, saves.raw),
                                    ratioOf(kLoop, loops.with, loops.without)};
  report("", figures, judge(figures, "popdist", kGoals));
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  return pop::bench::benchmark(argc > 1 ? argv[1] : "");
}
