// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_settings.h"

namespace pop {
namespace {

StreamSettings streamSettings(const Options& options, const model::JobSpec& spec,
                              std::optional<int> only_instance) {
  const bool several = spec.num_instances > 1 && !only_instance;
  StreamSettings settings{.tag = options.tag_output, .only_instance = only_instance};
  if (settings.tag == TagOutput::kAuto) settings.tag = several ? TagOutput::kInstance : TagOutput::kNo;
  settings.fold = several && options.fold_output;
  settings.whole_lines = several || settings.tag != TagOutput::kNo || options.timestamp_output;
  return settings;
}

}  // namespace

OutputSettings outputSettings(const Options& options, const model::JobSpec& spec) {
  const std::optional<int> only = options.only_output_from_instance;
  OutputSettings settings{
      .out = streamSettings(options, spec, only ? only : options.only_stdout_from_instance),
      .err = streamSettings(options, spec, only),
      .timestamps = options.timestamp_output,
      .directory = options.output_filename,
      .num_instances = spec.num_instances};
  // The status line must not appear between the bytes of a single instance, or between lines that report the
  // same in more detail.
  settings.status_line =
      settings.out.whole_lines && settings.err.whole_lines && effectiveVerbosity(options) == 0;
  return settings;
}

}  // namespace pop
