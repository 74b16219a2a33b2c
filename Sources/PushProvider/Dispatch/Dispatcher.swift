import Foundation
package import Logging
import NIOCore
package import PushProtocol
package import PushSender
package import PushStore
import ServiceLifecycle

/// Sends what was accepted: claims a notification, walks its audience page by page, writes each page's results in one
/// transaction, repeats what failed when its time has come.
///
/// A crash costs at most one page sent again, with the same `apns-id`s.
package struct Dispatcher: Service {
    package struct Limits: Sendable {
        /// Recipients per transaction. Default 500.
        package var page = 500
        /// Requests to the push service at the same time. Default 100.
        package var inFlight = 100
        /// A claim is given up after this time without a commit. Default 5 min.
        package var lease: Duration = .seconds(300)
        /// The longest sleep without a signal. Default 5 s.
        package var sleep: Duration = .seconds(5)

        package init() {}
    }

    private let store: any PushStore
    private let senders: any SenderSource
    private let wake: Wake
    private let limits: Limits
    private let policy: RetryPolicy
    private let time: any TimeSource
    private let logger: Logger

    package init(
        store: any PushStore,
        senders: any SenderSource,
        wake: Wake,
        limits: Limits = Limits(),
        policy: RetryPolicy = RetryPolicy(),
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.senders = senders
        self.wake = wake
        self.limits = limits
        self.policy = policy
        self.time = time
        self.logger = logger
    }

    /// Works until graceful shutdown, which lets the page in flight finish.
    package func run() async throws {
        try await self.store.releaseLeases()
        await withTaskCancellationOrGracefulShutdownHandler {
            var isAwake = true
            while isAwake {
                do {
                    while try await self.step(), !Task.isShuttingDownGracefully, !Task.isCancelled {}
                    isAwake = await self.wake.wait(atMost: try await self.untilNextRetry())
                } catch {
                    self.logger.error("dispatching failed, trying again", metadata: ["error": "\(error)"])
                    isAwake = await self.wake.wait(atMost: self.limits.sleep)
                }
            }
        } onCancelOrGracefulShutdown: {
            self.wake.end()
        }
    }

    /// One page of retries that are due and one page of an accepted notification, so that neither waits for the other.
    /// Whether there was any.
    package func step() async throws -> Bool {
        let hasRetried = try await self.stepRetries()
        let hasSent = try await self.stepPage()
        return hasRetried || hasSent
    }

    private func stepRetries() async throws -> Bool {
        let due = try await self.store.dueRetries(now: self.time.now, limit: self.limits.page)
        guard let (notification, recipients) = due else { return false }
        try await self.send(notification, to: recipients, cursor: nil, isLast: false)
        return true
    }

    private func stepPage() async throws -> Bool {
        let now = self.time.now
        let until = now.advanced(by: self.limits.lease)
        guard let notification = try await self.store.claim(now: now, until: until) else { return false }
        let page = try await self.store.recipients(of: notification, limit: self.limits.page)
        try await self.send(notification, to: page.recipients, cursor: page.cursor, isLast: page.isLast)
        return true
    }

    private func untilNextRetry() async throws -> Duration {
        guard let next = try await self.store.nextRetry() else { return self.limits.sleep }
        return min(self.limits.sleep, max(.milliseconds(1), next.since(self.time.now)))
    }

    private func send(
        _ notification: NotificationRecord,
        to recipients: [Recipient],
        cursor: Int64?,
        isLast: Bool
    ) async throws {
        let senders = try await self.senders(for: notification)
        let sentAt = self.time.now
        var page = PageResult()
        page.cursor = cursor
        page.isLast = isLast
        await withTaskGroup(of: (Recipient, Outcome).self) { group in
            var running = 0
            for recipient in recipients {
                guard let sender = senders[recipient.environment], notification.expires > sentAt else {
                    page.deliveries.append(self.unsendable(recipient, notification, now: sentAt))
                    continue
                }
                if running == self.limits.inFlight, let (recipient, outcome) = await group.next() {
                    self.decide(outcome, recipient, notification, sentAt: sentAt, &page)
                    running -= 1
                }
                group.addTask { (recipient, await self.attempt(notification, recipient, sender)) }
                running += 1
            }
            for await (recipient, outcome) in group {
                self.decide(outcome, recipient, notification, sentAt: sentAt, &page)
            }
        }
        try await self.store.commit(page, notification: notification.id, now: self.time.now)
    }

    /// The final state of a recipient for whom no try makes sense.
    private func unsendable(_ recipient: Recipient, _ notification: NotificationRecord, now: Timestamp)
        -> DeliveryRecord
    {
        DeliveryRecord(
            recipient: recipient,
            state: .failed,
            apnsID: DeliveryID.make(notification: notification.id, recipient: recipient.id),
            reason: notification.expires <= now
                ? "expired before it could be sent"
                : "no usable credential for \(recipient.environment.rawValue)",
            attempts: recipient.attempts,
            at: now
        )
    }

    private func attempt(
        _ notification: NotificationRecord,
        _ recipient: Recipient,
        _ sender: any NotificationSender
    ) async -> Outcome {
        let content = notification.content
        let push = PushNotification(
            id: DeliveryID.make(notification: notification.id, recipient: recipient.id),
            topic: content.topic,
            pushType: content.pushType,
            priority: content.priority,
            expiration: content.expiration,
            collapseID: content.collapseID,
            payload: ByteBuffer(bytes: content.payload)
        )
        return await sender.send(push, to: recipient.token)
    }

    private func decide(
        _ outcome: Outcome,
        _ recipient: Recipient,
        _ notification: NotificationRecord,
        sentAt: Timestamp,
        _ page: inout PageResult
    ) {
        var recipient = recipient
        recipient.attempts += 1
        let now = self.time.now
        var generator = SystemRandomNumberGenerator()
        let decision = DeliveryDecision.make(
            outcome,
            attempts: recipient.attempts,
            sentAt: sentAt,
            expires: notification.expires,
            policy: self.policy,
            now: now,
            using: &generator
        )
        switch decision.next {
        case .retry(let at):
            page.retries.append(RetryRecord(recipient: recipient, dueAt: at))
        case .final(let state, let reason):
            let id = DeliveryID.make(notification: notification.id, recipient: recipient.id)
            page.deliveries.append(
                DeliveryRecord(
                    recipient: recipient,
                    state: state,
                    apnsID: id,
                    reason: reason,
                    attempts: recipient.attempts,
                    at: now
                )
            )
        }
        if let device = recipient.device, let verdict = decision.verdict {
            page.findings.append(TokenFinding(device: device, verdict: verdict))
        }
    }

    /// One per environment for which the app has a credential that can be used.
    private func senders(
        for notification: NotificationRecord
    ) async throws -> [PushEnvironment: any NotificationSender] {
        var senders: [PushEnvironment: any NotificationSender] = [:]
        for environment in PushEnvironment.allCases {
            guard let credential = try await self.store.credential(app: notification.app, environment: environment)
            else { continue }
            do {
                let key = try ProviderKey(
                    teamID: credential.teamID,
                    keyID: credential.keyID,
                    pem: credential.privateKey
                )
                senders[environment] = try self.senders.sender(for: key, environment: environment)
            } catch {
                self.logger.error("credential cannot be used", metadata: ["error": "\(error)"])
            }
        }
        return senders
    }
}

extension NotificationRecord {
    /// After this moment no try makes sense. A notification that is not to be stored is tried for a minute.
    var expires: Timestamp {
        switch self.content.expiration {
        case .servicePolicy: self.createdAt.advanced(by: Expiration.longestStorage)
        case .immediate: self.createdAt.advanced(by: .seconds(60))
        case .at(let seconds): Timestamp(seconds: seconds)
        }
    }
}
