# SPDX-License-Identifier: Apache-2.0
# find_package(popdist): the targets pop::popdist, and pop::popdist_train for data and training.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
include(${CMAKE_CURRENT_LIST_DIR}/popdistTargets.cmake)
