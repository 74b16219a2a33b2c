import ProviderModel

/// A condition over topics, such as `'a' in topics && ('b' in topics || !('c' in topics))`.
///
/// `&&` and `||` have the same precedence and are evaluated from left to right.
struct FCMCondition: Hashable, Sendable {
    /// The maximum number of topics in one condition. A condition with more is invalid.
    static let maximumTopics = 5
    /// The maximum length of a condition, in bytes. A longer one is invalid.
    static let maximumText = 2048
    /// The maximum depth of nested parentheses. A condition with deeper ones is invalid.
    static let maximumDepth = 8

    let audience: AudienceExpression

    /// The reason why a string is not a valid condition.
    struct Fault: Error, Hashable, Sendable {
        let description: String
    }

    init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.maximumText else {
            throw Fault(description: "a condition has at most \(Self.maximumText) bytes")
        }
        var parser = Parser(text)
        let audience = try parser.expression(depth: 0)
        guard parser.isAtEnd else { throw Fault(description: "nothing is expected after \(parser.position) bytes") }
        self.audience = audience
    }

    private struct Parser {
        private let bytes: [UInt8]
        private(set) var position = 0
        private var topics = 0

        init(_ text: String) { self.bytes = Array(text.utf8) }

        var isAtEnd: Bool {
            mutating get {
                self.skipSpaces()
                return self.position == self.bytes.count
            }
        }

        mutating func expression(depth: Int) throws(Fault) -> AudienceExpression {
            guard depth <= FCMCondition.maximumDepth else {
                throw Fault(description: "at most \(FCMCondition.maximumDepth) parentheses are nested")
            }
            var result = try self.operand(depth: depth)
            while true {
                if self.take("&&") {
                    let next = try self.operand(depth: depth)
                    if case .and(let all) = result {
                        result = .and(all + [next])
                    } else {
                        result = .and([result, next])
                    }
                } else if self.take("||") {
                    let next = try self.operand(depth: depth)
                    if case .or(let all) = result { result = .or(all + [next]) } else { result = .or([result, next]) }
                } else {
                    return result
                }
            }
        }

        /// Parses a topic, an expression in parentheses, or the negation of either.
        private mutating func operand(depth: Int) throws(Fault) -> AudienceExpression {
            var isNegated = false
            while self.take("!") { isNegated.toggle() }
            let operand: AudienceExpression
            if self.take("(") {
                operand = try self.expression(depth: depth + 1)
                guard self.take(")") else { throw Fault(description: "a parenthesis is not closed") }
            } else {
                operand = .tag(FCMTopic.tag(try self.topic()))
            }
            return isNegated ? .not(operand) : operand
        }

        private mutating func topic() throws(Fault) -> String {
            self.skipSpaces()
            guard self.position < self.bytes.count, case let mark = self.bytes[self.position],
                mark == UInt8(ascii: "'") || mark == UInt8(ascii: "\"")
            else { throw Fault(description: "a topic in quotation marks is expected after \(self.position) bytes") }
            let start = self.position + 1
            guard let end = self.bytes[start...].firstIndex(of: mark),
                let name = String(validating: self.bytes[start..<end], as: UTF8.self).flatMap({ FCMTopic.name($0) })
            else { throw Fault(description: "a topic's name has letters, digits and -_.~% only") }
            self.position = end + 1
            guard self.take("in"), self.take("topics") else {
                throw Fault(description: "'in topics' is expected behind the name of a topic")
            }
            self.topics += 1
            guard self.topics <= FCMCondition.maximumTopics else {
                throw Fault(description: "at most \(FCMCondition.maximumTopics) topics")
            }
            return name
        }

        /// Skips spaces and consumes `text`, a word or an operator. Returns `false` if the input does not continue with
        /// it.
        private mutating func take(_ text: StaticString) -> Bool {
            self.skipSpaces()
            let word = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            guard self.bytes[self.position...].starts(with: word) else { return false }
            self.position += word.count
            return true
        }

        private mutating func skipSpaces() {
            while self.position < self.bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(self.bytes[self.position]) {
                self.position += 1
            }
        }
    }
}
