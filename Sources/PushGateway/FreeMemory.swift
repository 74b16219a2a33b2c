#if canImport(Glibc)
import Glibc
#endif

/// Gives memory that is free inside the process back to the system, where the C library does not do it by itself.
enum FreeMemory {
    /// Takes milliseconds: after many connections have ended, not often.
    static func giveBack() {
        #if canImport(Glibc)
        _ = malloc_trim(0)
        #endif
    }
}
