import Foundation
import Hummingbird
import PushHTTP
import PushSupport

/// The fields of a form, in their order.
///
/// Names are compared without regard to case, because the publisher's own samples differ in it (reference 10.1).
struct FormFields: Equatable {
    /// A name and a value.
    struct Field: Equatable {
        var name: String
        var value: String
    }

    /// The longest body of a form, in bytes.
    static let maximumBody = 64 * 1024
    /// The most fields of a form.
    static let maximumCount = 64
    /// The longest name, in bytes.
    static let maximumName = 256
    /// The longest value, in bytes.
    static let maximumValue = 8 * 1024

    private(set) var fields: [Field] = []

    init() {}

    /// The value of the first field with this name, which may be empty.
    subscript(name: String) -> String? {
        self.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// - Throws: ``RequestError`` for a field that is too long, and for too many fields.
    mutating func add(_ name: String, _ value: String) throws(RequestError) {
        guard self.fields.count < Self.maximumCount else {
            throw Self.error("too_many", "a form has at most \(Self.maximumCount) fields")
        }
        guard name.utf8.count <= Self.maximumName, value.utf8.count <= Self.maximumValue else {
            throw Self.error("too_long", "a field has at most \(Self.maximumValue) bytes")
        }
        self.fields.append(Field(name: name, value: value))
    }

    mutating func add(_ other: FormFields) throws(RequestError) {
        for field in other.fields { try self.add(field.name, field.value) }
    }

    /// Returns the error of a form, or of one of its fields.
    static func error(_ code: String, _ message: String, field: String? = nil) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: field)
    }
}

// MARK: Fields

extension FormFields {
    /// Returns the value of a field; `nil` if it is empty or absent.
    ///
    /// - Parameter maximum: In bytes.
    /// - Throws: ``RequestError`` for a longer value.
    func text(_ name: String, maximum: Int) throws(RequestError) -> String? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard text.utf8.count <= maximum else {
            throw Self.error("too_long", "at most \(maximum) bytes, not \(text.utf8.count)", field: name)
        }
        return text
    }

    /// Returns the value of a field that the form must have.
    func requiredText(_ name: String, maximum: Int) throws(RequestError) -> String {
        guard let text = try self.text(name, maximum: maximum) else {
            throw Self.error("missing_field", "this field is required", field: name)
        }
        return text
    }

    /// Returns the value of a field as a number; `nil` if it is empty or absent.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(RequestError) -> Int64? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let message = "use a number from \(range.lowerBound) to \(range.upperBound)"
            throw Self.error("invalid_value", message, field: name)
        }
        return number
    }
}

// MARK: Percent encoding

extension FormFields {
    /// Parses `application/x-www-form-urlencoded`, the format of a query too.
    ///
    /// - Throws: ``RequestError`` for text that is not percent-encoded UTF-8.
    init(urlEncoded text: some Sequence<UInt8>) throws(RequestError) {
        self.init()
        for pair in Array(text).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decoded),
                let value = parts.count > 1 ? Self.decoded(parts[1]) : ""
            else { throw Self.error("invalid_form", "the form is not percent-encoded UTF-8") }
            if name.isEmpty, value.isEmpty { continue }
            try self.add(name, value)
        }
    }

    /// Returns the decoded text; `nil` if it is not percent-encoded UTF-8. A plus sign stands for a space.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(validating: spaced, as: UTF8.self)?.removingPercentEncoding
    }
}

/// Reads the form of a request.
enum FormRequest {
    /// Returns the fields of the body, then those of the query. The body has precedence.
    static func fields(of request: Request) async throws -> FormFields {
        var fields = FormFields()
        if request.method == .post { fields = try await Self.body(request) }
        try fields.add(FormFields(urlEncoded: (request.uri.query ?? "").utf8))
        return fields
    }

    /// Parses the body by its content type. A body without one is taken to be URL-encoded.
    private static func body(_ request: Request) async throws -> FormFields {
        let body = Array(try await request.wholeBody(maximum: FormFields.maximumBody))
        let contentType = request.headers[.contentType] ?? "application/x-www-form-urlencoded"
        switch contentType.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() {
        case "multipart/form-data": return try MultipartForm.fields(of: body, contentType: contentType)
        case "application/x-www-form-urlencoded": return try FormFields(urlEncoded: body)
        case "application/json": return try FormFields(json: body)
        default:
            throw RequestError.unsupportedContentType("multipart/form-data or application/x-www-form-urlencoded")
        }
    }
}

extension FormFields {
    /// Reads a JSON object as a form. Members of an inner object are named in the way of the web application's
    /// framework: `apns_device[token]`.
    init(json: [UInt8]) throws(RequestError) {
        self.init()
        guard case .object(let members) = try JSONValue(parsing: Data(json)) else {
            throw Self.error("invalid_json", "the body must be a JSON object")
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            if case .object(let inner) = value {
                for (member, value) in inner.sorted(by: { $0.key < $1.key }) {
                    try self.add("\(name)[\(member)]", value)
                }
            } else {
                try self.add(name, value)
            }
        }
    }

    /// Adds a member. Arrays, objects and fractions are ignored, because no form has a use for them.
    private mutating func add(_ name: String, _ value: JSONValue) throws(RequestError) {
        switch value {
        case .string(let text): try self.add(name, text)
        case .integer(let number): try self.add(name, "\(number)")
        case .bool(let flag): try self.add(name, flag ? "1" : "0")
        case .null, .number, .array, .object: break
        }
    }
}
