import Foundation
package import PushHTTP
import PushProvider
import PushStore
package import PushSupport
import PushTypes

/// The content of a notification in a response: the payload that devices get, or what theirs are rendered from.
package struct ContentResponse: ResponseObject {
    /// The longest stored content that is shown, in bytes. Localizations may make it longer.
    static let maximumBytes = 128 * 1024

    /// The payload, with variables as they were given; `nil` if it is too long, or damaged.
    package let payload: JSONValue?
    /// The payloads of the localizations, by locale.
    package let localizations: [String: JSONValue]?
    /// The number that is added to the user's badge count.
    let badgeIncrement: Int?
    let isTemplate: Bool
    let bytes: Int

    init(_ content: NotificationContent) {
        (self.isTemplate, self.bytes) = (content.isTemplate, content.payload.count)
        guard self.bytes <= Self.maximumBytes else {
            (self.payload, self.localizations, self.badgeIncrement) = (nil, nil, nil)
            return
        }
        guard content.isTemplate else {
            (self.payload, self.localizations) = (try? JSONValue(parsing: content.payload), nil)
            self.badgeIncrement = nil
            return
        }
        let template = try? PayloadTemplate(stored: content.payload)
        self.payload = template.map { .object($0.payload) }
        self.localizations = template?.localizations.mapValues { .object($0) }
        self.badgeIncrement = template?.badge?.increment
    }

    package static let schemaName: String? = "Content"
    package static let members: [ResponseMember<Self>] = [
        .optional("payload", \.payload, "With variables as they were given; absent if the content is very long."),
        .optional("localizations", \.localizations, "The payloads of the localizations."),
        .optional("badgeIncrement", \.badgeIncrement, "Added to the user's badge count."),
        .required("template", \.isTemplate, "true if each device gets a payload of its own."),
        .required("bytes", \.bytes, "The size of what is stored."),
    ]
}
