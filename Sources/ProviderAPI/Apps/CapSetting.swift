import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The cap of an app in requests and responses.
struct CapSetting: JSONRepresentable {
    let cap: FrequencyCap

    private static let count = Member.integer("count", 1...FrequencyCap.maximumCount)
    private static let window = Member.text("window", 2...12, pattern: DurationText.pattern)
        .described("Such as 24h; at most 30d.")
        .parsed("invalid_value", "use a time such as 90m, 24h or 7d, of 30d at most") { text -> Int64? in
            DurationText.seconds(text).flatMap { (1...FrequencyCap.maximumWindow).contains($0) ? $0 : nil }
        }

    private static let object = RequestObject(required: [Self.count, Self.window]) { $0.named("Cap") }
    static let schema = Self.object.schema

    var json: JSONValue {
        .object([
            "count": .integer(Int64(self.cap.count)), "window": .string(DurationText.text(self.cap.window)),
        ])
    }

    static let member = Member.object("cap", Self.object) { (cap) throws(RequestError) -> FrequencyCap in
        guard let count = try cap.value(Self.count) else {
            throw cap.error("count", "missing_field", "the most notifications in the window")
        }
        return FrequencyCap(count: Int(count), window: try cap.required(Self.window))
    }.clearable
}
