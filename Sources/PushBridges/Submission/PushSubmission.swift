import Foundation
import Hummingbird
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Puts the pushes of other systems into the ledger, and waits for their outcomes.
struct PushSubmission: Sendable {
    /// The tokens whose registrations are looked up together.
    private static let lookedUpAtOnce = 1000

    let parts: ProviderComponents

    /// A notification in the ledger, to named tokens.
    struct Accepted: Sendable {
        let notification: NotificationRecord
        let tokens: [DeviceToken]
    }

    /// Returns the tokens as the store knows them.
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

    /// Returns `true` if the app can send to an environment; `nil` stands for that of named tokens without one.
    func canSend(_ app: AppRecord, to environment: PushEnvironment?) async throws -> Bool {
        try await self.parts.store.environments(app: app.id).contains(environment ?? .production)
    }

    /// Returns `true` if the app can send to some environment.
    func canSend(_ app: AppRecord) async throws -> Bool {
        try await !self.parts.store.environments(app: app.id).isEmpty
    }

    /// Writes a notification into the ledger.
    ///
    /// - Parameters:
    ///   - key: The API key of the request; `nil` for one that was admitted by a secret.
    ///   - repetition: The identity of the request, by which a repetition is recognized; `nil` for none.
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

    /// Waits for the final states of notifications, as other systems' clients wait for a response: for all of them together no
    /// longer than ``ProviderConfiguration/Limits/outcome``.
    ///
    /// - Parameter channel: The connection of the client, whose end ends the wait.
    /// - Returns: The states of each notification's tokens, in the order of the notifications.
    func verdicts(
        of accepted: [Accepted],
        on channel: any Channel
    ) async throws -> [[DeviceToken: TokenOutcome]] {
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
            // The recipients of named tokens count down.
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
