import Crypto
import Foundation
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// Notifies devices of a published issue, with one notification for its files of all screen sizes (reference 10.1).
///
/// There is one notification per issue. Concurrent requests, and a request that is repeated after a crash, create only
/// one, because the idempotency key stays the same until the issue has another notification.
package struct IssueNotifier: Sendable {
    /// The result of the operation *Notify*, which notifies devices of an issue.
    package enum Outcome: Hashable, Sendable {
        case accepted(NotificationRecord)
        /// The notification that the issue already had, from an earlier call.
        case repeated(NotificationRecord)
    }

    /// The effect that the operation *Notify* would have for an issue now: the recipients and the waves of sending.
    package struct Plan: Hashable, Sendable {
        package let environment: PushEnvironment
        package let audience: AudienceExpression
        package let waves: NotifyWaves
        /// The number of active devices that would be notified now, or `nil` if they were not counted.
        package let devices: Int?
        /// The error with which *Notify* would be refused, or `nil` if it would be accepted.
        package let refusal: RequestError?

        /// The number of waves that the devices need, or `nil` if they were not counted.
        package var waveCount: Int? { self.devices.map { ($0 + self.waves.size - 1) / max(1, self.waves.size) } }
    }

    private let store: any AppStore & DeviceStore & NotificationStore & PublishingStore
    private let acceptor: NotificationAcceptor
    private let entitlements: EntitlementChecker
    private let counts = RecipientCounts()
    private let time: any TimeSource

    package init(
        store: any AppStore & DeviceStore & NotificationStore & PublishingStore,
        acceptor: NotificationAcceptor,
        entitlements: EntitlementChecker,
        time: any TimeSource
    ) {
        (self.store, self.acceptor, self.entitlements, self.time) = (store, acceptor, entitlements, time)
    }

    /// Accepts the notification of an issue, or returns the notification of an earlier call.
    /// - Parameters:
    ///   - again: `true` to create another notification if the earlier one has ended, `false` to return that.
    ///   - repetition: The caller's idempotency key of a call with `again`, or `nil` to create another one each time.
    ///   - changes: Changes to the publication's waves for this notification.
    ///   - messageID: The message id of the push, or `nil` for the current time in milliseconds.
    /// - Throws: ``RequestError`` if the notification is refused, for example for a draft.
    package func notify(
        _ issue: IssueRecord,
        app: AppRecord,
        key: KeyReference?,
        again: Bool = false,
        repetition: Idempotency? = nil,
        messageID: Int64? = nil,
        changes: PublicationChanges = PublicationChanges()
    ) async throws -> Outcome {
        try await self.check(issue, app: app)
        if again, let repetition, let known = try await self.store.accepted(repetition, app: app.id) {
            guard case .repeated(let earlier) = known else { throw Self.keyTaken }
            return .repeated(earlier)
        }
        let idempotency = (again ? repetition : nil) ?? Self.idempotency(of: issue)
        if let id = issue.notification {
            guard let earlier = try await self.store.notification(id) else {
                guard again else {
                    throw Self.refusal(
                        "already_notified",
                        "it was notified of, and the notification is forgotten: send again to repeat it"
                    )
                }
                return try await self.accept(issue, app, key, idempotency, messageID, changes)
            }
            guard again, [.done, .cancelled].contains(earlier.state) else { return .repeated(earlier) }
        }
        return try await self.accept(issue, app, key, idempotency, messageID, changes)
    }

    private static func idempotency(of issue: IssueRecord) -> Idempotency {
        // The space in the key keeps it apart from callers' keys, which have none.
        Idempotency(
            key: "issue \(issue.id.uuidString) \(issue.notification?.uuidString ?? "first")",
            fingerprint: Array(SHA256.hash(data: Data(issue.id.uuidString.utf8)))
        )
    }

    /// Returns the plan that ``notify(_:app:key:again:repetition:messageID:changes:)`` would follow now.
    /// - Parameter counts: `true` to count the devices too, which may read all devices of the app. The number may be a
    ///   minute old.
    package func plan(_ issue: IssueRecord, app: AppRecord, counts: Bool) async throws -> Plan {
        guard let publication = try await self.store.publication(issue.publication) else {
            throw Self.refusal("no_such_publication", "its publication was removed")
        }
        let environment = Self.environment(of: issue.productID)
        let audience = Self.audience(account: publication.account)
        var devices: Int?
        if counts {
            let counted = RecipientCounts.Counted(app: app.id, audience: audience, environment: environment)
            devices = try await self.counts.count(counted, now: self.time.steady) {
                try await self.store.count(app: app.id, audience: audience, environment: environment, kind: .alert)
            }
        }
        return Plan(
            environment: environment,
            audience: audience,
            waves: publication.waves,
            devices: devices,
            refusal: try await self.refusal(issue, app: app)
        )
    }

    private func refusal(_ issue: IssueRecord, app: AppRecord) async throws -> RequestError? {
        do {
            try await self.check(issue, app: app)
            return nil
        } catch let error as RequestError where error.kind == .conflict {
            return error
        }
    }

    /// Checks that users can download the issue, and throws ``RequestError`` otherwise.
    private func check(_ issue: IssueRecord, app: AppRecord) async throws {
        switch issue.state {
        case .draft: throw Self.refusal("issue_is_draft", "it is a draft, which no app sees: publish it first")
        case .withdrawn: throw Self.refusal("issue_withdrawn", "it is withdrawn, and cannot be downloaded")
        case .published: break
        }
        guard !issue.renditions.isEmpty else {
            throw Self.refusal("no_rendition", "it has no file that a device could download: set a rendition first")
        }
        if issue.access == .retail, let reason = try await self.entitlements.refusalForEverybody(app: app) {
            throw Self.refusal("nobody_entitled", "nobody can be entitled to it: \(reason)")
        }
        let environment = Self.environment(of: issue.productID)
        guard try await self.store.environments(app: app.id).contains(environment) else {
            throw Self.refusal("missing_credential", "the app has no credential for \(environment.rawValue)")
        }
    }

    private static func refusal(_ code: String, _ reason: String) -> RequestError {
        RequestError(.conflict, code: code, message: "the issue cannot be notified of: \(reason)", path: "issue")
    }

    private func accept(
        _ issue: IssueRecord,
        _ app: AppRecord,
        _ key: KeyReference?,
        _ idempotency: Idempotency,
        _ messageID: Int64?,
        _ changes: PublicationChanges
    ) async throws -> Outcome {
        guard var publication = try await self.store.publication(issue.publication) else {
            throw Self.refusal("no_such_publication", "its publication was removed")
        }
        changes.apply(to: &publication)
        let (notification, acceptance) = try await self.acceptor.accept(
            try self.request(issue, publication, app, messageID ?? self.time.now.milliseconds),
            app: app.id,
            key: key,
            idempotency: idempotency,
            issue: issue.id
        )
        switch acceptance {
        case .accepted: return .accepted(notification)
        case .repeated(let earlier): return .repeated(earlier)
        case .issueWithdrawn: throw Self.refusal("issue_withdrawn", "it is withdrawn, and cannot be downloaded")
        case .conflict, .scheduleChanged, .originalForgotten, .tokenOfOtherKind, .inactiveToken, .sessionRemoved:
            throw Self.keyTaken
        }
    }

    private static let keyTaken = Self.refusal(
        "idempotency_conflict",
        "the key or id of the call was used for another product or other waves"
    )

    private func request(
        _ issue: IssueRecord,
        _ publication: PublicationRecord,
        _ app: AppRecord,
        _ messageID: Int64
    ) throws -> NotificationRequest {
        let payload: JSONValue = .object([
            "aps": .object(["content-available": .integer(1)]), "productId": .string(issue.productID),
            "Id": .integer(messageID),
        ])
        var request = NotificationRequest(
            content: try Self.content(payload, to: app.bundleID),
            audience: .devices(Self.audience(account: publication.account)),
            environment: Self.environment(of: issue.productID),
            pace: .waves(
                size: publication.waves.size,
                interval: publication.waves.interval,
                steering: SteeringLimits(
                    maximumBandwidth: publication.waves.maximumBandwidth,
                    maximumDownloads: publication.waves.maximumDownloads
                )
            )
        )
        request.name = String("Notify \(issue.productID)".prefix(NotificationRequest.maximumName))
        return request
    }

    /// Returns the content of a push that wakes devices to download an issue.
    package static func content(_ payload: JSONValue, to topic: Topic) throws -> NotificationContent {
        NotificationContent(
            topic: topic,
            pushType: .background,
            tokenKind: .alert,
            priority: .powerAware,
            expiration: .servicePolicy,
            collapseID: nil,
            payload: try payload.text
        )
    }

    /// Returns the audience: the devices with Newsstand, limited to those of a publisher's `account` if not `nil`.
    package static func audience(account: String?) -> AudienceExpression {
        let newsstand = AudienceExpression.attribute(name: DeviceRequest.newsstandAttribute, .equal, .bool(true))
        guard let account else { return newsstand }
        return .and([newsstand, .attribute(name: DeviceRequest.accountAttribute, .equal, .string(account))])
    }

    /// Returns the environment of a product: sandbox for ids with the prefix `dev_test.`, production for all others.
    package static func environment(of productID: String) -> PushEnvironment {
        productID.hasPrefix("dev_test.") ? .sandbox : .production
    }
}

/// A cache of the numbers of recipients that are shown before a notification is sent. Each is a minute old at most.
///
/// Counting a million devices takes half a second, and a page that shows the number is often reloaded.
private final class RecipientCounts: Sendable {
    struct Counted: Hashable, Sendable {
        var app: Int64
        var audience: AudienceExpression
        var environment: PushEnvironment
    }

    private struct Number {
        var value: Int
        var countedAt: Timestamp
    }

    private static let age: Duration = .seconds(60)

    private let numbers = SharedCache<Counted, Number>(maximum: 1000)

    /// Returns a number of recipients that is at most a minute old.
    /// - Parameter now: The current time by the steady clock.
    func count(_ counted: Counted, now: Timestamp, _ count: () async throws -> Int) async throws -> Int {
        if let known = self.numbers[counted], now.since(known.countedAt) < Self.age { return known.value }
        let number = Number(value: try await count(), countedAt: now)
        self.numbers[counted] = number
        return number.value
    }
}
