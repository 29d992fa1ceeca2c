// SPDX-License-Identifier: Apache-2.0
#include "popdist/progress_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/base/json.h"
#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::train {
namespace {

constexpr std::chrono::milliseconds kOfATerminal{100};

/// The numbers of a line.
struct Standing {
  std::uint64_t update = 0;
  std::uint64_t updates = 0;  ///< 0: unknown
  double seconds = 0;
  double samples_per_second = 0;
  std::optional<double> seconds_left{};
  std::vector<std::pair<std::string, double>> metrics{};
};

std::string threeDigits(double number) {
  if (std::isnan(number)) return "nan";  // whatever its sign
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number,
                                          std::chars_format::general, std::abs(number) < 1000 ? 3 : 6);
  return error == std::errc() ? std::string(text.data(), end) : "?";
}

std::string leftText(double seconds) {
  const auto whole = std::llround(std::min(seconds, 1e9));
  if (whole < 60) return std::to_string(whole) + " s left";
  if (whole < 3600) return std::to_string(whole / 60) + " min left";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min left";
}

std::string forTerminal(const Standing& at) {
  std::string text = "update " + std::to_string(at.update);
  if (at.updates > 0) text += "/" + std::to_string(at.updates);
  for (const auto& [name, value] : at.metrics) text += "  " + pop::printable(name) + " " + threeDigits(value);
  text += "  " + std::to_string(std::llround(at.samples_per_second)) + " samples/s";
  if (at.seconds_left) text += "  " + leftText(*at.seconds_left);
  return text;
}

std::string number(double value) {
  return std::isfinite(value) ? pop::numberText(value) : "null";
}

std::string forLog(const Standing& at) {
  pop::JsonObject metrics;
  for (const auto& [name, value] : at.metrics) metrics.json(name, number(value));
  pop::JsonObject line;
  line.number("update", static_cast<std::int64_t>(at.update));
  if (at.updates > 0) line.number("updates", static_cast<std::int64_t>(at.updates));
  line.json("seconds", number(at.seconds)).json("samples_per_second", number(at.samples_per_second));
  if (at.seconds_left) line.json("seconds_left", number(*at.seconds_left));
  return line.json("metrics", metrics.str()).str() + '\n';
}

pop::Status check(const ProgressReportOptions& options) {
  if (options.samples_per_update < 1)
    return pop::invalidArgument("samples_per_update is " + std::to_string(options.samples_per_update) +
                                ", expected 1 or more: Trainer::samplesPerUpdate");
  if (options.updates > 0 && options.done > options.updates)
    return pop::invalidArgument("done is " + std::to_string(options.done) + ", beyond updates, " +
                                std::to_string(options.updates));
  return {};
}

ProgressReportOptions withDefaults(ProgressReportOptions options) {
  if (!options.write)
    options.write = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  if (!options.now) options.now = [] { return std::chrono::steady_clock::now(); };
  if (!options.terminal) options.terminal = ::isatty(STDERR_FILENO) == 1;
  if (*options.terminal) options.every = std::min(options.every, kOfATerminal);
  return options;
}

}  // namespace

class ProgressReport::Impl {
 public:
  Impl(Context& context, ProgressReportOptions options)
      : context_(context), options_(withDefaults(std::move(options))), begin_(options_.now()) {}

  ~Impl() {
    if (updates_ > 0) print(options_.now());
    if (width_ > 0) options_.write("\n");
  }

  void add(const Progress& progress) {
    updates_ += progress.updates + progress.skipped;
    micro_batches_ += progress.micro_batches;
    names_ = progress.names;
    sums_.resize(progress.sums.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += progress.sums[i];
    const auto now = options_.now();
    if (now - last_ >= options_.every) print(now);
  }

 private:
  void print(std::chrono::steady_clock::time_point now) {
    const Standing at = standing(now);
    if (*options_.terminal) {
      const std::string text = forTerminal(at);
      const std::string blanks(width_ > text.size() ? width_ - text.size() : 0, ' ');
      options_.write("\r" + text + blanks);
      width_ = text.size();
    } else {
      options_.write(forLog(at));
    }
    context_.report("samples_per_second", at.samples_per_second);
    last_ = now;
    done_ += std::exchange(updates_, 0);
    micro_batches_ = 0;
    sums_.assign(sums_.size(), 0);
  }

  Standing standing(std::chrono::steady_clock::time_point now) const {
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    const double since_start = seconds(now - begin_);
    const double since_last = seconds(now - last_);
    const std::uint64_t of_this = done_ + updates_;
    Standing at{.update = options_.done + of_this, .updates = options_.updates, .seconds = since_start};
    if (at.update > at.updates) at.updates = 0;  // the training has gone on: its end is not known any more
    if (since_last > 0)
      at.samples_per_second = static_cast<double>(updates_) * options_.samples_per_update / since_last;
    if (at.updates >= at.update && of_this > 0)
      at.seconds_left =
          since_start * static_cast<double>(at.updates - at.update) / static_cast<double>(of_this);
    for (std::size_t i = 0; i < sums_.size() && micro_batches_ > 0; ++i)
      at.metrics.emplace_back(names_[i], sums_[i] / static_cast<double>(micro_batches_));
    return at;
  }

  Context& context_;
  const ProgressReportOptions options_;
  const std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_ = begin_;
  std::uint64_t done_ = 0;     // printed
  std::uint64_t updates_ = 0;  // since
  std::uint64_t micro_batches_ = 0;
  std::vector<std::string> names_;
  std::vector<double> sums_;
  std::size_t width_ = 0;  // the terminal line's
};

ProgressReport::ProgressReport(Context& context, ProgressReportOptions options) {
  throwIfError(check(options), "ProgressReport");
  if (context.instanceIndex() == 0) impl_ = std::make_unique<Impl>(context, std::move(options));
}

ProgressReport::~ProgressReport() = default;

void ProgressReport::add(const Progress& progress) {
  if (impl_) impl_->add(progress);
}

}  // namespace popdist::train
