import NIOCore
import PushSender
import PushStore
import PushTypes

/// The pushes of one page, in a lot for each environment, and the recipients for whom there is none.
struct PageDraft {
    struct PushBatch: Sendable {
        let environment: PushEnvironment
        let sender: any NotificationSender
        var recipients: [Recipient] = []
        var pushes: [Push] = []
    }

    private(set) var lots: [PushBatch] = []
    /// Who cannot be sent to, and why.
    private(set) var failures: [(recipient: Recipient, reason: String)] = []

    /// Everybody, to be sent to or not.
    var recipients: [Recipient] { self.lots.flatMap(\.recipients) + self.failures.map(\.recipient) }

    init(
        _ recipients: [Recipient],
        of notification: PreparedNotification,
        badges: [String: Int],
        now: Timestamp
    ) {
        guard notification.expires > now else {
            self.failures = recipients.map { ($0, "expired before it could be sent") }
            return
        }
        guard var renderer = notification.renderer else {
            self.failures = recipients.map { ($0, RenderFailure.damagedContent.description) }
            return
        }
        for recipient in recipients {
            guard let lot = self.lot(for: recipient.environment, notification, capacity: recipients.count) else {
                let reason = notification.faults[recipient.environment] ?? "no usable credential"
                self.failures.append((recipient, reason))
                continue
            }
            var push = notification.base
            push.id = notification.ids.text(recipient: recipient.id)
            if renderer.fixed == nil {
                do throws(RenderFailure) {
                    let badge = renderer.needs.badge ? badges[recipient.badgeHolder] : nil
                    push.payload = ByteBuffer(bytes: try renderer.render(for: recipient.subject(badge: badge)))
                } catch {
                    self.failures.append((recipient, error.description))
                    continue
                }
            }
            self.lots[lot].recipients.append(recipient)
            self.lots[lot].pushes.append(Push(push, to: recipient.token))
        }
    }

    /// Only these are the page's; the others are somebody else's.
    mutating func keep(_ recipients: Set<Int64>) {
        self.failures.removeAll { !recipients.contains($0.recipient.id) }
        for index in self.lots.indices {
            let lot = self.lots[index]
            let kept = zip(lot.recipients, lot.pushes).filter { recipients.contains($0.0.id) }
            guard kept.count < lot.recipients.count else { continue }
            self.lots[index].recipients = kept.map(\.0)
            self.lots[index].pushes = kept.map(\.1)
        }
    }

    /// The place of an environment's lot; `nil` if nothing can be sent there.
    private mutating func lot(
        for environment: PushEnvironment,
        _ notification: PreparedNotification,
        capacity: Int
    ) -> Int? {
        if let index = self.lots.firstIndex(where: { $0.environment == environment }) { return index }
        guard let sender = notification.senders[environment] else { return nil }
        var lot = PushBatch(environment: environment, sender: sender)
        lot.recipients.reserveCapacity(capacity)
        lot.pushes.reserveCapacity(capacity)
        self.lots.append(lot)
        return self.lots.count - 1
    }
}
