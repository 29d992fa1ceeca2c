// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common/base/json.h"
#include "common/base/text.h"
#include "scaling/advice.h"
#include "scaling/report.h"

namespace pop::scaling {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? numberText(value) : "null";
}

template <typename Item, typename Function>
std::string arrayOf(const std::vector<Item>& items, const Function& textOfItem) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ",") + textOfItem(item);
  return '[' + text + ']';
}

std::string configuration(const Configuration& c) {
  JsonObject parts;
  parts.json("all", number(c.perUpdate(c.seconds.all)))
      .json("input", number(c.perUpdate(c.seconds.input)))
      .json("step", number(c.perUpdate(c.seconds.step)))
      .json("reduction", number(c.perUpdate(c.seconds.reduction)))
      .json("update", number(c.perUpdate(c.seconds.update)))
      .json("loop", number(c.perUpdate(c.loop())));
  JsonObject phases;
  phases.json("training", number(c.seconds.all / c.runs))
      .json("constant", number(c.seconds.constant / c.runs))
      .json("start", number(c.outside.start / c.runs))
      .json("checkpoints", number(c.outside.checkpoints / c.runs))
      .json("evaluations", number(c.outside.evaluations / c.runs));
  return JsonObject()
      .number("replicas", c.replicas)
      .number("instances", c.instances)
      .number("micro_batch", c.micro_batch)
      .number("accumulation", c.accumulation)
      .number("runs", c.runs)
      .json("updates", number(c.updates))
      .json("samples_per_second", number(c.samplesPerSecond()))
      .json("slowest_samples_per_second", number(c.slowest))
      .json("quickest_samples_per_second", number(c.quickest))
      .json("seconds_per_sample", number(c.secondsPerSample()))
      .json("seconds_per_update", parts.str())
      .json("seconds_per_run", phases.str())
      .str();
}

std::string point(const Point& point) {
  return JsonObject()
      .number("replicas", point.measured.replicas)
      .number("instances", point.measured.instances)
      .number("micro_batch", point.measured.micro_batch)
      .number("accumulation", point.measured.accumulation)
      .json("batch", number(point.measured.batch()))
      .json("measured_samples_per_second", number(point.measured.samplesPerSecond()))
      .json("theoretical_samples_per_second", number(point.theoretical))
      .json("linear_samples_per_second", number(point.linear))
      .json("efficiency", number(point.efficiency))
      .json("micro_batch_seconds", number(point.own.constants.micro_batch_s))
      .json("exchange_seconds", number(point.own.constants.exchange_s))
      .json("pod_exchange_seconds", number(point.measured.perUpdate(point.measured.pod.collectives)))
      .json("pod_all_reduce_estimate_seconds",
            number(point.measured.perUpdate(point.measured.pod.all_reduce_estimate)))
      .boolean("constants_are_fit", point.own.is_fit)
      .str();
}

std::string change(const Change& change) {
  return JsonObject()
      .text("component", nameOf(change.component))
      .text("per", change.component == Component::kConstant ? "run" : "sample")
      .json("seconds_with_fewest_replicas", number(change.before_s))
      .json("seconds_with_most_replicas", number(change.after_s))
      .text("growth", nameOf(change.growth))
      .str();
}

std::string jsonOfLaws(const Laws& laws) {
  return JsonObject()
      .json("factor", number(laws.factor))
      .json("constant_share", number(laws.constant_share))
      .json("amdahl_speedup", number(amdahlSpeedup(laws.constant_share, laws.factor)))
      .json("amdahl_limit", number(amdahlLimit(laws.constant_share)))
      .json("gustafson_speedup", number(gustafsonSpeedup(laws.constant_share, laws.factor)))
      .json("measured_speedup", number(laws.measured_speedup))
      .str();
}

std::string jsonOfOutlook(const Outlook& next) {
  return JsonObject()
      .number("replicas", next.replicas)
      .json("batch_grows_samples_per_second", number(next.growing))
      .json("batch_stays_samples_per_second", next.kept ? number(*next.kept) : "null")
      .str();
}

}  // namespace

std::string reportJson(const Analysis& analysis) {
  const auto remark = [](const std::string& text) { return jsonQuoted(text); };
  const auto advice = [](const Advice& each) {
    return JsonObject().text("topic", nameOf(each.topic)).text("text", each.text).str();
  };
  return JsonObject()
             .json("configurations", arrayOf(analysis.configurations, configuration))
             .number("runs_without_updates", static_cast<std::int64_t>(analysis.without_updates.size()))
             .json("replicas", arrayOf(analysis.points, point))
             .json("components", arrayOf(analysis.changes, change))
             .json("laws", analysis.laws ? jsonOfLaws(*analysis.laws) : "null")
             .json("outlook", arrayOf(analysis.outlook, jsonOfOutlook))
             .json("remarks", arrayOf(analysis.remarks, remark))
             .json("advice", arrayOf(adviceFor(analysis), advice))
             .str() +
         '\n';
}

}  // namespace pop::scaling
