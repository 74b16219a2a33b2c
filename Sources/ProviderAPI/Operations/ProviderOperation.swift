package import ProviderModel
package import PushHTTP
import PushSupport
import PushTypes

package typealias ProviderOperation = APIOperation<APIScope>

extension OperationTag {
    static let apps = OperationTag("Apps")
    package static let devices = OperationTag("Devices")
    static let audiences = OperationTag("Audiences")
    static let templates = OperationTag("Templates")
    static let notifications = OperationTag("Notifications")
    static let channels = OperationTag("Channels")
    static let schedules = OperationTag("Schedules")
    static let publishing = OperationTag("Publishing")
    static let tokens = OperationTag("Tokens")
    static let webhooks = OperationTag("Webhooks")
    package static let bridges = OperationTag("Bridges")
    static let administration = OperationTag("Administration")
    static let people = OperationTag("People")
    static let operation = OperationTag("Operation")

    static let all: [OperationTag] = [
        .apps, .devices, .audiences, .templates, .notifications, .channels, .schedules, .publishing, .tokens, .webhooks,
        .bridges, .administration, .people, .operation,
    ]
}

extension Cursor.List {
    static let devices = Cursor.List("d")
    static let notifications = Cursor.List("n")
    static let deliveries = Cursor.List("r")
    static let tokenEvents = Cursor.List("t")
    static let audit = Cursor.List("a")
    static let history = Cursor.List("h", numbers: 2)
    static let schedules = Cursor.List("s")
    static let receipts = Cursor.List("p", numbers: 3)
    static let timeline = Cursor.List("l")
    static let webhookDeliveries = Cursor.List("w")
    static let audiences = Cursor.List("la")
    static let templates = Cursor.List("lt")
    static let libraryVersions = Cursor.List("lv")
    static let people = Cursor.List("o")
    static let issues = Cursor.List("i", numbers: 2)
}

extension ParameterDescription {
    static let environment = ParameterDescription.query("environment", "Of this environment only.", .environment)
    static let tokenKind = ParameterDescription.query(
        "kind",
        "With tokens of this kind.",
        .choice(of: DeviceTokenKind.self)
    )
    /// The query parameter `app`, the bundle id of the app to which a list is limited.
    static var ofApp: ParameterDescription { .query("app", "Of this app only, by its bundle id.", .bundleID) }
}

extension Schema {
    /// The schema for a device token of 1 to 512 bytes, in hexadecimal.
    static let deviceToken = Schema.string(length: 2...1024, pattern: "^([0-9A-Fa-f]{2})+$")

    /// The schema for a string with the maximum length of most members.
    static let text = Schema.string(length: 1...Member.maximumText)

    /// The range of seconds since 1970 up to the end of the year 9999.
    static let calendarSeconds: ClosedRange<Int64> = 0...253_402_300_799

    static let queryTime = Schema.any(of: [.rfc3339, .integer(Self.calendarSeconds)])
}
