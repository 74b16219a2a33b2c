package import Foundation
package import PushProtocol
package import PushStore

/// A request to register a device, read from JSON.
package enum DeviceRequest {
    /// Longest user id, tag, locale or time zone, in bytes.
    package static let maximumText = 256
    /// Tags of one device.
    package static let maximumTags = 100

    /// - Throws: ``APIRefusal`` that names the member at fault.
    package static func parse(_ body: Data) throws(APIRefusal) -> DeviceRegistration {
        let fields = try JSONFields(
            parsing: body,
            known: ["token", "environment", "user", "locale", "timeZone", "tags"]
        )
        let text = try fields.requiredString("token", maximum: DeviceToken.maximumLength * 4)
        guard let token = DeviceToken(userInput: text) else {
            throw fields.refusal("token", "invalid_token", "a device token is hex or base64, 1 to 512 bytes")
        }
        let timeZone = try fields.string("timeZone", maximum: Self.maximumText)
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw fields.refusal("timeZone", "invalid_time_zone", "use a name such as Europe/Berlin")
        }
        var registration = DeviceRegistration(
            environment: try fields.environment("environment") ?? .production,
            token: token,
            user: try fields.string("user", maximum: Self.maximumText),
            locale: try fields.string("locale", maximum: Self.maximumText),
            timeZone: timeZone,
            tags: try fields.strings("tags", count: Self.maximumTags, maximum: Self.maximumText).map { Set($0) }
        )
        registration.clearsUser = fields.nulls.contains("user")
        return registration
    }
}
