package import PushSupport
package import PushTypes

/// The JSON form of an audience: `{"tag":"beta"}`, `{"and":[{"locale":"de"},{"not":{"user":"alice"}}]}`. All members of
/// one object must hold.
extension AudienceExpression {
    /// The maximum number of conditions in one expression. A request with more is rejected.
    package static let maximumConditions = 200
    /// The maximum nesting depth of `and`, `or` and `not`, beyond which a request is rejected. An object with several
    /// members counts as an `and`.
    package static let maximumDepth = 16
    /// The minimum length of a device token in an audience, in bytes. No shorter one is known (APNs reference 1.7).
    package static let minimumToken = 32

    package static let object = RequestObject(
        optional: AudienceParser.Members.others,
        AudienceParser.Members.values.map { $0.member },
        acceptsNull: false
    ) {
        $0.withMembers.requiring("attribute", beside: Comparison.allCases.map(\.rawValue) + ["in"])
            .described("A condition on devices. If it has several members, all of them must hold.")
            .example(.texts(["tag": "beta"]))
            .named("Audience")
    }

    /// Reads the expression of a request.
    /// - Parameters:
    ///   - now: The time from which `withinDays` counts.
    ///   - named: The named audiences that the expression may refer to, or `nil` in the expression of a named audience.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields, now: Timestamp, named: NamedAudiences? = NamedAudiences.none)
        throws(RequestError)
    {
        var parser = AudienceParser(now: now, named: named)
        self = try parser.expression(fields, depth: 0)
        // The stored form has an object for each condition, so it may be deeper than what was sent.
        guard self.depth <= Self.maximumDepth else { throw AudienceParser.tooDeep(fields) }
    }

    /// Reads the expression of a request from the members of its object, otherwise as ``init(_:now:named:)`` does.
    /// - Parameter path: The path of the object in the request, for errors, or `nil` for the whole body.
    package init(
        json members: [String: JSONValue],
        path: String?,
        now: Timestamp,
        named: NamedAudiences? = NamedAudiences.none
    ) throws(RequestError) {
        try self.init(JSONFields(members: members, path: path, known: Self.object.known), now: now, named: named)
    }

    /// The canonical form, for the store and for responses.
    package var json: JSONValue {
        switch self {
        case .everyone: .object(["all": .bool(true)])
        case .token(let token): .object(["token": .string(token.hex)])
        case .user(let user): .object(["user": .string(user)])
        case .tag(let tag): .object(["tag": .string(tag)])
        case .attribute(let name, let comparison, let value):
            .object(["attribute": .string(name), comparison.rawValue: value])
        case .hasAttribute(let name): .object(["attribute": .string(name)])
        case .locale(let locale): .object(["locale": .string(locale)])
        case .appVersion(let comparison, let version):
            .object(["appVersion": .object([comparison.rawValue: .string(version.text)])])
        case .timeZone(let zone): .object(["timeZone": .string(zone)])
        case .activity(let activity): .object(["activity": .string(activity)])
        case .lastSeen(let comparison, let moment):
            .object(["lastSeen": .object([comparison.rawValue: .string(moment.rfc3339)])])
        case .outcomes(let outcomes): .object(["outcomesOf": outcomes.json])
        case .and(let expressions) where expressions.isEmpty: Self.everyone.json
        case .or(let expressions) where expressions.isEmpty: Self.not(.everyone).json
        case .and(let expressions): .object(["and": .array(expressions.map(\.json))])
        case .or(let expressions): .object(["or": .array(expressions.map(\.json))])
        case .not(let expression): .object(["not": expression.json])
        }
    }

    /// Decodes the form that ``json`` writes, or returns `nil` for any other value.
    package init?(stored json: JSONValue) {
        guard case .object(var members) = json else { return nil }
        if case .string(let name)? = members.removeValue(forKey: "attribute") {
            guard let (word, value) = members.first else {
                self = .hasAttribute(name)
                return
            }
            guard members.count == 1, let comparison = Comparison(rawValue: word) else { return nil }
            switch value {
            case .string, .integer, .number, .bool: self = .attribute(name: name, comparison, value)
            case .null, .array, .object: return nil
            }
            return
        }
        guard members.count == 1, let (name, value) = members.first,
            let expression = Self.stored(name, value)
        else { return nil }
        self = expression
    }

