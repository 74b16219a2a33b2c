import Foundation
import NIOCore
import ProviderAPI
import PushSupport
import Synchronization

/// The rates of requests to ``PushDoor``: of each push resource, of each address, and of requests to what does not exist. The
/// messages of an app are limited by their number at a time.
final class PushDoorRates: Sendable {
    /// Messages per second of a push resource, and at once.
    private static let (resourceRate, resourceBurst) = (5.0, 100.0)
    /// Requests per second from an address to what does not exist, and at once.
    private static let (unknownRate, unknownBurst) = (5.0, 50.0)

    /// The most messages of an app that are being accepted.
    static let inFlight = 512

    private let resources = TokenBucketTable<UUID>(
        rate: PushDoorRates.resourceRate,
        burst: PushDoorRates.resourceBurst
    )
    private let unknown = TokenBucketTable<[UInt8]>(
        rate: PushDoorRates.unknownRate,
        burst: PushDoorRates.unknownBurst
    )
    private let addresses: TokenBucketTable<[UInt8]>
    /// The messages of each app that are being accepted.
    private let running = Mutex<[Int64: Int]>([:])
    /// Requests per second from an address; 0 for no limit.
    private let addressRate: Int
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// - Parameter addressRate: Requests per second from an address, twice as many at once; 0 sets no limit.
    init(addressRate: Int, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.addressRate = addressRate
        self.addresses = TokenBucketTable(rate: Double(addressRate), burst: 2 * Double(addressRate))
        self.clock = clock
    }

    /// Counts a message to a push resource.
    /// - Throws: ``RetryLaterError`` if it gets too many.
    func take(of resource: UUID) throws {
        let now = self.clock()
        guard let delay = self.resources.take(resource, now: now) else { return }
        throw Self.error("this subscription gets too many messages", delay)
    }

    /// Begins a message of an app. Call ``end(_:)`` at its end.
    /// - Throws: ``RetryLaterError`` for one too many: a sender takes it as the provider's fault, and tries again.
    func begin(_ app: Int64) throws {
        let isFull = self.running.withLock { running in
            guard running[app, default: 0] < Self.inFlight else { return true }
            running[app, default: 0] += 1
            return false
        }
        guard isFull else { return }
        let message = "\(Self.inFlight) messages of this app are being accepted"
        throw RetryLaterError(RequestError(.unavailable, code: "busy", message: message), after: .seconds(1))
    }

    func end(_ app: Int64) {
        self.running.withLock { running in
            let left = (running[app] ?? 0) - 1
            running[app] = left > 0 ? left : nil
        }
    }

    /// Counts a request from a client's address.
    /// - Throws: ``RetryLaterError`` if it makes too many.
    func take(from channel: any Channel) throws {
        guard self.addressRate > 0 else { return }
        try self.take(from: self.addresses, channel)
    }

    /// Counts a request from a client's address to something that does not exist.
    /// - Throws: ``RetryLaterError`` if it makes too many.
    func takeUnknown(from channel: any Channel) throws { try self.take(from: self.unknown, channel) }

    private func take(from table: TokenBucketTable<[UInt8]>, _ channel: any Channel) throws {
        guard let address = channel.remoteAddress ?? channel.parent?.remoteAddress else { return }
        let now = self.clock()
        guard let delay = table.take(KeyRateLimiter.network(of: address), now: now) else { return }
        throw Self.error("this address makes too many requests", delay)
    }

    private static func error(_ message: String, _ delay: Duration) -> RetryLaterError {
        RetryLaterError(RequestError(.rateLimited, code: "too_many_requests", message: message), after: delay)
    }
}
