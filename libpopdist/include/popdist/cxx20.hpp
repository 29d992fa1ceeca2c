// SPDX-License-Identifier: Apache-2.0
// Says in one line what compilers for an older C++ would say in hundreds.
#pragma once

#if __cplusplus <= 201703L
#error popdist needs C++20: compile with -std=c++20 (CMake: target_compile_features(TARGET PRIVATE cxx_std_20))
#endif
