// Whether a sanitizer controls the allocator and the address space. g++ and clang report it differently.
#pragma once

#if defined(__has_feature)
#define ECHOFORM_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define ECHOFORM_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define ECHOFORM_ADDRESS_SANITIZER 1
#else
#define ECHOFORM_ADDRESS_SANITIZER 0
#endif
#ifdef __SANITIZE_THREAD__
#define ECHOFORM_THREAD_SANITIZER 1
#else
#define ECHOFORM_THREAD_SANITIZER 0
#endif
#endif
