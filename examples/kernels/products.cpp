// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "one_thread.h"

void useInstructionSet(Isa isa) {
  constexpr std::array kLimits{dnnl_cpu_isa_sse41, dnnl_cpu_isa_avx2, dnnl_cpu_isa_avx512_core};
  const dnnl_cpu_isa_t limit = kLimits[static_cast<std::size_t>(isa)];
  if (dnnl_set_max_cpu_isa(limit) == dnnl_success || dnnl_get_effective_cpu_isa() == limit) return;
  throw std::runtime_error(std::string("oneDNN does not compute with ") + nameOf(isa) +
                           ": it has begun with another instruction set");
}

void multiply(const Product& product, const float* a, const float* b, float* c) {
  useOneThread();
  const auto letter = [](Transposed is) { return is == Transposed::kYes ? 'T' : 'N'; };
  const int a_row = product.a == Transposed::kYes ? product.rows : product.inner;
  const int b_row = product.b == Transposed::kYes ? product.inner : product.columns;
  const auto stride = [](int given, int row) { return given > 0 ? given : row; };
  const dnnl_status_t status =
      dnnl_sgemm(letter(product.a), letter(product.b), product.rows, product.columns, product.inner,
                 product.factor, a, stride(product.a_stride, a_row), b, stride(product.b_stride, b_row),
                 product.adds ? 1.0F : 0.0F, c, stride(product.c_stride, product.columns));
  if (status != dnnl_success)
    throw std::runtime_error("oneDNN could not multiply: " + std::to_string(status));
}
