package import PushSupport

/// Texts about JSON values in the output of commands.
extension JSONValue {
    var line: String { get throws { String(decoding: try self.text, as: UTF8.self) } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(Dictionary(elements) { $1 }) }
}

extension String {
    var json: JSONValue { .string(self) }
}

extension Bool {
    var json: JSONValue { .bool(self) }
}

extension BinaryInteger {
    var json: JSONValue { .integer(Int64(clamping: self)) }
}

extension JSONValue {
    /// The clause about pushes in flight that ends a message about stopped sending. It is empty if there were none.
    var underWay: String { self.pushesUnderWay.map { "; \($0)" } ?? "" }

    /// The clause about the pushes that were in flight when sending was stopped, or `nil` if there were none.
    var pushesUnderWay: String? {
        guard let count = self["underWay"].integerValue, count > 0 else { return nil }
        return count == 1 ? "one push is still under way" : "\(count) pushes are still under way"
    }
}
