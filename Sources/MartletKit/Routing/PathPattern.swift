/// The pattern of a screen's path: segments that a path must have, and places of parameters.
struct PathPattern: Hashable, Sendable {
    enum Segment: Hashable, Sendable {
        case literal(String)
        case parameter(String)
    }

    let segments: [Segment]

    /// The text that is the same for all patterns that match the same paths.
    var shape: String {
        self.segments.map { segment in
            switch segment {
            case .literal(let text): "/\(text)"
            case .parameter: "/:"
            }
        }.joined()
    }

    /// The order in which patterns are tried: at the first difference, a literal comes before a parameter.
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
    init(_ text: String, of screen: NotificationScreen, at place: String) throws(ScreenRulesError) {
        guard text.utf8.count <= ScreenRules.Limit.pattern, text.hasPrefix("/") else {
            throw ScreenRulesError(
                place,
                "it must begin with / and have at most \(ScreenRules.Limit.pattern) bytes"
            )
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

    /// Returns the texts of the parameters in the decoded segments of a path; `nil` if it does not match.
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
