package import Foundation
package import PushSupport
package import PushTypes

/// A notification in the list of the phone's notification centre.
package struct NotificationEntry: Hashable, Sendable, Codable {
    /// Its number on this phone, from 1. A notification that replaces another one takes its number.
    package let number: Int
    /// The name by which a later push replaces it: the collapse id, or else `apns-id`.
    let identifier: String
    package let apnsID: String?
    package let title: String?
    package let subtitle: String?
    package let body: String?
    /// The group in the list; `nil` for that of the app.
    package let thread: String?
    package let category: String?
    package let level: InterruptionLevel
    /// The file that the notification service extension has attached.
    package let attachment: String?
    /// The payload as it arrived; encrypted content is opened by the app each time.
    package let payload: [String: JSONValue]
    package let shownAt: Date

    init(_ content: PushContent, number: Int, identifier: String, apnsID: String?, now: Date) {
        (self.number, self.identifier, self.apnsID, self.shownAt) = (number, identifier, apnsID, now)
        (self.title, self.subtitle, self.body) = (content.title, content.subtitle, content.body)
        (self.thread, self.category, self.level) = (content.thread, content.category, content.level)
        (self.attachment, self.payload) = (content.attachment, content.payload)
    }
}

/// The notifications of one thread, newest first.
package struct NotificationGroup: Hashable, Sendable {
    /// `nil` for notifications without a thread.
    package let thread: String?
    package let entries: [NotificationEntry]
}
