import Foundation

/// How deep JSON text is nested, seen without parsing it: parsers recurse, and a stack ends sooner than a body does.
enum JSONNesting {
    /// Deepest nesting taken. On a stack of 512 kB, reading or writing a value of 250 levels overflowed.
    static let maximum = 64

    /// Why `text` must not be given to a parser; `nil` if it may.
    static func fault(_ text: Data) -> APIRefusal? {
        var (depth, isInString, isEscaped) = (0, false, false)
        for byte in text {
            switch byte {
            // UTF-16 and UTF-32, which a parser would take and this does not see through (RFC 8259 section 8.1).
            case 0: return APIRefusal(status: 400, code: "invalid_json", message: "the body is not JSON in UTF-8")
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                guard depth <= self.maximum else { return self.tooDeep }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return nil
    }

    private static var tooDeep: APIRefusal {
        APIRefusal(status: 400, code: "too_deep", message: "nest arrays and objects at most \(self.maximum) deep")
    }
}
