// Sits between a program and its files (LD_PRELOAD) and writes down, in the order in which they happen, all changes below
// the folder RECORDER_FOLDER to the file RECORDER_LOG; and lets some of them fail, as RECORDER_CONTROL says.
//
// A record is: kind (1 byte), result (4, an errno or 0), file descriptor (4), offset (8), moment (8, CLOCK_MONOTONIC in
// nanoseconds, after it was done), length of the content (4), content. All numbers are little-endian.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPENED = 'o', CREATED = 'c', CLOSED = 'x', WRITTEN = 'w', TRUNCATED = 't', SYNCED = 's', RENAMED = 'r',
    LINKED = 'l', UNLINKED = 'u' };

// What is to fail: so many of the next calls, with this errno. Python writes it, so it is in shared memory.
struct control { int32_t syncs, writes, error; };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static char folder[PATH_MAX];
static size_t folder_length;
static volatile struct control *control;
static unsigned char is_ours[65536];

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("RECORDER_FOLDER"), *path = getenv("RECORDER_LOG"), *faults = getenv("RECORDER_CONTROL");
    if (!name || !path || strlen(name) >= sizeof folder) return;
    strcpy(folder, name);
    folder_length = strlen(folder);
    log_file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (!faults) return;
    int file = syscall(SYS_openat, AT_FDCWD, faults, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) control = page;
    syscall(SYS_close, file);
}

static int is_below(const char *path) {
    if (log_file < 0 || !path || strncmp(path, folder, folder_length)) return 0;
    if (path[folder_length] && path[folder_length] != '/') return 0;
    // The index of SQLite's log is shared memory: it is not durable and is made anew.
    size_t length = strlen(path);
    return length < 4 || strcmp(path + length - 4, "-shm");
}

static int has(int file) { return log_file >= 0 && file >= 0 && file < (int)sizeof is_ours && is_ours[file]; }

static void record(char kind, int result, int file, int64_t offset, const void *content, size_t length) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    int64_t moment = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    unsigned char head[29];
    int32_t size = (int32_t)length;
    head[0] = (unsigned char)kind;
    memcpy(head + 1, &result, 4);
    memcpy(head + 5, &file, 4);
    memcpy(head + 9, &offset, 8);
    memcpy(head + 17, &moment, 8);
    memcpy(head + 25, &size, 4);
    struct iovec parts[2] = {{head, sizeof head}, {(void *)content, length}};
    syscall(SYS_writev, log_file, parts, 2);
}

static int fails(volatile int32_t *count) {
    if (!control || *count <= 0) return 0;
    (*count)--;
    errno = control->error;
    return 1;
}

#define NEXT(name) __typeof__(name) *next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int opened(int file, const char *path, int flags, int existed) {
    if (file >= 0 && file < (int)sizeof is_ours) {
        is_ours[file] = 1;
        int error = errno;
        // A file without a name is nobody's after a power failure.
        record(existed ? OPENED : CREATED, 0, file, existed && flags & O_TRUNC ? 1 : 0, path, strlen(path));
        errno = error;
    }
    return file;
}

#define OPENING(name, parameters, ...)                                                                                 \
    int name parameters {                                                                                              \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list list;                                                                                              \
            va_start(list, flags);                                                                                     \
            mode = va_arg(list, mode_t);                                                                               \
            va_end(list);                                                                                              \
        }                                                                                                              \
        NEXT(name);                                                                                                    \
        if (!is_below(path)) return next(__VA_ARGS__, mode);                                                           \
        pthread_mutex_lock(&turn);                                                                                     \
        int existed = access(path, F_OK) == 0;                                                                         \
        int file = opened(next(__VA_ARGS__, mode), path, flags, existed);                                              \
        pthread_mutex_unlock(&turn);                                                                                   \
        return file;                                                                                                   \
    }
OPENING(open, (const char *path, int flags, ...), path, flags)
OPENING(open64, (const char *path, int flags, ...), path, flags)
OPENING(openat, (int at, const char *path, int flags, ...), at, path, flags)
OPENING(openat64, (int at, const char *path, int flags, ...), at, path, flags)

