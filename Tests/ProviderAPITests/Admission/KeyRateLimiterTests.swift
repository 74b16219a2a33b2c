import Foundation
import PushSupport
import PushTypes
import Testing

@testable import ProviderAPI

/// The rates of API keys.
@Suite(.timeLimit(.minutes(5))) struct KeyRateLimiterTests {
    private let start = ContinuousClock.now

    @Test func aBucketFillsAtItsRate() {
        var bucket = TokenBucket(rate: 10, burst: 20, now: self.start)
        let taken = (0..<25).filter { _ in bucket.take(now: self.start) == nil }
        #expect(taken.count == 20)
        #expect(bucket.take(now: self.start) == .milliseconds(100))
        let later = self.start + .seconds(1)
        #expect((0..<25).filter { _ in bucket.take(now: later) == nil }.count == 10)
        let fullness = [later, later + .seconds(2)].map { bucket.isFull(now: $0) }
        #expect(fullness == [false, true])
        // A clock never goes back here, but nothing breaks if it did.
        #expect(bucket.take(now: self.start) == nil)
    }

    @Test func eachKeyHasARateOfItsOwn() throws {
        let rates = KeyRateLimiter(rate: 1) { [start] in start }
        let (first, second) = (Self.key(), Self.key())
        let (one, other) = (first, second)
        for _ in 0..<2 { try rates.take(first) }
        let error = #expect(throws: RetryLaterError.self) { try rates.take(first) }
        #expect(error?.error.kind == .rateLimited)
        #expect(error?.seconds == "2")
        #expect(throws: Never.self) { try rates.take(second) }
        // Long bodies wait longer and longer, short ones never do.
        #expect(try rates.delay(of: one, bytes: 8 << 20) == .zero)
        #expect(try rates.delay(of: one, bytes: 8 << 20) == .seconds(1))
        #expect(try rates.delay(of: one, bytes: 1000) == .zero)
        #expect(throws: RetryLaterError.self) { try rates.delay(of: one, bytes: 100 << 20) }
        #expect(try rates.delay(of: one, bytes: 8 << 20) == .seconds(2))
        #expect(try rates.delay(of: other, bytes: 8 << 20) == .zero)
        let free = KeyRateLimiter(rate: 0)
        for _ in 0..<10_000 { try free.take(first) }
    }

    /// A key's own rate counts in place of the server's, and a new one from the next request on.
    @Test func aKeyMayHaveItsOwnRate() throws {
        for server in [0, 1, 100] {
            let rates = KeyRateLimiter(rate: server) { [start] in start }
            let key = Self.key(rate: 3)
            for _ in 0..<6 { try rates.take(key) }
            let error = #expect(throws: RetryLaterError.self) { try rates.take(key) }
            #expect(error?.error.message.contains("3 requests per second") == true)
            let faster = Self.key(id: key.id, rate: 5)
            for _ in 0..<10 { try rates.take(faster) }
            #expect(throws: RetryLaterError.self) { try rates.take(faster) }
        }
    }

    /// Forms, which anybody can post, take nothing of what an app's bridges have.
    @Test func bridgesHaveARateOfTheirOwn() throws {
        let rates = KeyRateLimiter(rate: 1) { [start] in start }
        let app = try #require(Topic("com.example.MyApp"))
        for _ in 0..<2 { try rates.take(formOf: app) }
        #expect(throws: RetryLaterError.self) { try rates.take(formOf: app) }
        for _ in 0..<2 { try rates.take(bridgeOf: app) }
        #expect(throws: RetryLaterError.self) { try rates.take(bridgeOf: app) }
        #expect(try rates.delay(bridgeOf: app, bytes: 8 << 20) == .zero)
        #expect(try rates.delay(bridgeOf: app, bytes: 8 << 20) == .seconds(1))
        #expect(throws: RetryLaterError.self) { try rates.delay(bridgeOf: app, bytes: 100 << 20) }
    }

    private static func key(id: UUID = UUID(), rate: Int? = nil) -> APICaller {
        APICaller(id: id, name: "ci", scopes: ["send"], rate: rate)
    }
}
