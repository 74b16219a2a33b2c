import PushSupport

extension JSONValue {
    /// The end of a sentence about a stop, with the number of pushes that it could not take back; empty for none.
    var underWay: String { self.pushesUnderWay.map { "; \($0)" } ?? "" }

    /// The sentence about the pushes that a stop could not take back; `nil` for none.
    var pushesUnderWay: String? {
        guard let count = self["underWay"].integerValue, count > 0 else { return nil }
        return count == 1 ? "one push is still under way" : "\(count) pushes are still under way"
    }
}
