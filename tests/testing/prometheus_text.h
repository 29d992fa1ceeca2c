// SPDX-License-Identifier: Apache-2.0
// Reads Prometheus' text format, strictly: what its specification asks for, and what its linter does.
#pragma once

#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/text.h"

namespace pop::testing {

struct MetricsText {
  struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0;
  };
  struct Family {
    std::string help;
    std::string type;
    std::vector<Sample> samples;
  };
  std::map<std::string, Family> families;

  /// The value with exactly these labels; NaN: there is none.
  double value(const std::string& name, const std::map<std::string, std::string>& labels = {}) const {
    for (const auto& [family, of] : families) {
      for (const Sample& sample : of.samples) {
        if (sample.name == name && sample.labels == labels) return sample.value;
      }
    }
    return std::nan("");
  }
};

class MetricsTextReader {
 public:
  /// kInvalidArgument: the first line that is wrong.
  static Result<MetricsText> read(const std::string& text) {
    MetricsTextReader reader;
    if (text.empty() || text.back() != '\n') return invalidArgument("the text does not end with a line");
    for (const std::string& line : split(text.substr(0, text.size() - 1), '\n')) {
      if (const std::string flaw = reader.take(line); !flaw.empty())
        return invalidArgument(flaw + ": " + line);
    }
    for (const auto& [name, family] : reader.text_.families) {
      if (family.type.empty()) return invalidArgument(name + " has no type");
      if (const std::string flaw = flawOf(name, family); !flaw.empty())
        return invalidArgument(name + ": " + flaw);
    }
    return reader.text_;
  }

 private:
  std::string take(const std::string& line) {
    static const std::regex kHelp("# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
    static const std::regex kType("# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)");
    std::smatch parts;
    if (line != validUtf8(line)) return "not UTF-8";
    if (std::regex_match(line, parts, kHelp)) {
      if (text_.families.contains(parts[1])) return "told twice";
      now_ = parts[1];
      text_.families[now_].help = parts[2];
      return "";
    }
    if (std::regex_match(line, parts, kType)) {
      if (parts[1] != now_ || !text_.families[now_].type.empty()) return "a type in the wrong place";
      text_.families[now_].type = parts[2];
      return "";
    }
    if (line.starts_with('#')) return "a comment of no kind";
    return takeSample(line);
  }

  std::string takeSample(const std::string& line) {
    const std::size_t name_end = line.find_first_of("{ ");
    if (name_end == std::string::npos) return "no value";
    MetricsText::Sample sample{line.substr(0, name_end), {}, 0};
    std::size_t at = name_end;
    if (line[at] == '{') {
      if (const std::string flaw = takeLabels(line, at, sample.labels); !flaw.empty()) return flaw;
    }
    if (at >= line.size() || line[at] != ' ') return "no blank before the value";
    const std::string number = line.substr(at + 1);
    char* end = nullptr;
    sample.value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0') return "no number";
    MetricsText::Family& family = text_.families[now_];
    const std::string ending = sample.name.substr(std::min(now_.size(), sample.name.size()));
    const bool is_own =
        sample.name.starts_with(now_) &&
        (family.type == "histogram" ? ending == "_bucket" || ending == "_sum" || ending == "_count"
                                    : ending.empty());
    if (now_.empty() || !is_own) return "a sample of another metric";
    for (const MetricsText::Sample& other : family.samples) {
      if (other.name == sample.name && other.labels == sample.labels) return "twice the same series";
    }
    family.samples.push_back(std::move(sample));
    return "";
  }

  static std::string takeLabels(const std::string& line, std::size_t& at,
                                std::map<std::string, std::string>& labels) {
    static const std::regex kName("[a-zA-Z_][a-zA-Z0-9_]*");
    ++at;
    while (at < line.size() && line[at] != '}') {
      const std::size_t equals = line.find("=\"", at);
      if (equals == std::string::npos) return "a label without value";
      const std::string name = line.substr(at, equals - at);
      if (!std::regex_match(name, kName) || name.starts_with("__")) return "no name of a label";
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') {
          value += line[at];
          continue;
        }
        const char escaped = ++at < line.size() ? line[at] : '\0';
        if (escaped != '\\' && escaped != '"' && escaped != 'n') return "an escape that there is not";
        value += escaped == 'n' ? '\n' : escaped;
      }
      if (!labels.emplace(name, value).second) return "twice the same label";
      ++at;
      if (at < line.size() && line[at] == ',') ++at;
    }
    if (at >= line.size()) return "labels without end";
    ++at;
    return "";
  }

  static std::string flawOf(const std::string& name, const MetricsText::Family& family) {
    const bool is_counter = family.type == "counter";
    if (is_counter != name.ends_with("_total")) return "only counters' names end with _total";
    if (family.type == "histogram") return flawOfHistogram(family);
    for (const MetricsText::Sample& sample : family.samples) {
      if (is_counter && !(sample.value >= 0)) return "a counter below 0";
    }
    return "";
  }

  static std::string flawOfHistogram(const MetricsText::Family& family) {
    std::map<std::map<std::string, std::string>, std::vector<std::pair<double, double>>> buckets;
    std::map<std::map<std::string, std::string>, double> counts;
    for (const MetricsText::Sample& sample : family.samples) {
      std::map<std::string, std::string> labels = sample.labels;
      if (sample.name.ends_with("_count")) counts[labels] = sample.value;
      if (!sample.name.ends_with("_bucket")) continue;
      if (!labels.contains("le")) return "a bucket without bound";
      const double bound = std::strtod(labels["le"].c_str(), nullptr);
      labels.erase("le");
      auto& all = buckets[labels];
      if (!all.empty() && (all.back().first >= bound || all.back().second > sample.value))
        return "buckets that do not grow";
      all.emplace_back(bound, sample.value);
    }
    if (buckets.size() != counts.size()) return "a count is missing";
    for (const auto& [labels, all] : buckets) {
      if (!std::isinf(all.back().first) || all.back().second != counts[labels])
        return "the last bucket is not all";
    }
    return "";
  }

  MetricsText text_;
  std::string now_;
};

}  // namespace pop::testing
