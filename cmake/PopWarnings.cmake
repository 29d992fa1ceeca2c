# pop_warnings: the warnings of every target of ours. Presets turn them into errors with CMAKE_COMPILE_WARNING_AS_ERROR.
add_library(pop_warnings INTERFACE)
target_compile_options(pop_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wcast-align -Wduplicated-cond -Wlogical-op -Wimplicit-fallthrough
  -Wno-missing-field-initializers  # designated initialisers leave the rest at its default on purpose
  -Wno-restrict)                   # g++ 12 reports it falsely for "text" + std::string (GCC bug 105651)
if(CMAKE_UNITY_BUILD)
  # A file's own types are in an included file there, which is what the warning looks for.
  target_compile_options(pop_warnings INTERFACE -Wno-subobject-linkage)
endif()
