import Foundation
package import PushSupport
package import PushTypes

/// The JSON form of an audience: `{"tag":"beta"}`, `{"and":[{"locale":"de"},{"not":{"user":"alice"}}]}`. All members of one
/// object must hold.
extension AudienceExpression {
    /// The maximum number of conditions in one expression.
    package static let maximumConditions = 200
    /// The maximum nesting of and, or and not. An object with several members is an and of its own.
    package static let maximumDepth = 16
    /// The maximum length of a user id, tag, attribute name, attribute text, locale or time zone, in bytes.
    package static let maximumText = 256
    /// The minimum length of a token that names a device, in bytes: no shorter one was ever seen (reference 1.7).
    package static let minimumToken = 32

    package static let members: Set<String> = Set(Comparison.allCases.map(\.rawValue)).union([
        "all", "token", "user", "users", "tag", "attribute", "in", "locale", "appVersion", "timeZone", "activity",
        "lastSeen", "and", "or", "not", NamedAudiences.member,
    ])

    /// Reads the expression of a request.
    /// - Parameters:
    ///   - now: The time from which `withinDays` counts.
    ///   - named: The named audiences that the expression may refer to; `nil` in such an audience itself.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields, now: Timestamp, named: NamedAudiences? = NamedAudiences.none)
        throws(RequestError)
    {
        var parser = AudienceParser(now: now, named: named)
        self = try parser.expression(fields, depth: 0)
        // The stored form has an object for each condition, so it may be deeper than what was sent.
        guard self.depth <= Self.maximumDepth else { throw AudienceParser.tooDeep(fields) }
    }

