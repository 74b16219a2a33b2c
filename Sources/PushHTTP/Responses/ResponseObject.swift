package import PushSupport

/// A JSON object in a response.
///
/// Its members are listed once. The response and the schema in the document are both made from that list, so that they
/// cannot disagree:
///
/// ```swift
/// struct AppResponse: ResponseObject {
///     let app: AppRecord
///
///     static let schemaName: String? = "App"
///     static let members: [ResponseMember<Self>] = [
///         .required("bundleId", \.app.bundleID),
///         .optional("rate", \.app.rate, "Pushes per second of all its campaigns together."),
///     ]
/// }
/// ```
package protocol ResponseObject: JSONRepresentable {
    /// The name of the schema in the document; `nil` for one that is written where it is used.
    static var schemaName: String? { get }
    static var members: [ResponseMember<Self>] { get }
}

extension ResponseObject {
    package static var schemaName: String? { nil }

    package static var schema: Schema {
        let schema = Schema.object(
            required: Self.members.filter(\.isRequired).map { ($0.name, $0.schema) },
            optional: Self.members.filter { !$0.isRequired }.map { ($0.name, $0.schema) }
        )
        return Self.schemaName.map(schema.named) ?? schema
    }

    package var json: JSONValue {
        var values: [String: JSONValue] = [:]
        for member in Self.members { values[member.name] = member.value(self) }
        return .object(values)
    }
}

/// A member of a JSON object in a response.
package struct ResponseMember<Object>: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool
    /// Returns the value; `nil` where the member is absent.
    let value: @Sendable (Object) -> JSONValue?

    /// Makes a member that every object has.
    ///
    /// - Parameters:
    ///   - schema: Overrides the schema of the value's type.
    ///   - description: One sentence for the document.
    package static func required<Value: JSONRepresentable>(
        _ name: String,
        _ path: any KeyPath<Object, Value> & Sendable,
        as schema: Schema? = nil,
        _ description: String? = nil
    ) -> ResponseMember {
        ResponseMember(name, schema ?? Value.schema, description, isRequired: true) { $0[keyPath: path].json }
    }

    /// Makes a member that is absent where its value is `nil`.
    package static func optional<Value: JSONRepresentable>(
        _ name: String,
        _ path: any KeyPath<Object, Value?> & Sendable,
        as schema: Schema? = nil,
        _ description: String? = nil
    ) -> ResponseMember {
        ResponseMember(name, schema ?? Value.schema, description, isRequired: false) { $0[keyPath: path]?.json }
    }

    /// Returns this member as a member of an object that holds `Object` and more.
    package func within<Outer>(_ path: any KeyPath<Outer, Object> & Sendable) -> ResponseMember<Outer> {
        ResponseMember<Outer>(self.name, self.schema, nil, isRequired: self.isRequired) { [value = self.value] in
            value($0[keyPath: path])
        }
    }

    fileprivate init(
        _ name: String,
        _ schema: Schema,
        _ description: String?,
        isRequired: Bool,
        _ value: @escaping @Sendable (Object) -> JSONValue?
    ) {
        self.name = name
        self.schema = description.map(schema.described) ?? schema
        (self.isRequired, self.value) = (isRequired, value)
    }
}
