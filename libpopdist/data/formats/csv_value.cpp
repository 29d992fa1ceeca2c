// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/csv_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/visit_type.h"

namespace popdist::io {
namespace {

template <typename T>
CsvReading readNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return CsvReading::kNoNumber;
  return error == std::errc() ? CsvReading::kDone : CsvReading::kBeyond;
}

/// True if a number that no double holds is too small for one, not too large.
bool isNearZero(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) return text.substr(exponent + 1).starts_with('-');
  return text.substr(0, text.find('.')).find_first_not_of("-0") == std::string_view::npos;
}

/// "1.#INF" and "-1.#IND00", as older programs on Windows write what is no number.
std::optional<double> withoutNumber(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (!text.starts_with("1.#")) return std::nullopt;
  const std::string word = pop::lowerCase(text.substr(3, text.find_last_not_of('0') - 2));
  if (word == "qnan" || word == "snan" || word == "ind") return std::numeric_limits<double>::quiet_NaN();
  if (word != "inf") return std::nullopt;
  return is_negative ? -HUGE_VAL : HUGE_VAL;
}

template <typename Real>
CsvReading readReal(std::string_view text, Real& value) {
  const CsvReading reading = readNumber(text, value);
  if (reading == CsvReading::kDone) return reading;
  if (reading == CsvReading::kNoNumber) {
    const auto other = withoutNumber(text);
    if (other) value = static_cast<Real>(*other);
    return other ? CsvReading::kDone : reading;
  }
  double wide = 0;
  const CsvReading again = readNumber(text, wide);
  if (again == CsvReading::kBeyond && isNearZero(text))
    wide = text.starts_with('-') ? -0.0 : 0.0;
  else if (again == CsvReading::kBeyond || std::abs(wide) > 1)
    return reading;
  value = static_cast<Real>(wide);
  return CsvReading::kDone;
}

/// "-1.50e3" as "-1500"; nothing where it is no whole number.
std::optional<std::string> wholeNumber(std::string_view text) {
  constexpr int kMostDigits = 64;  // more than any type has
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  int exponent = 0;
  if (end < text.size()) {
    std::string_view digits = text.substr(end + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (readNumber(digits, exponent) != CsvReading::kDone || std::abs(exponent) > kMostDigits)
      return std::nullopt;
  }
  std::string digits(text.substr(0, end));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  if (point < digits.size()) digits.erase(point, 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const auto before = static_cast<std::ptrdiff_t>(point) + exponent;
  const auto whole = static_cast<std::size_t>(std::max<std::ptrdiff_t>(before, 0));
  if (whole < digits.size() && digits.find_first_not_of('0', whole) != std::string::npos) return std::nullopt;
  digits.resize(whole, '0');
  if (digits.find_first_not_of('0') == std::string::npos) return "0";
  return (is_negative ? "-" : "") + digits;
}

template <typename Whole>
CsvReading readWhole(std::string_view text, Whole& value) {
  const CsvReading reading = readNumber(text, value);
  if (reading != CsvReading::kNoNumber) return reading;
  const auto digits = wholeNumber(text);
  return digits ? readNumber(std::string_view(*digits), value) : reading;
}

template <typename T>
CsvReading readValue(std::string_view text, std::byte* to) {
  T value{};
  CsvReading reading = CsvReading::kDone;
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t number = 0;
    if (readWhole(text, number) != CsvReading::kDone || number > 1) return CsvReading::kNoNumber;
    value = number == 1;
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    float wide = 0;
    reading = readReal(text, wide);
    value = T(wide);
    if (std::isinf(static_cast<float>(value)) && !std::isinf(wide)) reading = CsvReading::kBeyond;
  } else if constexpr (std::is_floating_point_v<T>) {
    reading = readReal(text, value);
  } else {
    reading = readWhole(text, value);
  }
  std::memcpy(to, &value, sizeof(T));
  return reading;
}

}  // namespace

CsvReading readCsvValue(Type type, std::string_view text, std::byte* to) {
  text = pop::trimmed(text);
  const bool has_plus = text.starts_with('+') && text.find_first_of("+-", 1) != 1;
  if (has_plus) text.remove_prefix(1);
  if (text.size() == 4 && pop::lowerCase(text) == "true" && !has_plus) text = "1";
  if (text.size() == 5 && pop::lowerCase(text) == "false" && !has_plus) text = "0";
  return visitType(type, [&](auto each) { return readValue<typename decltype(each)::type>(text, to); });
}

}  // namespace popdist::io
