import PushSupport

/// What a JSON value looks like, in the dialect of OpenAPI 3.1 (JSON Schema 2020-12).
struct Schema: Sendable {
    private(set) var members: [String: JSONValue]
    /// The named schemas that it refers to.
    private(set) var components: [String: JSONValue] = [:]

    var json: JSONValue { .object(self.members) }

    /// Anything at all.
    static let any = Schema(members: [:])
    static let bool = Schema(members: ["type": .string("boolean")])
    static let number = Schema(members: ["type": .string("number")])
    static let uuid = Schema(members: ["type": .string("string"), "format": .string("uuid")])
    static let environment = Schema.choice(["sandbox", "production", "development"])
        .described("development is another name for sandbox.")
    /// Milliseconds since 1970.
    static let moment = Schema.integer().described("Milliseconds since 1970.")

    static func string(length: ClosedRange<Int>? = nil, pattern: String? = nil) -> Schema {
        var members: [String: JSONValue] = ["type": .string("string")]
        if let length {
            members["minLength"] = .integer(Int64(length.lowerBound))
            members["maxLength"] = .integer(Int64(length.upperBound))
        }
        members["pattern"] = pattern.map { .string($0) }
        return Schema(members: members)
    }

    static func integer(_ range: ClosedRange<Int64>? = nil) -> Schema {
        var members: [String: JSONValue] = ["type": .string("integer")]
        if let range {
            members["minimum"] = .integer(range.lowerBound)
            members["maximum"] = .integer(range.upperBound)
        }
        return Schema(members: members)
    }

    static func choice(_ values: [String]) -> Schema {
        Schema(members: ["type": .string("string"), "enum": .array(values.map { .string($0) })])
    }

    static func array(of element: Schema, count: ClosedRange<Int>? = nil) -> Schema {
        var members: [String: JSONValue] = ["type": .string("array"), "items": element.json]
        if let count {
            members["minItems"] = .integer(Int64(count.lowerBound))
            members["maxItems"] = .integer(Int64(count.upperBound))
        }
        return Schema(members: members, components: element.components)
    }

    /// - Parameter isOpen: whether members that are not named here may be there too.
    static func object(
        required: KeyValuePairs<String, Schema> = [:],
        optional: KeyValuePairs<String, Schema> = [:],
        isOpen: Bool = false
    ) -> Schema {
        self.object(required: required.map { $0 }, optional: optional.map { $0 }, isOpen: isOpen)
    }

    /// As above, from members that were put together.
    static func object(
        required: [(key: String, value: Schema)],
        optional: [(key: String, value: Schema)],
        isOpen: Bool = false
    ) -> Schema {
        var properties: [String: JSONValue] = [:]
        var components: [String: JSONValue] = [:]
        for (name, schema) in required + optional {
            properties[name] = schema.json
            components.merge(schema.components) { $1 }
        }
        var members: [String: JSONValue] = ["type": .string("object"), "properties": .object(properties)]
        if !required.isEmpty { members["required"] = .array(required.map { .string($0.key) }) }
        if !isOpen { members["additionalProperties"] = .bool(false) }
        return Schema(members: members, components: components)
    }

    /// An object whose members all look the same.
    static func map(of value: Schema) -> Schema {
        let members: [String: JSONValue] = ["type": .string("object"), "additionalProperties": value.json]
        return Schema(members: members, components: value.components)
    }

    static func any(of schemas: [Schema]) -> Schema {
        let components = schemas.reduce(into: [:]) { $0.merge($1.components) { $1 } }
        return Schema(members: ["anyOf": .array(schemas.map(\.json))], components: components)
    }

    /// A schema that is named elsewhere, for those that contain themselves.
    static func reference(_ name: String) -> Schema {
        Schema(members: ["$ref": .string("#/components/schemas/\(name)")])
    }

    /// From now on referred to by this name.
    func named(_ name: String) -> Schema {
        var reference = Schema.reference(name)
        reference.components = self.components.merging([name: self.json]) { $1 }
        return reference
    }

    func described(_ text: String) -> Schema {
        var described = self
        described.members["description"] = .string(text)
        return described
    }

    func example(_ value: JSONValue) -> Schema {
        var described = self
        described.members["examples"] = .array([value])
        return described
    }

    var orNull: Schema { .any(of: [self, Schema(members: ["type": .string("null")])]) }
}

extension JSONValue {
    /// An object of texts, for examples.
    static func texts(_ members: [String: String]) -> JSONValue { .object(members.mapValues { .string($0) }) }
}
