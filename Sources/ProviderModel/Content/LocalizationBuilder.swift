import PushSupport
import PushTypes

/// Builds the payload for each locale from the members in which it differs from the default payload.
///
/// The alert and the `data` of a localization are merged into the default ones. A member that is `null` in the
/// localization is removed. If the default is a raw payload, so is each localization.
struct LocalizationBuilder {
    /// The complete payload for the devices of one locale.
    struct Localization {
        var key: String
        var tag: LocaleTag
        var payload: [String: JSONValue]
    }

    /// The maximum number of localizations of one notification. A request with more is rejected.
    private static let maximumCount = 100
    /// The members of a localization that is merged into the default payload.
    private static let object = RequestObject(
        optional: AlertBuilder.texts,
        [AlertBuilder.alertMember, AlertBuilder.soundMember, PayloadBuilder.dataMember]
    )
    private static let whole: [any RequestMemberProtocol] = [PayloadBuilder.payloadMember, WebContent.contentMember]
    /// The member `localizations`: the content for each locale, as far as it differs from the default.
    static let member = Member.openObject(
        "localizations",
        as: .map(
            of: RequestObject(optional: Self.object.members, Self.whole).schema,
            names: .string(length: 2...LocaleTag.maximumLength, pattern: LocaleTag.pattern),
            maximum: Self.maximumCount
        )
    )

    let fields: JSONFields
    let pushType: PushType
    let isRaw: Bool
    /// The default payload, which the localizations change.
    let base: [String: JSONValue]

    /// Returns the localizations, sorted by key.
    func localizations() throws(RequestError) -> [Localization] {
        guard let objects = try self.fields.value(Self.member) else { return [] }
        guard objects.count <= Self.maximumCount
        else { throw self.fields.error("localizations", "too_many", "at most \(Self.maximumCount) locales") }
        var localizations: [Localization] = []
        for (key, value) in objects.sorted(by: { $0.key < $1.key }) {
            let path = "localizations.\(key)"
            guard let tag = LocaleTag(key)
            else { throw self.fields.error(path, "invalid_locale", "use a locale such as de or pt-BR") }
            guard !localizations.contains(where: { $0.tag == tag }) else {
                throw self.fields.error(path, "repeated_locale", "this locale occurs in another spelling")
            }
            guard case .object(let members) = value else { throw self.fields.wrongType(path, "an object") }
            let payload = try self.payload(members, at: path)
            localizations.append(Localization(key: key, tag: tag, payload: payload))
        }
        return localizations
    }

    private func payload(_ members: [String: JSONValue], at path: String) throws(RequestError) -> [String: JSONValue] {
        guard !WebContent.isWanted(self.fields) else {
            let fields = try JSONFields(members: members, path: path, known: [WebContent.member])
            return try WebContent.localized(fields, over: self.base)
        }
        let fields = try JSONFields(members: members, path: path, known: self.isRaw ? ["payload"] : Self.object.known)
        return try self.isRaw ? self.raw(fields) : self.merged(fields)
    }

    private func raw(_ fields: JSONFields) throws(RequestError) -> [String: JSONValue] {
        try fields.required(PayloadBuilder.payloadMember, "the localization of a payload is a payload")
    }

    private func merged(_ fields: JSONFields) throws(RequestError) -> [String: JSONValue] {
        var payload = self.base
        var aps: [String: JSONValue] = [:]
        if case .object(let base)? = payload["aps"] { aps = base }
        try self.mergeAlert(fields, into: &aps)
        if let sound = try AlertBuilder(fields: fields, pushType: self.pushType).sound() {
            if self.pushType == .liveactivity, case .object(var alert)? = aps["alert"] {
                alert["sound"] = sound
                aps["alert"] = .object(alert)
            } else {
                aps["sound"] = sound
            }
        }
        if !aps.isEmpty || payload["aps"] != nil { payload["aps"] = .object(aps) }
        for (name, value) in try fields.value(PayloadBuilder.dataMember) ?? [:] {
            guard name != "aps"
            else { throw fields.error("data.aps", "reserved_field", "aps is made from the other members") }
            payload[name] = value == .null ? nil : value
        }
        return payload
    }

    private func mergeAlert(_ fields: JSONFields, into aps: inout [String: JSONValue]) throws(RequestError) {
        let builder = AlertBuilder(fields: fields, pushType: self.pushType)
        let short = try builder.object(fields)
        let shortNulls = fields.nulls.intersection(AlertBuilder.texts.map { $0.name })
        let hasShort = !short.isEmpty || !shortNulls.isEmpty
        guard !hasShort || fields.members["alert"] == nil else {
            throw fields.error("alert", "conflicting_field", "give either alert or title, subtitle and body")
        }
        switch try builder.alert() {
        case .object(let alert)?:
            var nulls: Set<String> = []
            if case .object(let members)? = fields.members["alert"] {
                nulls = Set(members.filter { $0.value == .null }.keys)
            }
            aps["alert"] = Self.overlay(alert, without: nulls, over: aps["alert"])
        case let text?: aps["alert"] = text
        case nil where hasShort: aps["alert"] = Self.overlay(short, without: shortNulls, over: aps["alert"])
        case nil: break
        }
    }

    /// Merges an alert into the default one, without `nulls`. A text replaces its `loc-key`, and vice versa.
    private static func overlay(
        _ alert: [String: JSONValue],
        without nulls: Set<String>,
        over base: JSONValue?
    ) -> JSONValue {
        var result: [String: JSONValue] = [:]
        switch base {
        case .object(let base)?: result = base
        case let text?: result["body"] = text
        case nil: break
        }
        for (text, key, arguments) in [
            ("title", "title-loc-key", "title-loc-args"), ("subtitle", "subtitle-loc-key", "subtitle-loc-args"),
            ("body", "loc-key", "loc-args"),
        ] where alert[text] != nil || alert[key] != nil {
            for name in [text, key, arguments] { result[name] = nil }
        }
        for name in AlertBuilder.keys where nulls.contains(FieldNames.camelCase(name)) { result[name] = nil }
        return .object(result.merging(alert) { $1 })
    }
}
