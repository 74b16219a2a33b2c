import Testing

@testable import PushSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite struct OpenFileLimitTests {
    @Test func itIsRaisedToTheHighest() throws {
        let lowered = try #require(Self.lower())
        let raised = try #require(OpenFileLimit.raise())
        #expect(raised == lowered + 1)
        #expect(OpenFileLimit.present == OpenFileLimit(now: raised, highest: raised))
        // A second time changes nothing.
        #expect(OpenFileLimit.raise() == raised)
    }

    /// Sets the limit to one less than the highest, which is enough for the tests that run meanwhile.
    /// - Returns: The limit; `nil` if the system does not allow it.
    private static func lower() -> Int? {
        var limits = rlimit()
        guard getrlimit(OpenFileLimit.resource, &limits) == 0 else { return nil }
        // On Darwin a limit may be beyond the highest to which it can be raised.
        limits.rlim_cur = 0
        limits.rlim_cur = OpenFileLimit.highest(limits) - 1
        return setrlimit(OpenFileLimit.resource, &limits) == 0 ? Int(clamping: limits.rlim_cur) : nil
    }
}
