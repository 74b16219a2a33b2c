import Foundation

/// Checks the nesting of JSON text without parsing it. Foundation's parser recurses, and a body can be deeper than a stack.
enum JSONNesting {
    /// Checks that a text may be passed to Foundation's parser.
    ///
    /// - Throws: ``RequestError`` for a text that is nested too deeply, or not in UTF-8.
    static func check(_ text: Data) throws(RequestError) {
        var (depth, isInString, isEscaped) = (0, false, false)
        for byte in text {
            switch byte {
            // A parser would accept UTF-16 and UTF-32, whose brackets are not found here (RFC 8259 section 8.1).
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
