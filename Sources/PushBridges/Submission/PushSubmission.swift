import NIOCore
import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Writes the pushes of other systems into the ledger, and waits for their outcomes.
struct PushSubmission: Sendable {
    /// The maximum number of tokens that are looked up together.
    private static let lookedUpAtOnce = 1000

    let parts: ProviderComponents

    /// A notification in the ledger, to named tokens.
    struct Accepted: Sendable {
        let notification: NotificationRecord
        let tokens: [DeviceToken]
    }

    /// Returns the tokens, sorted by their registrations in the store.
    func sorted(
        _ tokens: [DeviceToken],
        of app: AppRecord,
        wanted: DeviceTokenKind?,
        environment: PushEnvironment?
    ) async throws -> NamedTokens {
        NamedTokens(
            tokens,
            registrations: try await self.registrations(tokens, app: app.id),
            wanted: wanted,
            environment: environment
        )
    }

    private func registrations(_ tokens: [DeviceToken], app: Int64) async throws -> [DeviceToken:
        [NamedTokenRegistration]]
    {
        var found: [DeviceToken: [NamedTokenRegistration]] = [:]
        var rest = tokens[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(Self.lookedUpAtOnce))
            found.merge(try await self.parts.store.registrations(app: app, tokens: some)) { $1 }
            rest = rest.dropFirst(some.count)
        }
        return found
    }

    /// Returns `true` if the app can send to an environment. `nil` stands for the environment of tokens without one.
    func canSend(_ app: AppRecord, to environment: PushEnvironment?) async throws -> Bool {
        try await self.parts.store.environments(app: app.id).contains(environment ?? .production)
    }

    /// Returns `true` if the app can send to any environment.
    func canSend(_ app: AppRecord) async throws -> Bool {
        try await !self.parts.store.environments(app: app.id).isEmpty
    }

    /// Writes a notification into the ledger.
    /// - Parameters:
    ///   - key: The API key of the request, or `nil` if a secret admitted it.
    ///   - repetition: The idempotency key by which a repeated request is recognized, or `nil` for none.
    /// - Returns: The notification, or the earlier one of a repeated request.
    func accept(
        _ request: NotificationRequest,
        of app: AppRecord,
        key: KeyReference?,
        origin: NotificationOrigin,
        receivedAt: Timestamp,
        repetition: Idempotency? = nil
    ) async throws -> NotificationRecord {
        let (notification, acceptance) = try await self.parts.acceptor.accept(
            request,
            app: app.id,
            key: key,
            idempotency: repetition,
            acceptance: AcceptanceRecord(receivedAt: receivedAt, origin: origin)
        )
        switch acceptance {
        case .accepted: return notification
        case .repeated(let earlier): return earlier
        case .conflict, .scheduleChanged, .originalForgotten, .tokenOfOtherKind, .inactiveToken, .issueWithdrawn,
            .sessionRemoved:
            throw RequestError.conflict("idempotency_conflict", "another request has the same identity")
        }
    }

    /// Waits for the final states of notifications, because other systems' clients wait for them in the response. The
    /// longest time for all of them together is ``ProviderConfiguration/Limits/outcome``.
    /// - Parameter channel: The connection of the client. Its end ends the wait.
    /// - Returns: The states of each notification's tokens, in the order of the notifications.
    func verdicts(of accepted: [Accepted], on channel: any Channel) async throws -> [[DeviceToken: TokenOutcome]] {
        let end = ContinuousClock.now + self.parts.configuration.limits.outcome
        var verdicts: [[DeviceToken: TokenOutcome]] = []
        for push in accepted {
            let waiting = WaitParameter(limit: max(.zero, end - .now))
            let store = self.parts.store
            let current = try await waiting.end(of: push.notification, self.parts.outcomes, store, on: channel)
            verdicts.append(try await self.verdicts(of: push, now: current))
        }
        return verdicts
    }

    /// Returns the present state of each token of a notification.
    func verdicts(of push: Accepted, now notification: NotificationRecord) async throws -> [DeviceToken: TokenOutcome] {
        let deliveries = try await self.parts.store.deliveries(
            of: notification.id,
            state: nil,
            reason: nil,
            after: nil,
            limit: push.tokens.count
        )
        let ids = DeliveryID(notification: notification.id)
        let known = Dictionary(deliveries.map { ($0.recipient, $0) }) { $1 }
        var verdicts: [DeviceToken: TokenOutcome] = [:]
        for (index, token) in push.tokens.enumerated() {
            // The ids of recipients that are named tokens count down from -1.
            let recipient = -Int64(index + 1)
            verdicts[token] = TokenOutcome(known[recipient], apnsID: ids.text(recipient: recipient))
        }
        let accused = verdicts.filter { $0.value.accusesToken }.keys
        guard !accused.isEmpty else { return verdicts }
        let registrations = try await self.registrations(Array(accused), app: notification.app)
        for token in accused where registrations[token]?.contains(where: \.isActive) == true {
            verdicts[token] = verdicts[token]?.unconfirmed
        }
        return verdicts
    }
}

/// The outcome for one token, which is reported to other systems' clients.
enum TokenOutcome: Hashable, Sendable {
    /// The push service accepted the push.
    case accepted(apnsID: String)
    /// The push is in the ledger, and has no final state yet.
    case pending(apnsID: String)
    /// There was nothing to send, for example because the user does not want such notifications.
    case skipped(apnsID: String)
    /// The push service rejected the push with a reason.
    case rejected(String)
    /// The push service rejected the token, but the token is still active in the store, because the configuration may
    /// be at fault. Clients must not drop the token for it.
    case unconfirmed(String)
    /// The push could not be sent in time, or its response was lost.
    case failed(String)

    /// The reasons on which clients drop a token.
    static let faultsOfTokens: Set<Reason> = [.badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered]

    /// - Parameter delivery: The state of the recipient, or `nil` while it has none.
    init(_ delivery: DeliveryRecord?, apnsID: String) {
        switch delivery?.state {
        case nil, .sending?: self = .pending(apnsID: apnsID)
        case .accepted?: self = .accepted(apnsID: apnsID)
        case .skipped?: self = .skipped(apnsID: apnsID)
        case .rejected?: self = .rejected(delivery?.reason ?? "")
        case .failed?, .unknown?: self = .failed(delivery?.reason ?? "")
        }
    }

    /// Indicates whether a client would drop the token for this outcome.
    var accusesToken: Bool {
        guard case .rejected(let reason) = self else { return false }
        return Reason(rawValue: reason).map(Self.faultsOfTokens.contains) ?? false
    }

    /// The outcome for a token that is still active in the store.
    var unconfirmed: TokenOutcome { if case .rejected(let reason) = self { .unconfirmed(reason) } else { self } }
}
