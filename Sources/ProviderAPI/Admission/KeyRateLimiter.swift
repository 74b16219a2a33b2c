import Foundation
import PushSupport
import PushTypes

/// Limits the requests of each API key, and the bytes of its long bodies.
final class KeyRateLimiter: Sendable {
    /// The bytes of long bodies per second, and at once: parsing a megabyte costs more than many small requests.
    private static let bodyBytes = 8.0 * 1024 * 1024
    /// Bodies shorter than this are not counted, in bytes.
    private static let smallBody = 64 * 1024
    /// The longest time for which a body waits.
    private static let maximumDelay: Duration = .seconds(10)

    private let rate: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let requests: TokenBucketTable<UUID>
    /// The rates of the registration forms of apps, which bring no API key.
    private let forms: TokenBucketTable<Topic>
    private let bodies = TokenBucketTable<UUID>(rate: KeyRateLimiter.bodyBytes, burst: KeyRateLimiter.bodyBytes)

    /// - Parameter rate: Requests per second, twice as many at once; 0 sets no limit.
    init(rate: Int, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.rate, self.clock) = (rate, clock)
        self.requests = TokenBucketTable(rate: Double(rate), burst: 2 * Double(rate))
        self.forms = TokenBucketTable(rate: Double(rate), burst: 2 * Double(rate))
    }

    /// Counts a request of an API key.
    ///
    /// - Throws: ``RetryLaterError`` if the key exceeds its rate.
    func take(_ key: UUID) throws {
        let message = "this API key has \(self.rate) requests per second: send fewer, or in batches"
        try self.take(from: self.requests, key, orElse: message)
    }

    /// Counts a form that registers a device of an app.
    ///
    /// - Throws: ``RetryLaterError`` if the app exceeds its rate.
    func take(formOf app: Topic) throws {
        let message = "this app has \(self.rate) forms per second: try again later"
        try self.take(from: self.forms, app, orElse: message)
    }

    /// - Parameter message: The explanation for a caller who exceeds the rate.
    private func take<Key>(from limiter: TokenBucketTable<Key>, _ key: Key, orElse message: String) throws {
        guard self.rate > 0 else { return }
        let now = self.clock()
        guard let delay = limiter.with(key, now: now, { $0.take(now: now) }) else { return }
        throw RetryLaterError(RequestError(.rateLimited, code: "too_many_requests", message: message), after: delay)
    }

    /// Counts a body, and returns the time to wait before it is parsed.
    ///
    /// - Throws: ``RetryLaterError`` if that is too long.
    func delay(of key: UUID, bytes: Int) throws -> Duration {
        guard bytes >= Self.smallBody else { return .zero }
        let now = self.clock()
        let delay = self.bodies.with(key, now: now) { bucket in
            let delay = bucket.spend(Double(bytes), now: now)
            if delay > Self.maximumDelay { _ = bucket.spend(-Double(bytes), now: now) }
            return delay
        }
        guard delay <= Self.maximumDelay else {
            let message = "this API key sends more than 8 MB per second in long bodies: send fewer, or an import"
            throw RetryLaterError(RequestError(.rateLimited, code: "too_many_bytes", message: message), after: delay)
        }
        return delay
    }
}
