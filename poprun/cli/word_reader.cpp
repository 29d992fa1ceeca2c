// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/word_reader.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "poprun/cli/shell_words.h"

namespace pop::cli {
namespace {

const OptionRow& rowNamed(std::string_view name) {
  const OptionRow* row = findOption(name);
  POP_CHECK(row != nullptr);
  return *row;
}

// mpirun and horovodrun write long names with one dash too. They have no detached jobs: for those only
// poprun's long names count.
const OptionRow* findOwn(Spelling spelling, const std::string& name) {
  const OptionRow* row = findOption(name);
  if (spelling == Spelling::kPoprun) return row;
  const bool one_dash = name.size() > 1 && name[1] != '-';
  if (row == nullptr && one_dash && name.size() > 2) row = findOption('-' + name);
  return row != nullptr && row->group == Group::kDetached && one_dash ? nullptr : row;
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

std::size_t wordsOfOption(std::span<const std::string> words) {
  const std::string& word = words.front();
  const std::string name = word.substr(0, word.find('='));
  const bool has_value = name.size() < word.size();
  std::size_t values = 0;
  if (const OptionRow* const own = findOption(name)) {
    const bool may_follow = own->traits.rule == ValueRule::kOptional && words.size() > 1;
    values = may_follow ? (isValueOf(*own, words[1]) ? 1 : 0) : own->traits.rule == ValueRule::kNone ? 0 : 1;
  } else if (const CompatRow* const compat = findCompat(Spelling::kPoprun, name)) {
    values = static_cast<std::size_t>(compat->values);
  }
  return std::min(words.size(), 1 + values - (has_value && values > 0 ? 1 : 0));
}

ReadWords WordReader::read(const std::vector<std::string>& words) {
  next_ = words.begin();
  end_ = words.end();
  readProgram();
  while (next_ != end_) {
    ++next_;  // the ':'
    programs().push_back({read_.assignments.every_program, {}});
    readProgram();
  }
  finish();
  return std::move(read_);
}

ReadWords WordReader::readArguments(std::string_view option, const std::string& value) {
  takeArguments(option, value);
  finish();
  return std::move(read_);
}

void WordReader::readProgram() {
  while (next_ != end_ && atOption() && *next_ != "--") readOption();
  std::vector<std::string>& command = programs().back().command;
  if (next_ != end_ && *next_ == "--") {  // all that follows is the program's, ':' too
    command.assign(next_ + 1, end_);
    next_ = end_;
    return;
  }
  const Word colon = std::find(next_, end_, ":");
  command.assign(next_, colon);
  next_ = colon;
}

bool WordReader::atOption() const {
  return next_->size() > 1 && next_->front() == '-';
}

void WordReader::readOption() {
  const std::string& word = *next_++;
  const std::size_t equals = word.find('=');
  Option option{word.substr(0, equals), std::nullopt};
  if (equals != std::string::npos) option.value = word.substr(equals + 1);

  const bool mpis = !within_.empty();
  const OptionRow* own = mpis ? nullptr : findOwn(spelling_, option.name);
  const CompatRow* compat = findCompat(mpis ? Spelling::kMpirun : spelling_, option.name);
  if (compat != nullptr && (own == nullptr || spelling_ != Spelling::kPoprun)) {
    readCompat(option, *compat);
  } else if (own != nullptr) {
    readOwn(option, *own);
  } else {
    unknown(option);
  }
}

void WordReader::readOwn(const Option& option, const OptionRow& row) {
  if (row.traits.rule == ValueRule::kNone) {
    if (option.value) return mistake(option.name, "takes no value");
    return emit(row, option.name, "yes");
  }
  if (row.traits.rule == ValueRule::kOptional && !option.value) {
    // mpirun's flags have no values: there the next word is a program, even one called yes.
    const bool value_follows = spelling_ == Spelling::kPoprun && next_ != end_ && isValueOf(row, *next_);
    if (!value_follows) hintAt(row, option);
    if (value_follows && next_ + 1 == end_) read_.ends_in_value = {option.name, *next_};
    return emit(row, option.name, value_follows ? *next_++ : "yes");
  }
  const std::optional<std::string> value = takeValue(option);
  if (!value) return;
  if (!option.value) hintAt(row, option);
  if (isOneOf(row.name, {"--mpi-global-args", "--mpi-local-args"})) return takeArguments(row.name, *value);
  emit(row, option.name, *value);
}

// The next word begins the program. It may have been meant for the option before it.
void WordReader::hintAt(const OptionRow& row, const Option& option) {
  if (next_ == end_ || atOption() || read_.assignments.programs.size() > 1) return;
  if (row.name == "--host") {
    read_.program_hint = "did the shell expand the range of hosts? Quote it: " + option.name + " 'h[1-3]'";
  } else if (row.traits.rule == ValueRule::kOptional) {
    read_.program_hint =
        inQuotes(*next_) + " is not a value of " + option.name + ", so it was read as the program";
  }
}

std::optional<std::string> WordReader::takeValue(const Option& option) {
  if (option.value) return option.value;
  if (next_ != end_) return *next_++;
  mistake(option.name, "needs a value");
  return std::nullopt;
}

void WordReader::readCompat(const Option& option, const CompatRow& row) {
  if (row.values == 0 && option.value) return mistake(option.name, "takes no value");
  std::vector<std::string> values;
  while (static_cast<int>(values.size()) < row.values) {
    std::optional<std::string> value = takeValue({option.name, values.empty() ? option.value : std::nullopt});
    if (!value) return;
    values.push_back(std::move(*value));
    if (row.target == "--host" && !option.value) hintAt(rowNamed(row.target), option);
    if (row.action == CompatAction::kSet && values.front().find('=') != std::string::npos) break;
  }
  if (!within_.empty() && !row.in_arguments) {
    return mistake(option.name, "is not supported here; use poprun's own option for it (`poprun --help`)");
  }
  apply(row, option.name, values);
}

void WordReader::unknown(const Option& option) {
  if (!within_.empty()) {
    return mistake(option.name, "is not an option of mpirun that poprun knows; leave it out");
  }
  const std::string_view similar = similarOption(option.name);
  mistake(option.name, "no such option" +
                           (similar.empty() ? "" : "; did you mean " + std::string(similar) + '?') +
                           " (`poprun --help` lists them; a program's own options follow its name)");
  // The next word is its value and not a program if options of poprun follow: so one mistake does not hide
  // another.
  const bool word_follows = !option.value && next_ != end_ && !atOption() && *next_ != ":";
  if (word_follows && next_ + 1 != end_ && isKnown(next_[1])) ++next_;
}

bool WordReader::isKnown(const std::string& word) const {
  const std::string name = word.substr(0, word.find('='));
  return name == "--" || findOwn(spelling_, name) != nullptr || findCompat(spelling_, name) != nullptr;
}

// Reads the words within one word, in place among the others.
void WordReader::takeArguments(std::string_view option, const std::string& value) {
  Result<std::vector<std::string>> words = splitShell(value);
  if (!words.ok()) return mistake(std::string(option), words.status().message());
  const Word outer_next = std::exchange(next_, words->begin());
  const Word outer_end = std::exchange(end_, words->end());
  within_ = option;
  while (next_ != end_) {
    if (atOption()) {
      readOption();
    } else {
      mistake(*next_++, "is not an option of mpirun; the program follows poprun's own options");
    }
  }
  within_.clear();
  next_ = outer_next;
  end_ = outer_end;
}

void WordReader::apply(const CompatRow& row, const std::string& name,
                       const std::vector<std::string>& values) {
  const std::string target(row.target);
  switch (row.action) {
    case CompatAction::kSameAs:
      return emit(rowNamed(target), name, values.front());
    case CompatAction::kMeans:
      return applyMeaning(target, name);
    case CompatAction::kVariable:
      return emitVariable(row, name, target + '=' + values.front());
    case CompatAction::kMebibytes: {
      const Result<std::int64_t> mebibytes = parseInteger(values.front());
      if (!mebibytes.ok() || mebibytes.value() < 0 || mebibytes.value() > (1 << 20)) {
        return mistake(name, inQuotes(values.front()) + " is not a number of MiB");
      }
      return emitVariable(row, name, target + '=' + std::to_string(mebibytes.value() << 20));
    }
    case CompatAction::kSet:
      return emitVariable(row, name, join(values, "="));
    case CompatAction::kForward:
      for (std::string& variable : split(values.front(), ',')) emitVariable(row, name, std::move(variable));
      return;
    case CompatAction::kParameter:
      return applyParameter(target, name, values);
    case CompatAction::kRsh:
      rsh_arguments_ += ' ' + quoteShell(std::vector{target, values.front()});
      return;
    case CompatAction::kInterfaces:
      return applyInterfaces(row, name, values.front());
    case CompatAction::kBindTo:
      return applyBindTo(name, values.front());
    case CompatAction::kMapBy:
      return applyMapBy(name, values.front());
    case CompatAction::kArguments:
      return takeArguments(name, values.front());
    case CompatAction::kTransport:
      transports_.push_back(row.values == 2 ? name + ' ' + values.front() : name);
      return;
    case CompatAction::kNothing:
      return;
    case CompatAction::kRefused:
      return mistake(name, "not supported by poprun: " + target);
  }
}

void WordReader::applyMeaning(std::string_view target, const std::string& name) {
  for (const std::string& option : split(target, ' ')) {
    const std::size_t equals = option.find('=');
    emit(rowNamed(option.substr(0, equals)), name,
         equals == std::string::npos ? "yes" : option.substr(equals + 1));
  }
}

// Those of how hosts are reached are for poprun too.
void WordReader::applyParameter(const std::string& prefix, const std::string& name,
                                const std::vector<std::string>& values) {
  const bool is_agent = values.front() == "plm_rsh_agent";
  if (values.size() == 2 && (is_agent || values.front() == "plm_rsh_args")) {
    if (!isBeforePrograms(name)) return;
    if (is_agent) {
      rsh_ = trimmed(std::string_view(values[1]).substr(0, values[1].find(':')));  // the first of several
    } else {
      rsh_arguments_ += ' ' + values[1];
    }
  }
  emitForAll(rowNamed("-x"), prefix + join(values, "="));
}

// As horovodrun does it: Gloo takes one interface; NCCL and Open MPI take all.
void WordReader::applyInterfaces(const CompatRow& row, const std::string& name, const std::string& value) {
  emit(rowNamed("--host-subnet"), name, value);
  emitVariable(row, name, "HOROVOD_GLOO_IFACE=" + value.substr(0, value.find(',')));
  for (const char* variable : {"NCCL_SOCKET_IFNAME=", "OMPI_MCA_btl_tcp_if_include="})
    emitVariable(row, name, variable + value);
}

void WordReader::applyBindTo(const std::string& name, const std::string& value) {
  const std::string kind = value.substr(0, value.find(':'));
  if (!isOneOf(kind, {"none", "core", "hwthread", "numa", "socket", "package"})) {
    return mistake(name, inQuotes(value) +
                             " is not none, core, hwthread, numa or socket; --process-placement " +
                             "takes lists of CPUs");
  }
  if (!isBeforePrograms(name)) return;
  bind_to_ = kind;
  placed_at_ = read_.assignments.job.size();
}

void WordReader::applyMapBy(const std::string& name, const std::string& value) {
  std::vector<std::string> parts = split(value, ':');
  const std::string how = lowerCase(parts.front());
  if (!isBeforePrograms(name)) return;
  if (how == "ppr") {
    if (parts.size() < 3 || lowerCase(parts[2]) != "node") {
      return mistake(name, inQuotes(value) + ": poprun counts the instances of hosts only: write ppr:N:node");
    }
    emit(rowNamed("--instances-per-host"), name, parts[1]);
    parts.erase(parts.begin() + 1, parts.begin() + 3);
  } else if (how == "node") {
    emit(rowNamed("--instances-per-host"), name, "even");
  } else if (!isOneOf(how, {"", "none", "slot", "core", "hwthread", "numa", "socket", "package"})) {
    return mistake(name, inQuotes(value) +
                             " is not slot, node, core, numa, socket or ppr:N:node, with or "
                             "without :PE=n");
  }
  map_by_ = how;
  placed_at_ = read_.assignments.job.size();
  for (std::size_t i = 1; i < parts.size(); ++i) modifyMapping(name, parts[i]);
}

void WordReader::modifyMapping(const std::string& name, const std::string& modifier) {
  const std::string word = lowerCase(modifier);
  if (word == "oversubscribe") {
    emit(rowNamed("--oversubscribe"), name, "yes");
  } else if (word.starts_with("pe=") && word.size() > 3) {
    cores_ = word.substr(3);
  } else if (!isOneOf(word, {"nooversubscribe", "span"})) {
    mistake(name, inQuotes(modifier) + " is not PE=n or OVERSUBSCRIBE");
  }
}

void WordReader::emitVariable(const CompatRow& written, const std::string& written_name, std::string value) {
  if (written.every_program) return emitForAll(rowNamed("-x"), value);
  emit(rowNamed("-x"), written_name, std::move(value));
}

void WordReader::emit(const OptionRow& row, const std::string& written_name, std::string value) {
  if (!row.traits.per_program && !isBeforePrograms(written_name)) return;
  // Arguments for mpirun as a whole apply to all programs.
  if (row.traits.per_program && !within_.empty()) return emitForAll(row, value);
  auto& list = row.traits.per_program ? programs().back().options : read_.assignments.job;
  list.push_back({&row, std::move(value)});
}

// Also adds it to programs that have been read already.
void WordReader::emitForAll(const OptionRow& row, const std::string& value) {
  read_.assignments.every_program.push_back({&row, value});
  for (Assignments::Program& program : programs()) program.options.push_back({&row, value});
}

// Options of the job must come before the first program; elsewhere they are a mistake.
bool WordReader::isBeforePrograms(const std::string& written_name) {
  if (programs().size() == 1) return true;
  mistake(written_name,
          "is only allowed before the first program; only --num-instances, -x and --wdir can be set for each "
          "program");
  return false;
}

void WordReader::mistake(const std::string& name, std::string_view text) {
  read_.mistakes.push_back((within_.empty() ? "" : within_ + ": ") + name + ": " + std::string(text));
}

// Evaluates what depends on all words together.
void WordReader::finish() {
  if (!transports_.empty()) {
    read_.warnings.push_back(join(transports_, ", ") +
                             ": ignored: it concerns MPI's own network; --host-subnet chooses poprun's");
  }
  std::vector<Assignment>& job = read_.assignments.job;
  if (!rsh_.empty() || !rsh_arguments_.empty()) {  // the first, so that a --rsh wins
    job.insert(job.begin(), {findOption("--rsh"), (rsh_.empty() ? "ssh" : rsh_) + rsh_arguments_});
    ++placed_at_;
  }
  const auto place = [&](const char* how, const std::string& cores) {
    std::vector<Assignment> placement{{findOption("--process-placement"), how}};
    if (!cores.empty()) placement.push_back({findOption("--cores-per-instance"), cores});
    job.insert(job.begin() + static_cast<std::ptrdiff_t>(placed_at_), placement.begin(), placement.end());
  };
  const bool far_apart = isOneOf(map_by_, {"numa", "socket", "package"});
  if (bind_to_ == "none") return place("disabled", {});
  if (!cores_.empty()) return place(far_apart ? "spreadcores" : "compact", cores_);
  if (isOneOf(bind_to_, {"core", "hwthread"})) return place(far_apart ? "spreadcores" : "compact", "1");
  if (!bind_to_.empty() || far_apart) return place("spreadnuma", {});
  if (isOneOf(map_by_, {"core", "hwthread"})) return place("compact", "1");
}

}  // namespace pop::cli
