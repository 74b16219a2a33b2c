#if canImport(UserNotifications) && os(iOS)
import Foundation
import MartletKit
import UserNotifications

/// The notification service extension: opens encrypted content, counts the badge, attaches an image, sends the receipt.
final class NotificationService: UNNotificationServiceExtension {
    private var work: Task<Void, Never>?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        // The system calls this once for each notification, and nothing else uses these.
        nonisolated(unsafe) let original = request.content
        nonisolated(unsafe) let show = contentHandler
        self.work = Task { show(await Self.content(original)) }
    }

    /// Little time is left: what is loading ends, and what there is is shown.
    override func serviceExtensionTimeWillExpire() { self.work?.cancel() }

    private static func content(_ original: UNNotificationContent) async -> UNNotificationContent {
        guard let content = original.mutableCopy() as? UNMutableNotificationContent,
            let group = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: "group.com.example.shop"
            ),
            let storage = try? Push.storage(group),
            let martlet = try? Push.martlet(storage, role: .serviceExtension)
        else { return original }
        let received = ReceivedNotification(userInfo: original.userInfo)
        let notification = await martlet.receive(received, .serviceExtension).notification
        if let title = notification.title { content.title = title }
        if let subtitle = notification.subtitle { content.subtitle = subtitle }
        if let body = notification.body { content.body = body }
        if let category = notification.category { content.categoryIdentifier = category }
        if let thread = notification.threadID { content.threadIdentifier = thread }
        if let badge = try? BadgeCount(storage: storage).apply(notification) { content.badge = NSNumber(value: badge) }
        let folder = FileManager.default.temporaryDirectory
        if let attachment = await Push.attachment(of: notification, in: folder),
            let shown = try? UNNotificationAttachment(identifier: "", url: attachment.file)
        {
            content.attachments = [shown]
        }
        // userInfo stays as it came: the app opens it again, and its receipts need the id of the notification.
        return content
    }
}
#endif
