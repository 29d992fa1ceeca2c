// SPDX-License-Identifier: Apache-2.0
#include "popdist/data_options.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "common/base/random.h"
#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/tensor/visit_type.h"

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

/// Draws one value after the other.
class Values {
 public:
  Values(const Initialiser& initialiser, std::uint64_t seed) : initialiser_(initialiser), random_(seed) {}

  double next() {
    switch (initialiser_.kind) {
      case Initialiser::Kind::kConstant:
        return initialiser_.value;
      case Initialiser::Kind::kUniform:
        return random_.unit();
      case Initialiser::Kind::kNormal:
        break;
    }
    return random_.normal();
  }

 private:
  Initialiser initialiser_;
  pop::SplitMix64 random_;
};

/// The nearest value of an integer type towards zero.
template <typename T>
T integerFrom(double value) {
  constexpr double kBeyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (value >= kBeyond) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  return static_cast<T>(value);
}

template <typename T>
void fill(std::span<std::byte> bytes, Values values) {
  auto* elements = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      elements[i] = T(static_cast<float>(values.next()));
    else if constexpr (std::is_floating_point_v<T>)
      elements[i] = static_cast<T>(values.next());
    else if constexpr (std::is_same_v<T, bool>)
      elements[i] = values.next() != 0;
    else
      elements[i] = integerFrom<T>(values.next());
  }
}

}  // namespace

void initialise(TensorRefs tensors, const Initialiser& initialiser, std::uint64_t seed) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pop::SplitMix64 mixed(seed ^ (i * 0x9E3779B97F4A7C15ULL));
    const Values values(initialiser, mixed.next());
    visitType(tensors.spec()[i].type,
              [&](auto type) { fill<typename decltype(type)::type>(tensors.bytes(i), values); });
  }
}

DataOptions DataOptions::fromEnvironment() {
  pop::Result<DataOptions> options = readEnvironment();
  throwIfError(options.status(), "DataOptions.fromEnvironment");
  return *options;
}

}  // namespace popdist::io
