import NIOCore
import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Submits pushes from other systems to the ledger, and waits for their outcomes.
struct PushSubmission: Sendable {
    /// The maximum number of tokens that one query of the store looks up. More tokens need several queries.
    private static let lookedUpAtOnce = 1000

    let parts: ProviderComponents

    struct Accepted: Sendable {
        let notification: NotificationRecord
        let tokens: [DeviceToken]
    }

    /// Returns the tokens, grouped by their registrations in the store as ``NamedTokens`` describes.
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

    /// Returns whether the app can send to an environment, where `nil` stands for production.
    func canSend(_ app: AppRecord, to environment: PushEnvironment?) async throws -> Bool {
        try await self.parts.store.environments(app: app.id).contains(environment ?? .production)
    }

    /// Returns whether the app can send to any environment.
    func canSend(_ app: AppRecord) async throws -> Bool {
        try await !self.parts.store.environments(app: app.id).isEmpty
    }

    /// Accepts a notification by writing it into the ledger.
    /// - Parameters:
    ///   - key: The API key of the request, or `nil` if a bridge's secret admitted it.
    ///   - repetition: The idempotency key by which a repeated request is recognized, or `nil` for no such check.
    /// - Returns: The notification, or the earlier one if the request is a repetition.
    /// - Throws: ``RequestError`` if the notification is not valid or conflicts with another.
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

    /// Waits for the final states of notifications, which other systems' clients expect in the response. The maximum
    /// time for all of them together is ``ProviderConfiguration/Limits/outcome``.
    /// - Parameter channel: The connection of the client. If it is closed, the wait ends.
    /// - Returns: The outcomes for each notification's tokens, in the order of the notifications.
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

    /// Returns the outcome for each token of a notification whose current state is `notification`.
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

/// The outcome for one token, as it is reported to other systems' clients.
enum TokenOutcome: Hashable, Sendable {
    /// The outcome if the push service accepted the push.
    case accepted(apnsID: String)
    /// The outcome while the push is in the ledger and has no final state.
    case pending(apnsID: String)
    /// The outcome if nothing was or will be sent, for example because the user does not want such notifications.
    case skipped(apnsID: String)
    /// The outcome if the push service rejected the push. The string is its reason.
    case rejected(String)
    /// The outcome if the push service rejected the token, but the token is still active in the store, because the
    /// configuration may be at fault. The string is the reason. Clients must not remove the token.
    case unconfirmed(String)
    /// The outcome if the push could not be sent in time, or its response was lost. The string is the reason.
    case failed(String)

    /// The rejection reasons for which clients remove a token.
    static let faultsOfTokens: Set<Reason> = [.badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered]

    /// Creates the outcome from the delivery to the token, which is `nil` if it does not exist yet.
    init(_ delivery: DeliveryRecord?, apnsID: String) {
        switch delivery?.state {
        case nil, .sending?: self = .pending(apnsID: apnsID)
        case .accepted?: self = .accepted(apnsID: apnsID)
        case .skipped?: self = .skipped(apnsID: apnsID)
        case .rejected?: self = .rejected(delivery?.reason ?? "")
        case .failed?, .unknown?: self = .failed(delivery?.reason ?? "")
        }
    }

    /// A Boolean value that indicates whether a client would remove the token because of this outcome.
    var accusesToken: Bool {
        guard case .rejected(let reason) = self else { return false }
        return Reason(rawValue: reason).map(Self.faultsOfTokens.contains) ?? false
    }

    /// The outcome to report for a token that is still active in the store, which replaces ``rejected(_:)``.
    var unconfirmed: TokenOutcome { if case .rejected(let reason) = self { .unconfirmed(reason) } else { self } }
}
