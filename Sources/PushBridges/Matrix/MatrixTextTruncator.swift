import PushSupport

/// Shortens the texts of a payload: the alert, its body and its arguments. The longest ones lose first, down to a common length.
struct MatrixTextTruncator {
    /// The payload with shorter texts.
    private(set) var members: [String: JSONValue]

    /// - Parameter excess: The bytes by which the JSON has to become shorter.
    init(_ members: [String: JSONValue], excess: Int) {
        self.members = members
        guard case .object(var aps)? = members["aps"] else { return }
        var texts: [String] = []
        // Both walks visit the texts in the same order.
        _ = Self.map(aps["alert"]) { text in
            texts.append(text)
            return text
        }
        let sizes = texts.map(Self.size)
        let limit = Self.limit(sizes, excess: excess)
        aps["alert"] = Self.map(aps["alert"]) { Self.cut($0, to: limit) }
        self.members["aps"] = .object(aps)
    }

    /// Returns an alert with its texts replaced.
    private static func map(_ alert: JSONValue?, _ replace: (String) -> String) -> JSONValue? {
        switch alert {
        case .string(let text)?: return .string(replace(text))
        case .object(var members)?:
            if case .string(let body)? = members["body"] { members["body"] = .string(replace(body)) }
            if case .array(let arguments)? = members["loc-args"] {
                members["loc-args"] = .array(
                    arguments.map { if case .string(let text) = $0 { .string(replace(text)) } else { $0 } }
                )
            }
            return .object(members)
        default: return alert
        }
    }

    /// Returns the longest size of each text with which they lose `excess` bytes together; 0 if they do not have as many.
    private static func limit(_ sizes: [Int], excess: Int) -> Int {
        var (low, high) = (0, sizes.max() ?? 0)
        // The largest limit at which enough is lost is at `low` or above, and below `high`.
        while low + 1 < high {
            let middle = low + (high - low) / 2
            let lost = sizes.reduce(0) { $0 + max(0, $1 - middle) }
            if lost >= excess { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns the bytes of a text in JSON, without its quotation marks.
    private static func size(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + Self.size($1) }
    }

    private static func size(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x22, 0x5c, 0x08, 0x09, 0x0a, 0x0c, 0x0d: 2
        case ..<0x20: 6
        default: UTF8.width(scalar)
        }
    }

    /// Returns the beginning of a text that has at most `limit` bytes in JSON.
    private static func cut(_ text: String, to limit: Int) -> String {
        var size = 0
        var end = text.unicodeScalars.startIndex
        for index in text.unicodeScalars.indices {
            size += Self.size(text.unicodeScalars[index])
            guard size <= limit else { return String(text.unicodeScalars[..<end]) }
            end = text.unicodeScalars.index(after: index)
        }
        return text
    }
}
