package import NIOCore
package import ProviderModel
import PushHTTP
package import PushProvider
package import PushStore
import PushSupport

/// The query item `wait` of a request that sends: the maximum time for which the response waits for outcomes.
package struct WaitParameter {
    /// The maximum number of recipients of a notification whose outcomes a request may await. With more, it is
    /// rejected.
    static let maximumRecipients = 100
    /// The maximum time for which a request may wait, in seconds. A longer one is rejected.
    static let maximumSeconds: Int64 = 30
    /// The time for which a request with `wait=true` waits, in seconds.
    static let standardSeconds: Int64 = 10

    static let parameter = ParameterDescription.query(
        "wait",
        "Seconds to wait for the outcomes of up to \(maximumRecipients) recipients; true is \(standardSeconds).",
        .any(of: [.integer(1...maximumSeconds), .choice(["true"])])
    )

    let limit: Duration

    package init(limit: Duration) { self.limit = limit }

    /// Parses the query item. Returns `nil` if it is absent, in which case the request does not wait.
    /// - Throws: ``RequestError`` for any other value than `true` or a permitted number of seconds.
    init?(_ request: OperationRequest) throws {
        let text = "use true, or 1 to \(Self.maximumSeconds) seconds"
        let read: (String) -> Int64? = { value in
            if value == "true" { return Self.standardSeconds }
            return Int64(value).flatMap { (1...Self.maximumSeconds).contains($0) ? $0 : nil }
        }
        guard let seconds = try request.value("wait", read, orThrow: .invalid("wait", text)) else { return nil }
        self.limit = .seconds(seconds)
    }

    /// Checks, before a notification is accepted, that a request may wait for its outcomes.
    /// - Throws: ``RequestError`` for a notification that is scheduled, or has more than ``maximumRecipients`` tokens.
    func check(_ request: NotificationRequest) throws(RequestError) {
        guard request.delivery == nil else {
            throw Self.error(
                "conflicting_field",
                "a notification with when is not sent at once: leave out wait or when"
            )
        }
        guard case .tokens(let tokens) = request.audience, tokens.count > Self.maximumRecipients else { return }
        throw Self.tooMany(tokens.count)
    }

    /// Returns the error for an audience that is too large.
    /// - Parameter count: The number of recipients, or `nil` if counting them takes too long.
    static func tooMany(_ count: Int?) -> RequestError {
        let found = count.map { "these are \($0)" } ?? "these take long to count"
        let message = "wait is for at most \(Self.maximumRecipients) recipients, \(found): leave it out"
        return Self.error("too_many_recipients", message)
    }

    private static func error(_ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: "wait")
    }

    /// Waits until all recipients have a final state, or the time has elapsed. The state is checked first, and again
    /// after each commit of the dispatcher.
    /// - Returns: The notification in its state at that time.
    /// - Throws: `CancellationError` if the client has disconnected.
    package func end(
        of notification: NotificationRecord,
        _ signals: OutcomeSignals,
        _ store: any NotificationStore,
        on channel: any Channel
    ) async throws -> NotificationRecord {
        let (id, limit) = (notification.id, self.limit)
        return try await channel.withClientConnected {
            try await signals.observe(id, atMost: limit) { signals in
                var current = notification
                var iterator = signals.makeAsyncIterator()
                repeat {
                    current = try await store.notification(id) ?? current
                    if current.hasEnded { return current }
                } while await iterator.next() != nil
                try Task.checkCancellation()
                return try await store.notification(id) ?? current
            }
        }
    }
}
