import Foundation

/// How deep JSON text is nested, seen without parsing it: Foundation's parser recurses, and a stack ends sooner than a body
/// does.
enum JSONNesting {
    /// Why `text` must not be given to a parser; `nil` if it may.
    static func fault(_ text: Data) -> RequestError? {
        var (depth, isInString, isEscaped) = (0, false, false)
        for byte in text {
            switch byte {
            // UTF-16 and UTF-32, which a parser would take and this does not see through (RFC 8259 section 8.1).
            case 0: return RequestError(.invalid, code: "invalid_json", message: "the body is not JSON in UTF-8")
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                guard depth <= JSONParser.maximumDepth else { return self.tooDeep }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return nil
    }

    static var tooDeep: RequestError {
        RequestError(
            .invalid,
            code: "too_deep",
            message: "nest arrays and objects at most \(JSONParser.maximumDepth) deep"
        )
    }
}
