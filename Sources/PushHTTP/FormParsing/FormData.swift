package import Foundation
package import Hummingbird
package import PushSupport

/// The fields of a form, in their order.
///
/// Field names are case-insensitive, because the publisher's own samples spell them differently (reference 10.1).
package struct FormData: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String
    }

    /// The limits of a form. A form beyond one of them is rejected.
    package struct Limits: Equatable, Sendable {
        /// The maximum length of a body, in bytes. Default 64 KiB.
        package var body = 64 * 1024
        /// The maximum number of fields. Default 64.
        package var count = 64
        /// The maximum length of a name, in bytes. Default 256.
        package var name = 256
        /// The maximum length of a value, in bytes. Default 8 KiB.
        package var value = 8 * 1024
        /// A Boolean value that indicates whether a part with a file name is parsed as a file instead of a field.
        /// Default `false`.
        package var acceptsFiles = false

        package init() {}
    }

    private let limits: Limits
    package private(set) var fields: [Field] = []
    /// The first value of each name, keyed by the name in lower case.
    private var values: [String: String] = [:]
    package private(set) var files: [FormFile] = []

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The value of the first field with this name, or `nil` if there is no such field. It may be empty.
    package subscript(name: String) -> String? { self.values[name.lowercased()] }

    /// Adds a field.
    /// - Throws: ``RequestError`` for too many fields, and for a field that is too long or contains a NUL, which would
    ///   end a string in the store.
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

    /// Adds a file.
    /// - Throws: ``RequestError`` for too many fields and files, or a name that is too long. The limit on the body also
    ///   limits the length of a file.
    mutating func add(_ file: FormFile) throws(RequestError) {
        guard self.fields.count + self.files.count < self.limits.count, file.name.utf8.count <= self.limits.name else {
            throw Self.error("too_many", "a form has at most \(self.limits.count) fields")
        }
        self.files.append(file)
    }

    /// Returns the first file with this name, or `nil` if the user chose no file.
    package func file(_ name: String) -> FormFile? { self.files.first { $0.name == name && !$0.content.isEmpty } }

    /// Returns the values of all fields with exactly this name, in their order.
    package func values(_ name: String) -> [String] { self.fields.filter { $0.name == name }.map(\.value) }

    package mutating func add(_ other: FormData) throws(RequestError) {
        for field in other.fields { try self.add(field.name, field.value) }
    }

    /// Returns an error about a field of the form, or about the whole form if `field` is `nil`.
    package static func error(_ code: String, _ message: String, field: String? = nil) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: field)
    }
}

// MARK: Fields

extension FormData {
    /// Returns the value of a field, or `nil` if the field is empty or absent.
    /// - Parameter maximum: The maximum length, in bytes.
    /// - Throws: ``RequestError`` for a longer value.
    package func text(_ name: String, maximum: Int) throws(RequestError) -> String? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard text.utf8.count <= maximum else {
            throw Self.error("too_long", "at most \(maximum) bytes, not \(text.utf8.count)", field: name)
        }
        return text
    }

    /// Returns the value of a field. Throws ``RequestError`` if it is empty, absent or longer than `maximum` bytes.
    package func requiredText(_ name: String, maximum: Int) throws(RequestError) -> String {
        guard let text = try self.text(name, maximum: maximum) else {
            throw Self.error("missing_field", "this field is required", field: name)
        }
        return text
    }

    /// Returns a field as a number, or `nil` if it is empty or absent. Throws ``RequestError`` if it is not in `range`.
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
    /// Parses `application/x-www-form-urlencoded`, which is also the format of a URL query.
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

    /// Decodes percent-encoded text, with plus signs as spaces. Returns `nil` if it is not percent-encoded UTF-8.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(validating: spaced, as: UTF8.self)?.removingPercentEncoding
    }
}

/// Reads the form in a request.
package enum FormRequest {
    /// Returns the fields of the body, followed by those of the query, so that fields of the body take precedence. The
    /// body is read for a POST request only.
    package static func fields(of request: Request, limits: FormData.Limits = .init()) async throws -> FormData {
        var fields = FormData(limits: limits)
        if request.method == .post { fields = try await Self.body(of: request, limits: limits) }
        try fields.add(FormData(urlEncoded: (request.uri.query ?? "").utf8))
        return fields
    }

    /// Returns the fields of the body alone, for forms whose values must not come from the query of the URL.
    ///
    /// The content type determines the format. A body without a content type is parsed as URL-encoded.
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
    /// Parses a JSON object as a form. Throws ``RequestError`` for any other body. Members of a nested object become
    /// fields with names such as `apns_device[token]`.
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

    /// Adds a member. Arrays, objects and fractional numbers are ignored, because no form uses them.
    private mutating func add(_ name: String, _ value: JSONValue) throws(RequestError) {
        switch value {
        case .string(let text): try self.add(name, text)
        case .integer(let number): try self.add(name, "\(number)")
        case .bool(let flag): try self.add(name, flag ? "1" : "0")
        case .null, .number, .array, .object: break
        }
    }
}

package struct FormFile: Equatable, Sendable {
    package let name: String
    /// The name of the file on the client's machine. It is only displayed, and names no file on the server.
    package let fileName: String
    package let content: [UInt8]
}
