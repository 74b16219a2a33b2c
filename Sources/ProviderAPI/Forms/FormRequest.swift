import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushSupport

/// Reads the form that a request brings.
enum FormRequest {
    /// The body's fields, then those of the query: what stands in both is taken from the body.
    /// - Throws: ``RequestError``.
    static func fields(of request: Request) async throws -> FormFields {
        var fields = FormFields()
        if request.method == .post { fields = try await Self.body(request) }
        try fields.add(FormFields(urlEncoded: (request.uri.query ?? "").utf8))
        return fields
    }

    private static func body(_ request: Request) async throws -> FormFields {
        let body = try await Self.bytes(request)
        let contentType = request.headers[.contentType] ?? "application/x-www-form-urlencoded"
        switch contentType.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() {
        case "multipart/form-data": return try MultipartForm.fields(of: body, contentType: contentType)
        case "application/x-www-form-urlencoded": return try FormFields(urlEncoded: body)
        case "application/json": return try FormFields(json: body)
        default:
            throw RequestError(
                .unsupportedType,
                code: "unsupported_content_type",
                message: "send multipart/form-data or application/x-www-form-urlencoded",
                path: "content-type"
            )
        }
    }

    private static func bytes(_ request: Request) async throws -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: FormFields.maximumBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw RequestError(
                .tooLarge,
                code: "body_too_large",
                message: "a form has at most \(FormFields.maximumBody) bytes"
            )
        }
    }
}

extension FormFields {
    /// A JSON object as a form: the members of an object inside are named as the web application's framework does,
    /// `apns_device[token]`.
    /// - Throws: ``RequestError``.
    init(json: [UInt8]) throws(RequestError) {
        self.init()
        guard case .object(let members) = try JSONValue(parsing: Data(json)) else {
            throw Self.refusal("invalid_json", "the body must be a JSON object")
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

    /// What is no single value is for nobody here.
    private mutating func add(_ name: String, _ value: JSONValue) throws(RequestError) {
        switch value {
        case .string(let text): try self.add(name, text)
        case .integer(let number): try self.add(name, "\(number)")
        case .bool(let flag): try self.add(name, flag ? "1" : "0")
        case .null, .number, .array, .object: break
        }
    }
}
