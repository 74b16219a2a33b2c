/// The pattern of a screen's path: literal segments that a path must have, and parameters.
struct PathPattern: Hashable, Sendable {
    enum Segment: Hashable, Sendable {
        case literal(String)
        case parameter(String)
    }

    let segments: [Segment]

    /// A string that is equal for all patterns that match the same paths. Two screens with the same shape are an error
    /// in the rules.
    var shape: String {
        self.segments.map { segment in
            switch segment {
            case .literal(let text): "/\(text)"
            case .parameter: "/:"
            }
        }.joined()
    }

    /// Returns whether `left` is matched before `right`. At the first difference, a literal precedes a parameter.
    static func isBefore(_ left: PathPattern, _ right: PathPattern) -> Bool {
        for (left, right) in zip(left.segments, right.segments) {
            switch (left, right) {
            case (.literal, .parameter): return true
            case (.parameter, .literal): return false
            case (.literal, .literal), (.parameter, .parameter): break
            }
        }
        return false
    }

    /// Parses the pattern of a screen.
    /// - Parameter place: The location of the pattern in the rules, for the error.
    /// - Throws: ``ScreenRulesError`` for an invalid pattern.
    init(_ text: String, of screen: NotificationScreen, at place: String) throws(ScreenRulesError) {
        guard text.utf8.count <= ScreenRules.Limit.pattern, text.hasPrefix("/") else {
            throw ScreenRulesError(place, "it must begin with / and have at most \(ScreenRules.Limit.pattern) bytes")
        }
        let parts = text == "/" ? [] : text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= ScreenRules.Limit.segments else {
            throw ScreenRulesError(place, "it must have at most \(ScreenRules.Limit.segments) segments")
        }
        var segments: [Segment] = []
        for part in parts {
            let segment: Segment
            if part.hasPrefix(":") {
                let name = String(part.dropFirst())
                guard screen.parameters.contains(where: { $0.name == name }) else {
                    throw ScreenRulesError(place, "the screen has no parameter \(name.forLog)")
                }
                guard !segments.contains(.parameter(name)) else {
                    throw ScreenRulesError(place, "the parameter \(name) is in it twice")
                }
                segment = .parameter(name)
            } else {
                guard !part.isEmpty, part != ".", part != "..",
                    part.utf8.allSatisfy({ $0.isName || $0 == UInt8(ascii: "~") })
                else {
                    throw ScreenRulesError(
                        place,
                        "its segments must have letters, digits, -, ., _ or ~, or be a :parameter"
                    )
                }
                segment = .literal(String(part))
            }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// Returns the parameter values, as strings, for the decoded segments of a path, or `nil` if the path does not
    /// match.
    func match(_ path: [String]) -> [String: String]? {
        guard path.count == self.segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(self.segments, path) {
            switch segment {
            case .literal(let literal): guard literal.isSame(as: text) else { return nil }
            case .parameter(let name): values[name] = text
            }
        }
        return values
    }
}

/// The decoded path of a payload. The path is parsed byte by byte, because a Swift `Character` may be a slash with an
/// accent.
struct RoutePath: Hashable, Sendable {
    let segments: [String]
    /// The items of the query by their names, which are unique.
    let query: [String: String]

    /// Parses a path such as `/orders/42?tab=items`.
    /// - Throws: ``RouteError`` for a path that is too long or malformed.
    init(_ text: String) throws(RouteError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= ScreenRules.Limit.path else {
            throw RouteError(.tooLong, "the path has more than \(ScreenRules.Limit.path) bytes")
        }
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(UInt8(ascii: "#")) else {
            throw RouteError(.malformed, "the path does not begin with /, or has a fragment")
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        self.segments = try Self.segments(bytes[1..<end])
        self.query = try Self.query(bytes[end...].dropFirst())
    }

    private static func segments(_ text: ArraySlice<UInt8>) throws(RouteError) -> [String] {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= ScreenRules.Limit.segments else {
            throw RouteError(.tooDeep, "the path has more than \(ScreenRules.Limit.segments) segments")
        }
        var segments: [String] = []
        for part in parts {
            let segment = try self.decoded(part)
            let hasSlash = segment.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            // These have a meaning in file systems and on servers, and none in a router.
            guard !segment.isEmpty, segment != ".", segment != "..", !hasSlash else {
                throw RouteError(.malformed, "the path has a segment that is empty, ., .. or contains a slash")
            }
            segments.append(segment)
        }
        return segments
    }

    private static func query(_ text: ArraySlice<UInt8>) throws(RouteError) -> [String: String] {
        guard !text.isEmpty else { return [:] }
        let items = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        guard items.count <= ScreenRules.Limit.parameters else {
            throw RouteError(.tooLong, "the query has more than \(ScreenRules.Limit.parameters) items")
        }
        var query: [String: String] = [:]
        for item in items {
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw RouteError(.malformed, "the query has an item without =") }
            let name = try self.decoded(parts[0])
            guard query.updateValue(try self.decoded(parts[1]), forKey: name) == nil else {
                throw RouteError(.malformed, "the query has \(name.forLog) twice")
            }
        }
        return query
    }

    private static func decoded(_ text: ArraySlice<UInt8>) throws(RouteError) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                throw RouteError(.malformed, "the path has a % without two digits")
            }
            bytes.append(high << 4 | low)
        }
        // No failable initialiser of the standard library is there on all systems.
        let decoded = String(decoding: bytes, as: UTF8.self)
        guard decoded.utf8.elementsEqual(bytes) else { throw RouteError(.malformed, "the path is not UTF-8") }
        return decoded
    }
}

extension UInt8 {
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
