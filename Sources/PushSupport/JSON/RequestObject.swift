/// A JSON object in a request.
///
/// Its members are listed once. The parser, the bounds and the schema in the OpenAPI document are derived from that
/// list. What a maker of ``Member`` only documents, such as a pattern, the caller has to check:
///
/// ```swift
/// private static let url = Member.text("url", 1...2048)
/// private static let active = Member.bool("active")
/// private static let change = RequestObject(optional: [url, active])
/// ```
///
/// A member is read with its entry in the list, as in `fields.value(Self.url)`. Rules that concern several members are
/// checked by the code that reads them.
package struct RequestObject: Sendable {
    package let members: [any RequestMemberProtocol]
    /// The names of the members.
    package let known: Set<String>
    /// The names of the members that a request must have.
    package let required: Set<String>
    package let schema: Schema

    /// Creates the description of an object from its members.
    /// - Parameters:
    ///   - acceptsNull: `true` if the schema allows `null` for an optional member.
    ///   - refine: Adds a name, and the rules that concern several members, to the schema.
    package init(
        required: [any RequestMemberProtocol] = [],
        optional lists: [any RequestMemberProtocol]...,
        acceptsNull: Bool = true,
        _ refine: (Schema) -> Schema = { $0 }
    ) {
        let optional = Array(lists.joined())
        self.members = required + optional
        self.known = Set(self.members.map { $0.name })
        self.required = Set(required.map { $0.name })
        let schema = Schema.object(
            required: required.map { ($0.name, $0.schema) },
            optional: optional.map { ($0.name, $0.schema) },
            acceptsNull: acceptsNull
        )
        self.schema = refine(schema)
    }

    /// Returns the schema of a member, for the field of a form or the option of a command that stands for it.
    /// - Parameter path: The name of the member. Dots separate the names of an object's members, as in `cap.window`. A
    ///   path that the list does not have is a mistake in the program.
    package subscript(path: String) -> Schema {
        var (members, schema) = (self.members, Schema.any)
        for name in path.split(separator: ".") {
            guard let member = members.first(where: { $0.name == name }) else {
                assertionFailure("no member \(path)")
                return .any
            }
            (members, schema) = (member.members, member.schema)
        }
        return schema
    }
}

/// A ``RequestMember`` with a value of any type, so that a list can contain members of several types.
package protocol RequestMemberProtocol: Sendable {
    var name: String { get }
    var schema: Schema { get }
    /// The members of an object, or an empty array for other values.
    var members: [any RequestMemberProtocol] { get }
    /// Checks the value by reading it, and throws an error if it is not valid.
    func check(_ fields: JSONFields) throws(RequestError)
}

/// A member of a JSON object in a request: its name, its schema, and how it is read.
package struct RequestMember<Value>: RequestMemberProtocol {
    /// A closure that returns the value of the member with a name, or `nil` if the member is absent.
    package typealias Reader = @Sendable (JSONFields, String) throws(RequestError) -> Value?

    package let name: String
    package let schema: Schema
    package let members: [any RequestMemberProtocol]
    fileprivate let read: Reader

    package init(
        _ name: String,
        _ schema: Schema,
        members: [any RequestMemberProtocol] = [],
        _ read: @escaping Reader
    ) {
        (self.name, self.schema, self.members, self.read) = (name, schema, members, read)
    }

    package func check(_ fields: JSONFields) throws(RequestError) { _ = try self.read(fields, self.name) }

    package func described(_ text: String) -> RequestMember {
        RequestMember(self.name, self.schema.described(text), members: self.members, self.read)
    }

    /// Returns this member with `null` as an error that has this message and code, even if the member is optional.
    package func neverNull(
        _ message: String = "it cannot be removed",
        code: String = "wrong_type"
    ) -> RequestMember {
        RequestMember(self.name, self.schema.neverNull, members: self.members) {
            [self] (fields, name) throws(RequestError) in
            guard !fields.nulls.contains(name) else { throw fields.error(name, code, message) }
            return try fields.value(self)
        }
    }

    /// Returns a member whose value `convert` creates from this value and from all fields of the object.
    package func map<Other>(
        _ convert: @escaping @Sendable (Value, JSONFields) throws(RequestError) -> Other
    ) -> RequestMember<Other> {
        RequestMember<Other>(self.name, self.schema, members: self.members) {
            [self] (fields, name) throws(RequestError) in
            guard let value = try fields.value(self) else { return nil }
            return try convert(value, fields)
        }
    }

    /// Returns a member whose value `parse` creates from this value. A value for which `parse` returns `nil` is
    /// rejected with `code` and `message`.
    package func parsed<Other>(
        _ code: String,
        _ message: String,
        _ parse: @escaping @Sendable (Value) -> Other?
    ) -> RequestMember<Other> {
        self.map { [name] (value, fields) throws(RequestError) in
            guard let other = parse(value) else { throw fields.error(name, code, message) }
            return other
        }
    }

    /// Returns this member with a condition. A value that does not meet it is an error.
    package func checked(
        _ code: String,
        _ message: String,
        _ isValid: @escaping @Sendable (Value) -> Bool
    ) -> RequestMember {
        self.parsed(code, message) { isValid($0) ? $0 : nil }
    }
}

