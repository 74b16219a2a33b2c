#if canImport(Glibc)
import Glibc
#endif

/// Gives memory that is free inside the process back to the system, where the C library does not do it by itself.
enum FreeMemory {
    #if canImport(Glibc)
    /// glibc's `malloc_trim`, which Swift's module of it does not name.
    private static let trim: (@convention(c) (Int) -> CInt)? = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
    }
    #endif

    /// Takes milliseconds: after many connections have ended, not often.
    static func giveBack() {
        #if canImport(Glibc)
        _ = self.trim?(0)
        #endif
    }
}