int close(int file) {
    NEXT(close);
    if (!has(file)) return next(file);
    pthread_mutex_lock(&turn);
    is_ours[file] = 0;
    record(CLOSED, 0, file, 0, NULL, 0);
    int result = next(file);
    pthread_mutex_unlock(&turn);
    return result;
}

static ssize_t written(int file, ssize_t count, off_t offset, const void *content) {
    int error = errno;
    if (count > 0) record(WRITTEN, 0, file, offset, content, (size_t)count);
    errno = error;
    return count;
}

#define PWRITE(name, type)                                                                                             \
    ssize_t name(int file, const void *content, size_t length, type offset) {                                          \
        NEXT(name);                                                                                                    \
        if (!has(file)) return next(file, content, length, offset);                                                    \
        pthread_mutex_lock(&turn);                                                                                     \
        ssize_t count = -1;                                                                                            \
        if (!control || !fails(&control->writes))                                                                      \
            count = written(file, next(file, content, length, offset), offset, content);                               \
        pthread_mutex_unlock(&turn);                                                                                   \
        return count;                                                                                                  \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int file, const void *content, size_t length) {
    NEXT(write);
    if (!has(file)) return next(file, content, length);
    pthread_mutex_lock(&turn);
    ssize_t count = -1;
    if (!control || !fails(&control->writes)) {
        count = next(file, content, length);
        // Where it has written: before where it stands now, whether it appends or not.
        written(file, count, count > 0 ? lseek(file, 0, SEEK_CUR) - count : 0, content);
    }
    pthread_mutex_unlock(&turn);
    return count;
}

#define TRUNCATE(name, type)                                                                                           \
    int name(int file, type length) {                                                                                  \
        NEXT(name);                                                                                                    \
        if (!has(file)) return next(file, length);                                                                     \
        pthread_mutex_lock(&turn);                                                                                     \
        int result = next(file, length);                                                                               \
        if (result == 0) record(TRUNCATED, 0, file, length, NULL, 0);                                                  \
        pthread_mutex_unlock(&turn);                                                                                   \
        return result;                                                                                                 \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

// The real call is left out: what a power failure takes is decided later, from the log.
static int synced(int file) {
    pthread_mutex_lock(&turn);
    int result = control && fails(&control->syncs) ? -1 : 0, error = errno;
    record(SYNCED, result ? error : 0, file, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    errno = error;
    return result;
}

int fsync(int file) {
    NEXT(fsync);
    return has(file) ? synced(file) : next(file);
}

int fdatasync(int file) {
    NEXT(fdatasync);
    return has(file) ? synced(file) : next(file);
}

// Both names, with a zero between.
static void record_names(char kind, const char *from, const char *to) {
    char both[2 * PATH_MAX + 1];
    size_t first = strlen(from), second = strlen(to);
    if (first >= PATH_MAX || second >= PATH_MAX) return;
    memcpy(both, from, first + 1);
    memcpy(both + first + 1, to, second);
    record(kind, 0, -1, 0, both, first + 1 + second);
}

#define NAMES(name, kind)                                                                                              \
    int name(const char *from, const char *to) {                                                                       \
        NEXT(name);                                                                                                    \
        if (!is_below(from) && !is_below(to)) return next(from, to);                                                   \
        pthread_mutex_lock(&turn);                                                                                     \
        int result = next(from, to), error = errno;                                                                    \
        if (result == 0) record_names(kind, from, to);                                                                 \
        errno = error;                                                                                                 \
        pthread_mutex_unlock(&turn);                                                                                   \
        return result;                                                                                                 \
    }
NAMES(rename, RENAMED)
NAMES(link, LINKED)

int unlink(const char *path) {
    NEXT(unlink);
    if (!is_below(path)) return next(path);
    pthread_mutex_lock(&turn);
    int result = next(path), error = errno;
    if (result == 0) record(UNLINKED, 0, -1, 0, path, strlen(path));
    errno = error;
    pthread_mutex_unlock(&turn);
    return result;
}
