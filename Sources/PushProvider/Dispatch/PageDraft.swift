import NIOCore
import PushSender
import PushStore
import PushTypes

/// The pushes of one page, in a batch for each environment, and the recipients that cannot be sent to.
struct PageDraft {
    /// The pushes for one environment, each beside its recipient.
    struct PushBatch: Sendable {
        let environment: PushEnvironment
        let sender: any NotificationSender
        var recipients: [Recipient] = []
        var pushes: [Push] = []
    }

    private(set) var batches: [PushBatch] = []
    /// The recipients that cannot be sent to, with the reason.
    private(set) var failures: [(recipient: Recipient, reason: String)] = []

    /// All recipients of the page.
    var recipients: [Recipient] { self.batches.flatMap(\.recipients) + self.failures.map(\.recipient) }

    init(_ recipients: [Recipient], of notification: PreparedNotification, badges: [String: Int], now: Timestamp) {
        guard notification.expires > now else {
            self.failures = recipients.map { ($0, "expired before it could be sent") }
            return
        }
        guard var renderer = notification.decoded.renderer else {
            self.failures = recipients.map { ($0, RenderFailure.damagedContent.description) }
            return
        }
        let (base, ids) = (notification.decoded.base, notification.decoded.ids)
        for recipient in recipients {
            guard let batch = self.batch(for: recipient.environment, notification, capacity: recipients.count) else {
                let reason = notification.faults[recipient.environment] ?? "no usable credential"
                self.failures.append((recipient, reason))
                continue
            }
            var push = base
            push.id = ids.text(recipient: recipient.id)
            if renderer.fixed == nil {
                do throws(RenderFailure) {
                    let badge = renderer.badge == nil ? nil : badges[BadgeOwner.recipient(recipient)]
                    let profile = recipient.profile ?? RecipientProfile()
                    push.payload = ByteBuffer(bytes: try renderer.render(for: profile, badge: badge))
                } catch {
                    self.failures.append((recipient, error.description))
                    continue
                }
            }
            self.batches[batch].recipients.append(recipient)
            self.batches[batch].pushes.append(Push(push, to: recipient.token))
        }
    }

    /// Removes all other recipients: they belong to another page.
    mutating func keep(_ recipients: Set<Int64>) {
        self.failures.removeAll { !recipients.contains($0.recipient.id) }
        for index in self.batches.indices {
            let batch = self.batches[index]
            let kept = zip(batch.recipients, batch.pushes).filter { recipients.contains($0.0.id) }
            guard kept.count < batch.recipients.count else { continue }
            self.batches[index].recipients = kept.map(\.0)
            self.batches[index].pushes = kept.map(\.1)
        }
    }

    /// Returns the index of an environment's batch; `nil` if nothing can be sent there.
    private mutating func batch(
        for environment: PushEnvironment,
        _ notification: PreparedNotification,
        capacity: Int
    ) -> Int? {
        if let index = self.batches.firstIndex(where: { $0.environment == environment }) { return index }
        guard let sender = notification.senders[environment] else { return nil }
        var batch = PushBatch(environment: environment, sender: sender)
        batch.recipients.reserveCapacity(capacity)
        batch.pushes.reserveCapacity(capacity)
        self.batches.append(batch)
        return self.batches.count - 1
    }
}
