package import Foundation

extension RequestError {
    /// Decodes a request body.
    ///
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func decode<Body: Decodable>(_ type: Body.Type, from body: Data) throws(RequestError) -> Body {
        try JSONNesting.check(body)
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch let error as DecodingError {
            throw RequestError(error)
        } catch let error as RequestError {
            throw error
        } catch {
            throw .invalidJSON
        }
    }

    private static var invalidJSON: RequestError {
        RequestError(.invalid, code: "invalid_json", message: "the body is not valid JSON")
    }

    private init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            let path = Self.path(context.codingPath + [key])
            self.init(.invalid, code: "missing_field", message: "this member is required", path: path)
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let path = Self.path(context.codingPath)
            self.init(.invalid, code: "wrong_type", message: context.debugDescription, path: path)
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            let path = Self.path(context.codingPath)
            self.init(.invalid, code: "invalid_value", message: context.debugDescription, path: path)
        default:
            self = .invalidJSON
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
