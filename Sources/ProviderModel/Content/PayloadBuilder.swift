import PushSupport
import PushTypes

/// Builds the payload from the members of a request, or takes the raw payload that it gives (reference 3).
/// ``PayloadLint`` checks the result.
struct PayloadBuilder {
    private enum Members {
        /// Creates a member for a text that devices do not show.
        static func text(_ name: String) -> RequestMember<String> { Member.text(name, 1...1024) }

        static let payload = Member.openObject("payload")
        static let texts: [PayloadMember<String>] = [
            PayloadMember("thread-id", Self.text), PayloadMember("category", Self.text),
            PayloadMember("target-content-id", Self.text),
            PayloadMember("interruption-level") {
                Member.text($0, maximum: 1024, as: .choice(of: InterruptionLevel.self))
            },
            PayloadMember("filter-criteria", Self.text),
        ]
        static let flags = ["content-available", "mutable-content"].map { key in
            PayloadMember(key) { Member.bool($0) }
        }
        static let increment = Member.integer("increment", BadgeChange.range)
        static let change = RequestObject(required: [Self.increment])
        /// The member `badge` as a number. It may be an object with an increment instead.
        static let badge = Member.integer(
            "badge",
            0...Int64(Int32.max),
            as: .any(of: [
                .integer(0...Int64(Int32.max)), .string(pattern: "^[+-]0*(1000|[0-9]{1,3})$"), Self.change.schema,
            ])
        )
        static let pushMagic = Member.text("pushMagic", 1...AlertBuilder.maximumText)
        static let mdm = Member.object("mdm", RequestObject(required: [Self.pushMagic]))
        static let container = Self.text("containerIdentifier")
        static let domain = Self.text("domain")
        static let fileProvider = Member.object(
            "fileProvider",
            RequestObject(required: [Self.container], optional: [Self.domain])
        )
        static let serviceUpdate = Member.bool("serviceUpdate")
        static let pushToTalk = Member.object("pushToTalk", RequestObject(optional: [Self.serviceUpdate]))
        static let relevanceScore = Member.number("relevanceScore")
        static let data = Member.openObject("data")
        static let (wallet, contentChanged) = (Member.bool("wallet"), Member.bool("contentChanged"))
    }

    /// The member for a raw payload, and the member for the app's data beside `aps`.
    static let (payloadMember, dataMember) = (Members.payload, Members.data)
    static let relevanceScoreMember = Members.relevanceScore
    static let object = RequestObject(
        optional: Members.texts,
        Members.flags,
        [
            AlertBuilder.alertMember, AlertBuilder.soundMember, Members.badge, Members.relevanceScore, Members.data,
            LiveActivityBuilder.member, Members.mdm, Members.wallet, Members.contentChanged, Members.fileProvider,
            Members.pushToTalk, WebContent.contentMember,
        ]
    )

    let fields: JSONFields
    let pushType: PushType
    /// The default timestamp of a Live Activity's state, or `nil` if the request must name the timestamp.
    let now: Timestamp?

    var isRaw: Bool { self.fields.members["payload"] != nil }

    /// Returns the raw payload of the request, or the payload that its other members describe.
    /// - Throws: ``RequestError`` that names the member at fault.
    func payload() throws(RequestError) -> [String: JSONValue] {
        if let payload = try self.fields.value(Members.payload) {
            try self.rejectOthers(than: "payload", "payload is the whole payload: leave this out")
            return payload
        }
        if WebContent.isWanted(self.fields) {
            try self.rejectOthers(than: WebContent.member, "web is the whole content for browsers: leave this out")
            return try WebContent.payload(self.fields)
        }
        if try self.fields.value(Members.wallet) == true {
            try self.rejectOthers(than: "wallet", "an update of a pass has no content: leave this out")
            return [:]
        }
        if let mdm = try self.fields.value(Members.mdm) {
            try self.rejectOthers(than: "mdm", "an MDM push has no other content: leave this out")
            return ["mdm": .string(try mdm.required(Members.pushMagic))]
        }
        return try self.built()
    }

    /// Returns the increment of the user's badge count, or `nil` where the member `badge` is a number or absent.
    func badgeChange() throws(RequestError) -> BadgeChange? {
        switch self.fields.members["badge"] {
        case .object:
            let badge = try self.fields.fields("badge", known: Members.change.known)
            guard let increment = try badge?.value(Members.increment) else {
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
        for other in Self.object.known.sorted() where other != name && self.fields.members[other] != nil {
            throw self.fields.error(other, "conflicting_field", message)
        }
    }

    private func built() throws(RequestError) -> [String: JSONValue] {
        let aps = try self.aps()
        var object = try self.fields.value(Members.data) ?? [:]
        guard object["aps"] == nil
        else { throw self.fields.error("data.aps", "reserved_field", "aps is made from the other members") }
        if let provider = try self.fields.value(Members.fileProvider) {
            for (key, member) in [("container-identifier", Members.container), ("domain", Members.domain)] {
                if let text = try provider.value(member) { object[key] = .string(text) }
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

    private func aps() throws(RequestError) -> [String: JSONValue] {
        let alerts = AlertBuilder(fields: self.fields, pushType: self.pushType)
        var aps = try LiveActivityBuilder(fields: self.fields, now: self.now).members()
        aps["alert"] = try alerts.alert()
        if try self.badgeChange() == nil {
            aps["badge"] = try self.fields.value(Members.badge).map(JSONValue.integer)
        }
        try self.add(try alerts.sound(), into: &aps)
        for text in Members.texts { aps[text.key] = try self.fields.value(text.member).map(JSONValue.string) }
        for flag in Members.flags where try self.fields.value(flag.member) == true { aps[flag.key] = .integer(1) }
        aps["relevance-score"] = try self.fields.value(Members.relevanceScore)
        if try self.fields.value(Members.pushToTalk)?.value(Members.serviceUpdate) == true {
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
