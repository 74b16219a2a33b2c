// Sets the clocks of a program (LD_PRELOAD) off by the nanoseconds that stand in the file CLOCK_CONTROL, which may change at
// any time: first for the wall clock, then for the clocks that only count on. Timers strike by these clocks, so that hours
// can pass in a moment.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { WALL, STEADY, FILES = 4096, SECOND = 1000000000 };

// A timer: whether it is armed, by which clock, and when it strikes by that clock.
struct timer { int is_armed, kind; int64_t moment; struct timespec interval; };

static volatile int64_t *offsets;
static int64_t nothing[2];
static struct timer timers[FILES];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static struct timespec span(int64_t nanoseconds) {
    // Zero would stop a timer; what is over strikes at once.
    if (nanoseconds < 1) nanoseconds = 1;
    return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

static int kind_of(clockid_t clock) {
    switch (clock) {
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: return WALL;
    case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: case CLOCK_BOOTTIME: return STEADY;
    default: return -1;
    }
}

static int64_t now(clockid_t clock) {
    struct timespec real;
    syscall(SYS_clock_gettime, clock, &real);
    int kind = kind_of(clock);
    return (int64_t)real.tv_sec * SECOND + real.tv_nsec + (kind < 0 ? 0 : offsets[kind]);
}

static int arm(int file, const struct timer *timer) {
    struct itimerspec value = {timer->interval, span(timer->moment - offsets[timer->kind])};
    return syscall(SYS_timerfd_settime, file, TFD_TIMER_ABSTIME, &value, NULL);
}

// Timers follow when the clocks are set.
static void *watch(void *unused) {
    int64_t known[2] = {offsets[WALL], offsets[STEADY]};
    for (;;) {
        usleep(2000);
        if (known[WALL] == offsets[WALL] && known[STEADY] == offsets[STEADY]) continue;
        pthread_mutex_lock(&turn);
        known[WALL] = offsets[WALL];
        known[STEADY] = offsets[STEADY];
        for (int file = 0; file < FILES; file++)
            if (timers[file].is_armed) arm(file, &timers[file]);
        pthread_mutex_unlock(&turn);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void) {
    offsets = nothing;
    const char *path = getenv("CLOCK_CONTROL");
    int file = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (page == MAP_FAILED) return;
    offsets = page;
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    if (kind_of(clock) < 0) return syscall(SYS_clock_gettime, clock, result);
    int64_t moment = now(clock);
    result->tv_sec = moment / SECOND;
    result->tv_nsec = moment % SECOND;
    return 0;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    int64_t moment = now(CLOCK_REALTIME);
    result->tv_sec = moment / SECOND;
    result->tv_usec = moment % SECOND / 1000;
    return 0;
}

time_t time(time_t *result) {
    time_t seconds = now(CLOCK_REALTIME) / SECOND;
    if (result) *result = seconds;
    return seconds;
}

int timerfd_create(int clock, int flags) {
    int file = syscall(SYS_timerfd_create, clock, flags);
    if (file >= 0 && file < FILES) {
        pthread_mutex_lock(&turn);
        timers[file] = (struct timer){0, kind_of(clock) == WALL ? WALL : STEADY, 0, {0, 0}};
        pthread_mutex_unlock(&turn);
    }
    return file;
}

int timerfd_settime(int file, int flags, const struct itimerspec *value, struct itimerspec *old) {
    if (file < 0 || file >= FILES) return syscall(SYS_timerfd_settime, file, flags, value, old);
    pthread_mutex_lock(&turn);
    struct timer *timer = &timers[file];
    int64_t moment = (int64_t)value->it_value.tv_sec * SECOND + value->it_value.tv_nsec;
    timer->is_armed = moment != 0;
    timer->interval = value->it_interval;
    timer->moment = flags & TFD_TIMER_ABSTIME ? moment : moment + now(timer->kind == WALL ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    int result = timer->is_armed ? arm(file, timer) : (int)syscall(SYS_timerfd_settime, file, flags, value, old);
    pthread_mutex_unlock(&turn);
    return result;
}
