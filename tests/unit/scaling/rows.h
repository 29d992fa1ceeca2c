// SPDX-License-Identifier: Apache-2.0
// Rows of trainings that were never run, from the constants of the model.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "scaling/advice.h"
#include "scaling/analysis.h"

namespace pop::scaling {

/// A run of 100 updates; times are of an update.
struct Made {
  std::int64_t replicas = 1;
  std::int64_t instances = 0;  ///< 0: as many as replicas
  std::int64_t micro_batch = 32;
  std::int64_t accumulation = 4;
  double input = 0;
  double micro_batch_s = 0.01;
  double reduction = 0;
  double update = 0.001;
  double constant = 0;  ///< once per run
  Outside outside{};
};

inline Row rowOf(const Made& made) {
  constexpr double kUpdates = 100;
  Row row{.replicas = made.replicas,
          .instances = made.instances == 0 ? made.replicas : made.instances,
          .micro_batch = made.micro_batch,
          .accumulation = made.accumulation,
          .updates = 100,
          .outside = made.outside};
  row.seconds = {.input = kUpdates * made.input,
                 .step = kUpdates * made.micro_batch_s * static_cast<double>(made.accumulation),
                 .reduction = kUpdates * made.reduction,
                 .update = kUpdates * made.update,
                 .constant = made.constant};
  row.seconds.all = row.seconds.input + row.seconds.step + row.seconds.reduction + row.seconds.update;
  return row;
}

inline std::vector<Topic> topicsOf(const std::vector<Row>& rows) {
  std::vector<Topic> topics;
  for (const Advice& each : adviceFor(analyse(rows))) topics.push_back(each.topic);
  return topics;
}

inline std::string adviceOn(Topic topic, const std::vector<Row>& rows) {
  for (const Advice& each : adviceFor(analyse(rows))) {
    if (each.topic == topic) return each.text;
  }
  return "";
}

inline Growth growthIn(const Analysis& analysis, Component component) {
  return std::find_if(analysis.changes.begin(), analysis.changes.end(),
                      [&](const Change& change) { return change.component == component; })
      ->growth;
}

}  // namespace pop::scaling
