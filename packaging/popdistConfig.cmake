# SPDX-License-Identifier: Apache-2.0
# find_package(popdist): the static libraries pop::popdist, and pop::popdist_train for data and training; both as
# libpopdist.so with the C interface: pop::popdist_shared.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
include(${CMAKE_CURRENT_LIST_DIR}/popdistTargets.cmake)
