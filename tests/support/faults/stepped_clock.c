/* A wall clock that another process sets: LD_PRELOAD of a program whose CLOCK_REALTIME is ahead of this machine's by the seconds in the first
 * eight bytes of $ROMA_CLOCK_OFFSET_FILE. CLOCK_MONOTONIC stays as it is, as when an administrator sets the clock.
 *
 * Waits until a moment of the wall clock (pthread_cond_timedwait, cnd_timedwait) last as long as that clock says: a clock that is set back
 * makes them longer. They are cut into slices, after each of which the clock is read again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 20000000L
#define A_SECOND_NS 1000000000L
#define OF_THE_WALL_CLOCK_S 1000000000L /* a monotonic clock has not run for thirty years */

static volatile int64_t none = 0;
static volatile int64_t *offset_s = &none;
static int (*real_gettime)(clockid_t, struct timespec *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    real_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!real_timedwait) real_timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    const char *path = getenv("ROMA_CLOCK_OFFSET_FILE");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) return;
    void *at = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) offset_s = at;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!real_gettime) real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real_gettime(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset_s;
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    (void)zone;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

time_t time(time_t *at) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (at) *at = exact.tv_sec;
    return exact.tv_sec;
}

int timespec_get(struct timespec *now, int base) { return clock_gettime(CLOCK_REALTIME, now) ? 0 : base; }

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    if (until->tv_sec < OF_THE_WALL_CLOCK_S) return real_timedwait(condition, mutex, until);
    for (;;) {
        struct timespec now, slice;
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec)) return ETIMEDOUT;
        real_gettime(CLOCK_REALTIME, &slice);
        slice.tv_nsec += SLICE_NS;
        if (slice.tv_nsec >= A_SECOND_NS) {
            slice.tv_nsec -= A_SECOND_NS;
            slice.tv_sec++;
        }
        int result = real_timedwait(condition, mutex, &slice);
        if (result != ETIMEDOUT) return result;
    }
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    /* glibc's C11 conditions and mutexes are its POSIX ones. */
    int result = pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until);
    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}
