import PushSupport
import PushTypes

/// Builds the payload from the members of a request, or takes its raw payload (reference 3). ``PayloadLint`` checks it.
package struct PayloadBuilder {
    /// The maximum length of a text that devices do not show, in bytes.
    package static let maximumText = 1024
    /// The members that a payload is built from.
    static let members: Set<String> = [
        "alert", "badge", "sound", "threadId", "category", "contentAvailable", "mutableContent", "targetContentId",
        "interruptionLevel", "relevanceScore", "filterCriteria", "data", "liveActivity", "mdm", "wallet",
        "contentChanged", "fileProvider", "pushToTalk", WebContent.member,
    ]

    let fields: JSONFields
    let pushType: PushType
    /// See ``LiveActivityBuilder/now``.
    let now: Timestamp?

    var isRaw: Bool { self.fields.members["payload"] != nil }

    /// - Throws: ``RequestError`` that names the member at fault.
    func payload() throws(RequestError) -> [String: JSONValue] {
        if let payload = try self.fields.object("payload") {
            try self.rejectOthers(than: "payload", "payload is the whole payload: leave this out")
            return payload
        }
        if WebContent.isWanted(self.fields) {
            try self.rejectOthers(than: WebContent.member, "web is the whole content for browsers: leave this out")
            return try WebContent.payload(self.fields)
        }
        if try self.fields.bool("wallet") == true {
            try self.rejectOthers(than: "wallet", "an update of a pass has no content: leave this out")
            return [:]
        }
        if let mdm = try self.fields.fields("mdm", known: ["pushMagic"]) {
            try self.rejectOthers(than: "mdm", "an MDM push has no other content: leave this out")
            return ["mdm": .string(try mdm.requiredString("pushMagic", maximum: AlertBuilder.maximumText))]
        }
        return try self.built()
    }

    /// Returns the change of the user's count; `nil` where the badge is a number or absent.
    func badgeChange() throws(RequestError) -> BadgeChange? {
        switch self.fields.members["badge"] {
        case .object:
            let badge = try self.fields.fields("badge", known: ["increment"])
            guard let increment = try badge?.integer("increment", in: BadgeChange.range) else {
                throw self.fields.error(
                    "badge.increment",
                    "missing_field",
                    "the number to add to the user's count is required"
                )
            }
            return BadgeChange(increment: increment)
        case .string(let text):
            guard text.hasPrefix("+") || text.hasPrefix("-"),
                let change = Int64(text).flatMap(BadgeChange.init(increment:))
            else { throw self.fields.error("badge", "wrong_type", "use a number, or \"+1\" to count for the user") }
            return change
        default: return nil
        }
    }

    private func rejectOthers(than name: String, _ message: String) throws(RequestError) {
        for other in Self.members.sorted() where other != name && self.fields.members[other] != nil {
            throw self.fields.error(other, "conflicting_field", message)
        }
    }

    private func built() throws(RequestError) -> [String: JSONValue] {
        let aps = try self.aps()
        var object = try self.fields.object("data") ?? [:]
        guard object["aps"] == nil
        else { throw self.fields.error("data.aps", "reserved_field", "aps is made from the other members") }
        if let provider = try self.fields.fields("fileProvider", known: ["containerIdentifier", "domain"]) {
            for (key, name) in [("container-identifier", "containerIdentifier"), ("domain", "domain")] {
                guard let text = try provider.string(name, maximum: Self.maximumText) else { continue }
                object[key] = .string(text)
            }
        }
        let badge = try self.badgeChange()
        let hasAps = !aps.isEmpty || badge != nil
        guard hasAps || !object.isEmpty || self.pushType == .location else {
            throw self.fields.error("alert", "missing_content", "give alert, badge, sound, data or payload")
        }
        if hasAps { object["aps"] = .object(aps) }
        return object
    }

    /// The keys of texts and flags in `aps`, with the names of the request.
    private static let texts = Self.named(
        "thread-id",
        "category",
        "target-content-id",
        "interruption-level",
        "filter-criteria"
    )
    private static let flags = Self.named("content-available", "mutable-content")

    private static func named(_ keys: String...) -> [(key: String, name: String)] {
        keys.map { ($0, FieldNames.camelCase($0)) }
    }

    private func aps() throws(RequestError) -> [String: JSONValue] {
        let alerts = AlertBuilder(fields: self.fields, pushType: self.pushType)
        var aps = try LiveActivityBuilder(fields: self.fields, now: self.now).members()
        aps["alert"] = try alerts.alert()
        if try self.badgeChange() == nil {
            aps["badge"] = try self.fields.integer("badge", in: 0...Int64(Int32.max)).map(JSONValue.integer)
        }
        try self.add(try alerts.sound(), into: &aps)
        for (key, name) in Self.texts {
            aps[key] = try self.fields.string(name, maximum: Self.maximumText).map(JSONValue.string)
        }
        for (key, name) in Self.flags where try self.fields.bool(name) == true { aps[key] = .integer(1) }
        aps["relevance-score"] = try self.fields.number("relevanceScore")
        if try self.fields.fields("pushToTalk", known: ["serviceUpdate"])?.bool("serviceUpdate") == true {
            aps["ptt-push-type"] = .string("service-update")
        }
        switch self.pushType {
        case .background: aps["content-available"] = .integer(1)
        case .widgets, .controls: aps["content-changed"] = .bool(true)
        default: break
        }
        return aps
    }

    /// Adds the sound. A Live Activity has it inside the alert (reference 3.2).
    private func add(_ sound: JSONValue?, into aps: inout [String: JSONValue]) throws(RequestError) {
        guard let sound else { return }
        switch aps["alert"] {
        case _ where self.pushType != .liveactivity: aps["sound"] = sound
        case .object(var alert)?:
            alert["sound"] = sound
            aps["alert"] = .object(alert)
        case .string(let body)?: aps["alert"] = .object(["body": .string(body), "sound": sound])
        default: throw self.fields.error("sound", "needs_alert", "a Live Activity has a sound only with an alert")
        }
    }
}

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
