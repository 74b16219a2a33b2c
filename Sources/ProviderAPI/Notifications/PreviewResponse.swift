import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The push that one device would get.
struct PreviewResponse: Encodable {
    /// The present number of recipients.
    var recipients: Int
    var topic: String
    var pushType: String
    /// `nil` if nothing could be sent to this device, see ``problem``.
    var payload: JSONValue?
    /// The size of the payload and its limit, in bytes.
    var size: Int?
    var limit: Int
    /// The localization that the device gets; `nil` for the default.
    var locale: String?
    var problem: String?
    var warnings: [NotificationResponse.Warning]

    init(_ wanted: NotificationRequest, for profile: RecipientProfile?, badge: Int?, recipients: Int) {
        let content = wanted.content
        self.recipients = recipients
        self.topic = content.topic.name
        self.pushType = content.pushType.rawValue
        self.limit = content.pushType.maximumPayloadSize
        self.warnings = wanted.warnings.map(NotificationResponse.Warning.init)
        do {
            let preview = try ContentPreview(content, for: profile, badge: badge)
            self.payload = try? JSONValue(parsing: Data(preview.payload))
            self.size = preview.payload.count
            self.locale = preview.locale
        } catch {
            self.problem = error.description
        }
    }

    static let schema = Schema.object(
        required: [
            "recipients": .integer(), "topic": .string(), "pushType": .string(),
            "limit": .integer().described("The largest payload of the push type, in bytes."),
            "warnings": .array(of: NotificationResponse.Warning.schema),
        ],
        optional: [
            "payload": .object(isOpen: true), "size": .integer(), "locale": .string(),
            "problem": .string().described("The reason for which nothing could be sent to this device."),
        ]
    ).named("Preview")
}
