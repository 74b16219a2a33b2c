import PushSupport
import PushTypes

/// Builds the members of `aps` for a Live Activity from the request's `liveActivity` (reference 3.4). Timestamps are in
/// UNIX seconds.
struct LiveActivityBuilder {
    private static let members: Set<String> = [
        "event", "timestamp", "contentState", "attributesType", "attributes", "staleDate", "dismissalDate",
        "inputPushToken", "inputPushChannel",
    ]

    let fields: JSONFields
    /// The timestamp of the state where the request names none; with `nil` the request must name one.
    let now: Timestamp?

    /// Returns the members; none where the request has no `liveActivity`.
    func members() throws(RequestError) -> [String: JSONValue] {
        guard let activity = try self.fields.fields("liveActivity", known: Self.members) else { return [:] }
        var aps: [String: JSONValue] = [:]
        aps["event"] = .string(try activity.requiredString("event", maximum: 16))
        for key in ["timestamp", "stale-date", "dismissal-date"] {
            aps[key] = try activity.integer(FieldNames.camelCase(key), in: 0...Int64.max).map(JSONValue.integer)
        }
        if aps["timestamp"] == nil { aps["timestamp"] = self.now.map { .integer($0.seconds) } }
        for key in ["content-state", "attributes"] {
            aps[key] = try activity.object(FieldNames.camelCase(key)).map(JSONValue.object)
        }
        for key in ["attributes-type", "input-push-channel"] {
            aps[key] = try activity.string(FieldNames.camelCase(key), maximum: 256).map(JSONValue.string)
        }
        if try activity.bool("inputPushToken") == true { aps["input-push-token"] = .integer(1) }
        return aps
    }
}
