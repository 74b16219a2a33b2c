import HTTPTypes
import NIOCore
import ProviderAPI
import PushSupport
import PushTypes
import Synchronization

/// The limits on what homeservers, which bring no credentials, may ask for.
///
/// A homeserver is an address with a user agent: several may share the address of a proxy, which has four times the rate of one.
final class MatrixLimits: Sendable {
    /// The most requests of an app that are being accepted.
    static let inFlight = 512
    /// The pushes per second of one token, and those at once. A homeserver that was away sends what it has kept back.
    private static let tokenRate = (rate: 20.0, burst: 200.0)
    /// The homeservers' rates that one address has in all.
    private static let homeservers = 4.0

    /// The longest user agent that tells homeservers apart, in bytes.
    private static let maximumAgent = 200

    private struct Homeserver: Hashable {
        var network: [UInt8]
        var agent: String?
    }

    struct TokenOfApp: Hashable {
        var app: Int64
        var token: DeviceToken
    }

    private let rate: Double
    private let addresses: TokenBucketTable<[UInt8]>
    private let homeservers: TokenBucketTable<Homeserver>
    private let tokens: TokenBucketTable<TokenOfApp>
    private let running = Mutex<[Int64: Int]>([:])
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// - Parameter rate: Requests per second of one homeserver, twice as many at once; 0 sets no limit, also none of tokens.
    init(rate: Int, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.rate, self.clock) = (Double(rate), clock)
        self.homeservers = TokenBucketTable(rate: Double(rate), burst: 2 * Double(rate))
        self.addresses = TokenBucketTable(
            rate: Self.homeservers * Double(rate),
            burst: 2 * Self.homeservers * Double(rate)
        )
        self.tokens = TokenBucketTable(rate: Self.tokenRate.rate, burst: Self.tokenRate.burst)
    }

    /// Counts requests of a homeserver.
    /// - Parameter count: One, or the further devices of a request, each of which costs as much as a request of its own.
    func take(from address: SocketAddress?, agent: String?, count: Int = 1) throws(MatrixError) {
        guard self.rate > 0, count > 0, let network = address.map(KeyRateLimiter.network(of:)) else { return }
        let agent = (agent?.utf8.count ?? 0) <= Self.maximumAgent ? agent : nil
        let (now, homeserver) = (self.clock(), Homeserver(network: network, agent: agent))
        // No more than a full bucket has: else the request could never be taken.
        let tokens = min(Double(count), 2 * self.rate)
        if let delay = self.homeservers.with(homeserver, now: now, { $0.take(tokens, now: now) })
            ?? self.addresses.with(network, now: now, { $0.take(tokens, now: now) })
        {
            throw .tooMany("this homeserver sends more than \(Int(self.rate)) requests per second", delay: delay)
        }
    }

    /// Counts a push to a token.
    func take(_ token: DeviceToken, of app: Int64) throws(MatrixError) {
        guard self.rate > 0 else { return }
        let now = self.clock()
        let delay = self.tokens.take(TokenOfApp(app: app, token: token), now: now)
        if let delay {
            throw .tooMany("a pushkey gets more than \(Int(Self.tokenRate.rate)) pushes per second", delay: delay)
        }
    }

    /// Begins a request of some apps. Call ``end(_:)`` at its end.
    func begin(_ apps: Set<Int64>) throws(MatrixError) {
        let isFull = self.running.withLock { running in
            guard apps.allSatisfy({ running[$0, default: 0] < Self.inFlight }) else { return true }
            for app in apps { running[app, default: 0] += 1 }
            return false
        }
        if isFull { throw .tooMany("\(Self.inFlight) requests of this app are in flight") }
    }

    func end(_ apps: Set<Int64>) {
        self.running.withLock { running in
            for app in apps {
                let left = (running[app] ?? 0) - 1
                running[app] = left > 0 ? left : nil
            }
        }
    }
}
