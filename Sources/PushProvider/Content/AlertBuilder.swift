import PushSupport
import PushTypes

/// Builds `aps.alert` and `aps.sound` from the members of a request (reference 3.2, 3.3).
///
/// A request writes the keys in camel case: `titleLocKey` is `title-loc-key`.
package struct AlertBuilder {
    /// The maximum length of a text, in bytes: more than any payload may have, so that the limit of the payload applies.
    package static let maximumText = 8192
    /// The maximum number of arguments of one text.
    package static let maximumArguments = 32

    package static let texts = ["title", "subtitle", "body"]
    private static let strings = [
        "title-loc-key", "subtitle-loc-key", "loc-key", "launch-image", "action-loc-key", "action", "summary-arg",
    ]
    private static let arguments = ["title-loc-args", "subtitle-loc-args", "loc-args"]
    private static let count = "summary-arg-count"
    /// The keys of `alert` in a payload (reference 3.2).
    static let keys = Set(Self.texts + Self.strings + Self.arguments + [Self.count])
    private static let members = Set(Self.keys.map(FieldNames.camelCase))

    /// The members of a request's alert that are strings, those that are arrays of strings, and the one that is a number.
    package static let stringMembers = Self.strings.map(FieldNames.camelCase)
    package static let argumentMembers = Self.arguments.map(FieldNames.camelCase)
    package static let countMember = FieldNames.camelCase(Self.count)
    package static let counts: ClosedRange<Int64> = 1...100_000

    let fields: JSONFields
    let pushType: PushType

    /// Returns the alert; `nil` where the request has none.
    func alert() throws(RequestError) -> JSONValue? {
        if case .string? = self.fields.members["alert"] {
            return try self.fields.string("alert", maximum: Self.maximumText).map(JSONValue.string)
        }
        guard let alert = try self.fields.fields("alert", known: Self.members) else { return nil }
        let object = try self.object(alert)
        guard !object.isEmpty || !alert.nulls.isEmpty
        else { throw self.fields.error("alert", "missing_content", "give title, subtitle or body") }
        return .object(object)
    }

    /// Returns the members of an alert that `fields` has, with the keys of the payload.
    func object(_ fields: JSONFields) throws(RequestError) -> [String: JSONValue] {
        var object: [String: JSONValue] = [:]
        for key in Self.texts { object[key] = try self.text(key, fields) }
        for (key, name) in zip(Self.strings, Self.stringMembers) {
            object[key] = try fields.string(name, maximum: Self.maximumText).map(JSONValue.string)
        }
        for (key, name) in zip(Self.arguments, Self.argumentMembers) { object[key] = try self.arguments(name, fields) }
        object[Self.count] = try fields.integer(Self.countMember, in: Self.counts).map(JSONValue.integer)
        return object
    }

    /// Returns a text, or in a Live Activity also `{locKey, locArgs}` (reference 3.2).
    private func text(_ key: String, _ fields: JSONFields) throws(RequestError) -> JSONValue? {
        guard self.pushType == .liveactivity, case .object? = fields.members[key],
            let text = try fields.fields(key, known: ["locKey", "locArgs"])
        else { return try fields.string(key, maximum: Self.maximumText).map(JSONValue.string) }
        var object: [String: JSONValue] = [:]
        object["loc-key"] = .string(try text.requiredString("locKey", maximum: Self.maximumText))
        object["loc-args"] = try self.arguments("locArgs", text)
        return .object(object)
    }

    private func arguments(_ name: String, _ fields: JSONFields) throws(RequestError) -> JSONValue? {
        try fields.strings(name, count: Self.maximumArguments, maximum: Self.maximumText)
            .map { .array($0.map(JSONValue.string)) }
    }

    /// Returns the sound, the name of a file or `{critical, name, volume}`; `nil` where the request has none.
    func sound() throws(RequestError) -> JSONValue? {
        guard case .object? = self.fields.members["sound"],
            let sound = try self.fields.fields("sound", known: ["critical", "name", "volume"])
        else { return try self.fields.string("sound", maximum: 256).map(JSONValue.string) }
        var object: [String: JSONValue] = [:]
        if try sound.bool("critical") == true { object["critical"] = .integer(1) }
        object["name"] = try sound.string("name", maximum: 256).map(JSONValue.string)
        object["volume"] = try sound.number("volume")
        guard !object.isEmpty else { throw self.fields.error("sound", "missing_content", "give critical or name") }
        return .object(object)
    }
}

extension JSONFields {
    /// Returns a number with or without a fraction; `nil` if the member is absent.
    func number(_ name: String) throws(RequestError) -> JSONValue? {
        switch self.members[name] {
        case nil: nil
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        default: throw self.wrongType(name, "a number")
        }
    }
}
