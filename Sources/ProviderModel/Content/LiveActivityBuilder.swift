import PushSupport
import PushTypes

/// Builds `aps` for a Live Activity from the request's `liveActivity` (reference 3.4). Timestamps are in UNIX seconds.
struct LiveActivityBuilder {
    private static let event = Member.text("event", maximum: 16, as: .choice(["start", "update", "end"]))
    private static let times = ["timestamp", "stale-date", "dismissal-date"].map { key in
        PayloadMember(key) { Member.integer($0, 0...Int64.max) }
    }
    private static let objects = ["content-state", "attributes"].map { key in
        PayloadMember(key) { Member.openObject($0) }
    }
    private static let texts = ["attributes-type", "input-push-channel"].map { key in
        PayloadMember(key) { Member.text($0, 1...256) }
    }
    private static let inputPushToken = PayloadMember("input-push-token") { Member.bool($0) }
    /// The keys of a Live Activity in `aps` (reference 3.4).
    static let keys = Set([Self.event.name, Self.inputPushToken.key]).union(Self.times.map { $0.key })
        .union(Self.objects.map { $0.key }).union(Self.texts.map { $0.key })

    static let member = Member.object(
        "liveActivity",
        RequestObject(required: [Self.event], optional: Self.times, Self.objects, Self.texts, [Self.inputPushToken])
    )

    let fields: JSONFields
    /// The default timestamp of the activity's state, or `nil` if the request must name the timestamp.
    let now: Timestamp?

    /// Returns the members of `aps`, or an empty object if the request has no `liveActivity`.
    func members() throws(RequestError) -> [String: JSONValue] {
        guard let activity = try self.fields.value(Self.member) else { return [:] }
        var aps: [String: JSONValue] = [:]
        aps["event"] = .string(try activity.required(Self.event))
        for time in Self.times { aps[time.key] = try activity.value(time.member).map(JSONValue.integer) }
        if aps["timestamp"] == nil { aps["timestamp"] = self.now.map { .integer($0.seconds) } }
        for object in Self.objects { aps[object.key] = try activity.value(object.member).map(JSONValue.object) }
        for text in Self.texts { aps[text.key] = try activity.value(text.member).map(JSONValue.string) }
        if try activity.value(Self.inputPushToken.member) == true { aps[Self.inputPushToken.key] = .integer(1) }
        return aps
    }
}