    /// Reads the expression of a request.
    /// - Parameter path: The path of the object in the request.
    package init(
        json members: [String: JSONValue],
        path: String?,
        now: Timestamp,
        named: NamedAudiences? = NamedAudiences.none
    ) throws(RequestError) {
        try self.init(JSONFields(members: members, path: path, known: Self.members), now: now, named: named)
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

    /// Decodes the form that ``json`` writes; `nil` for any other value.
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
                // The form of version 0.1.
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

    /// The nesting of and, or and not.
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
    /// The named audiences; `nil` within one of them.
    private var named: NamedAudiences?
    /// The number of conditions so far; combinations do not count.
    private var conditions = 0

    init(now: Timestamp, named: NamedAudiences?) { (self.now, self.named) = (now, named) }

    mutating func expression(_ fields: JSONFields, depth: Int) throws(RequestError) -> AudienceExpression {
        guard depth <= AudienceExpression.maximumDepth else { throw Self.tooDeep(fields) }
        if let name = fields.nulls.sorted().first {
            let message = name == "is" ? "for devices without the attribute use not" : "leave it out instead of null"
            throw fields.error(name, "invalid_value", message)
        }
        var all: [AudienceExpression] = []
        if let value = fields.members["all"] {
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

    /// The members that need no other.
    private static let subjects = """
        all, token, user, users, tag, attribute, activity, locale, appVersion, timeZone, lastSeen, named, and, or, not
        """

    static func tooDeep(_ fields: JSONFields) -> RequestError {
        fields.error("too_deep", "nest and, or and not at most \(AudienceExpression.maximumDepth) deep")
    }

    private func identities(_ fields: JSONFields) throws(RequestError) -> [AudienceExpression] {
        let limit = AudienceExpression.maximumText
        var all: [AudienceExpression] = []
        let longest = DeviceToken.maximumLength * 4
        let message = "a device token is hex or base64 of at least \(AudienceExpression.minimumToken) bytes"
        let token = try fields.value("token", maximum: longest, orElse: "invalid_token", message) { text in
            DeviceToken(userInput: text).flatMap { $0.bytes.count < AudienceExpression.minimumToken ? nil : $0 }
        }
        if let token { all.append(.token(token)) }
        if let user = try fields.string("user", maximum: limit) { all.append(.user(user)) }
        if let users = try fields.strings("users", count: AudienceExpression.maximumConditions, maximum: limit) {
            guard !users.isEmpty else { throw fields.error("users", "invalid_value", "name at least one user") }
            all.append(.or(users.map { .user($0) }))
        }
        if let tag = try fields.string("tag", maximum: limit) { all.append(.tag(tag)) }
        if let activity = try fields.string("activity", maximum: limit) { all.append(.activity(activity)) }
        return all
    }

    private func profile(_ fields: JSONFields) throws(RequestError) -> [AudienceExpression] {
        let limit = AudienceExpression.maximumText
        var all: [AudienceExpression] = []
        if let locale = try fields.string("locale", maximum: limit) { all.append(.locale(locale)) }
        let zone = try fields.value("timeZone", maximum: limit, orElse: "invalid_time_zone", JSONFields.zoneForm) {
            TimeZone(named: $0) == nil ? nil : $0
        }
        if let zone { all.append(.timeZone(zone)) }
        let comparisons = Set(AudienceExpression.Comparison.allCases.map(\.rawValue))
        if let version = try fields.fields("appVersion", known: comparisons) {
            for comparison in AudienceExpression.Comparison.allCases {
                let (name, message) = (comparison.rawValue, "use numbers such as 2.10.1")
                let parsed = try version.value(name, maximum: limit, orElse: "invalid_version", message) {
                    AppVersion($0)
                }
                if let parsed { all.append(.appVersion(comparison, parsed)) }
            }
            try Self.requireComparison(version, "appVersion", fields)
        }
        if let seen = try fields.fields("lastSeen", known: comparisons.union(["withinDays"])) {
            for comparison in AudienceExpression.Comparison.allCases {
                guard let moment = try seen.timestamp(comparison.rawValue) else { continue }
                all.append(.lastSeen(comparison, moment))
            }
            if let days = try seen.integer("withinDays", in: 1...36_500) {
                all.append(.lastSeen(.atLeast, self.now.advanced(by: .seconds(-86_400 * days))))
            }
            try Self.requireComparison(seen, "lastSeen", fields)
        }
        return all
    }

    /// Requires a comparison: an object without one would select all devices.
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
        let comparisons = AudienceExpression.Comparison.allCases.filter { fields.members[$0.rawValue] != nil }
        guard let name = try fields.string("attribute", maximum: AudienceExpression.maximumText) else {
            for word in comparisons.map(\.rawValue) + ["in"] where fields.members[word] != nil {
                throw fields.error(word, "missing_field", "it belongs to an attribute: give attribute as well")
            }
            return nil
        }
        var all: [AudienceExpression] = []
        for comparison in comparisons {
            let value = try Self.scalar(fields.members[comparison.rawValue], comparison.rawValue, fields)
            all.append(.attribute(name: name, comparison, value))
        }
        if let list = fields.members["in"] {
            guard case .array(let values) = list, !values.isEmpty,
                values.count <= AudienceExpression.maximumConditions
            else { throw fields.wrongType("in", "an array of 1 to \(AudienceExpression.maximumConditions) values") }
            var choices: [AudienceExpression] = []
            for value in values { choices.append(.attribute(name: name, .equal, try Self.scalar(value, "in", fields))) }
            all.append(.or(choices))
        }
        if all.isEmpty { return .hasAttribute(name) }
        return all.count == 1 ? all[0] : .and(all)
    }

    private static func scalar(
        _ value: JSONValue?,
        _ name: String,
        _ fields: JSONFields
    ) throws(RequestError) -> JSONValue {
        switch value {
        case .string(let text) where text.utf8.count <= AudienceExpression.maximumText: return .string(text)
        case .integer(let number): return .integer(number)
        case .number(let number): return .number(number)
        case .bool(let flag): return .bool(flag)
        default:
            let limit = AudienceExpression.maximumText
            throw fields.wrongType(name, "a number, true, false, or a text of at most \(limit) bytes")
        }
    }

    /// Returns the audience of the name that the member gives, as it is now.
    private mutating func named(_ fields: JSONFields, depth: Int) throws(RequestError) -> AudienceExpression? {
        let member = NamedAudiences.member
        guard let name = try fields.string(member, maximum: AudienceExpression.maximumText) else { return nil }
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
        for word in ["and", "or"] {
            guard let value = fields.members[word] else { continue }
            guard case .array(let values) = value, !values.isEmpty
            else { throw fields.wrongType(word, "an array of at least one condition") }
            var inner: [AudienceExpression] = []
            for (index, value) in values.enumerated() {
                inner.append(try self.nested(value, "\(word)[\(index)]", fields, depth: depth))
            }
            all.append(word == "and" ? .and(inner) : .or(inner))
        }
        if let value = fields.members["not"] {
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
            known: AudienceExpression.members
        )
        return try self.expression(inner, depth: depth + 1)
    }
}

extension AudienceExpression {
    /// The number of conditions of a member: a list has one for each entry.
    fileprivate var choices: Int {
        switch self {
        case .and(let expressions), .or(let expressions): expressions.reduce(0) { $0 + $1.choices }
        default: 1
        }
    }
}
