import PushTypes

/// The shape of a JSON value, in the dialect of OpenAPI 3.1 (JSON Schema 2020-12).
package struct Schema: Sendable {
    private var members: [String: JSONValue]
    /// The schemas that this one refers to, by the names under which they become components of the OpenAPI document.
    package private(set) var components: [String: JSONValue] = [:]
    /// A Boolean value that indicates whether `null` is an error for an optional member with this schema.
    private var refusesNull = false

    package var json: JSONValue { .object(self.members) }

    private init(members: [String: JSONValue], components: [String: JSONValue] = [:]) {
        (self.members, self.components) = (members, components)
    }

    private init(_ type: String, _ members: [String: JSONValue?] = [:], components: [String: JSONValue] = [:]) {
        self.init(members: members.compactMapValues(\.self), components: components)
        self.members["type"] = .string(type)
    }

    /// The schema for any value.
    package static let any = Schema(members: [:])
    package static let bool = Schema("boolean")
    package static let onlyTrue = Schema("boolean", ["enum": .array([.bool(true)])])
    package static let number = Schema("number")
    package static let uuid = Schema("string", ["format": .string("uuid")])
    /// The schema for an environment, by any of its names.
    package static let environment = Schema.choice(["sandbox", "production", "development"])
        .described("development is another name for sandbox.")
    package static let bundleID = Schema.string(length: 1...Topic.maximumLength, pattern: "^[A-Za-z0-9._-]+$")
    /// The pattern of ``PushNotification/isHeaderValue(_:)``.
    package static let headerValuePattern = #"^[^\u0000-\u0020\u007F]([^\u0000-\u001F\u007F]*[^\u0000-\u0020\u007F])?$"#
    /// The schema for the id of a broadcast channel, in base64.
    package static let channelID = Schema.string(length: 1...ChannelID.maximumLength, pattern: "^[A-Za-z0-9+/=_-]+$")
    /// The schema for a time in milliseconds since 1970.
    package static let timestamp = Schema.integer().described("Milliseconds since 1970.")

    /// The schema for a time in RFC 3339.
    package static let dateTime = Schema("string", ["format": .string("date-time")])

    package static func string(length: ClosedRange<Int>? = nil, pattern: String? = nil) -> Schema {
        var bounds = Self.bounds("minLength", "maxLength", length)
        bounds["pattern"] = pattern.map { .string($0) }
        return Schema("string", bounds)
    }

    package static func integer(_ range: ClosedRange<Int64>? = nil) -> Schema {
        Schema("integer", Self.bounds("minimum", "maximum", range))
    }

    package static func number(from least: Double, to most: Double) -> Schema {
        Schema("number", ["minimum": .number(least), "maximum": .number(most)])
    }

    /// Returns the schema for one of these numbers.
    package static func integer(of values: [Int64]) -> Schema {
        Schema("integer", ["enum": .array(values.map { .integer($0) })])
    }

    package static func choice(_ values: [String]) -> Schema {
        Schema("string", ["enum": .array(values.map { .string($0) })])
    }

    package static func choice<Value: RawRepresentable<String> & CaseIterable>(of type: Value.Type) -> Schema {
        .choice(type.allCases.map(\.rawValue))
    }

    package static func array(of element: Schema, count: ClosedRange<Int>? = nil) -> Schema {
        var members = Self.bounds("minItems", "maxItems", count)
        members["items"] = element.json
        return Schema("array", members, components: element.components)
    }

    private static func bounds(
        _ lower: String,
        _ upper: String,
        _ range: ClosedRange<some FixedWidthInteger>?
    ) -> [String: JSONValue?] {
        guard let range else { return [:] }
        let (least, most) = (Int64(clamping: range.lowerBound), Int64(clamping: range.upperBound))
        return [lower: JSONValue.integer(least), upper: JSONValue.integer(most)]
    }

    /// Returns the schema of an object.
    /// - Parameters:
    ///   - isOpen: Allows members besides these.
    ///   - acceptsNull: Allows `null` for optional members, which ``JSONFields`` treats as absent.
    package static func object(
        required: [(key: String, value: Schema)] = [],
        optional: [(key: String, value: Schema)] = [],
        isOpen: Bool = false,
        acceptsNull: Bool = true
    ) -> Schema {
        var properties: [String: JSONValue] = [:]
        var components: [String: JSONValue] = [:]
        let optional = acceptsNull ? optional.map { ($0.key, $0.value.orAbsent) } : optional
        for (name, schema) in required + optional {
            properties[name] = schema.json
            components.merge(schema.components) { $1 }
        }
        var members: [String: JSONValue?] = ["properties": .object(properties)]
        if !required.isEmpty { members["required"] = .array(required.map { .string($0.key) }) }
        if !isOpen { members["additionalProperties"] = .bool(false) }
        return Schema("object", members, components: components)
    }

    /// Returns the schema for an object with members of any names. All values have one schema, and so may the names.
    package static func map(of value: Schema, names: Schema? = nil, maximum: Int? = nil) -> Schema {
        Schema(
            "object",
            [
                "additionalProperties": value.json, "propertyNames": names?.json,
                "maxProperties": maximum.map { .integer(Int64($0)) },
            ],
            components: value.components
        )
    }

    package static func any(of schemas: [Schema]) -> Schema {
        let components = schemas.reduce(into: [:]) { $0.merge($1.components) { $1 } }
        return Schema(members: ["anyOf": .array(schemas.map(\.json))], components: components)
    }

    /// Returns a reference to a named schema, for schemas that contain themselves.
    package static func reference(_ name: String) -> Schema {
        Schema(members: ["$ref": .string("#/components/schemas/\(name)")])
    }

    /// Returns a reference to this schema, which becomes a component of the document under this name.
    package func named(_ name: String) -> Schema {
        var reference = Schema.reference(name)
        reference.components = self.components.merging([name: self.json]) { $1 }
        return reference
    }

    package func described(_ text: String) -> Schema { self.with("description", .string(text)) }

    package func example(_ value: JSONValue) -> Schema { self.with("examples", .array([value])) }

    private func with(_ name: String, _ value: JSONValue) -> Schema {
        var schema = self
        schema.members[name] = value
        return schema
    }

    /// The schema for a value of this schema or `null`.
    package var orNull: Schema {
        switch (self.members["anyOf"], self.members["type"]) {
        case (.array(let schemas)?, nil):
            return schemas.contains(Self.null.json) ? self : self.with("anyOf", .array(schemas + [Self.null.json]))
        case (_, .string(let type)?):
            let schema = self.with("type", .array([.string(type), .string("null")]))
            guard case .array(let values)? = self.members["enum"] else { return schema }
            return schema.with("enum", .array(values + [.null]))
        case (_, .array?): return self
        default: return self.members["$ref"] == nil ? self : .any(of: [self, Self.null])
        }
    }

    /// Returns this object's schema, with the rule that at least one of these members has a value other than `null`.
    package func requiringOne(of names: String...) -> Schema {
        self.with("anyOf", .array(names.map { Self.given($0) }))
    }

    /// Returns this object's schema, with the rule that each of the `others` is allowed only beside the member `name`.
    /// A member that is `null` counts as absent.
    package func requiring(_ name: String, beside others: [String]) -> Schema {
        self.adding(others.map { ["if": Self.given($0), "then": Self.given(name)] })
    }

    /// Returns this object's schema, with the rule that the member `name` is required if the member `other` is `value`.
    package func requiring(_ name: String, where other: String, is value: JSONValue) -> Schema {
        self.adding([["if": Self.given(other, .object(["const": value])), "then": Self.given(name)]])
    }

    /// Returns a condition on an object: that the member `name` is not `null`, or that it matches `value`.
    private static func given(
        _ name: String,
        _ value: JSONValue = .object(["not": .object(["type": .string("null")])])
    ) -> JSONValue {
        .object(["required": .array([.string(name)]), "properties": .object([name: value])])
    }

    private func adding(_ conditions: [[String: JSONValue]]) -> Schema {
        var all: [JSONValue] = []
        if case .array(let known)? = self.members["allOf"] { all = known }
        return self.with("allOf", .array(all + conditions.map { .object($0) }))
    }

    /// The schema for this object with at least one member.
    package var withMembers: Schema { self.with("minProperties", .integer(1)) }

    /// This schema, for which `null` is an error even if the member is optional.
    package var neverNull: Schema {
        var schema = self
        schema.refusesNull = true
        return schema
    }

    private static let null = Schema("null")

    private var orAbsent: Schema { self.refusesNull ? self : self.orNull }
}