    private static func stored(_ name: String, _ value: JSONValue) -> AudienceExpression? {
        switch (name, value) {
        case ("all", .bool(true)): return .everyone
        case ("token", .string(let text)): return DeviceToken(hex: text).map(Self.token)
        case ("user", .string(let text)): return .user(text)
        case ("tag", .string(let text)): return .tag(text)
        case ("locale", .string(let text)): return .locale(text)
        case ("timeZone", .string(let text)): return .timeZone(text)
        case ("activity", .string(let text)): return .activity(text)
        case ("appVersion", .object(let members)), ("lastSeen", .object(let members)):
            guard members.count == 1, let (word, value) = members.first, let comparison = Comparison(rawValue: word)
            else { return nil }
            switch value {
            case .string(let text) where name == "appVersion":
                return AppVersion(text).map { .appVersion(comparison, $0) }
            case .integer(let milliseconds) where name == "lastSeen":
                // Version 0.1 stored this form.
                return .lastSeen(comparison, Timestamp(milliseconds: milliseconds))
            case .string(let text) where name == "lastSeen":
                return Timestamp(rfc3339: text).map { .lastSeen(comparison, $0) }
            default: return nil
            }
        case ("outcomesOf", let value): return RecipientOutcomes(stored: value).map(Self.outcomes)
        case ("and", .array(let values)), ("or", .array(let values)):
            let expressions = values.compactMap(Self.init(stored:))
            guard !values.isEmpty, expressions.count == values.count else { return nil }
            return name == "and" ? .and(expressions) : .or(expressions)
        case ("not", let value): return Self(stored: value).map(Self.not)
        default: return nil
        }
    }

    private var depth: Int {
        switch self {
        case .and(let expressions), .or(let expressions): 1 + (expressions.map(\.depth).max() ?? 0)
        case .not(let expression): 1 + expression.depth
        default: 0
        }
    }
}

/// Reads the expression of a request and counts its conditions.
private struct AudienceParser {
    let now: Timestamp
    /// The named audiences that may be referred to, or `nil` within a named audience.
    private var named: NamedAudiences?
    private var conditions = 0

    fileprivate enum Members {
        /// Returns a member for each comparison. `make` creates it from the comparison's name, such as `atLeast`.
        private static func compared<Value>(
            _ make: (String) -> RequestMember<Value>
        ) -> [(comparison: AudienceExpression.Comparison, member: RequestMember<Value>)] {
            AudienceExpression.Comparison.allCases.map { ($0, make($0.rawValue)) }
        }

        private static let inner = Schema.array(
            of: .reference("Audience"),
            count: 1...AudienceExpression.maximumConditions
        )

        static let all = Member.json("all", as: .onlyTrue)
        static let token = Member.token(
            "token",
            "a device token is hex or base64 of at least \(AudienceExpression.minimumToken) bytes"
        )
        static let user = Member.text("user", 1...Member.maximumText)
        static let users = Member.texts("users", 1...AudienceExpression.maximumConditions, maximum: Member.maximumText)
        static let tag = Member.text("tag", 1...Member.maximumText)
        static let activity = Member.text("activity", 1...Member.maximumText)
            .described("A Live Activity, by the app's id of it.")
        static let locale = Member.text("locale", 1...Member.maximumText)
        static let timeZone = Member.zoneName("timeZone")
        static let versions = Self.compared { name in
            Member.text(name, 1...Member.maximumText)
                .parsed("invalid_version", "use numbers such as 2.10.1") { AppVersion($0) }
        }
        static let appVersion = Member.object(
            "appVersion",
            RequestObject(optional: Self.versions.map { $0.member }, acceptsNull: false) { $0.withMembers }
        )
        static let moments = Self.compared { Member.time($0) }
        static let withinDays = Member.integer("withinDays", 1...36_500)
        static let lastSeen = Member.object(
            "lastSeen",
            RequestObject(optional: Self.moments.map { $0.member }, [Self.withinDays], acceptsNull: false) {
                $0.withMembers
            }
        )
        static let attribute = Member.text("attribute", 1...Member.maximumText)
        static let values = Self.compared { name in
            RequestMember<JSONValue>(name, .attribute) { (fields, name) throws(RequestError) in
                guard let value = fields.members[name] else { return nil }
                return try AudienceParser.scalar(value, name, fields)
            }
        }
        static let among = RequestMember<[JSONValue]>(
            "in",
            .array(of: .attribute, count: 1...AudienceExpression.maximumConditions)
        ) { (fields, name) throws(RequestError) in
            guard let list = fields.members[name] else { return nil }
            guard case .array(let values) = list, !values.isEmpty, values.count <= AudienceExpression.maximumConditions
            else { throw fields.wrongType(name, "an array of 1 to \(AudienceExpression.maximumConditions) values") }
            var choices: [JSONValue] = []
            for value in values { choices.append(try AudienceParser.scalar(value, name, fields)) }
            return choices
        }
        static let named = Member.text(NamedAudiences.member, 1...Member.maximumText)
            .described("The name of a named audience, as it is when the request is accepted.")
        static let (and, or) = (Member.json("and", as: Self.inner), Member.json("or", as: Self.inner))
        static let not = Member.json("not", as: .reference("Audience"))

        static let others: [any RequestMemberProtocol] = [
            Self.all, Self.token, Self.user, Self.users, Self.tag, Self.activity, Self.locale, Self.timeZone,
            Self.appVersion, Self.lastSeen, Self.attribute, Self.among, Self.named, Self.and, Self.or, Self.not,
        ]
    }

