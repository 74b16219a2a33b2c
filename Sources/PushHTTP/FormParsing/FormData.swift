package import Foundation
package import Hummingbird
package import PushSupport

/// The fields of a form, in their order.
///
/// Names are compared without regard to case, because the publisher's own samples differ in it (reference 10.1).
package struct FormData: Equatable, Sendable {
    /// A name and a value.
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String
    }

    /// The limits for the parsing of a form.
    package struct Limits: Equatable, Sendable {
        /// The maximum length of a body, in bytes. Default 64 KiB.
        package var body = 64 * 1024
        /// The maximum number of fields. Default 64.
        package var count = 64
        /// The maximum length of a name, in bytes. Default 256.
        package var name = 256
        /// The maximum length of a value, in bytes. Default 8 KiB.
        package var value = 8 * 1024
        /// Indicates whether a part with a file name is a file instead of a field. Default `false`.
        package var acceptsFiles = false

        package init() {}
    }

    private let limits: Limits
    package private(set) var fields: [Field] = []
    /// The first values, by their names in lower case.
    private var values: [String: String] = [:]
    package private(set) var files: [FormFile] = []

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The value of the first field with this name, or `nil` if there is none. It may be empty.
    package subscript(name: String) -> String? { self.values[name.lowercased()] }

    /// - Throws: ``RequestError`` for a field that is too long or has a NUL, which would end a text in the store, and
    ///   for too many fields.
    package mutating func add(_ name: String, _ value: String) throws(RequestError) {
        guard self.fields.count < self.limits.count else {
            throw Self.error("too_many", "a form has at most \(self.limits.count) fields")
        }
        guard name.utf8.count <= self.limits.name, value.utf8.count <= self.limits.value else {
            throw Self.error("too_long", "a field has at most \(self.limits.value) bytes")
        }
        guard !name.utf8.contains(0), !value.utf8.contains(0) else {
            throw Self.error("invalid_form", "a field must not have a NUL")
        }
        self.fields.append(Field(name: name, value: value))
        let key = name.lowercased()
        if self.values[key] == nil { self.values[key] = value }
    }

    /// - Throws: ``RequestError`` for too many fields. The length of a file is limited by that of the body.
    mutating func add(_ file: FormFile) throws(RequestError) {
        guard self.fields.count + self.files.count < self.limits.count, file.name.utf8.count <= self.limits.name else {
            throw Self.error("too_many", "a form has at most \(self.limits.count) fields")
        }
        self.files.append(file)
    }

    /// Returns the first file with this name; `nil` if none was chosen.
    package func file(_ name: String) -> FormFile? { self.files.first { $0.name == name && !$0.content.isEmpty } }

    /// Returns the values of all fields with this name, in their order.
    package func values(_ name: String) -> [String] { self.fields.filter { $0.name == name }.map(\.value) }

    package mutating func add(_ other: FormData) throws(RequestError) {
        for field in other.fields { try self.add(field.name, field.value) }
    }

    /// Returns the error of a form, or of one of its fields.
    package static func error(_ code: String, _ message: String, field: String? = nil) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: field)
    }
}

// MARK: Fields

extension FormData {
    /// Returns the value of a field; `nil` if it is empty or absent.
    /// - Parameter maximum: The maximum length, in bytes.
    /// - Throws: ``RequestError`` for a longer value.
    package func text(_ name: String, maximum: Int) throws(RequestError) -> String? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard text.utf8.count <= maximum else {
            throw Self.error("too_long", "at most \(maximum) bytes, not \(text.utf8.count)", field: name)
        }
        return text
    }

    /// Returns the value of a field that the form must have.
    package func requiredText(_ name: String, maximum: Int) throws(RequestError) -> String {
        guard let text = try self.text(name, maximum: maximum) else {
            throw Self.error("missing_field", "this field is required", field: name)
        }
        return text
    }

    /// Returns the value of a field as a number; `nil` if it is empty or absent.
    package func number(_ name: String, in range: ClosedRange<Int64>) throws(RequestError) -> Int64? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let message = "use a number from \(range.lowerBound) to \(range.upperBound)"
            throw Self.error("invalid_value", message, field: name)
        }
        return number
    }
}

// MARK: Percent encoding

extension FormData {
    /// Parses `application/x-www-form-urlencoded`, the format of a query too.
    /// - Throws: ``RequestError`` for text that is not percent-encoded UTF-8.
    package init(urlEncoded text: some Sequence<UInt8>, limits: Limits = Limits()) throws(RequestError) {
        self.init(limits: limits)
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
package enum FormRequest {
    /// Returns the fields of the body, then those of the query. The body has precedence.
    package static func fields(of request: Request, limits: FormData.Limits = .init()) async throws -> FormData {
        var fields = FormData(limits: limits)
        if request.method == .post { fields = try await Self.body(of: request, limits: limits) }
        try fields.add(FormData(urlEncoded: (request.uri.query ?? "").utf8))
        return fields
    }

    /// Returns the fields of the body alone, so that typed text is not taken from the query of the URL.
    ///
    /// The content type names the format. A body without one is taken to be URL-encoded.
    package static func body(of request: Request, limits: FormData.Limits) async throws -> FormData {
        try self.fields(in: try await request.wholeBody(maximum: limits.body), of: request, limits: limits)
    }

    package static func fields(in body: Data, of request: Request, limits: FormData.Limits) throws -> FormData {
        let body = Array(body)
        let contentType = request.headers[.contentType] ?? "application/x-www-form-urlencoded"
        switch contentType.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() {
        case "multipart/form-data": return try MultipartForm.fields(of: body, contentType: contentType, limits: limits)
        case "application/x-www-form-urlencoded": return try FormData(urlEncoded: body, limits: limits)
        case "application/json": return try FormData(json: body)
        default: throw RequestError.unsupportedContentType("multipart/form-data or application/x-www-form-urlencoded")
        }
    }
}

extension FormData {
    /// Reads a JSON object as a form. Members of an inner object are named as the web application's framework names
    /// them: `apns_device[token]`.
    package init(json: [UInt8]) throws(RequestError) {
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

/// A file of a form (RFC 7578).
package struct FormFile: Equatable, Sendable {
    /// The name of the field.
    package let name: String
    /// The name of the file at the client. It is only shown, and names no file at the server.
    package let fileName: String
    package let content: [UInt8]
}