/// The facts about a value that forms and the help of commands show. For an array they are those of its elements.
extension Schema {
    /// The values that are allowed, as texts. The array is empty if any value of the type is allowed.
    package var choices: [String] {
        self.value["enum"].elements.compactMap { $0.stringValue ?? $0.integerValue.map { "\($0)" } }
    }

    /// The maximum length of a text, in characters, or `nil` if it has none. For a value that may be a text or
    /// something else, it is that of the text.
    package var maximumLength: Int? {
        ([self.value] + self.value["anyOf"].elements).compactMap { $0["maxLength"].integerValue.map { Int($0) } }.max()
    }

    /// The allowed values of an integer, or `nil` for other values, and for an integer without bounds.
    package var range: ClosedRange<Int64>? {
        guard let least = self.value["minimum"].integerValue, let most = self.value["maximum"].integerValue,
            least <= most
        else { return nil }
        return least...most
    }

    /// A Boolean value that indicates whether the value is a number, with or without a fraction.
    package var isNumber: Bool {
        let type = self.value["type"]
        let types = type.stringValue.map { [$0] } ?? type.elements.compactMap(\.stringValue)
        return types.contains("integer") || types.contains("number")
    }

    /// This schema, or that of the elements of an array.
    private var value: JSONValue { self.members["items"] ?? self.json }
}

extension Schema {
    /// Returns the schema for a page of a list, with the cursor of the next one.
    package static func page(_ name: String, of element: Schema) -> Schema {
        .object(
            required: [(name, .array(of: element))],
            optional: [("next", .string().described("The cursor of the next page; absent at the end."))],
            acceptsNull: false
        )
    }

    /// Returns the schema for a list without pages.
    package static func list(_ name: String, of element: Schema) -> Schema {
        .object(required: [(name, .array(of: element))])
    }
}

extension JSONValue {
    /// Returns an object whose members are strings.
    package static func texts(_ members: [String: String]) -> JSONValue { .object(members.mapValues { .string($0) }) }
}