    init(now: Timestamp, named: NamedAudiences?) { (self.now, self.named) = (now, named) }

    mutating func expression(_ fields: JSONFields, depth: Int) throws(RequestError) -> AudienceExpression {
        guard depth <= AudienceExpression.maximumDepth else { throw Self.tooDeep(fields) }
        if let name = fields.nulls.sorted().first {
            let message = name == "is" ? "for devices without the attribute use not" : "leave it out instead of null"
            throw fields.error(name, "invalid_value", message)
        }
        var all: [AudienceExpression] = []
        if let value = try fields.value(Members.all) {
            guard value == .bool(true) else { throw fields.error("all", "invalid_value", "it can only be true") }
            all.append(.everyone)
        }
        try all.append(contentsOf: self.identities(fields))
        try all.append(contentsOf: self.profile(fields))
        if let attribute = try self.attribute(fields) { all.append(attribute) }
        self.conditions += all.reduce(0) { $0 + $1.choices }
        guard self.conditions <= AudienceExpression.maximumConditions else {
            throw fields.error(
                "too_many",
                "an audience has at most \(AudienceExpression.maximumConditions) conditions; tag the devices instead"
            )
        }
        if let named = try self.named(fields, depth: depth) { all.append(named) }
        try all.append(contentsOf: self.combinations(fields, depth: depth))
        guard let first = all.first
        else { throw fields.error("missing_field", "name the devices with one or more of \(Self.subjects)") }
        return all.count == 1 ? first : .and(all)
    }

    private static let subjects = """
        all, token, user, users, tag, attribute, activity, locale, appVersion, timeZone, lastSeen, named, and, or, not
        """

    static func tooDeep(_ fields: JSONFields) -> RequestError {
        fields.error("too_deep", "nest and, or and not at most \(AudienceExpression.maximumDepth) deep")
    }

    private func identities(_ fields: JSONFields) throws(RequestError) -> [AudienceExpression] {
        var all: [AudienceExpression] = []
        if let token = try fields.value(Members.token) { all.append(.token(token)) }
        if let user = try fields.value(Members.user) { all.append(.user(user)) }
        if let users = try fields.value(Members.users) {
            guard !users.isEmpty else { throw fields.error("users", "invalid_value", "name at least one user") }
            all.append(.or(users.map { .user($0) }))
        }
        if let tag = try fields.value(Members.tag) { all.append(.tag(tag)) }
        if let activity = try fields.value(Members.activity) { all.append(.activity(activity)) }
        return all
    }

    private func profile(_ fields: JSONFields) throws(RequestError) -> [AudienceExpression] {
        var all: [AudienceExpression] = []
        if let locale = try fields.value(Members.locale) { all.append(.locale(locale)) }
        if let zone = try fields.value(Members.timeZone) { all.append(.timeZone(zone)) }
        if let version = try fields.value(Members.appVersion) {
            for (comparison, member) in Members.versions {
                if let parsed = try version.value(member) { all.append(.appVersion(comparison, parsed)) }
            }
            try Self.requireComparison(version, "appVersion", fields)
        }
        if let seen = try fields.value(Members.lastSeen) {
            for (comparison, member) in Members.moments {
                if let moment = try seen.value(member) { all.append(.lastSeen(comparison, moment)) }
            }
            if let days = try seen.value(Members.withinDays) {
                all.append(.lastSeen(.atLeast, self.now.advanced(by: .seconds(-86_400 * days))))
            }
            try Self.requireComparison(seen, "lastSeen", fields)
        }
        return all
    }

    /// Throws an error if there is no comparison, because an object without one would select all devices.
    private static func requireComparison(
        _ comparisons: JSONFields,
        _ name: String,
        _ fields: JSONFields
    ) throws(RequestError) {
        if let null = comparisons.nulls.sorted().first {
            throw comparisons.error(null, "invalid_value", "leave it out instead of null")
        }
        guard comparisons.members.isEmpty else { return }
        let words = AudienceExpression.Comparison.allCases.map(\.rawValue).joined(separator: ", ")
        throw fields.error(name, "missing_field", "compare it with one or more of \(words)")
    }

