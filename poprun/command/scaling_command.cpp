// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/scaling_command.h"

#include <string>
#include <vector>

#include "common/base/text.h"
#include "poprun/cli/file_text.h"
#include "poprun/command/command_line.h"
#include "scaling/report.h"

namespace pop {
namespace {

Result<std::string> reportOn(const std::string& log, ScalingFormat format) {
  POP_ASSIGN_OR_RETURN(const std::string text, cli::readFileText(log));
  POP_ASSIGN_OR_RETURN(const std::vector<scaling::Row> rows, scaling::parseRows(text, log));
  const scaling::Analysis analysis = scaling::analyse(rows);
  switch (format) {
    case ScalingFormat::kJson:
      return scaling::reportJson(analysis);
    case ScalingFormat::kSvg:
      return scaling::reportSvg(analysis);
    case ScalingFormat::kMarkdown:
      break;
  }
  return scaling::reportMarkdown(analysis);
}

}  // namespace

int scalingCommand(const cli::ParsedOptions& parsed) {
  const Options& options = parsed.options;
  std::vector<std::string> mistakes = parsed.mistakes;
  const std::vector<std::string>& program = options.programs.front().command;
  if (!program.empty())
    mistakes.push_back("--scaling-report starts no program: leave out " + inQuotes(program.front()));
  if (isJobCommand(options.detached) || options.detached.detach)
    mistakes.emplace_back(
        "--scaling-report reads a log: leave out --detach, --attach, --jobs, --logs and --cancel");
  reportWarnings(parsed.warnings);
  if (!mistakes.empty()) return reportMistakes(mistakes);
  const Result<std::string> report = reportOn(options.scaling_report, options.scaling_format);
  return report.ok() ? print(report.value()) : reportMistakes({report.status().message()});
}

}  // namespace pop
