import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The schemas that several operations use.
extension Schema {
    /// A device token in hexadecimal.
    static let deviceToken = Schema.string(length: 2...1024, pattern: "^([0-9A-Fa-f]{2})+$")

    /// A text of the length that most members have.
    static let text = Schema.string(length: 1...DeviceRequest.maximumText)

    /// The seconds since 1970 of the years that have four digits.
    static let calendarSeconds: ClosedRange<Int64> = 0...253_402_300_799

    /// A time in a query.
    static let queryTime = Schema.any(of: [.rfc3339, .integer(Self.calendarSeconds)])
}

/// The members that several operations have.
extension Member {
    /// The address of a server that is called.
    static let url = Self.text(
        "url",
        1...WebhookAddress.maximumLength,
        pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\<>#]+$"
    )

    /// A condition on devices, as it is sent.
    static let audience = Self.openObject("audience", as: AudienceExpression.object.schema)
}