extension RequestMember where Value == [String] {
    /// Returns a member whose elements `parse` creates from these texts. A text for which `parse` returns `nil` is an
    /// error at its position.
    package func parsedEach<Element>(
        _ code: String,
        _ message: String,
        _ parse: @escaping @Sendable (String) -> Element?
    ) -> RequestMember<[Element]> {
        self.map { [name] (texts, fields) throws(RequestError) in
            var elements: [Element] = []
            for (index, text) in texts.enumerated() {
                guard let element = parse(text) else { throw fields.error("\(name)[\(index)]", code, message) }
                elements.append(element)
            }
            return elements
        }
    }
}

extension JSONFields {
    /// Returns the value of a member, or `nil` if it is absent.
    package func value<Value>(_ member: RequestMember<Value>) throws(RequestError) -> Value? {
        try member.read(self, member.name)
    }

    /// Returns the value of a member that must be present.
    /// - Parameter message: The error's message for an object without the member.
    package func required<Value>(
        _ member: RequestMember<Value>,
        _ message: String = "this member is required"
    ) throws(RequestError) -> Value {
        guard let value = try self.value(member) else { throw self.error(member.name, "missing_field", message) }
        return value
    }
}

/// Creates the members of requests.
package enum Member {
    /// Creates a member that is a text.
    /// - Parameters:
    ///   - length: The allowed lengths, in bytes. An empty text is an error for any range.
    ///   - pattern: The pattern in the OpenAPI document, which the caller has to check.
    package static func text(
        _ name: String,
        _ length: ClosedRange<Int>,
        pattern: String? = nil
    ) -> RequestMember<String> {
        RequestMember<String>(name, .string(length: length, pattern: pattern)) { (fields, name) throws(RequestError) in
            try fields.string(name, minimum: length.lowerBound, maximum: length.upperBound)
        }
    }

    /// Creates a member that is a text of 1 to `maximum` bytes. The caller has to check the other rules of the schema.
    package static func text(_ name: String, maximum: Int, as schema: Schema) -> RequestMember<String> {
        RequestMember<String>(name, schema) { (fields, name) throws(RequestError) in
            try fields.string(name, maximum: maximum)
        }
    }

    /// Creates a member that is a text of at most `maximum` bytes: a raw value of a type. It is read as that value.
    /// - Parameter message: The error's message for any other text, or `nil` for a message that lists the values.
    package static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String,
        of type: Value.Type,
        maximum: Int = 64,
        code: String = "invalid_value",
        message: String? = nil
    ) -> RequestMember<Value> {
        let known = "use one of \(type.allCases.map(\.rawValue).joined(separator: ", "))"
        return Self.text(name, maximum: maximum, as: .choice(of: type))
            .parsed(code, message ?? known) { Value(rawValue: $0) }
    }

    /// Creates a member that is an array of raw values of a type, with at least one of them. It is read as their set.
    /// - Parameter message: The error's message for any other array, or `nil` for a message that lists the values.
    package static func set<Value: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
        _ name: String,
        of type: Value.Type,
        maximum: Int = 64,
        code: String = "invalid_value",
        message: String? = nil
    ) -> RequestMember<Set<Value>> {
        let known = "name one or more of \(type.allCases.map(\.rawValue).joined(separator: ", "))"
        return Self.texts(name, 1...type.allCases.count, maximum: maximum, as: .choice(of: type))
            .parsed(code, message ?? known) { texts in
                let values = Set(texts.compactMap { Value(rawValue: $0) })
                return values.isEmpty || values.count != Set(texts).count ? nil : values
            }
    }

    /// Creates a member that is an integer.
    /// - Parameter schema: The schema of an integer with further rules, which the caller has to check, or `nil` for no
    ///   further rules.
    package static func integer(
        _ name: String,
        _ range: ClosedRange<Int64>,
        as schema: Schema? = nil
    ) -> RequestMember<Int64> {
        RequestMember<Int64>(name, schema ?? .integer(range)) { (fields, name) throws(RequestError) in
            try fields.integer(name, in: range)
        }
    }

    /// Creates a member that is a number with or without a fraction. The caller has to check its range.
    package static func number(_ name: String, as schema: Schema = .number) -> RequestMember<JSONValue> {
        RequestMember<JSONValue>(name, schema) { (fields, name) throws(RequestError) in try fields.number(name) }
    }

    package static func bool(_ name: String) -> RequestMember<Bool> {
        RequestMember<Bool>(name, .bool) { (fields, name) throws(RequestError) in try fields.bool(name) }
    }

    /// Creates a member that is an array of texts.
    /// - Parameters:
    ///   - count: The allowed numbers of texts. A lower bound above 0 is only documented: the caller has to check it.
    ///   - maximum: The maximum length of a text, in bytes.
    ///   - element: The schema of a text, or `nil` for a schema with only the maximum length.
    package static func texts(
        _ name: String,
        _ count: ClosedRange<Int>,
        maximum: Int,
        as element: Schema? = nil
    ) -> RequestMember<[String]> {
        let schema = Schema.array(of: element ?? .string(length: 1...maximum), count: count)
        return RequestMember<[String]>(name, schema) { (fields, name) throws(RequestError) in
            try fields.strings(name, count: count.upperBound, maximum: maximum)
        }
    }

    /// Creates a member with a value of any type, which the caller reads.
    package static func json(_ name: String, as schema: Schema) -> RequestMember<JSONValue> {
        RequestMember<JSONValue>(name, schema) { (fields, name) throws(RequestError) in fields.members[name] }
    }

    /// Creates a member that is an object. It is read as ``JSONFields``, from which its own members are then read.
    package static func object(_ name: String, _ object: RequestObject) -> RequestMember<JSONFields> {
        RequestMember<JSONFields>(name, object.schema, members: object.members) { (fields, name) throws(RequestError) in
            try fields.fields(name, known: object.known)
        }
    }

    /// Creates a member that is an object, which `parse` reads as a value.
    package static func object<Value>(
        _ name: String,
        _ object: RequestObject,
        _ parse: @escaping @Sendable (JSONFields) throws(RequestError) -> Value
    ) -> RequestMember<Value> {
        RequestMember<Value>(name, object.schema, members: object.members) { (fields, name) throws(RequestError) in
            guard let inner = try fields.fields(name, known: object.known) else { return nil }
            return try parse(inner)
        }
    }

    /// Creates a member that is an object with members of any names, whose values the caller checks.
    package static func openObject(
        _ name: String,
        as schema: Schema = .object(isOpen: true)
    ) -> RequestMember<[String: JSONValue]> {
        RequestMember<[String: JSONValue]>(name, schema) { (fields, name) throws(RequestError) in
            try fields.object(name)
        }
    }
}

