/* SPDX-License-Identifier: Apache-2.0
 *
 * Put in front of a program with LD_PRELOAD, moves its wall clock: by the microseconds that the file HOLDFAST_SKEW has,
 * a 64-bit number in the order of the machine. The file is mapped, so that a change is seen at the next reading. Clocks
 * that only measure (CLOCK_MONOTONIC and the others), sleeps and timers are left alone.
 *
 * Asks the kernel itself, not the C library: some allocators read the clock while a program is being loaded, when the
 * next definition cannot be looked up yet.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *skew;

__attribute__((constructor)) static void map_file(void) {
  const char *name = getenv("HOLDFAST_SKEW");
  int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) {
    skew = page;
  }
}

static int64_t micros(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 + (skew == NULL ? 0 : *skew);
}

int clock_gettime(clockid_t clock, struct timespec *to) {
  int64_t now;
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
    return (int)syscall(SYS_clock_gettime, clock, to);
  }
  now = micros();
  to->tv_sec = now / 1000000;
  to->tv_nsec = now % 1000000 * 1000;
  return 0;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  int64_t now = micros();
  (void)zone;
  to->tv_sec = now / 1000000;
  to->tv_usec = now % 1000000;
  return 0;
}

time_t time(time_t *to) {
  time_t now = (time_t)(micros() / 1000000);
  if (to != NULL) {
    *to = now;
  }
  return now;
}
