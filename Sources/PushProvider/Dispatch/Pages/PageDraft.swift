import NIOCore
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTypes

/// The pushes of one page, in a batch for each environment, and the recipients to which no push can be sent.
struct PageDraft {
    /// The pushes for one environment, and their recipients in the same order.
    struct PushBatch: Sendable {
        let environment: PushEnvironment
        let sender: any NotificationSender
        let endpoint: PushServiceEndpoint
        var recipients: [Recipient] = []
        var pushes: [Push] = []
    }

    private(set) var batches: [PushBatch] = []
    private(set) var failures: [(recipient: Recipient, reason: String)] = []
    /// The retries of recipients that a configuration fault holds back.
    private(set) var held: [RetryResult] = []
    /// The recipients whose attempt in the other environment is given up, as nothing can be sent there now.
    private(set) var abandoned: [Recipient] = []
    /// The faults of environments that are not paused yet, which will pause them.
    private(set) var faults: [PushEnvironment: ConfigurationFault] = [:]

    /// The recipients of the page that get a final state or an outcome, which excludes those that are held back.
    var recipients: [Recipient] { self.batches.flatMap(\.recipients) + self.failures.map(\.recipient) + self.abandoned }

    /// Creates the pushes of a page. `isRetry` is `true` if the recipients come from the queue of retries.
    init(
        _ recipients: [Recipient],
        of notification: PreparedNotification,
        badges: [BytewiseString: Int],
        isRetry: Bool,
        at clocks: ClockReading
    ) {
        let (expiry, now) = (notification.expiry, clocks.earlier)
        if let end = expiry.commonEnd, end <= now {
            self.failures = recipients.map { ($0, notification.fault(of: $0.environment).expiryReason) }
            return
        }
        let (envelope, isEncrypted) = (notification.envelope, notification.record.content.placeholder != nil)
        // Encrypted content is never sent in the clear.
        guard var renderer = notification.decoded.renderer, isEncrypted == (envelope != nil) else {
            self.failures = recipients.map { ($0, RenderFailure.damagedContent.description) }
            return
        }
        var base = notification.decoded.base
        if let common = expiry.common { base.expiration = common }
        let ids = notification.decoded.ids
        for recipient in recipients {
            guard let batch = self.batch(for: recipient.environment, notification, capacity: recipients.count) else {
                self.hold(recipient, of: notification, isRetry: isRetry, at: clocks)
                continue
            }
            var push = base
            if expiry.common == nil {
                guard expiry.end(of: recipient) > now else {
                    self.failures.append((recipient, notification.fault(of: recipient.environment).expiryReason))
                    continue
                }
                push.expiration = expiry.expiration(of: recipient)
            }
            push.id = ids.text(recipient: recipient.id)
            if renderer.fixed == nil || isEncrypted {
                do throws(RenderFailure) {
                    let badge = renderer.badge == nil ? nil : badges[BadgeHolder.recipient(recipient)]
                    let profile = recipient.profile ?? RecipientProfile()
                    var payload = try renderer.render(for: profile, badge: badge)
                    if let envelope {
                        guard let key = recipient.consent?.encryptionKey else { throw RenderFailure.unusableKey }
                        payload = try envelope.seal(payload, to: key)
                    }
                    push.payload = ByteBuffer(bytes: payload)
                } catch {
                    self.failures.append((recipient, error.description))
                    continue
                }
            }
            self.batches[batch].recipients.append(recipient)
            self.batches[batch].pushes.append(notification.push(push, to: recipient))
        }
    }

    /// Holds a recipient back until its environment's fault ends, or fails it if there is no fault that could end.
    private mutating func hold(
        _ recipient: Recipient,
        of notification: PreparedNotification,
        isRetry: Bool,
        at clocks: ClockReading
    ) {
        let environment = recipient.environment
        guard let fault = notification.fault(of: environment) else {
            return self.failures.append((recipient, "no usable credential for \(environment.rawValue)"))
        }
        // A token that is bad in its own environment does not wait until the other one can be sent to.
        guard recipient.movedFrom == nil else { return self.abandoned.append(recipient) }
        if notification.pauses[environment] == nil { self.faults[environment] = fault }
        if let retry = notification.held(recipient, isRetry: isRetry, at: clocks) {
            self.held.append(retry)
        } else {
            self.failures.append((recipient, Optional(fault).expiryReason))
        }
    }

    mutating func keep(_ recipients: Set<Int64>) {
        self.failures.removeAll { !recipients.contains($0.recipient.id) }
        self.abandoned.removeAll { !recipients.contains($0.id) }
        for index in self.batches.indices {
            let batch = self.batches[index]
            let kept = zip(batch.recipients, batch.pushes).filter { recipients.contains($0.0.id) }
            guard kept.count < batch.recipients.count else { continue }
            self.batches[index].recipients = kept.map(\.0)
            self.batches[index].pushes = kept.map(\.1)
        }
    }

    /// Removes the recipients whose pushes were taken back before they were sent, and their outcomes.
    /// - Parameter recalled: The ids of the recipients to which stops apply.
    /// - Returns: The recipients that were removed.
    mutating func takeBack(_ recalled: Set<Int64>, _ sent: inout [SentPushes]) -> [Recipient] {
        guard !recalled.isEmpty else { return [] }
        var removed: [Recipient] = []
        for index in self.batches.indices {
            let batch = self.batches[index]
            var kept: [Int] = []
            for (position, (recipient, outcome)) in zip(batch.recipients, sent[index].outcomes).enumerated() {
                if case .notSent = outcome, recalled.contains(recipient.id) {
                    removed.append(recipient)
                } else {
                    kept.append(position)
                }
            }
            guard kept.count < batch.recipients.count else { continue }
            self.batches[index].recipients = kept.map { batch.recipients[$0] }
            self.batches[index].pushes = kept.map { batch.pushes[$0] }
            let (outcomes, trips) = (sent[index].outcomes, sent[index].trips)
            sent[index].outcomes = kept.map { outcomes[$0] }
            sent[index].trips = kept.compactMap { trips.indices.contains($0) ? trips[$0] : nil }
        }
        return removed
    }

    /// Returns the index of an environment's batch, creating it if necessary, or `nil` if nothing can be sent there.
    private mutating func batch(
        for environment: PushEnvironment,
        _ notification: PreparedNotification,
        capacity: Int
    ) -> Int? {
        if let index = self.batches.firstIndex(where: { $0.environment == environment }) { return index }
        guard notification.pauses[environment] == nil, let sender = notification.senders[environment]
        else { return nil }
        var batch = PushBatch(
            environment: environment,
            sender: sender,
            endpoint: notification.endpoints[environment] ?? .apple(environment)
        )
        batch.recipients.reserveCapacity(capacity)
        batch.pushes.reserveCapacity(capacity)
        self.batches.append(batch)
        return self.batches.count - 1
    }
}

extension PreparedNotification {
    fileprivate func push(_ notification: PushNotification, to recipient: Recipient) -> Push {
        guard let channel else { return Push(notification, to: recipient.token) }
        // A channel without storage allows only the expiration 0, whatever time is left for retries (reference 4.2).
        let broadcast = Broadcast(
            to: channel.id,
            of: notification.topic,
            id: notification.id,
            priority: notification.priority,
            expiration: channel.storage == .none ? .immediate : notification.expiration,
            payload: notification.payload
        )
        return Push(broadcast)
    }
}
