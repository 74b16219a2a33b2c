import Foundation
package import PushSupport
package import PushTypes

/// A JSON object in a response.
///
/// Its members are listed once. The JSON form and the schema in the OpenAPI document are both generated from this list,
/// so that they cannot disagree:
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
    /// The name of the schema in the OpenAPI document, or `nil` if the schema is written inline where it is used.
    static var schemaName: String? { get }
    static var members: [ResponseMember<Self>] { get }
}

extension ResponseObject {
    package static var schemaName: String? { nil }

    package static var schema: Schema {
        let members = Self.members + Self.members.compactMap(\.inText)
        let schema = Schema.object(
            required: members.filter(\.isRequired).map { ($0.name, $0.schema) },
            optional: members.filter { !$0.isRequired }.map { ($0.name, $0.schema) },
            acceptsNull: false
        )
        return Self.schemaName.map(schema.named) ?? schema
    }

    package var json: JSONValue {
        let members = Self.members
        var values: [String: JSONValue] = [:]
        values.reserveCapacity(members.count)
        for member in members {
            guard let value = member.value(self) else { continue }
            values[member.name] = value
            if let name = member.nameInText { values[name] = value.timeText }
        }
        return .object(values)
    }
}

/// A member of a JSON object in a response. It is a class, so that iterating over members copies only references.
package final class ResponseMember<Object>: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool
    /// The name of the additional member with the time in RFC 3339 format, or `nil` if the value is not a time.
    let nameInText: String?
    /// The closure that returns the JSON value of the member, or `nil` if the member is absent.
    let value: @Sendable (Object) -> JSONValue?

    /// Creates a member that is always present.
    ///
    /// The value is a function, for which a key path literal may be passed. The compiler converts the literal to a
    /// direct access, whereas a stored key path would copy the whole object for each member.
    /// - Parameters:
    ///   - schema: The schema, or `nil` for that of the value's type.
    ///   - description: The description in the OpenAPI document, which is a single sentence.
    package static func required<Value: JSONRepresentable>(
        _ name: String,
        _ value: @escaping @Sendable (Object) -> Value,
        as schema: Schema? = nil,
        _ description: String? = nil
    ) -> ResponseMember {
        ResponseMember(name, schema ?? Value.schema, description, isRequired: true) { value($0).json }
    }

    /// Creates a member that is absent if its value is `nil`.
    package static func optional<Value: JSONRepresentable>(
        _ name: String,
        _ value: @escaping @Sendable (Object) -> Value?,
        as schema: Schema? = nil,
        _ description: String? = nil
    ) -> ResponseMember {
        ResponseMember(name, schema ?? Value.schema, description, isRequired: false) { value($0)?.json }
    }

    /// Creates two members for a time that is always present: one in milliseconds, whose name ends in `Ms`, and one in
    /// RFC 3339 format, whose name lacks that suffix.
    package static func required(
        _ name: String,
        _ value: @escaping @Sendable (Object) -> Timestamp,
        _ description: String? = nil
    ) -> ResponseMember {
        let inText = Self.nameInText(name)
        return ResponseMember(name, .timestamp, description, isRequired: true, nameInText: inText) { value($0).json }
    }

    /// Creates the two members of ``required(_:_:_:)`` for a time. Both are absent if the value is `nil`.
    package static func optional(
        _ name: String,
        _ value: @escaping @Sendable (Object) -> Timestamp?,
        _ description: String? = nil
    ) -> ResponseMember {
        let inText = Self.nameInText(name)
        return ResponseMember(name, .timestamp, description, isRequired: false, nameInText: inText) { value($0)?.json }
    }

    private static func nameInText(_ name: String) -> String? { name.hasSuffix("Ms") ? String(name.dropLast(2)) : nil }

    /// The additional member with the time in RFC 3339 format, or `nil` if the value is not a time.
    fileprivate var inText: ResponseMember? {
        self.nameInText.map { name in
            ResponseMember(name, .dateTime, nil, isRequired: self.isRequired) { [value = self.value] in
                value($0)?.timeText
            }
        }
    }

    /// Returns the same member for an outer object, from which `inner` extracts the `Object`.
    package func within<Outer>(_ inner: @escaping @Sendable (Outer) -> Object) -> ResponseMember<Outer> {
        ResponseMember<Outer>(self.name, self.schema, nil, isRequired: self.isRequired, nameInText: self.nameInText) {
            [value = self.value] in value(inner($0))
        }
    }

    fileprivate init(
        _ name: String,
        _ schema: Schema,
        _ description: String?,
        isRequired: Bool,
        nameInText: String? = nil,
        _ value: @escaping @Sendable (Object) -> JSONValue?
    ) {
        (self.name, self.nameInText) = (name, nameInText)
        self.schema = description.map(schema.described) ?? schema
        (self.isRequired, self.value) = (isRequired, value)
    }
}

extension JSONValue {
    /// The RFC 3339 text, in UTC, of a number of milliseconds since 1970, or `nil` for any other value.
    fileprivate var timeText: JSONValue? {
        guard case .integer(let milliseconds) = self else { return nil }
        // With a binary fraction of a second, the text could be truncated to the previous millisecond.
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let (whole, fraction) = rest < 0 ? (seconds - 1, rest + 1000) : (seconds, rest)
        let time = Date(timeIntervalSince1970: Double(whole)).formatted(Date.ISO8601FormatStyle())
        return .string("\(time.dropLast()).\(String(fraction + 1000).dropFirst())Z")
    }
}
