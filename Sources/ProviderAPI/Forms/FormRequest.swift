import Foundation
import Hummingbird
import PushHTTP
import PushSupport

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
