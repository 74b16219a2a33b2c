package import PushSupport

/// The shape of a JSON value, in the dialect of OpenAPI 3.1 (JSON Schema 2020-12).
package struct Schema: Sendable {
    private(set) var members: [String: JSONValue]
    /// The named schemas that this one refers to.
    private(set) var components: [String: JSONValue] = [:]

    var json: JSONValue { .object(self.members) }

    private init(members: [String: JSONValue], components: [String: JSONValue] = [:]) {
        (self.members, self.components) = (members, components)
    }

    /// Makes a schema of a type. Members that are `nil` are left out.
    private init(_ type: String, _ members: [String: JSONValue?] = [:], components: [String: JSONValue] = [:]) {
        self.init(members: members.compactMapValues(\.self), components: components)
        self.members["type"] = .string(type)
    }

    /// Any value.
    package static let any = Schema(members: [:])
    package static let bool = Schema("boolean")
    package static let number = Schema("number")
    package static let uuid = Schema("string", ["format": .string("uuid")])
    /// An environment, by any of its names.
    package static let environment = Schema.choice(["sandbox", "production", "development"])
        .described("development is another name for sandbox.")
    /// A time in milliseconds since 1970.
    package static let timestamp = Schema.integer().described("Milliseconds since 1970.")

    /// A time in RFC 3339.
    package static let dateTime = Schema("string", ["format": .string("date-time")])

    package static func string(length: ClosedRange<Int>? = nil, pattern: String? = nil) -> Schema {
        var bounds = Self.bounds("minLength", "maxLength", length)
        bounds["pattern"] = pattern.map { .string($0) }
        return Schema("string", bounds)
    }

    package static func integer(_ range: ClosedRange<Int64>? = nil) -> Schema {
        Schema("integer", Self.bounds("minimum", "maximum", range))
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

    /// Returns the members for the two ends of a range; none without one.
    private static func bounds(
        _ lower: String,
        _ upper: String,
        _ range: ClosedRange<some FixedWidthInteger & JSONRepresentable>?
    ) -> [String: JSONValue?] {
        [lower: range?.lowerBound.json, upper: range?.upperBound.json]
    }

    /// - Parameter isOpen: Allows members that are not named here.
    package static func object(
        required: KeyValuePairs<String, Schema> = [:],
        optional: KeyValuePairs<String, Schema> = [:],
        isOpen: Bool = false
    ) -> Schema {
        self.object(required: required.map { $0 }, optional: optional.map { $0 }, isOpen: isOpen)
    }

    /// As ``object(required:optional:isOpen:)``, from members that were put together by code.
    package static func object(
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
        var members: [String: JSONValue?] = ["properties": .object(properties)]
        if !required.isEmpty { members["required"] = .array(required.map { .string($0.key) }) }
        if !isOpen { members["additionalProperties"] = .bool(false) }
        return Schema("object", members, components: components)
    }

    /// An object whose members all have one shape.
    package static func map(of value: Schema) -> Schema {
        Schema("object", ["additionalProperties": value.json], components: value.components)
    }

    package static func any(of schemas: [Schema]) -> Schema {
        let components = schemas.reduce(into: [:]) { $0.merge($1.components) { $1 } }
        return Schema(members: ["anyOf": .array(schemas.map(\.json))], components: components)
    }

    /// A reference to a named schema, for schemas that contain themselves.
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

    /// This schema or `null`.
    package var orNull: Schema { .any(of: [self, Schema("null")]) }
}

extension Schema {
    /// A page of a list.
    package static func page(_ name: String, of element: Schema) -> Schema {
        .object(
            required: [name: .array(of: element)],
            optional: ["next": .string().described("The cursor of the next page; absent at the end.")]
        )
    }

    /// A list without pages.
    package static func list(_ name: String, of element: Schema) -> Schema {
        .object(required: [name: .array(of: element)])
    }
}

extension JSONValue {
    /// Returns an object whose members are strings.
    package static func texts(_ members: [String: String]) -> JSONValue { .object(members.mapValues { .string($0) }) }
}
