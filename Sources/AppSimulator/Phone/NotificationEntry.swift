package import Foundation
package import PushSupport
package import PushTypes

/// A notification in the list of the phone's notification centre.
package struct NotificationEntry: Hashable, Sendable, Codable {
    /// The number of the notification on this phone, counted from 1. A notification that replaces another one takes
    /// over its number.
    package let number: Int
    /// The identifier by which a later push replaces the notification: the collapse id, or else the `apns-id`.
    let identifier: String
    package let apnsID: String?
    package let title: String?
    package let subtitle: String?
    package let body: String?
    /// The identifier of the thread in which the list groups the notification, or `nil` for the app's default group.
    package let thread: String?
    package let category: String?
    package let level: InterruptionLevel
    /// The path of the file that the notification service extension attached to the notification, or `nil` for none.
    package let attachment: String?
    /// The payload as it arrived. The app decrypts encrypted content whenever it is needed.
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
    package let thread: String?
    package let entries: [NotificationEntry]
}

/// The actions that the app has registered for a category of notifications.
package struct NotificationCategory: Hashable, Sendable, Codable {
    /// An action button of a notification.
    package struct Action: Hashable, Sendable, Codable {
        package let id: String
        package let title: String?
        /// A Boolean value that indicates whether the action requests text input from the user, or `nil` for `false`.
        package let input: Bool?
        /// A Boolean value that indicates whether the action brings the app to the foreground, or `nil` for `false`.
        package let foreground: Bool?
    }

    package let id: String
    package let actions: [Action]

    /// Parses a categories file: a JSON array of objects with the members `id` and `actions`.
    /// - Throws: ``PhoneError`` that describes the mistake.
    package static func list(parsing data: Data) throws -> [NotificationCategory] {
        let categories: [NotificationCategory]
        do {
            categories = try JSONDecoder().decode([NotificationCategory].self, from: data)
        } catch {
            throw PhoneError(
                #"the file must be an array such as [{"id":"message","actions":[{"id":"REPLY","input":true}]}]"#
            )
        }
        for category in categories {
            let ids = category.actions.map(\.id)
            guard Set(ids).count == ids.count else { throw PhoneError("category \(category.id) has an action twice") }
        }
        guard Set(categories.map(\.id)).count == categories.count else { throw PhoneError("a category is given twice") }
        return categories
    }

    /// Returns the action of this category with an id.
    /// - Parameter text: The text that the user has entered for the action, or `nil` if the user has entered none.
    /// - Throws: ``PhoneError`` if the category has no such action, or if the text input is missing or unexpected.
    func action(_ id: String, text: String?) throws -> Action {
        guard let action = self.actions.first(where: { $0.id == id }) else {
            let known = self.actions.map(\.id).joined(separator: ", ")
            throw PhoneError("category \(self.id) has no action \(id), only \(known.isEmpty ? "none" : known)")
        }
        if action.input == true, text == nil { throw PhoneError("the action \(id) needs a text") }
        if action.input != true, text != nil { throw PhoneError("the action \(id) takes no text") }
        return action
    }
}
