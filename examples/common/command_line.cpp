// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

constexpr int kMost = 1'000'000;
constexpr int kFirst = 1000;  // what getopt_long returns for options_[0]: no character

}  // namespace

CommandLine::CommandLine(std::string program, std::string help)
    : program_(std::move(program)), help_(std::move(help)) {}

CommandLine& CommandLine::add(Option option) {
  options_.push_back(std::move(option));
  return *this;
}

CommandLine& CommandLine::text(const char* name, std::string& value) {
  return add({name, true, [&value](const std::string& given) { value = given; }});
}

CommandLine& CommandLine::flag(const char* name, bool& value) {
  return add({name, false, [&value](const std::string&) { value = true; }});
}

CommandLine& CommandLine::addWhole(const char* name, int least, const std::function<void(int)>& set) {
  return add({name, true, [this, name, least, set](const std::string& given) {
                const char* const end = given.data() + given.size();
                int number = 0;
                const auto [stop, error] = std::from_chars(given.data(), end, number);
                if (error != std::errc() || stop != end || number < least || number > kMost)
                  isNot(name, given,
                        "a whole number from " + std::to_string(least) + " to " + std::to_string(kMost));
                set(number);
              }});
}

CommandLine& CommandLine::fraction(const char* name, int most, const std::function<void(double)>& set) {
  return add({name, true, [this, name, most, set](const std::string& given) {
                char* end = nullptr;
                const double number = std::strtod(given.c_str(), &end);
                if (given.empty() || *end != '\0' || !(number >= 0 && number <= most))
                  isNot(name, given, "a number from 0 to " + std::to_string(most));
                set(number);
              }});
}

CommandLine& CommandLine::choice(const char* name, const std::string& names,
                                 const std::function<bool(const std::string&)>& set) {
  return add({name, true, [this, name, names, set](const std::string& given) {
                if (!set(given)) isNot(name, given, names);
              }});
}

void CommandLine::mistake(const std::string& message) const {
  std::fprintf(stderr, "%s: %s (see --help)\n", program_.c_str(), message.c_str());
  std::exit(2);
}

void CommandLine::isNot(const std::string& name, const std::string& value,
                        const std::string& expected) const {
  mistake("--" + name + ": '" + value + "' is not " + expected);
}

void CommandLine::parse(int argc, char** argv) const {
  std::vector<option> known;
  for (const Option& each : options_)
    known.push_back(
        {each.name.c_str(), each.has_value ? 1 : 0, nullptr, kFirst + static_cast<int>(known.size())});
  known.push_back({"help", 0, nullptr, 'h'});
  known.push_back({nullptr, 0, nullptr, 0});
  for (int found = 0; (found = getopt_long(argc, argv, "", known.data(), nullptr)) != -1;) {
    if (found == 'h') {
      std::fputs(help_.c_str(), stdout);
      std::exit(0);
    }
    if (found < kFirst) std::exit(2);  // getopt_long has said why
    options_[static_cast<std::size_t>(found - kFirst)].set(optarg == nullptr ? "" : optarg);
  }
  if (optind < argc) mistake(std::string("unexpected argument '") + argv[optind] + "'");
}
