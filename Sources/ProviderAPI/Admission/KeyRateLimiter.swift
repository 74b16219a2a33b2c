import Foundation
import PushStore
import PushSupport
import PushTypes

/// Keeps each API key to its rate of requests, and to what it may give to be read.
final class KeyRateLimiter: Sendable {
    /// Bytes of bodies per second, and at once: to read a megabyte costs more than to answer many requests.
    private static let bytes = 8.0 * 1024 * 1024
    /// Bodies shorter than this are not counted, in bytes.
    private static let small = 64 * 1024
    /// Longest time for which a body waits to be read.
    private static let patience: Duration = .seconds(10)

    private let rate: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let requests: KeyedRateLimiter<UUID>
    /// The rates of the forms of older systems, which bring no API key.
    private let forms: KeyedRateLimiter<Topic>
    private let bodies = KeyedRateLimiter<UUID>(rate: KeyRateLimiter.bytes, burst: KeyRateLimiter.bytes)

    /// - Parameter rate: requests per second, twice as many at once; 0 sets no limit.
    init(rate: Int, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.rate = rate
        self.clock = clock
        self.requests = KeyedRateLimiter(rate: Double(rate), burst: 2 * Double(rate))
        self.forms = KeyedRateLimiter(rate: Double(rate), burst: 2 * Double(rate))
    }

    /// Counts a request of an API key.
    /// - Throws: ``Throttled`` with status 429, and how long to wait.
    func take(_ key: UUID) throws {
        let message = "this API key has \(self.rate) requests per second: send fewer, or in batches"
        try self.take(from: self.requests, key, orElse: message)
    }

    /// Counts a form that registers devices of an app.
    /// - Throws: ``Throttled`` with status 429, and how long to wait.
    func take(formOf app: Topic) throws {
        let message = "this app's forms are taken \(self.rate) times per second at most: try again later"
        try self.take(from: self.forms, app, orElse: message)
    }

    private func take<Key>(from buckets: KeyedRateLimiter<Key>, _ key: Key, orElse message: String) throws {
        guard self.rate > 0 else { return }
        let now = self.clock()
        guard let wait = buckets.with(key, now: now, { $0.take(now: now) }) else { return }
        throw Throttled(RequestError(.rateLimited, code: "too_many_requests", message: message), wait: wait)
    }

    /// Returns the time for which a body of so many bytes waits before it is read.
    /// - Throws: ``Throttled`` with status 429 where that is too long.
    func delay(of key: UUID, bytes: Int) throws -> Duration {
        guard bytes >= Self.small else { return .zero }
        let now = self.clock()
        let wait = self.bodies.with(key, now: now) { bucket in
            let wait = bucket.spend(Double(bytes), now: now)
            if wait > Self.patience { _ = bucket.spend(-Double(bytes), now: now) }
            return wait
        }
        guard wait <= Self.patience else {
            throw Throttled(
                RequestError(
                    .rateLimited,
                    code: "too_many_bytes",
                    message: "this API key sends more than 8 MB per second in long bodies: send fewer, or an import"
                ),
                wait: wait
            )
        }
        return wait
    }
}

/// A refusal that will not be one a little later.
struct Throttled: Error {
    let refusal: RequestError
    let wait: Duration

    init(_ refusal: RequestError, wait: Duration) {
        self.refusal = refusal
        self.wait = wait
    }

    /// `nil` for any other error.
    init?(_ error: any Error) {
        switch error {
        case let throttled as Throttled: self = throttled
        case StoreError.tooManyQueries: self.init(.tooManyQueries, wait: .seconds(1))
        case StoreError.queryTooExpensive(let budget): self.init(.tooExpensive(budget), wait: .seconds(9))
        case StoreError.ending: self.init(.ending, wait: .seconds(4))
        case is CancellationError: self.init(.clientGone, wait: .zero)
        default: return nil
        }
    }

    /// Waits a quarter of a second before a 429: a client that does not wait for `retry-after` is not answered faster for it.
    func hesitate() async {
        guard self.refusal.kind == .rateLimited else { return }
        try? await Task.sleep(for: .milliseconds(250), clock: .continuous)
    }

    /// For `retry-after`, in whole seconds.
    var seconds: String { "\(max(1, self.wait.components.seconds + 1))" }
}

extension RequestError {
    fileprivate static var tooManyQueries: RequestError {
        RequestError(
            .rateLimited,
            code: "too_many_queries",
            message: "long questions are answered one at a time for each API key: wait for the others to be answered"
        )
    }

    fileprivate static func tooExpensive(_ budget: Duration) -> RequestError {
        let seconds = budget.components.seconds
        return RequestError(
            .unavailable,
            code: "query_too_expensive",
            message: """
                no answer was found within \(seconds) s: ask with fewer conditions, or with one that must hold and can be \
                looked up, such as a user, a tag or an attribute's value
                """
        )
    }

    fileprivate static var ending: RequestError {
        RequestError(.unavailable, code: "ending", message: "the provider is ending: try again later")
    }

    fileprivate static var clientGone: RequestError {
        RequestError(
            .unavailable,
            code: "client_gone",
            message: "the connection was closed before the answer was found"
        )
    }
}
