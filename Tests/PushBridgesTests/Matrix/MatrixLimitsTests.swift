import NIOCore
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// The limits on homeservers, tokens and apps.
@Suite struct MatrixLimitsTests {
    /// A clock that moves when the test says so.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { self.time.withLock { $0 } }

        func advance(by duration: Duration) { self.time.withLock { $0 = $0.advanced(by: duration) } }
    }

    private static func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 1) }

    /// Returns the number of requests that are taken at once.
    private static func taken(_ limits: MatrixLimits, _ address: String, _ agent: String?) throws -> Int {
        let address = try Self.address(address)
        return (0..<1000).prefix { _ in (try? limits.take(from: address, agent: agent)) != nil }.count
    }

    @Test func homeserversBehindOneAddressDoNotTakeEachOthersRate() throws {
        let clock = Clock()
        let limits = MatrixLimits(rate: 10, clock: { clock.now })
        #expect(try Self.taken(limits, "192.0.2.1", "Synapse/1") == 20)
        #expect(try Self.taken(limits, "192.0.2.1", "Dendrite/1") == 20)
        #expect(try Self.taken(limits, "192.0.2.2", "Synapse/1") == 20)
        clock.advance(by: .seconds(1))
        #expect(try Self.taken(limits, "192.0.2.1", "Synapse/1") == 10)
        // Names are cheap: an address has four times the rate of a homeserver.
        let all = try (0..<20).reduce(0) { try $0 + Self.taken(limits, "192.0.2.3", "x\($1)") }
        #expect(all == 80)
    }

    @Test func furtherDevicesOfARequestCostAsMuchAsRequests() throws {
        let clock = Clock()
        let limits = MatrixLimits(rate: 10, clock: { clock.now })
        let address = try Self.address("192.0.2.1")
        try limits.take(from: address, agent: nil, count: 0)
        try limits.take(from: address, agent: nil, count: 15)
        #expect(try Self.taken(limits, "192.0.2.1", nil) == 5)
        // More than there can ever be at once are taken when the bucket is full.
        #expect(throws: MatrixError.self) { try limits.take(from: address, agent: nil, count: 99) }
        clock.advance(by: .seconds(2))
        try limits.take(from: address, agent: nil, count: 99)
    }

    @Test func theRefusalSaysWhenToComeBack() throws {
        let clock = Clock()
        let limits = MatrixLimits(rate: 1, clock: { clock.now })
        let address = try Self.address("2001:db8::1")
        #expect(try Self.taken(limits, "2001:db8::1", nil) == 2)
        do {
            try limits.take(from: address, agent: nil)
            Issue.record("it is taken")
        } catch {
            #expect(error.status == 429)
            #expect(error.code == .limitExceeded)
            #expect(error.delay == .seconds(1))
        }
    }

    @Test func aTokenHasARateOfItsOwn() throws {
        let clock = Clock()
        let limits = MatrixLimits(rate: 10, clock: { clock.now })
        func taken(_ number: Int, of app: Int64) -> Int {
            (0..<1000).prefix { _ in (try? limits.take(.numbered(number), of: app)) != nil }.count
        }
        #expect(taken(1, of: 1) == 200)
        #expect(taken(2, of: 1) == 200)
        #expect(taken(1, of: 2) == 200)
        clock.advance(by: .seconds(1))
        #expect(taken(1, of: 1) == 20)
    }

    @Test func withoutARateNothingIsLimited() throws {
        let limits = MatrixLimits(rate: 0)
        #expect(try Self.taken(limits, "192.0.2.1", nil) == 1000)
        for _ in 0..<1000 { try limits.take(.numbered(1), of: 1) }
    }

    @Test func anAppHasSoManyRequestsInFlight() throws {
        let limits = MatrixLimits(rate: 0)
        for _ in 0..<MatrixLimits.inFlight { try limits.begin([1]) }
        #expect(throws: MatrixError.self) { try limits.begin([1, 2]) }
        try limits.begin([2])
        limits.end([1])
        try limits.begin([1, 2])
        limits.end([3])
    }
}