/// A change of an optional property: a new value, or its removal.
package enum Update<Value: Hashable & Sendable>: Hashable, Sendable {
    case set(Value)
    case clear

    package var value: Value? { if case .set(let value) = self { value } else { nil } }

    package func map<Other: Hashable & Sendable>(_ transform: (Value) -> Other) -> Update<Other> {
        switch self {
        case .set(let value): .set(transform(value))
        case .clear: .clear
        }
    }
}

extension RequestMember where Value: Hashable & Sendable {
    /// This member as a change of an optional property: a value sets it, and `null` clears it.
    package var clearable: RequestMember<Update<Value>> {
        RequestMember<Update<Value>>(self.name, self.schema.orNull, members: self.members) {
            [self] (fields, name) throws(RequestError) in
            if fields.nulls.contains(name) { return .clear }
            guard let value = try fields.value(self) else { return nil }
            return .set(value)
        }
    }
}

/// A value with one JSON form, which is the same in requests, in the store and in responses.
package protocol StoredJSON: Sendable {
    /// The members of the JSON form.
    static var object: RequestObject { get }
    /// Reads the JSON form.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws(RequestError)
    /// The canonical JSON form.
    var json: JSONValue { get }
}

extension StoredJSON {
    /// Decodes the stored form, also of earlier versions.
    package init(stored: JSONValue) throws(RequestError) { try self.init(JSONFields(stored, known: Self.object.known)) }
}
