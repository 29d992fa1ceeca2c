// SPDX-License-Identifier: Apache-2.0
#include "common/base/text.h"
#include "scaling/advice.h"
#include "scaling/figures.h"
#include "scaling/report.h"

namespace pop::scaling {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string runs(const Analysis& analysis) {
  Rows rows{{"replicas", "instances", "micro-batch", "accumulation", "runs", "updates", "samples/s",
             "time per sample", "time of an update"}};
  for (const Configuration& each : analysis.configurations)
    rows.push_back({std::to_string(each.replicas), std::to_string(each.instances),
                    std::to_string(each.micro_batch), std::to_string(each.accumulation),
                    std::to_string(each.runs), std::to_string(static_cast<std::int64_t>(each.updates)),
                    figure(each.samplesPerSecond()), timeText(each.secondsPerSample()),
                    timeText(each.perUpdate(each.seconds.all))});
  return "## Runs\n\n" + tableOf(rows) +
         "\nTime per sample is 1 / throughput and no latency: replicas work side by side. A sample waits for "
         "the "
         "whole update.\n";
}

// The parts of an update; they come to its whole.
std::string parts(const Analysis& analysis) {
  Rows rows{{"replicas", "input", "step", "reduction", "update", "loop", "an update"}};
  for (const Point& point : analysis.points) {
    const Configuration& c = point.measured;
    const auto cell = [&](double part) {
      return timeText(c.perUpdate(part)) + ", " + percentText(part / c.seconds.all);
    };
    rows.push_back({std::to_string(c.replicas), cell(c.seconds.input), cell(c.seconds.step),
                    cell(c.seconds.reduction), cell(c.seconds.update), cell(c.loop()),
                    timeText(c.perUpdate(c.seconds.all))});
  }
  return "\n## Where the time of an update goes\n\n" + tableOf(rows) +
         "\ninput: the host, and the way from it to the device, as far as prefetching did not hide it. step: "
         "the "
         "device,\nwith reductions that overlap it. reduction: between replicas. update: the device. loop: "
         "the "
         "trainer itself.\n";
}

std::string phases(const Analysis& analysis) {
  Rows rows{{"replicas", "start", "training", "checkpoints", "evaluations", "other", "a run"}};
  for (const Point& point : analysis.points) {
    const Configuration& c = point.measured;
    const auto cell = [&](double part) { return timeText(part / c.runs); };
    const double known = c.outside.start + c.outside.checkpoints + c.outside.evaluations;
    rows.push_back({std::to_string(c.replicas), cell(c.outside.start), cell(c.seconds.all),
                    cell(c.outside.checkpoints), cell(c.outside.evaluations),
                    cell(std::max(0.0, c.seconds.constant - known)),
                    cell(c.seconds.all + c.seconds.constant)});
  }
  return "\n## Phases of a run\n\n" + tableOf(rows);
}

std::string throughputs(const Analysis& analysis) {
  Rows rows{{"replicas", "batch", "measured", "theoretical", "linear", "efficiency", "T_MB", "T_AR", "from"}};
  for (const Point& point : analysis.points)
    rows.push_back({std::to_string(point.measured.replicas), figure(point.measured.batch()),
                    figure(point.measured.samplesPerSecond()), figure(point.theoretical),
                    figure(point.linear), percentText(point.efficiency),
                    timeText(point.own.constants.micro_batch_s), timeText(point.own.constants.exchange_s),
                    point.own.is_fit ? "fit" : "parts"});
  return "\n## Throughput, samples/s\n\n" + tableOf(rows) +
         "\nThe model is R * MBS * GA / (GA * T_MB + T_AR). theoretical: with the T_MB of " +
         counted(analysis.points.front().measured.replicas, "replica") +
         ", and no waiting for input.\nfit: T_MB and T_AR come from runs with several accumulations; parts: "
         "from "
         "the measured parts.\n";
}

// The exchange three times: by the usual estimate, on the Pod's clock, and as the host did it.
std::string exchanges(const Analysis& analysis) {
  Rows rows{{"replicas", "estimate", "simulated", "simulated / estimate", "T_AR, measured"}};
  for (const Point& point : analysis.points) {
    const Configuration& c = point.measured;
    if (!(c.pod.collectives > 0 && c.pod.all_reduce_estimate > 0)) continue;
    rows.push_back({std::to_string(c.replicas), timeText(c.perUpdate(c.pod.all_reduce_estimate)),
                    timeText(c.perUpdate(c.pod.collectives)),
                    figure(c.pod.collectives / c.pod.all_reduce_estimate),
                    timeText(point.own.constants.exchange_s)});
  }
  if (rows.size() == 1) return {};
  return "\n## Exchange of an update on the Pod\n\n" + tableOf(rows) +
         "\nestimate: the gradients over the IPU-Links twice; on several Pods also 1/replicas of them over "
         "the "
         "links\nbetween Pods. simulated: the Pod's clock, which adds what a round costs, and counts all "
         "collectives of an update.\nmeasured: on this host, which does in memory what a Pod does over "
         "links.\n";
}

std::string changes(const Analysis& analysis) {
  if (analysis.changes.empty()) return {};
  const auto replicas = [](const Point& point) { return pop::counted(point.measured.replicas, "replica"); };
  Rows rows{{"part", replicas(analysis.points.front()), replicas(analysis.points.back()), "with more"}};
  for (const Change& change : analysis.changes)
    rows.push_back({nameOf(change.component), timeText(change.before_s), timeText(change.after_s),
                    nameOf(change.growth)});
  return "\n## What scales, from " + std::to_string(analysis.points.front().measured.replicas) + " to " +
         replicas(analysis.points.back()) + "\n\n" + tableOf(rows, true) +
         "\nTime per sample; of constant, which is outside of Trainer::run, time per run.\n";
}

std::string laws(const Analysis& analysis) {
  if (!analysis.laws) return {};
  const Laws& laws = *analysis.laws;
  return "\n## Two laws\n\n" + percentText(laws.constant_share) + " of a sample's time with " +
         counted(analysis.points.front().measured.replicas, "replica") +
         " does not shrink as replicas grow. With " + figure(laws.factor) +
         " times the replicas,\n\n- Amdahl's law expects the same work to be " +
         figure(amdahlSpeedup(laws.constant_share, laws.factor)) + " times as quick, and never more than " +
         (laws.constant_share > 0
              ? figure(amdahlLimit(laws.constant_share)) + " times, however many there are"
              : "the replicas allow") +
         ";\n- Gustafson's law expects " + figure(gustafsonSpeedup(laws.constant_share, laws.factor)) +
         " times the work in the same time, if only the part that scales grows;\n- measured is " +
         figure(laws.measured_speedup) + " times the throughput.\n";
}

std::string outlook(const Analysis& analysis) {
  Rows rows{{"replicas", "batch grows, samples/s", "batch stays, samples/s"}};
  for (const Outlook& next : analysis.outlook)
    rows.push_back({std::to_string(next.replicas), figure(next.growing),
                    next.kept ? figure(*next.kept) : "accumulation is too small"});
  return "\n## With more replicas, by the model\n\n" + tableOf(rows) +
         "\nA batch that grows with the replicas may converge more slowly; one that stays exchanges more "
         "often.\n";
}

std::string advice(const Analysis& analysis) {
  std::string text = "\n## What to do, in this order\n\n";
  int number = 0;
  for (const Advice& each : adviceFor(analysis))
    text += std::to_string(++number) + ". **" + nameOf(each.topic) + "** " + each.text + "\n";
  return text;
}

}  // namespace

std::string reportMarkdown(const Analysis& analysis) {
  std::string text = "# Scaling of a training\n\n";
  if (!analysis.points.empty()) {
    text += runs(analysis) + parts(analysis) + phases(analysis) + throughputs(analysis) +
            exchanges(analysis) + changes(analysis) + laws(analysis) + outlook(analysis);
  }
  if (!analysis.remarks.empty()) text += "\n## Remarks\n\n";
  for (const std::string& remark : analysis.remarks) text += "- " + remark + "\n";
  return text + advice(analysis);
}

}  // namespace pop::scaling
