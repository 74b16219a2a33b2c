#if canImport(UserNotifications) && os(iOS)
import Foundation
import MartletKit
import UserNotifications

/// The notification service extension: opens encrypted content, counts the badge, attaches an image, sends the receipt.
final class NotificationService: UNNotificationServiceExtension {
    private var work: Task<Void, Never>?
    private var delivery: Delivery?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let delivery = Delivery(request.content, contentHandler)
        self.delivery = delivery
        self.work = Task { await Self.extend(delivery) }
    }

    /// Little time is left: what there is by now is shown, and what is loading ends.
    override func serviceExtensionTimeWillExpire() {
        self.delivery?.finish()
        self.work?.cancel()
    }

    private static func extend(_ delivery: Delivery) async {
        defer { delivery.finish() }
        guard
            let group = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: "group.com.example.shop"
            ),
            let storage = try? Push.storage(group),
            let martlet = try? Push.martlet(storage, role: .serviceExtension)
        else { return }
        // It waits for its receipts for 2 seconds at most.
        let notification = await martlet.receive(delivery.received, .serviceExtension).notification
        let badge = try? BadgeCount(storage: storage).apply(notification)
        delivery.change { content in
            if let title = notification.title { content.title = title }
            if let subtitle = notification.subtitle { content.subtitle = subtitle }
            if let body = notification.body { content.body = body }
            if let sound = notification.sound {
                content.sound = sound == "default" ? .default : UNNotificationSound(named: .init(sound))
            }
            if let level = notification.interruptionLevel { content.interruptionLevel = Self.level(level) }
            if let category = notification.category { content.categoryIdentifier = category }
            if let thread = notification.threadID { content.threadIdentifier = thread }
            if let badge { content.badge = NSNumber(value: badge) }
            // userInfo stays as it came: the app opens it again, and its receipts need the id of the notification.
        }
        guard let attachment = await Push.attachment(of: notification, in: FileManager.default.temporaryDirectory)
        else { return }
        delivery.change { content in
            guard let shown = try? UNNotificationAttachment(identifier: "", url: attachment.file) else { return }
            content.attachments = [shown]
        }
    }

    private static func level(_ level: ReceivedNotification.InterruptionLevel) -> UNNotificationInterruptionLevel {
        switch level {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }
}

/// The content so far, which is handed to the system once.
///
/// It is unchecked because a lock guards everything that changes.
private final class Delivery: @unchecked Sendable {
    let received: ReceivedNotification
    private let lock = NSLock()
    private var content: UNNotificationContent
    private var show: ((UNNotificationContent) -> Void)?

    init(_ content: UNNotificationContent, _ show: @escaping (UNNotificationContent) -> Void) {
        self.received = ReceivedNotification(userInfo: content.userInfo)
        (self.content, self.show) = (content, show)
    }

    func change(_ change: (UNMutableNotificationContent) -> Void) {
        self.lock.withLock {
            guard let copy = self.content.mutableCopy() as? UNMutableNotificationContent else { return }
            change(copy)
            self.content = copy
        }
    }

    func finish() {
        self.lock.withLock {
            self.show?(self.content)
            self.show = nil
        }
    }
}
#endif
