// SPDX-License-Identifier: Apache-2.0
// Conclusions from the rows of a log. Pure; numbers only: advice.h and the reports put them into words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scaling/laws.h"
#include "scaling/row.h"

namespace pop::scaling {

/// All runs with the same numbers of replicas and instances, the same micro-batch and accumulation.
struct Configuration {
  std::int64_t replicas = 1;
  std::int64_t instances = 1;
  std::int64_t micro_batch = 1;
  std::int64_t accumulation = 1;
  int runs = 0;
  double updates = 0;  ///< sum of all runs, as are the seconds
  Seconds seconds{};
  Outside outside{};
  OnPod pod{};
  double slowest = 0;  ///< samples a second, of a run
  double quickest = 0;

  double batch() const { return static_cast<double>(replicas * micro_batch * accumulation); }
  double samplesPerSecond() const { return updates * batch() / seconds.all; }
  double secondsPerSample() const { return 1 / samplesPerSecond(); }
  double perUpdate(double part) const { return part / updates; }
  /// Time of Trainer::run that is none of its parts.
  double loop() const;
};

struct FittedConstants {
  Constants constants{};
  /// From runs with several accumulations; false: from the parts that were measured.
  bool is_fit = false;
};

/// The configuration that stands for its number of replicas.
struct Point {
  Configuration measured{};
  FittedConstants own{};
  /// With the time of a micro-batch of the fewest replicas, and the exchange of the fewest that exchange:
  /// what there would be if nothing but gradients stood in the way.
  double theoretical = 0;
  double linear = 0;      ///< the fewest replicas' throughput, times as many
  double efficiency = 0;  ///< measured / linear
};

enum class Component : std::uint8_t { kInput, kStep, kReduction, kUpdate, kLoop, kConstant };
const char* nameOf(Component component);

enum class Growth : std::uint8_t {
  kNothing,   ///< takes less than a hundredth of the time
  kScales,    ///< its time for the same samples falls as replicas grow
  kConstant,  ///< stays
  kGrows,
};
const char* nameOf(Growth growth);

/// A component with the fewest and with the most replicas.
struct Change {
  Component component{};
  double before_s = 0;  ///< per sample; of kConstant, of a run
  double after_s = 0;
  Growth growth{};
};

struct Laws {
  double factor = 1;            ///< the most replicas / the fewest
  double constant_share = 0;    ///< share of a sample's time with the fewest
  double measured_speedup = 1;  ///< in samples a second
};

/// Expectation for twice and four times as many replicas, by the constants of the most replicas.
struct Outlook {
  std::int64_t replicas = 1;
  double growing = 0;            ///< samples a second, as the batch grows with the replicas
  std::optional<double> kept{};  ///< with the same batch, by less accumulation; nothing: there is too little
};

struct Analysis {
  std::vector<Configuration> configurations;  ///< by micro-batch, replicas, instances and accumulation
  std::vector<Row> without_updates;
  std::vector<Point> points;    ///< ascending replicas, one micro-batch; empty: no run has updates
  std::vector<Change> changes;  ///< empty: one number of replicas
  std::optional<Laws> laws;
  std::vector<Outlook> outlook;
  std::vector<std::string> remarks;  ///< on what contradicts or is left out
};

Analysis analyse(const std::vector<Row>& rows);

}  // namespace pop::scaling
