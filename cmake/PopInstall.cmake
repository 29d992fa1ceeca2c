# SPDX-License-Identifier: Apache-2.0
# cmake --install: poprun for its users, and libpopdist for programs outside this repository. Of the project itself
# only: one that has it as a subfolder installs what is its own.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR is ${CMAKE_INSTALL_LIBDIR}: name a folder of the prefix")
endif()

# Programs look for each other under these two names of one prefix (common/sys/own_program.cpp), and for backends under
# a third (libpopdist/collectives/context/backends.cpp), so CMAKE_INSTALL_BINDIR, LIBEXECDIR and LIBDIR cannot move
# them.
set(called_by_users poprun popctl popdist-agent popdist-algorithms popdist-data popdistd)
set(called_by_ours poprun-daemon poprun-hosts poprun-service popdist-agent-service popdist-join popdist-runner
  popdist-topology)
if(TARGET popdist-pmix)
  list(APPEND called_by_ours popdist-pmix)
endif()
# Those that get keys can be executed, not read: the kernel then keeps their memory private from their first instruction
# on. popdist-agent is copied to other hosts.
set(get_keys popctl poprun-daemon popdistd popdist-agent-service popdist-join popdist-runner)
set(for_execution OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
foreach(folder_and_programs "bin;${called_by_users}" "libexec/poprun;${called_by_ours}")
  list(POP_FRONT folder_and_programs folder)
  set(private ${folder_and_programs})
  list(REMOVE_ITEM folder_and_programs ${get_keys})
  list(REMOVE_ITEM private ${folder_and_programs})
  install(TARGETS ${folder_and_programs} RUNTIME DESTINATION ${folder})
  install(TARGETS ${private} RUNTIME DESTINATION ${folder} PERMISSIONS ${for_execution})
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/installed/names DESTINATION libexec/poprun MESSAGE_NEVER)

# The two libraries of libpopdist, each with those of ours that it links, which others do not have, in one archive.
function(pop_installed_library name)
  list(TRANSFORM ARGN REPLACE ".+" "$<TARGET_OBJECTS:\\0>" OUTPUT_VARIABLE objects)
  add_library(${name}_installed STATIC ${objects})
  set_target_properties(${name}_installed PROPERTIES
    LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    OUTPUT_NAME ${name}
    EXPORT_NAME ${name})
  target_compile_features(${name}_installed INTERFACE cxx_std_20)
endfunction()
pop_installed_library(popdist popdist pop_base pop_contract pop_plan pop_pod_clock pop_pod_system pop_sys)
target_link_libraries(popdist_installed PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
pop_installed_library(popdist_train popdist_train pop_scaling)
target_link_libraries(popdist_train_installed PUBLIC popdist_installed PRIVATE ZLIB::ZLIB)
# A shared library that links them does not export them.
foreach(library popdist popdist_train)
  target_link_options(${library}_installed INTERFACE LINKER:--exclude-libs,lib${library}.a)
endforeach()
install(TARGETS popdist_installed popdist_train_installed popdist_shared EXPORT popdist
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY libpopdist/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} MESSAGE_NEVER)

set(backends)
foreach(backend popdist_backend_grpc popdist_backend_mpi)
  if(TARGET ${backend})
    list(APPEND backends ${backend})
  endif()
endforeach()
install(TARGETS ${backends} LIBRARY DESTINATION lib/popdist/backends)

# find_package(popdist) and pkg-config popdist.
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/popdist)
set(pkgconfig_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT popdist NAMESPACE pop:: FILE popdistTargets.cmake DESTINATION ${package_directory})
write_basic_package_version_file(popdistConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH prefix_from_pkgconfig /${pkgconfig_directory} /)
set(pkgconfig_files)
foreach(package popdist popdist_shared popdist_train)
  configure_file(packaging/${package}.pc.in ${package}.pc @ONLY)
  list(APPEND pkgconfig_files ${PROJECT_BINARY_DIR}/${package}.pc)
endforeach()
install(FILES packaging/popdistConfig.cmake ${PROJECT_BINARY_DIR}/popdistConfigVersion.cmake
  DESTINATION ${package_directory})
install(FILES ${pkgconfig_files} DESTINATION ${pkgconfig_directory})

install(FILES docs/man/poprun.1 docs/man/popctl.1 docs/man/popdistd.1 docs/man/popdist-agent.1
  docs/man/popdist-algorithms.1 docs/man/popdist-data.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
foreach(program poprun popctl)
  set(shares ${CMAKE_INSTALL_DATADIR})
  install(FILES completions/${program}.bash DESTINATION ${shares}/bash-completion/completions RENAME ${program})
  install(FILES completions/${program}.zsh DESTINATION ${shares}/zsh/site-functions RENAME _${program})
  install(FILES completions/${program}.fish DESTINATION ${shares}/fish/vendor_completions.d)
endforeach()

# Pages for users. Those for developers and the sources stay here, so links to them become plain text.
set(not_installed "CONTRIBUTING|docs/(README|adr|architecture|dev|spec)|libpopdist|scripts")
foreach(page README.md CHANGELOG.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} text)
  string(REGEX REPLACE "\\[([^]]+)\\]\\((${not_installed})[^)]*\\)" "\\1" text "${text}")
  file(CONFIGURE OUTPUT installed/${page} CONTENT "${text}" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/guide docs/reference DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs MESSAGE_NEVER)
install(DIRECTORY examples/char_transformer examples/common examples/fashion_mnist examples/fashion_pipeline
    examples/kernels examples/pods examples/popart_horovod examples/strategies
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples MESSAGE_NEVER)

install(FILES packaging/popdist-agent.service packaging/popdistd.service DESTINATION lib/systemd/system)
install(FILES packaging/popdist-sysusers.conf DESTINATION lib/sysusers.d RENAME popdist.conf)
# For Grafana; nothing of ours reads it.
install(FILES packaging/popdistd-dashboard.json DESTINATION ${CMAKE_INSTALL_DATADIR}/popdist)

configure_file(packaging/at_install.cmake.in at_install.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/at_install.cmake)

# All that cmake --install wants, without the tests.
add_custom_target(installed)
add_dependencies(installed ${called_by_users} ${called_by_ours} popdist_installed popdist_train_installed popdist_shared
  ${backends})
