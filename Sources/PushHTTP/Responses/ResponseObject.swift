import Foundation
package import PushSupport
package import PushTypes

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
    /// The name of the schema in the document, or `nil` if the schema is written where it is used.
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

/// A member of a JSON object in a response. It is a class, so that iteration over the members copies only references.
package final class ResponseMember<Object>: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool
    /// The name of the member with the same time in RFC 3339, or `nil` if the value is not a time.
    let nameInText: String?
    /// Returns the value, or `nil` if the member is absent.
    let value: @Sendable (Object) -> JSONValue?

    /// Creates a member that every object has.
    ///
    /// The value is a function, for which a key path may be written. The compiler turns that into a direct access. A
    /// stored key path would copy the whole object for each member.
    /// - Parameters:
    ///   - schema: The schema instead of that of the value's type.
    ///   - description: The description in the document, one sentence.
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

    /// Creates two members for a time that every object has: milliseconds under its name, which ends in `Ms`, and RFC
    /// 3339 under the name without that ending.
    package static func required(
        _ name: String,
        _ value: @escaping @Sendable (Object) -> Timestamp,
        _ description: String? = nil
    ) -> ResponseMember {
        let inText = Self.nameInText(name)
        return ResponseMember(name, .timestamp, description, isRequired: true, nameInText: inText) { value($0).json }
    }

    /// Creates two members like ``required(_:_:_:)`` for a time. They are absent if its value is `nil`.
    package static func optional(
        _ name: String,
        _ value: @escaping @Sendable (Object) -> Timestamp?,
        _ description: String? = nil
    ) -> ResponseMember {
        let inText = Self.nameInText(name)
        return ResponseMember(name, .timestamp, description, isRequired: false, nameInText: inText) { value($0)?.json }
    }

    private static func nameInText(_ name: String) -> String? { name.hasSuffix("Ms") ? String(name.dropLast(2)) : nil }

    /// The member with the time in RFC 3339, or `nil` if the value is not a time.
    fileprivate var inText: ResponseMember? {
        self.nameInText.map { name in
            ResponseMember(name, .dateTime, nil, isRequired: self.isRequired) { [value = self.value] in
                value($0)?.timeText
            }
        }
    }

    /// Returns this member as a member of an object that holds `Object` and more.
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
    /// A number of milliseconds since 1970 as RFC 3339 text in UTC, or `nil` for any other value.
    fileprivate var timeText: JSONValue? {
        guard case .integer(let milliseconds) = self else { return nil }
        // A binary fraction of a second could be cut to the previous millisecond.
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let (whole, fraction) = rest < 0 ? (seconds - 1, rest + 1000) : (seconds, rest)
        let time = Date(timeIntervalSince1970: Double(whole)).formatted(Date.ISO8601FormatStyle())
        return .string("\(time.dropLast()).\(String(fraction + 1000).dropFirst())Z")
    }
}
