# Toolchain: the C compiler of the Python package ziglang (deploy/cross/install.sh), which brings the headers and the symbols
# of the C libraries of FreeBSD, OpenBSD and NetBSD. HIWAT_ZIG in the environment names its program, zig.
# -DHIWAT_CROSS_TARGET=x86_64-freebsd, x86_64-openbsd, aarch64-openbsd ...
set(HIWAT_CROSS_TARGET "x86_64-freebsd" CACHE STRING "what to build for")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HIWAT_CROSS_TARGET)

if(HIWAT_CROSS_TARGET MATCHES "freebsd")
	set(CMAKE_SYSTEM_NAME FreeBSD)
elseif(HIWAT_CROSS_TARGET MATCHES "openbsd")
	set(CMAKE_SYSTEM_NAME OpenBSD)
elseif(HIWAT_CROSS_TARGET MATCHES "netbsd")
	set(CMAKE_SYSTEM_NAME NetBSD)
else()
	message(FATAL_ERROR "HIWAT_CROSS_TARGET ${HIWAT_CROSS_TARGET}: no system that hiwat knows")
endif()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${HIWAT_CROSS_TARGET})

set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zigcc)
set(CMAKE_C_COMPILER_TARGET ${HIWAT_CROSS_TARGET})
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/zigar)
set(CMAKE_RANLIB ${CMAKE_CURRENT_LIST_DIR}/zigranlib)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
