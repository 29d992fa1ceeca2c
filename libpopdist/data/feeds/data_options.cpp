// SPDX-License-Identifier: Apache-2.0
// The environment's choice of the source of data.
#include "popdist/data_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::io {
namespace {

constexpr const char* kKindVariable = "POPDIST_DATA";
constexpr const char* kInitialiserVariable = "POPDIST_SYNTHETIC_INITIALIZER";
constexpr const char* kCategoriesVariable = "POPDIST_SYNTHETIC_CATEGORIES";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

pop::Status wrong(const char* name, const std::string& value, const std::string& expected) {
  return pop::invalidArgument(std::string(name) + " is " + pop::inQuotes(value) + ", expected " + expected);
}

pop::Result<DataKind> kindFrom(const std::string& text) {
  if (text == "real") return DataKind::kReal;
  if (text == "generated") return DataKind::kGenerated;
  if (text == "synthetic") return DataKind::kSynthetic;
  return wrong(kKindVariable, text, "real, generated or synthetic");
}

pop::Result<Initialiser> initialiserFrom(const std::string& text) {
  if (text == "uniform" || text == "random") return Initialiser{Initialiser::Kind::kUniform, 0};
  if (text == "normal") return Initialiser{Initialiser::Kind::kNormal, 0};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return wrong(kInitialiserVariable, text, "uniform, random, normal or a number");
  return Initialiser{Initialiser::Kind::kConstant, value};
}

pop::Status setCategories(const std::string& text, DataOptions& options) {
  options.infeeds = options.outfeeds = false;
  for (const std::string& category : pop::split(text, ',')) {
    if (category == "infeed")
      options.infeeds = true;
    else if (category == "outfeed")
      options.outfeeds = true;
    else
      return wrong(kCategoriesVariable, text, "infeed, outfeed or infeed,outfeed");
  }
  return {};
}

pop::Result<DataOptions> readEnvironment() {
  DataOptions options;
  if (const auto kind = variable(kKindVariable)) {
    POP_ASSIGN_OR_RETURN(options.kind, kindFrom(*kind));
  }
  for (const char* name : {kInitialiserVariable, kCategoriesVariable}) {
    if (options.kind == DataKind::kReal && variable(name)) {
      return pop::invalidArgument(std::string(name) + " is set, but the data is real: set " + kKindVariable +
                                  " to generated or synthetic");
    }
  }
  if (const auto text = variable(kInitialiserVariable)) {
    POP_ASSIGN_OR_RETURN(options.initialiser, initialiserFrom(*text));
  }
  if (const auto text = variable(kCategoriesVariable)) POP_RETURN_IF_ERROR(setCategories(*text, options));
  return options;
}

}  // namespace

DataOptions DataOptions::fromEnvironment() {
  pop::Result<DataOptions> options = readEnvironment();
  throwIfError(options.status(), "DataOptions.fromEnvironment");
  return *options;
}

}  // namespace popdist::io
