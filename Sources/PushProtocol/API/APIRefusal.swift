package import Foundation

/// Why one of our HTTP APIs refused a request: `{"error":{"code":…,"message":…,"field":…}}`.
package struct APIRefusal: Error, Hashable, Sendable {
    /// HTTP status.
    package var status: Int
    /// For programs: stable, snake case, such as `invalid_token`.
    package var code: String
    /// For people: what was wrong and what to do. Never holds a secret or a whole token.
    package var message: String
    /// The member of the body, the header or the query item at fault, as a path such as `to.tokens[3]`.
    package var field: String?

    package init(status: Int, code: String, message: String, field: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.field = field
    }

    /// The answer's body, in JSON.
    package var body: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(["error": Content(code: self.code, message: self.message, field: self.field)]))
            ?? Data(#"{"error":{"code":"internal","message":"the error could not be written"}}"#.utf8)
    }

    private struct Content: Encodable {
        var code: String
        var message: String
        var field: String?
    }
}

extension APIRefusal {
    /// Decodes a request body; a body that does not fit becomes a 400 that names the member at fault.
    package static func decode<Body: Decodable>(_ type: Body.Type, from body: Data) throws(APIRefusal) -> Body {
        if let fault = JSONNesting.fault(body) { throw fault }
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch let error as DecodingError {
            throw APIRefusal(error)
        } catch let refusal as APIRefusal {
            throw refusal
        } catch {
            throw APIRefusal(status: 400, code: "invalid_json", message: "the body is not valid JSON")
        }
    }

    private init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(
                status: 400,
                code: "missing_field",
                message: "this member is required",
                field: Self.path(context.codingPath + [key])
            )
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(
                status: 400,
                code: "wrong_type",
                message: context.debugDescription,
                field: Self.path(context.codingPath)
            )
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            self.init(
                status: 400,
                code: "invalid_value",
                message: context.debugDescription,
                field: Self.path(context.codingPath)
            )
        default:
            self.init(status: 400, code: "invalid_json", message: "the body is not valid JSON")
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String? {
        guard !keys.isEmpty else { return nil }
        return keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
