// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/scaling_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "libpopdist/trace/recorder.h"

namespace popdist::train {
namespace {

using pop::scaling::Outside;
using Clock = std::chrono::steady_clock;

// Up to where the life of this process is in a row: at first, when libpopdist was loaded. So imports and the
// reading of data count for the trainer that follows, and nothing counts twice.
std::atomic<Clock::rep> accounted{Clock::now().time_since_epoch().count()};

Clock::time_point beginOfThis() {
  return Clock::time_point(Clock::duration(accounted.load()));
}

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double secondsOf(SimulatedTime time) {
  return std::chrono::duration<double>(time).count();
}

std::string pathFor(const Context& context) {
  const char* const path = std::getenv("POPDIST_SCALING_LOG");
  return path != nullptr && context.instanceIndex() == 0 ? path : "";
}

void complain(const std::string& path, const char* cause) {
  std::fprintf(stderr, "libpopdist: cannot append to %s, which POPDIST_SCALING_LOG names: %s\n",
               pop::inQuotes(path).c_str(), cause);
}

}  // namespace

ScalingLog::Run::Run(ScalingLog& log, const Progress& progress, std::uint64_t micro_batch)
    : log_(log), progress_(progress), collectives_(log.collectiveTime()) {
  log.row_.micro_batch = static_cast<std::int64_t>(micro_batch);
  Outside& outside = log.row_.outside;
  if (std::exchange(log.has_run_, true)) return;
  outside.start = secondsSince(log.begin_) - outside.checkpoints - outside.evaluations;
  trace::add(trace::Kind::kTraining, "start", log.begin_, Clock::now());
}

ScalingLog::Run::~Run() {
  pop::scaling::Seconds& seconds = log_.row_.seconds;
  const std::uint64_t updates = progress_.updates + progress_.skipped;
  log_.row_.updates += static_cast<std::int64_t>(updates);
  if (log_.pod_ != nullptr) {
    log_.row_.pod.collectives += secondsOf(log_.collectiveTime() - collectives_);
    log_.row_.pod.all_reduce_estimate +=
        secondsOf(log_.pod_->allReduceEstimate(log_.gradient_bytes_)) * static_cast<double>(updates);
  }
  seconds.all += secondsSince(begin_);
  seconds.input += progress_.seconds.input;
  seconds.step += progress_.seconds.step;
  seconds.reduction += progress_.seconds.reduction;
  seconds.update += progress_.seconds.update;
}

ScalingLog::Part::~Part() {
  seconds_ += secondsSince(begin_);
  trace::add(trace::Kind::kTraining, phase_, begin_, Clock::now());
}

ScalingLog::ScalingLog(Strategy& strategy, int accumulation, std::size_t gradient_bytes)
    : pod_(strategy.simulatedPod()),
      gradient_bytes_(gradient_bytes),
      path_(pathFor(strategy.context())),
      row_{.replicas = strategy.numReplicas(),
           .instances = strategy.context().numInstances(),
           .accumulation = accumulation},
      begin_(beginOfThis()) {}

ScalingLog::~ScalingLog() {
  row_.seconds.constant = std::max(0.0, secondsSince(begin_) - row_.seconds.all);
  accounted = Clock::now().time_since_epoch().count();
  if (path_.empty()) return;
  try {
    write();
  } catch (const std::exception& error) {  // no memory
    complain(path_, error.what());
  }
}

SimulatedTime ScalingLog::collectiveTime() const {
  return pod_ == nullptr ? SimulatedTime(0) : pod_->collectiveTime();
}

void ScalingLog::write() {
  const std::string line = pop::scaling::lineOf(row_);
  // Not blocking: a pipe without a reader is an error.
  const pop::sys::Fd file(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file.valid()) return complain(path_, std::strerror(errno));
  const ssize_t written = ::write(file.get(), line.data(), line.size());
  if (written < 0) return complain(path_, std::strerror(errno));
  if (static_cast<std::size_t>(written) < line.size()) complain(path_, "only a part of the line was written");
}

}  // namespace popdist::train