    private func attribute(_ fields: JSONFields) throws(RequestError) -> AudienceExpression? {
        guard let name = try fields.value(Members.attribute) else {
            for word in AudienceExpression.Comparison.allCases.map(\.rawValue) + ["in"]
            where fields.members[word] != nil {
                throw fields.error(word, "missing_field", "it belongs to an attribute: give attribute as well")
            }
            return nil
        }
        var all: [AudienceExpression] = []
        for (comparison, member) in Members.values {
            if let value = try fields.value(member) { all.append(.attribute(name: name, comparison, value)) }
        }
        if let values = try fields.value(Members.among) {
            all.append(.or(values.map { .attribute(name: name, .equal, $0) }))
        }
        if all.isEmpty { return .hasAttribute(name) }
        return all.count == 1 ? all[0] : .and(all)
    }

    fileprivate static func scalar(
        _ value: JSONValue,
        _ name: String,
        _ fields: JSONFields
    ) throws(RequestError) -> JSONValue {
        switch value {
        case .string(let text) where text.utf8.count <= Member.maximumText: return .string(text)
        case .integer(let number): return .integer(number)
        case .number(let number): return .number(number)
        case .bool(let flag): return .bool(flag)
        default:
            throw fields.wrongType(name, "a number, true, false, or a text of at most \(Member.maximumText) bytes")
        }
    }

    /// Returns the condition of the named audience to which the request refers, or `nil` if it refers to none.
    private mutating func named(_ fields: JSONFields, depth: Int) throws(RequestError) -> AudienceExpression? {
        let member = NamedAudiences.member
        guard let name = try fields.value(Members.named) else { return nil }
        guard let named else {
            throw fields.error(member, "nested_name", "a named audience cannot name another one: combine them in `to`")
        }
        guard let condition = named.condition(name) else {
            throw fields.error(member, "no_such_audience", "no audience of this app has this name")
        }
        self.named = nil
        defer { self.named = named }
        return try self.nested(.object(condition), member, fields, depth: depth)
    }

    private mutating func combinations(_ fields: JSONFields, depth: Int) throws(RequestError) -> [AudienceExpression] {
        var all: [AudienceExpression] = []
        for member in [Members.and, Members.or] {
            guard let value = try fields.value(member) else { continue }
            let word = member.name
            guard case .array(let values) = value, !values.isEmpty
            else { throw fields.wrongType(word, "an array of at least one condition") }
            var inner: [AudienceExpression] = []
            for (index, value) in values.enumerated() {
                inner.append(try self.nested(value, "\(word)[\(index)]", fields, depth: depth))
            }
            all.append(word == "and" ? .and(inner) : .or(inner))
        }
        if let value = try fields.value(Members.not) {
            all.append(.not(try self.nested(value, "not", fields, depth: depth)))
        }
        return all
    }

    private mutating func nested(
        _ value: JSONValue,
        _ name: String,
        _ fields: JSONFields,
        depth: Int
    ) throws(RequestError) -> AudienceExpression {
        guard case .object(let members) = value else { throw fields.wrongType(name, "an object") }
        let inner = try JSONFields(
            members: members,
            path: fields.place.map { "\($0).\(name)" } ?? name,
            known: AudienceExpression.object.known
        )
        return try self.expression(inner, depth: depth + 1)
    }
}

extension AudienceExpression {
    /// The number of conditions: the sum over the entries of an `and` or `or`, and 1 for any other expression.
    fileprivate var choices: Int {
        switch self {
        case .and(let expressions), .or(let expressions): expressions.reduce(0) { $0 + $1.choices }
        default: 1
        }
    }
}

extension Member {
    /// Creates a request member that holds a device token.
    /// - Parameter message: The error message for a text that cannot be a device token.
    package static func token(_ name: String, _ message: String) -> RequestMember<DeviceToken> {
        Self.text(name, maximum: DeviceToken.maximumLength * 4, as: .writtenToken)
            .parsed("invalid_token", message) { text -> DeviceToken? in
                DeviceToken(userInput: text).flatMap { $0.bytes.count < AudienceExpression.minimumToken ? nil : $0 }
            }
    }
}

extension Schema {
    /// A device token in hexadecimal or base64. The spaces and brackets that old tools add are allowed.
    package static let writtenToken = Schema.string(
        length: 43...DeviceToken.maximumLength * 4,
        pattern: "^[A-Za-z0-9+/=<> \\t\\r\\n]+$"
    )

    /// The schema for the value of a device's attribute.
    package static let attribute = Schema.any(of: [.string(length: 0...Member.maximumText), .number, .bool])
}
