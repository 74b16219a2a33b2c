import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The cap of an app in requests and responses.
struct CapSetting: JSONRepresentable {
    let cap: NotificationCap

    static let schema = Schema.object(required: [
        "count": .integer(1...NotificationCap.maximumCount),
        "window": .string(length: 2...12, pattern: Schema.durationPattern).described("Such as 24h; at most 30d."),
    ]).named("Cap")

    var json: JSONValue {
        .object([
            "count": .integer(Int64(self.cap.count)), "window": .string(DurationText.text(self.cap.window)),
        ])
    }

    /// Reads the member `cap`; `nil` if it is absent.
    static func read(_ fields: JSONFields) throws(RequestError) -> Update<NotificationCap>? {
        if fields.nulls.contains("cap") { return .clear }
        guard let cap = try fields.fields("cap", known: ["count", "window"]) else { return nil }
        guard let count = try cap.integer("count", in: 1...NotificationCap.maximumCount) else {
            throw cap.error("count", "missing_field", "the most notifications in the window")
        }
        let text = try cap.requiredString("window", maximum: 12)
        guard let window = DurationText.seconds(text), (1...NotificationCap.maximumWindow).contains(window) else {
            throw cap.error("window", "invalid_value", "use a time such as 90m, 24h or 7d, of 30d at most")
        }
        return .set(NotificationCap(count: Int(count), window: window))
    }
}
