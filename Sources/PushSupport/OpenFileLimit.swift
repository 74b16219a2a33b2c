#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The limit of open files and sockets that the operating system sets for this process.
package struct OpenFileLimit: Hashable, Sendable {
    /// The limit that counts.
    package let now: Int
    /// The limit to which this process may raise it.
    package let highest: Int

    /// The present limit; `nil` if the system does not tell it.
    package static var present: OpenFileLimit? {
        guard let limits = Self.limits else { return nil }
        return OpenFileLimit(now: Int(clamping: limits.rlim_cur), highest: Int(clamping: Self.highest(limits)))
    }

    /// Raises the limit to the highest.
    ///
    /// Most systems begin with 1,024 for the sake of programs that wait with `select`, which this one does not.
    /// - Returns: The limit now; `nil` if the system does not tell it.
    @discardableResult
    package static func raise() -> Int? {
        if var limits = Self.limits, limits.rlim_cur < Self.highest(limits) {
            limits.rlim_cur = Self.highest(limits)
            // The limit stays if the system does not allow it.
            _ = setrlimit(Self.resource, &limits)
        }
        return self.present?.now
    }

    private static var limits: rlimit? {
        var limits = rlimit()
        return getrlimit(Self.resource, &limits) == 0 ? limits : nil
    }

    #if canImport(Darwin)
    static let resource = RLIMIT_NOFILE

    /// More than `OPEN_MAX` is refused, whatever the hard limit says.
    static func highest(_ limits: rlimit) -> rlim_t {
        max(limits.rlim_cur, min(limits.rlim_max, rlim_t(OPEN_MAX)))
    }
    #else
    #if canImport(Musl)
    static let resource = RLIMIT_NOFILE
    #else
    static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif

    static func highest(_ limits: rlimit) -> rlim_t { limits.rlim_max }
    #endif
}
