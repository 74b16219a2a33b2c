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
        default: self = .invalidJSON
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

/// Checks the nesting of JSON text without parsing it. Foundation's parser is recursive, and a deeply nested body would
/// overflow the stack.
enum JSONNesting {
    /// Checks that a text may be passed to Foundation's parser.
    ///
    /// - Throws: ``RequestError`` for a text that is nested too deeply, or not in UTF-8.
    static func check(_ text: Data) throws(RequestError) {
        var (depth, isInString, isEscaped) = (0, false, false)
        for byte in text {
            switch byte {
            // Foundation's parser accepts UTF-16 and UTF-32, whose brackets are not recognized here (RFC 8259 section 8.1).
            case 0: throw RequestError(.invalid, code: "invalid_json", message: "the body is not JSON in UTF-8")
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                guard depth <= JSONParser.maximumDepth else { throw self.tooDeep }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
    }

    /// The error of a text that is nested too deeply.
    static var tooDeep: RequestError {
        RequestError(
            .invalid,
            code: "too_deep",
            message: "nest arrays and objects at most \(JSONParser.maximumDepth) deep"
        )
    }
}
