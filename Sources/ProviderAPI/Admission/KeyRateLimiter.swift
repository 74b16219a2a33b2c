import Foundation
package import NIOCore
package import PushSupport
package import PushTypes

/// Limits the requests of each API key and person, and the bytes of its long bodies.
package final class KeyRateLimiter: Sendable {
    /// The bytes of long bodies per second, and at once: parsing a megabyte costs more than many small requests.
    private static let bodyBytes = 8.0 * 1024 * 1024
    /// Bodies shorter than this are not counted, in bytes.
    private static let smallBody = 64 * 1024
    /// The longest time for which a body waits.
    private static let maximumDelay: Duration = .seconds(10)

    private let rate: Int
    private let publicRate: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let requests: TokenBucketTable<KeyWithRate>
    /// The rates of the registration forms of apps, which bring no API key.
    private let forms: TokenBucketTable<Topic>
    /// The rates of addresses from which requests with public keys come.
    private let addresses = TokenBucketTable<[UInt8]>(rate: 1, burst: 1)
    private let bodies = TokenBucketTable<Sender>(rate: KeyRateLimiter.bodyBytes, burst: KeyRateLimiter.bodyBytes)
    /// The rates of apps' bridges, for requests that bring the bridge's secret in place of an API key.
    private let bridges: TokenBucketTable<Topic>

    /// The sender of long bodies.
    private enum Sender: Hashable {
        case caller(UUID)
        /// The bridges of an app.
        case bridges(Topic)
    }

    /// A key, whose bucket is another one once its rate is changed.
    private struct KeyWithRate: Hashable {
        var id: UUID
        var rate: Int?
    }

    /// - Parameters:
    ///   - rate: Requests per second of keys that have no rate of their own, twice as many at once; 0 sets no limit.
    ///   - publicRate: The same for the requests with public keys from one address.
    init(rate: Int, publicRate: Int = 0, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.rate, self.publicRate, self.clock) = (rate, publicRate, clock)
        self.requests = TokenBucketTable(rate: Double(rate), burst: 2 * Double(rate))
        self.forms = TokenBucketTable(rate: Double(rate), burst: 2 * Double(rate))
        self.bridges = TokenBucketTable(rate: Double(rate), burst: 2 * Double(rate))
    }

    /// Counts a request of a caller.
    ///
    /// - Throws: ``RetryLaterError`` if it exceeds its own rate, or that of the server.
    package func take(_ caller: APICaller) throws {
        let rate = caller.rate ?? self.rate
        let message = "\(caller.text) has \(rate) requests per second: send fewer, or in batches"
        try self.take(from: self.requests, KeyWithRate(id: caller.id, rate: caller.rate), rate: rate, orElse: message)
    }

    /// Counts a request with a public key of a client's address.
    ///
    /// - Throws: ``RetryLaterError`` if the address exceeds its rate.
    package func take(publicFrom channel: any Channel) throws {
        // A stream of HTTP/2 has the address of its connection.
        guard let address = channel.remoteAddress ?? channel.parent?.remoteAddress else { return }
        let message = "this address has \(self.publicRate) requests with a public key per second: try again later"
        try self.take(from: self.addresses, Self.network(of: address), rate: self.publicRate, orElse: message)
    }

    /// Returns the bytes of an IPv4 address, or of the 64 bits that one customer has of IPv6.
    package static func network(of address: SocketAddress) -> [UInt8] {
        switch address {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0.prefix(8)) }
        case .unixDomainSocket: []
        }
    }

    /// Counts a form that registers a device of an app.
    ///
    /// - Throws: ``RetryLaterError`` if the app exceeds its rate.
    package func take(formOf app: Topic) throws {
        let message = "this app has \(self.rate) forms per second: try again later"
        try self.take(from: self.forms, app, rate: self.rate, orElse: message)
    }

    /// Counts a request that was admitted by the secret of an app's bridge. Forms, which anybody can post, take nothing of it.
    ///
    /// - Throws: ``RetryLaterError`` if the app's bridges exceed their rate.
    package func take(bridgeOf app: Topic) throws {
        let message = "the bridges of this app have \(self.rate) requests per second: send fewer, or in batches"
        try self.take(from: self.bridges, app, rate: self.rate, orElse: message)
    }

    /// - Parameters:
    ///   - rate: Requests per second; 0 sets no limit.
    ///   - message: The explanation for a caller who exceeds the rate.
    private func take<Key>(
        from limiter: TokenBucketTable<Key>,
        _ key: Key,
        rate: Int,
        orElse message: String
    ) throws {
        guard rate > 0 else { return }
        let now = self.clock()
        guard let delay = limiter.take(key, rate: Double(rate), now: now) else { return }
        throw RetryLaterError(RequestError(.rateLimited, code: "too_many_requests", message: message), after: delay)
    }

    /// Counts a body, and returns the time to wait before it is parsed.
    ///
    /// - Throws: ``RetryLaterError`` if that is too long.
    package func delay(of caller: APICaller, bytes: Int) throws -> Duration {
        try self.delay(of: .caller(caller.id), caller.text, bytes: bytes)
    }

    /// Counts a body that came with the secret of an app's bridge, and returns the time to wait before it is parsed.
    ///
    /// - Throws: ``RetryLaterError`` if that is too long.
    package func delay(bridgeOf app: Topic, bytes: Int) throws -> Duration {
        try self.delay(of: .bridges(app), "this bridge", bytes: bytes)
    }

    private func delay(of sender: Sender, _ name: String, bytes: Int) throws -> Duration {
        guard bytes >= Self.smallBody else { return .zero }
        let now = self.clock()
        let delay = self.bodies.with(sender, now: now) { bucket in
            let delay = bucket.spend(Double(bytes), now: now)
            if delay > Self.maximumDelay { _ = bucket.spend(-Double(bytes), now: now) }
            return delay
        }
        guard delay <= Self.maximumDelay else {
            let message = "\(name) sends more than 8 MB per second in long bodies: send fewer, or an import"
            throw RetryLaterError(RequestError(.rateLimited, code: "too_many_bytes", message: message), after: delay)
        }
        return delay
    }
}
